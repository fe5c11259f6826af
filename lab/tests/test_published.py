"""What is asked of a run of Hadoop's own tests, besides that they pass."""

import tempfile
import unittest
from pathlib import Path

from lab import published
from lab.progress import Failed

REFUSED = (
    "2026-01-01 00:00:00,000 WARN [drover-exchange] io.drover.shim: Drover: no service answers: "
    "http://a:1/shim/v1/exchange (java.net.ConnectException: Connection refused); waiting 734 ms\n"
)
ACCEPTED = "2026-01-01 00:00:00,000 INFO [drover-exchange] io.drover.shim: Drover: session 0a accepted by http://a:1\n"


class Evidence(unittest.TestCase):
    def setUp(self):
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        self.ground = published.Ground(directory.name)
        self.ground.logs.mkdir()
        (self.ground.logs / "published.log").write_text(ACCEPTED * 2)

    def test_a_lone_master_speaks_in_the_log_of_its_test_and_counts_once(self):
        self.assertEqual(published.seen(self.ground, published.ACCEPTED), 1)
        self.assertEqual(published.seen(self.ground, published.BY_HADOOP), 0)

    def test_a_master_without_a_service_says_so(self):
        self.assertEqual(published.seen(self.ground, published.ALONE), 0)
        (self.ground.logs / "published.log").write_text(REFUSED)
        self.assertEqual(published.seen(self.ground, published.ALONE), 1)

    def test_only_masters_of_a_mini_cluster_count_not_its_tasks(self):
        for name, text in (("1_0001_01_000001", ACCEPTED), ("1_0002_01_000001", ""), ("1_0001_01_000002", ACCEPTED)):
            container = Path(self.ground.dir / "logDir" / f"container_{name}")
            container.mkdir(parents=True)
            (container / "syslog").write_text(text)
        self.assertEqual(published.seen(self.ground, published.ACCEPTED), 1)

    def test_another_number_of_masters_fails_the_run(self):
        published.require(2, 2, "sessions were accepted")
        with self.assertRaisesRegex(Failed, "1 sessions were accepted, not 2"):
            published.require(1, 2, "sessions were accepted")

    def test_every_case_of_the_class_with_a_clock_is_run(self):
        self.assertEqual(len(published.LONE), 4)
        self.assertEqual(len({published.CASES[case][1] for case in published.LONE}), 4)


if __name__ == "__main__":
    unittest.main()
