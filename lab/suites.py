"""Suites of tests: started, waited for, counted and told of, one by one or some side by side."""

import collections
import re
import time
from pathlib import Path

from lab import paths, proc
from lab.progress import Failed, say, step

TAIL_LINES = 40
# A failed test's own words, as cargo and unittest begin them, and how many lines of each and of all are shown.
FAILED_TEST = re.compile(r"^(---- .* ----|FAIL: |ERROR: |\[ERROR\] )")
LINES_OF_ONE, LINES_OF_ALL = 25, 150
# A test that this machine cannot run, and why, as unittest has it.
SKIPPED = re.compile(r"^(test\w+) .*\.\.\. skipped (.*)$", re.M)
# A cluster's daemons wait for one another's clocks for some half of their time, in which another's can work: two suites
# at a time, and beside them one of those that do little else than wait.
LANES, LOOK_S = 2, 0.2
# Killed sooner, an interrupted suite leaves the clusters behind that it was about to end.
GRACE_S = 90


class Totals:
    """What passed and what failed so far, and the logs of what failed."""

    def __init__(self):
        self.passed, self.failed, self.skipped, self.logs = 0, 0, 0, []

    def add(self, passed: int, failed: int, log: Path) -> None:
        self.passed += passed
        self.failed += failed
        if failed:
            self.logs.append(log)


class Suite:
    """One that has been started."""

    def __init__(self, title: str, command: list, log: Path, count):
        self.title, self.log, self.count = title, log, count
        self.command, self.began = command, time.time()
        self.process = proc.spawn(command, log, cwd=paths.ROOT)


def end(suites: list) -> None:
    """Ends those that still run."""
    proc.end_groups([suite.process for suite in suites if suite.process.poll() is None], GRACE_S)


def run(title: str, command: list, log: Path, count, totals: Totals) -> None:
    suite = Suite(title, command, log, count)
    try:
        with step(title, log):
            broken = outcome(suite)
    finally:
        end([suite])
    tell(suite, broken, totals)


def side_by_side(suites: list, totals: Totals, idle: list = ()) -> None:
    """Runs suites, as `run` takes them, in their order, two at a time, and those that are mostly idle one at a time
    beside them."""
    lanes = [collections.deque(suites)] * LANES + [collections.deque(idle)]
    running = [None] * len(lanes)
    beside = f", and {len(idle)} beside" if idle else ""
    with step(f"{len(suites)} suites, {LANES} at a time{beside}"):
        try:
            while any(lanes) or any(running):
                look(lanes, running, totals)
        finally:
            end([suite for suite in running if suite])


def look(lanes: list, running: list, totals: Totals) -> None:
    """Begins the next suite of each lane that is free, and tells of those that have ended since."""
    for lane, waiting in enumerate(lanes):
        if waiting and not running[lane]:
            running[lane] = Suite(*waiting.popleft())
            say(f"==> {running[lane].title}")
    time.sleep(LOOK_S)
    for lane, suite in enumerate(running):
        if suite and suite.process.poll() is not None:
            running[lane] = None
            say(f"    {suite.title}: done in {time.time() - suite.began:.1f} s")
            tell(suite, outcome(suite), totals)


def outcome(suite: Suite) -> str:
    """Waits for a suite; why it failed, if so."""
    try:
        proc.wait(suite.process, suite.command, suite.log, grace_s=GRACE_S)
    except Failed as failure:
        return str(failure)
    return ""


def tell(suite: Suite, broken: str, totals: Totals) -> None:
    """Counts a suite that has ended; one that fails without naming a failed test counts as one failure."""
    if broken:
        say(f"    {broken}")
    passed, failed = suite.count(suite.log, suite.began)
    if not passed and not failed and not broken:
        broken = f"no test ran; read {paths.shown(suite.log)}"
        say(f"    {broken}")
    failed = max(failed, int(bool(broken)))
    totals.add(passed, failed, suite.log)
    say(f"    {suite.title}: {passed} passed, {failed} failed")
    text = suite.log.read_text(errors="replace")
    for name, why in SKIPPED.findall(text):
        totals.skipped += 1
        say(f"    not run here: {name}, {why}")
    if failed:
        say("\n".join(told(text.splitlines())))


def told(lines: list) -> list:
    """What failed tests said, wherever in the log, and the log's end."""
    shown, upto = [], 0
    for number, line in enumerate(lines[:-TAIL_LINES]):
        if FAILED_TEST.match(line):
            upto = number + LINES_OF_ONE
        if number < upto and len(shown) < LINES_OF_ALL:
            shown.append(line)
    return shown + lines[-TAIL_LINES:]
