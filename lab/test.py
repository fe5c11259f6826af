"""./dev test: every test there is, then the totals on a line of their own."""

import argparse
import contextlib
import functools
import os
import re
import shutil
import sys
import xml.etree.ElementTree as ElementTree
from pathlib import Path

from lab import build, hadoop, paths
from lab.progress import Failed, say
from lab.suites import Totals, run, side_by_side

E2E = paths.ROOT / "lab" / "e2e"
KINDS = ("python", "java", "rust", "e2e")
# Files of end-to-end tests that take longest, and begin first; those that have the machine to themselves, as in
# them a slow node is to be slower than one that is only crowded, or Hadoop's own test goes by the time; and those that
# wait for clocks or for a slow attempt most of the time.
LONGEST, ALONE = ("versions", "troubles", "mishaps"), ("act", "actions", "hadoops_own_tests")
IDLE = ("holdout", "out_of_reach")
# The gate tries the same cases each time; new ones are for --explore, where a failure stops nobody's work.
SEED, CASES_EXPLORED = "20261122", "8192"


def count_cargo(log: Path, _began: float) -> tuple:
    found = re.findall(r"^test result: \w+\. (\d+) passed; (\d+) failed", log.read_text(errors="replace"), re.M)
    return sum(int(p) for p, _ in found), sum(int(f) for _, f in found)


def count_unittest(log: Path, _began: float) -> tuple:
    text = log.read_text(errors="replace")
    ran = sum(int(n) for n in re.findall(r"^Ran (\d+) tests?", text, re.M))
    skipped = sum(int(n) for n in re.findall(r"skipped=(\d+)", text))
    bad = sum(int(n) for n in re.findall(r"(?:failures|errors)=(\d+)", text))
    return max(0, ran - skipped - bad), bad


def count_maven(module: Path):
    """Counts from the reports that the run wrote; where they lie is the module's affair."""

    def count(_log: Path, began: float) -> tuple:
        passed = failed = 0
        for base in (module / "target", paths.TARGET / "lab-jobs"):
            if base.name == "lab-jobs" and module != build.JOBS:
                continue
            for report in base.glob("*-reports/TEST-*.xml"):
                if report.stat().st_mtime >= began - 1:
                    suite = ElementTree.parse(report).getroot()
                    bad = int(suite.get("failures", 0)) + int(suite.get("errors", 0))
                    failed += bad
                    passed += int(suite.get("tests", 0)) - bad - int(suite.get("skipped", 0))
        return passed, failed

    return count


def count_compiled(log: Path, _began: float) -> tuple:
    said = re.findall(r"^hadoop \S+ +(compiles$|does not compile)", log.read_text(errors="replace"), re.M)
    return said.count("compiles"), said.count("does not compile")


def python(totals: Totals) -> None:
    command = [sys.executable, "-m", "unittest", "discover", "-v", "-s", "lab/tests", "-t", "."]
    run("the lab's own tests", command, paths.LOGS / "test-lab.log", count_unittest, totals)


def java(totals: Totals) -> None:
    for module in (build.JOBS, build.SHIM):
        command = [*hadoop.MAVEN, "-f", module / "pom.xml", "verify"]
        log = paths.LOGS / f"test-{module.name}.log"
        run(f"Java tests of {paths.shown(module)}", command, log, count_maven(module), totals)
    title, log = "the shim compiled against each line of Hadoop", paths.LOGS / "test-compile-all.log"
    run(title, [build.SHIM / "compile-all.sh"], log, count_compiled, totals)


def cargo(title: str, log: str, totals: Totals) -> None:
    command = ["cargo", "test", "--workspace", "--locked", "--no-fail-fast"]
    run(title, command, paths.LOGS / log, count_cargo, totals)


def rust(totals: Totals) -> None:
    os.environ.setdefault("PROPTEST_RNG_SEED", SEED)
    cargo("Rust tests (cargo test)", "test-rust.log", totals)


def explore(totals: Totals) -> None:
    """The properties of the Rust code on many cases that no run before has tried; a failure prints its seed."""
    os.environ.setdefault("PROPTEST_CASES", CASES_EXPLORED)
    cargo("Rust tests on new cases", "test-explore.log", totals)


def e2e(totals: Totals, only: str) -> None:
    """Each file a process of its own: one that has joined a cluster's network cannot leave it."""
    build.lab_jobs()
    build.shim()
    build.drover()
    files = [file for file in sorted(E2E.glob("test_*.py")) if only in file.stem]
    if not files:
        raise Failed(f"no end-to-end test file has '{only}' in its name")
    alone, others, idle = in_order([file.stem[5:] for file in files])
    for name in alone:
        run(*end_to_end(name), totals)
    side_by_side([end_to_end(name) for name in others], totals, [end_to_end(name) for name in idle])


def in_order(names: list) -> tuple:
    """Those that run alone, the others, the longest first, so that none of them is the last to begin, and the idle."""
    others = [name for name in LONGEST if name in names]
    others += [name for name in names if name not in (*LONGEST, *ALONE, *IDLE)]
    return [name for name in names if name in ALONE], others, [name for name in names if name in IDLE]


def end_to_end(name: str) -> tuple:
    """The tests of a file of lab/e2e."""
    command = [sys.executable, "-m", "unittest", "-v", f"lab.e2e.test_{name}"]
    return f"end to end: {name}", command, paths.LOGS / f"e2e-{name}.log", count_unittest


@contextlib.contextmanager
def only_one():
    """A second run would write over the first one's logs, and end its clusters."""
    with contextlib.ExitStack() as held:
        try:
            held.enter_context(paths.locked("test", wait=False))
        except BlockingIOError:
            raise Failed("another ./dev test runs in this checkout") from None
        yield


def main(arguments: list) -> int:
    parser = argparse.ArgumentParser(prog="./dev test", description=__doc__)
    parser.add_argument("kinds", nargs="*", metavar="KIND", help=f"only these: {', '.join(KINDS)} (default all)")
    parser.add_argument(
        "--only", default="", metavar="NAME", help="of the end-to-end tests, those with NAME in their file's"
    )
    parser.add_argument(
        "--explore",
        action="store_true",
        help=f"only Rust's properties, on new random cases, {CASES_EXPLORED} each (PROPTEST_CASES; minutes)",
    )
    asked = parser.parse_args(arguments)
    unknown = set(asked.kinds) - set(KINDS)
    if unknown:
        parser.error(f"no such kind: {', '.join(sorted(unknown))}")
    # Built for Rust's own tests anyway, and it stops at overflows; "release" tries what users have.
    os.environ.setdefault(paths.BUILD, "debug")
    totals = Totals()
    suites = {"python": python, "java": java, "rust": rust, "e2e": functools.partial(e2e, only=asked.only)}
    chosen = [explore] if asked.explore else [suites[kind] for kind in KINDS if kind in (asked.kinds or KINDS)]
    whole = len(chosen) == len(KINDS)
    with only_one():
        try:
            with build.ahead() if whole else contextlib.nullcontext():
                for suite in chosen:
                    suite(totals)
        except Failed as failure:
            say(f"./dev test: {failure}")
            totals.failed += 1
    for log in totals.logs:
        say(f"failed: read {paths.shown(log)}")
    if totals.failed:
        # What a full disk does to a cluster does not always name the disk.
        say(f"the disk of {paths.shown(paths.TARGET)} has {shutil.disk_usage(paths.TARGET).free >> 20} MiB left")
    if totals.skipped:
        say(f"{totals.skipped} not run, which this machine does not let run")
    print(f"{totals.passed} passed, {totals.failed} failed", flush=True)
    return 1 if totals.failed else 0
