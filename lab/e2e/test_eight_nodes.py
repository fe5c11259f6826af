"""A cluster of eight nodes, five of them slow: copies ask for the others, and a Prometheus is asked everything of
config/ while they run."""

import contextlib
import json
import tempfile
import time
import unittest
from pathlib import Path

from lab import build, http, jobs, monitoring, promql, stage
from lab.e2e import OnCluster
from lab.progress import say
from lab.prometheus import Prometheus
from lab.scenarios import INTERVALS, SHORT, TEN_PLACES
from lab.service import Service
from lab.watch import NO_NATIVE_COPIES

NODES = 8
PLACES = {**TEN_PLACES, **INTERVALS[SHORT], "mapreduce.job.reduce.slowstart.completedmaps": 1.0}
# A map for each place: most are on slow nodes, so that it shows the others to be faster than the typical one; nobody
# copies anything of it.
SLOW = ("nm2", "nm3", "nm4", "nm5", "nm6")
SHOWN = {
    **PLACES,
    **NO_NATIVE_COPIES,
    "drover.mode": "advise",
    "lab.maps": 23,
    "lab.map.ms": 3000,
    "lab.slow.nodes": ",".join(f"{node}:16" for node in SLOW),
    # Some for each node: one whose NodeManager was silent for a moment is given none, else.
    "lab.split.hosts": ",".join(f"nm{nth}" for nth in range(1, NODES + 1)),
}
# Three attempts are slow wherever they run, and are given machines that were slow: where they ran on all that are known
# to be fast, no copy could ask for one of these. The reduce works on when their copies have won, while Prometheus
# reads.
JOB = {
    **PLACES,
    "lab.maps": 12,
    "lab.map.ms": 3000,
    "lab.slow.attempts": "m_3_0:30,m_7_0:30,m_11_0:30",
    "lab.split.hosts": "nm1,nm5,nm6,nm2,nm7,nm8,nm5,nm3,nm6,nm7,nm8,nm4",
    "lab.reduces": 1,
    "lab.reduce.ms": 40_000,
}
# What has no number here, and why.
SILENT = {
    'absent(up{job="drover"})': "the service is there",
    "instance:drover_rest_tasks_interval_seconds:p90_10m": "each job has a shim, so that no tasks are read over REST",
    "instance_nth:drover_restarts_won:ratio1d": "nothing is restarted: a share of nothing is no number",
}
WON = 'instance_action:drover_copies_won:ratio1d{action="duplicate"} > 0'


class EightNodes(OnCluster):
    options = {"nodes": NODES, "node_mb": stage.options("").node_mb}

    @classmethod
    def setUpClass(cls):
        build.drover()
        build.shim()
        super().setUpClass()
        stack = contextlib.ExitStack()
        cls.addClassCleanup(stack.close)
        directory = Path(stack.enter_context(tempfile.TemporaryDirectory(dir=cls.cluster.dir)))
        settings = f'{stage.ACT}\nledger.path = "{directory / "ledger.db"}"'
        cls.service = stack.enter_context(Service(cls.cluster, settings).start(quiet=True))
        prometheus = stack.enter_context(Prometheus(directory, cls.service.metrics_at))
        cls.shown = jobs.run(cls.cluster, jobs.Spec(shim=True, settings=SHOWN))
        running = jobs.Running(cls.cluster, jobs.Spec(shim=True, settings=JOB))
        try:
            cls.silent = cls.unanswered(prometheus, running)
            cls.result = running.result()
            cls.alarms = prometheus.ask('max_over_time(ALERTS{alertstate="firing"}[1h])')
        finally:
            running.end()

    @staticmethod
    def unanswered(prometheus: Prometheus, running: jobs.Running) -> list:
        """What had no answer at any time while the job ran, and whether a copy had won among it."""
        silent = {rule.name for rule in monitoring.rules("record")} | {WON}
        silent |= {monitoring.uncompared(one) for panel in monitoring.panels() for one in panel.asked}
        read = {one for alert in monitoring.rules("alert") for one in promql.unconditioned(alert.expr)}
        silent = {one for one in silent | read if one.partition("{cluster=")[0] not in SILENT}
        while silent and not running.done():
            time.sleep(0.5)
            for one in sorted(silent):
                with contextlib.suppress(http.Unanswered):
                    silent -= {one} if prometheus.numbers(one) else set()
        return sorted(silent)

    def test_copies_win_on_a_cluster_of_eight_nodes_each_of_which_has_tasks(self):
        self.assertTrue(self.shown.succeeded and self.result.succeeded)
        self.assertEqual(len({attempt.node for attempt in self.shown.attempts}), NODES)
        self.assertNotIn("FAILED", {attempt.state for attempt in self.result.attempts})
        self.assertTrue([copy for copy in self.result.copies() if copy.state == "SUCCEEDED"])

    def test_every_panel_metric_and_alert_has_data_while_copies_run_and_win_and_nobody_is_alarmed(self):
        self.assertEqual((self.silent, self.alarms), ([], []))

    def test_copies_ask_for_machines_that_are_known_to_be_fast_and_the_report_tells_how_many_came_there(self):
        copies = [one["copy"] for one in self.fates(self.service, self.result.job) if one["action"] == "duplicate"]
        preferred = {node for one in copies for node in one["prefer"]}
        self.assertTrue(preferred, copies)
        self.assertEqual(preferred & set(SLOW), set())
        rows = json.loads(self.service.cli("report", "--json"))["copies"]
        asked, there = (sum(row[key] for row in rows) for key in ("to_prefer", "on_preferred"))
        say(f"    of {asked} copies that were asked for on named hosts {there} ran there")
        nodes = {attempt.id: attempt.node for attempt in self.result.attempts}
        asking = [one for one in copies if one["prefer"]]
        ran = [nodes[attempt] in one["prefer"] for one in asking for attempt in one["attempts"] if attempt in nodes]
        self.assertEqual((asked, there), (len(ran), sum(ran)))


if __name__ == "__main__":
    unittest.main()
