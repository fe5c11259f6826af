"""./dev lint: formatting and warnings of everything; every check runs, and the failed ones are named at the end."""

import argparse
import shutil
import sys

from lab import build, hadoop, paths, proc
from lab.progress import Failed, say, step

SHELL = ("dev", "lab/prereq.sh", "lab/thin/bin/java", ".ci/run")


def checks(fix: bool) -> list:
    """Every check as (name, command, the program it needs, how to get that)."""
    spotless = "spotless:apply" if fix else "spotless:check"
    found = [
        (
            "rustfmt",
            ["cargo", "fmt", "--all", *([] if fix else ["--check"])],
            "cargo-fmt",
            "rustup component add rustfmt",
        ),
        (
            "clippy",
            ["cargo", "clippy", "--workspace", "--all-targets", "--locked", "--", "-D", "warnings"],
            "cargo-clippy",
            "rustup component add clippy",
        ),
        (
            "cargo-deny",
            ["cargo", "deny", "--offline", "check", "bans", "licenses", "sources"],
            "cargo-deny",
            "cargo install cargo-deny --locked",
        ),
    ]
    for module in (build.JOBS, build.SHIM, build.UPSTREAM):
        found.append((f"spotless-{module.name}", [*hadoop.MAVEN, "-f", module / "pom.xml", spotless], "mvn", ""))
    found.append(("python", [sys.executable, "-W", "error", "-m", "compileall", "-q", "-f", "lab"], sys.executable, ""))
    ruff = ["ruff", "format", "lab"] if fix else ["ruff", "check", "lab"]
    found.append(("ruff", ruff, "ruff", "pip install ruff"))
    for file in SHELL:
        found.append((f"bash-{file.strip('.').replace('/', '-')}", ["bash", "-n", file], "bash", ""))
    found.append(("shellcheck", ["shellcheck", "-x", *SHELL], "shellcheck", "apt-get install shellcheck"))
    return found


def main(arguments: list) -> int:
    parser = argparse.ArgumentParser(prog="./dev lint", description=__doc__)
    parser.add_argument("--fix", action="store_true", help="format Rust and Java instead of checking that they are")
    asked = parser.parse_args(arguments)
    failed, skipped = [], []
    for name, command, needs, advice in checks(asked.fix):
        if not shutil.which(needs):
            skipped.append(name)
            say(f"    {name}: skipped, {needs} is not installed{': ' + advice if advice else ''}")
            continue
        log = paths.LOGS / f"lint-{name}.log"
        try:
            with step(name, log):
                proc.run(command, log, cwd=paths.ROOT)
        except Failed as failure:
            failed.append(name)
            say(f"    {failure}")
            say("\n".join(log.read_text(errors="replace").splitlines()[-30:]))
    unasked = f"; not asked: {', '.join(skipped)}" if skipped else ""
    say(f"lint: {'failed: ' + ', '.join(failed) if failed else 'clean'}{unasked}")
    return 1 if failed else 0
