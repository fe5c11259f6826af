"""Builds what the lab runs; a second build without changes costs next to nothing."""

import contextlib
import zipfile
from pathlib import Path

from lab import paths, proc
from lab.hadoop import MAVEN
from lab.progress import Failed, step

JOBS = paths.ROOT / "lab" / "jobs"
SHIM = paths.ROOT / "jvm-shim"
UPSTREAM = SHIM / "upstream"


def stale(product: Path, module: Path) -> bool:
    """Whether a Maven module has anything newer than its product, or that was cut: its table of contents comes last."""
    if not product.is_file() or not zipfile.is_zipfile(product):
        return True
    made = product.stat().st_mtime
    sources = [module / "pom.xml", *(file for file in (module / "src").rglob("*") if file.is_file())]
    return any(file.stat().st_mtime > made for file in sources)


def maven_jar(title: str, product: Path, module: Path) -> Path:
    log = paths.LOGS / f"build-{module.name}.log"
    with paths.locked(f"build-{module.name}"):
        if stale(product, module):
            with step(f"building {title}", log):
                proc.run([*MAVEN, "-f", module / "pom.xml", "-DskipTests", "package"], log)
                if stale(product, module):
                    raise Failed(f"Maven made no new {paths.shown(product)}", log)
    return product


def lab_jobs() -> Path:
    return maven_jar("the lab's jobs", paths.JOBS_JAR, JOBS)


def shim() -> Path:
    return maven_jar("the shim", paths.SHIM_JAR, SHIM)


def upstream() -> Path:
    return maven_jar("the launcher of Hadoop's own tests", paths.UPSTREAM_JAR, UPSTREAM)


def skew() -> Path:
    """The library that gives a process another time of day."""
    made, source = paths.TARGET / "lab-skew.so", paths.ROOT / "lab" / "skew.c"
    proc.run(["cc", "-shared", "-fPIC", "-O", "-o", made, source, "-ldl"], paths.LOGS / "build-skew.log")
    return made


# The program is made for tests that run it, with the features of all of them.
RUST_TESTS = ["cargo", "test", "--workspace", "--locked", "--no-run"]
RELEASE = ["cargo", "build", "--release", "--locked"]


def drover() -> Path:
    log, program = paths.LOGS / "build-drover.log", paths.drover()
    command = RELEASE if program.parent.name == "release" else RUST_TESTS
    with step(f"building the service ({' '.join(command[:3])})", log):
        proc.run(command, log, cwd=paths.ROOT)
    return program


@contextlib.contextmanager
def ahead():
    """What Rust's suites need is compiled while others wait for clocks. One that comes to it sooner waits at
    cargo's lock, and tells what does not compile."""
    process = proc.spawn(["nice", "-n", "19", *RUST_TESTS], paths.LOGS / "build-ahead.log", cwd=paths.ROOT)
    try:
        yield
    finally:
        proc.end_group(process)
