import argparse
import tempfile
import unittest
from pathlib import Path
from unittest import mock

from lab import bench, bench_act, bench_live, paths
from lab.batch_play import BatchPlay
from lab.batches import LIVE
from lab.jobs import Result
from lab.ledger import Ledger
from lab.progress import Failed
from lab.tests.test_bench_act import PROGRAMS
from lab.tests.test_live_targets import played
from lab.watch import Said


class Rounds(unittest.TestCase):
    def setUp(self):
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        self.file = Path(directory.name) / "runs.jsonl"
        self.cell = bench_live.cell_of("data")

    def ledger(self, build: str = "now") -> Ledger:
        return Ledger(self.file, build, 0.35)

    def test_a_round_is_whole_with_every_job_in_every_arm_and_a_second_start_carries_on(self):
        ledger, rows = self.ledger(), list(played("data", 1)[0].values())
        for one in rows[:-1]:
            ledger.add(one)
        self.assertIsNone(self.ledger().accepted(self.cell, 0))
        self.ledger().add(rows[-1])
        again = self.ledger()
        self.assertEqual(len(again.rounds(self.cell)), 1)
        self.assertEqual(self.ledger("another").rounds(self.cell), [])

        stage, asked = mock.Mock(), []
        live = bench_live.LiveBench(stage, again, [self.cell], 2, LIVE)
        live.round = lambda cell, number, take: asked.append((number, take))
        with mock.patch.object(bench_act, "TAKES", 1):
            live.run()
        self.assertEqual(asked, [(1, 1)])

    def test_no_round_is_begun_that_would_not_end_in_time_but_a_first_one(self):
        clock, asked = mock.Mock(return_value=0.0), []
        with mock.patch.object(bench_live.time, "monotonic", clock):
            live = bench_live.LiveBench(mock.Mock(), self.ledger(), [self.cell], 9, LIVE, minutes=40)
            live.takes_s = 60

            def play(_cell, number, _take):
                asked.append(number)
                clock.return_value += 15 * 60

            live.round = play
            live.run()
            self.assertEqual(asked, [0, 1], "a third would end after 45 minutes")
            live.minutes = 1
            live.begun, live.played = clock.return_value, 0
            live.run()
        self.assertEqual(asked, [0, 1, 0])

    def test_one_overloaded_arm_rejects_the_round(self):
        ledger = self.ledger()
        for one in played("data", 1, native={"foreign": 0.4})[0].values():
            ledger.add(one)
        self.assertIsNone(ledger.accepted(self.cell, 0))

    def test_a_round_turns_its_arms_and_writes_a_line_for_each_job(self):
        ledger = self.ledger()
        live = bench_live.LiveBench(mock.Mock(), ledger, [self.cell], None, LIVE)
        planned = LIVE["data"].jobs(1)

        def plays(cell, arm, number):
            result = Result("job_1", True, 10.0, "", [])
            return [BatchPlay(cell.scenario, arm, result, Said(), one, 0.5) for one in planned]

        live.plays, live.calm = plays, lambda: None
        with mock.patch.object(bench_act, "Foreign", lambda _: mock.Mock(share=lambda: 0.0)):
            live.round(self.cell, 1, 1)
        arms = list(dict.fromkeys(one["arm"] for one in ledger.rows))
        self.assertEqual(arms, ["native", "native-tuned", "drover", "none"])
        self.assertEqual(len(ledger.accepted(self.cell, 1)), 4 * len(planned))

    def test_each_scenario_has_a_name_of_its_own_for_what_is_measured(self):
        with mock.patch.multiple(paths, **PROGRAMS):
            names = {bench_act.fingerprint({name: batch}, bench_live.SOURCES) for name, batch in LIVE.items()}
        self.assertEqual(len(names), len(LIVE))

    def test_its_file_has_the_scenarios_name(self):
        with tempfile.TemporaryDirectory() as directory, mock.patch.object(paths, "ROOT", Path(directory)):
            with mock.patch.object(bench_live, "run", lambda asked: ({"of": asked.scenario}, True)):
                self.assertEqual(bench.main(["live", "data"]), 0)
            self.assertTrue((Path(directory) / "bench-live-data.json").is_file())


class Settings(unittest.TestCase):
    def test_a_setting_that_is_asked_for_takes_the_place_of_the_scenarios_and_is_another_bench(self):
        words = ("policy=late", "act.restart=false")
        settings = [bench_live.setting(word) for word in words]
        asked = mock.Mock(scenario="mantri", interval=None, set=settings, stretch=1.0)
        names, whole = [], {"targets": [{"reached": True}]}

        def measured(_asked, _home, named, cells, report, played, bench, size):
            self.assertEqual(
                played["mantri"].toml(),
                'policy = "late"\nact.restart = false\nact.avoid = true\nblacklist.beside = true',
            )
            names.append(named())
            return whole

        with mock.patch.object(bench_act, "measured", measured), mock.patch.multiple(paths, **PROGRAMS):
            asked.foreign_limit = 0.35
            self.assertEqual(bench_live.run(asked), (whole, True))
            self.assertNotEqual(names, [bench_act.fingerprint({"mantri": LIVE["mantri"]}, bench_live.SOURCES)])
        with self.assertRaises(argparse.ArgumentTypeError):
            bench_live.setting("act.restart")

    def test_arrivals_are_stretched_by_a_number_within_bounds_and_only_where_jobs_arrive(self):
        self.assertEqual(bench_live.stretch("1.4"), 1.4)
        for word in (".5", "11", "nan", "slow"):
            with self.assertRaises(argparse.ArgumentTypeError):
                bench_live.stretch(word)
        with self.assertRaises(Failed):
            bench_live.run(mock.Mock(scenario="data", interval=None, set=[], stretch=2.0))


if __name__ == "__main__":
    unittest.main()
