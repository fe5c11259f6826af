"""A ledger deleted under the service, and a dead master, against jobs that have copies.

Each job succeeds and writes the bytes that it writes without any of it.
"""

import contextlib
import json
import os
import signal
import sqlite3
import time
import unittest
from pathlib import Path

from lab import http, jobs
from lab.e2e.unharmed import ACT, JOB, WAIT_S, Unharmed
from lab.faults import ClusterPlace
from lab.scenarios import AM_AWAY
from lab.service import Service
from lab.troubles import Watched

# Of a job with a reduce that starts as soon as one map has ended.
REDUCED = {"lab.reduces": 1, "lab.reduce.ms": 500, "mapreduce.reduce.memory.mb": 256}
# Nothing more is heard of a copy.
ENDS = {"won", "lost", "died", "refused", "unsent", "unanswered", "unknown"}


def rows(file: Path, ask: str, *values) -> list:
    """What a ledger holds, whoever else has it open."""
    with contextlib.closing(sqlite3.connect(f"file:{file}?mode=ro", uri=True)) as ledger:
        return ledger.execute(ask, values).fetchall()


class Troubles(Unharmed):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        whole = {**JOB, **REDUCED, "lab.slow.attempts": "", "lab.output": cls.cluster.dir / "plain-reduced"}
        cls.reduced = jobs.run(cls.cluster, jobs.Spec(settings=whole)).digest

    def keeper(self, file: Path) -> Service:
        return self.service(f'ledger.path = "{file}"\n{ACT}')

    def until(self, what: str, found):
        """What `found` answers once that is something, whether or not a job runs."""
        until = time.monotonic() + WAIT_S
        while time.monotonic() < until:
            with contextlib.suppress(http.Unanswered):
                answer = found()
                if answer:
                    return answer
            time.sleep(0.2)
        raise AssertionError(f"{what}: not within {WAIT_S} s")

    def told(self, service: Service, job: str) -> list:
        """The decisions on a job's copies, once what became of each is told; the oldest first."""

        def ended():
            decisions = service.decisions(job)
            return all(one["copy"]["state"] in ENDS for one in decisions) and decisions

        return sorted(self.until("every copy's end was told", ended), key=lambda one: one["at_ms"])

    def state(self, service: Service) -> str:
        return service.get("/status")["ledger"]["state"]

    def kept(self, service: Service, table: str = "") -> float:
        """Rows that the service has said it committed."""
        name = f'drover_ledger_rows_total{{table="{table}"' if table else "drover_ledger_rows_total"
        return sum(count for series, count in service.metrics().items() if series.startswith(name))

    def test_a_ledger_deleted_under_the_service_is_begun_anew_and_says_so(self):
        file = self.cluster.dir / "deleted" / "ledger.db"
        service = self.keeper(file)
        running, _ = self.submit()
        self.wait("a row was kept", running, lambda: self.kept(service))
        file.unlink()
        self.wait("it was begun anew", running, lambda: file.exists() and self.state(service) == "keeping")
        self.check(running)
        self.assertEqual(service.metrics()['drover_ledger_errors_total{kind="deleted"}'], 1)
        self.assertIn("was deleted or replaced while it was in use", service.log.read_text())
        ended = "SELECT state FROM jobs WHERE job = ?"
        self.until("its end was kept", lambda: rows(file, ended, running.id()) == [("succeeded",)])
        self.assertEqual(rows(file, "PRAGMA integrity_check"), [("ok",)])

    def test_a_master_killed_with_clones_running_has_none_of_them_twice(self):
        dolly = 'policy = "dolly"\ndolly.prior = 0.1\ndolly.beta = 1.0\ndolly.tau = 1.0\n'
        service, watched = self.service(dolly + ACT), Watched()
        running, _ = self.submit(watched, **{**AM_AWAY, **REDUCED, "lab.map.ms": 6000, "lab.slow.attempts": ""})
        self.wait("clones ran", running, lambda: watched.beside("RUNNING"))
        (master,) = ClusterPlace(self.cluster, None).masters()
        os.kill(master, signal.SIGKILL)
        result = self.unharmed(running, self.reduced)
        self.assertEqual(len(watched.masters), 2, "the job's second master never spoke")
        self.assertTrue(watched.applied)
        twice = {action: by for action, by in watched.applied.items() if len(by) > 1}
        self.assertEqual(twice, {}, "an action was carried out in both masters")
        self.assertTrue(self.told(service, result.job))


if __name__ == "__main__":
    unittest.main()
