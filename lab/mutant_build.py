"""A copy of the workspace with all mutants in it, made until it compiles; the real sources are never touched."""

import hashlib
import importlib
import json
import os
import shutil
import site
import subprocess
import sys
from pathlib import Path

from lab import paths, proc, schemata
from lab.progress import Failed, say, step

HOME = paths.TARGET / "mutants"
TREE = HOME / "tree"
CORE = "core/src"
PARSER = ("tree_sitter", "tree_sitter_rust")
# The profile's name stays cargo's own, so that the dependencies built here serve every later run.
PROFILE = {
    "CARGO_TARGET_DIR": str(HOME / "build"),
    "CARGO_PROFILE_DEV_OPT_LEVEL": "1",
    "CARGO_PROFILE_DEV_DEBUG": "none",
    "RUSTFLAGS": "--cap-lints=allow",
}
# A mutant is chosen at run time, which a constant has not got.
CONSTANT = ("E0015", "E0658", "E0764", "E0744")


def parser():
    """Tree-sitter's parser of Rust, from an environment of the tool's own."""
    venv = HOME / "venv"
    packages = venv / "lib" / f"python{sys.version_info[0]}.{sys.version_info[1]}" / "site-packages"
    if not all((packages / name).is_dir() for name in PARSER):
        log = paths.LOGS / "mutants-venv.log"
        with step("installing a parser of Rust", log):
            proc.run([sys.executable, "-m", "venv", "--clear", venv], log)
            proc.run([venv / "bin" / "pip", "install", "--quiet", *PARSER], log)
    site.addsitedir(str(packages))
    importlib.invalidate_caches()
    tree_sitter, grammar = (importlib.import_module(name) for name in PARSER)
    return tree_sitter.Parser(tree_sitter.Language(grammar.language()))


def tracked() -> list:
    command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    names = subprocess.run(command, cwd=paths.ROOT, check=True, capture_output=True).stdout
    return [name for name in names.decode().split("\0") if name and (paths.ROOT / name).is_file()]


def write(file: Path, text: bytes) -> None:
    """Only what differs is written: cargo goes by the time of a file."""
    if not file.is_file() or file.read_bytes() != text:
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(text)


def fingerprints() -> tuple:
    """Of core's code, and of that with all its tests."""
    code, everything = hashlib.sha256(), hashlib.sha256()
    for name in sorted(name for name in tracked() if name.startswith("core/") or name == "Cargo.lock"):
        text = (paths.ROOT / name).read_bytes()
        everything.update(name.encode() + b"\0" + text)
        if name.startswith(CORE) and not name.endswith("/tests.rs"):
            code.update(name.encode() + b"\0" + schemata.without_tests(text))
    return code.hexdigest()[:16], everything.hexdigest()[:16]


def listed(only: list) -> list:
    """cargo-mutants' list of core, numbered from 1."""
    if not shutil.which("cargo-mutants"):
        raise Failed("cargo-mutants is not installed: cargo install cargo-mutants --locked")
    command = ["cargo", "mutants", "--no-config", "--list", "--json", "-p", "drover-core"]
    for glob in only:
        command += ["-f", glob]
    answer = subprocess.run(command, cwd=paths.ROOT, capture_output=True, text=True)
    if answer.returncode:
        raise Failed(f"cargo mutants --list: {answer.stderr.strip()}")
    texts, found = {}, []
    for number, entry in enumerate(json.loads(answer.stdout), 1):
        text = texts.setdefault(entry["file"], (paths.ROOT / entry["file"]).read_bytes())
        found.append(schemata.listed(entry, number, text))
    return found


class Build:
    """The mutants that are in, and those that cannot be, with the reason."""

    def __init__(self, mutants: list):
        self.mutants = {mutant.number: mutant for mutant in mutants}
        self.out, self.places, self.regions = {}, {}, {}
        rust = parser()
        for file in sorted({mutant.file for mutant in mutants}):
            root = rust.parse((paths.ROOT / file).read_bytes()).root_node
            for mutant in (mutant for mutant in mutants if mutant.file == file):
                self.places[mutant.number] = schemata.place(root, mutant)
                if not self.places[mutant.number]:
                    self.out[mutant.number] = "not schematised"

    def make(self) -> list:
        """Compiles the tests, and answers their programs."""
        names = set(tracked())
        for file in (file for file in TREE.rglob("*") if file.is_file()):
            if str(file.relative_to(TREE)) not in names:
                file.unlink()
        for name in names:
            if not name.startswith(f"{CORE}/"):
                write(TREE / name, (paths.ROOT / name).read_bytes())
        with step("compiling all mutants at once"):
            while True:
                self.rewrite(sorted(name for name in names if name.startswith(f"{CORE}/")))
                messages, done = cargo("check", "--lib")
                if done:
                    break
                self.take_out(messages)
            messages, done = cargo("test", "--no-run", "--lib", "--tests")
        if not done:
            raise Failed(f"the tests do not compile: {rendered(messages)}")
        return [Path(found["executable"]) for found in messages if found.get("executable")]

    def rewrite(self, names: list) -> None:
        for name in names:
            source = (paths.ROOT / name).read_bytes()
            inside = [
                mutant for mutant in self.mutants.values() if mutant.file == name and mutant.number not in self.out
            ]
            placed = [(mutant, *self.places[mutant.number]) for mutant in inside]
            text, self.regions[name] = schemata.rewritten(source, placed)
            write(TREE / name, text + (schemata.SWITCH.encode() if name == f"{CORE}/lib.rs" else b""))

    def take_out(self, messages: list) -> None:
        """Takes out the mutants that the compiler's errors are about."""
        before = len(self.out)
        for error in errors(messages):
            spans = sorted(error["spans"], key=lambda span: not span["is_primary"])
            regions = self.regions.get(spans[0]["file_name"], []) if spans else []
            here = [(s["byte_start"], s["byte_end"]) for s in spans if s["file_name"] == spans[0]["file_name"]]
            numbers, own = schemata.blamed(regions, here)
            constant = (error.get("code") or {}).get("code") in CONSTANT
            for number in numbers:
                self.out.setdefault(number, "unviable" if own and not constant else "not schematised")
        if len(self.out) == before:
            raise Failed(f"no mutant is to blame for this: {rendered(messages)}")
        say(f"    {len(self.out) - before} do not compile, {len(self.out)} in all")


def cargo(*words: str) -> tuple:
    """Cargo's messages about core, and whether it went well."""
    command = ["cargo", *words, "-p", "drover-core", "--locked", "--message-format=json"]
    answer = subprocess.run(command, cwd=TREE, capture_output=True, text=True, env={**os.environ, **PROFILE})
    if answer.returncode and not answer.stdout:
        raise Failed(f"{' '.join(command[:2])}: {answer.stderr.strip()}")
    return [json.loads(line) for line in answer.stdout.splitlines()], answer.returncode == 0


def errors(messages: list) -> list:
    found = [message["message"] for message in messages if message["reason"] == "compiler-message"]
    return [message for message in found if message["level"] == "error" and message["spans"]]


def rendered(messages: list) -> str:
    return "\n".join(error["rendered"] for error in errors(messages)[:3])
