"""Runs core's tests on a mutant: only those that come upon it, the quick ones first, up to the first failure."""

import os
import signal
import subprocess
import threading
import time
from dataclasses import dataclass
from pathlib import Path

from lab.mutant_build import HOME, TREE
from lab.progress import Failed
from lab.test import SEED

MEMORY = 4 << 30
LIMIT_S, LIMIT_TIMES = 10, 5
# What one process runs before the next, slower ones: seconds without a mutant.
PORTIONS_S = (0.1, 0.5, 2.0)
ENVIRONMENT = {
    "PROPTEST_CASES": "32",
    "PROPTEST_RNG_SEED": SEED,
    "PROPTEST_DISABLE_FAILURE_PERSISTENCE": "1",
    "PROPTEST_MAX_SHRINK_ITERS": "0",
    "RUST_BACKTRACE": "0",
}


@dataclass(frozen=True)
class Test:
    """A test, with the seconds it takes and the mutants that it comes upon."""

    program: Path
    name: str
    seconds: float
    seen: frozenset


def run(program: Path, words: list, limit_s: float, **more) -> str:
    """How a test program ends: passed, caught, or timeout. The first failed test ends it."""
    process = subprocess.Popen(
        ["prlimit", f"--as={MEMORY}", program, *words],
        cwd=TREE / "core",
        env={**os.environ, **ENVIRONMENT, **more},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    late, failed = threading.Event(), False

    def end(why=None) -> None:
        if why:
            why.set()
        try:
            os.killpg(process.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass

    timer = threading.Timer(limit_s, end, [late])
    timer.start()
    try:
        for line in process.stdout:
            if line.startswith(b"test ") and line.rstrip().endswith(b"FAILED"):
                failed = True
                break
        if failed:
            end()
        status = process.wait()
    finally:
        timer.cancel()
        if process.returncode is None:
            end()
        process.stdout.close()
    if late.is_set() and not failed:
        return "timeout"
    return "caught" if failed or status else "passed"


def names(program: Path) -> list:
    listing = subprocess.run([program, "--list", "--format", "terse"], check=True, capture_output=True, text=True)
    return [line[: -len(": test")] for line in listing.stdout.splitlines() if line.endswith(": test")]


def measured(program: Path, name: str) -> Test:
    """Runs one test without a mutant."""
    note = HOME / "seen.txt"
    note.unlink(missing_ok=True)
    began = time.monotonic()
    if run(program, ["--exact", name], 600, DROVER_MUTANTS_SEEN=str(note)) != "passed":
        raise Failed(f"{name} fails without any mutant")
    seconds = time.monotonic() - began
    return Test(program, name, seconds, frozenset(map(int, note.read_text().split() if note.exists() else ())))


def portions(tests: list) -> list:
    """Tests for one process each, the quick ones first."""
    found, spent = [], {}
    for test in sorted(tests, key=lambda test: test.seconds):
        before = spent.get(test.program, 0.0)
        spent[test.program] = before + test.seconds
        step = sum(before >= upto for upto in PORTIONS_S)
        found.append((step, str(test.program), test))
    keys = sorted({key[:2] for key in found})
    return [[test for step, program, test in found if (step, program) == key] for key in keys]


def judged(number: int, tests: list) -> tuple:
    """What becomes of a mutant, and the seconds that took."""
    began, outcome = time.monotonic(), "survived"
    for portion in portions([test for test in tests if number in test.seen]):
        limit_s = max(LIMIT_S, LIMIT_TIMES * sum(test.seconds for test in portion))
        words = ["--exact", "--test-threads=1", *(test.name for test in portion)]
        ended = run(portion[0].program, words, limit_s, DROVER_MUTANT=str(number))
        if ended != "passed":
            outcome = ended
            break
    return outcome, round(time.monotonic() - began, 2)
