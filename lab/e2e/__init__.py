"""End-to-end tests: each file a process of its own, with a real cluster for each of its classes."""

import atexit
import contextlib
import re
import time
import unittest

from lab import commands, http, paths, proc
from lab.cluster import SHORT_GRACE_S, Cluster
from lab.options import Options

# Nothing is measured by it: on a machine that is crowded all takes several times as long.
WAIT_S = 300
# What a failed wait tells of each service's log and of the applications.
TOLD_LINES, TOLD_CHARACTERS = 12, 800
IN_TABLE = re.compile(r"\| `(\w+)` \| live \|")
# How often a copy is moved off a host it is to keep off (`MOVES`, src/shim/outbox.rs); then it stays.
MOVES = 6
# Nothing more is heard of a copy.
ENDS = {"won", "lost", "died", "refused", "unsent", "unanswered", "unknown"}


def live_by_the_table() -> set[str]:
    """All that docs/mechanisms.md says a shim announces."""
    return set(IN_TABLE.findall((paths.ROOT / "docs" / "mechanisms.md").read_text()))


class OnCluster(unittest.TestCase):
    """A cluster for the class; `options` say which."""

    options = {}
    cluster = None

    @classmethod
    def setUpClass(cls):
        proc.interrupt_on_signals()
        directory = paths.TARGET / "e2e" / cls.__name__
        # That of a run that was killed outright.
        Cluster(directory).down(quiet=True, grace_s=SHORT_GRACE_S)
        cls.cluster = commands.bring_up(Options(dir=str(directory), **cls.options))
        cls.addClassCleanup(cls.cluster.down, quiet=True, grace_s=SHORT_GRACE_S)
        # When it is interrupted unittest skips the cleanups of its class.
        atexit.register(cls.cluster.down, quiet=True, grace_s=SHORT_GRACE_S)

    def until(self, what: str, found, running=None):
        """What `found` answers once that is something; where a job is given, it must still run then."""
        until = time.monotonic() + WAIT_S
        while time.monotonic() < until:
            with contextlib.suppress(http.Unanswered):
                answer = found()
                if answer:
                    return answer
            if running and running.done():
                raise AssertionError(f"the job ended before {what}\n{self.scene()}")
            time.sleep(0.1)
        raise AssertionError(f"{what}: not within {WAIT_S} s\n{self.scene()}")

    def fates(self, service, job: str) -> list:
        """The decisions on a job's copies, once what became of each is told; the oldest first."""

        def ended():
            copies = [one for one in service.decisions(job) if one["copy"]]
            return all(one["copy"]["state"] in ENDS for one in copies) and copies

        return sorted(self.until("every copy's end was told", ended), key=lambda one: one["at_ms"])

    def scene(self) -> str:
        """How everything stands, for whoever reads that a wait was in vain."""
        told = []
        with contextlib.suppress(http.Unanswered):
            told += [f"{one['id']} {one['state']} {one['diagnostics']}" for one in self.apps()]
            told += [f"{one['id']} {one['state']}" for one in self.cluster.rm("/nodes")["nodes"]["node"]]
        for log in sorted((self.cluster.dir / "logs").glob("*.log")):
            lines = log.read_text(errors="replace").splitlines()
            # A service's log has the name that its test gave it.
            if any(" drover::" in line for line in lines[:TOLD_LINES]):
                told += [log.name, *lines[-TOLD_LINES:]]
        return "\n".join(line[:TOLD_CHARACTERS] for line in told)

    def apps(self, query: str = "") -> list:
        return (self.cluster.rm(f"/apps{query}").get("apps") or {}).get("app") or []
