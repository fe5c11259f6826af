import tempfile
import unittest
from pathlib import Path
from unittest import mock

from lab import bench_live, live_report, live_targets
from lab.batches import LIVE, Planned
from lab.ledger import Ledger


def row(name: str, arm: str, planned: Planned, number: int = 0, take: int = 1, **more) -> dict:
    place = {"job": name, "interval": LIVE[name].interval, "round": number, "take": take, "foreign": 0.1}
    costs = {"container_seconds": 100.0, "copies": 0, "copies_won": 0, "restarts": 0, "restarts_won": 0}
    lost = {"lost_outputs": 3} if planned.loses else {}
    of = {"of": planned.name, "kind": planned.kind, "tasks": planned.tasks, "arm": arm, "digest": planned.name}
    times = {"seconds": 10.0, "waited_seconds": 1.0, "succeeded": True, "verdicts": {}}
    return {**place, **costs, **of, **times, **lost, **more}


def played(name: str, rounds=None, **by_arm) -> list:
    """Rounds of a scenario, in which an arm's runs differ by what is given for it."""
    batch = LIVE[name]
    return [
        {
            (arm, planned.name): row(name, arm, planned, number, **by_arm.get(arm.replace("-", "_"), {}))
            for arm in batch.arms
            for planned in batch.jobs(number)
        }
        for number in range(batch.rounds if rounds is None else rounds)
    ]


def judged(name: str, rounds=None, **by_arm) -> dict:
    whole = played(name, rounds, **by_arm)
    runs = [run for runs in whole for run in runs.values()]
    return {one["target"]: one["reached"] for one in live_targets.judge(name, LIVE[name], whole, runs)}


class Targets(unittest.TestCase):
    def one(self, part: str, name: str, **by_arm):
        found = [reached for what, reached in judged(name, **by_arm).items() if part in what]
        self.assertEqual(len(set(found)), 1, part)
        return found[0]

    def test_dolly_must_be_two_fifths_below_native_and_nearly_what_no_straggler_takes(self):
        for seconds, reached in ((6.0, True), (6.1, False)):
            self.assertIs(self.one("0.6 of native", "dolly", drover={"seconds": seconds}), reached)
        for seconds, reached in ((13.0, True), (13.1, False)):
            self.assertIs(self.one("without stragglers", "dolly", drover={"seconds": seconds}), reached)

    def test_the_p90_without_stragglers_is_that_of_its_own_arm(self):
        found = judged("dolly", drover={"seconds": 13.0}, no_stragglers={"seconds": 9.0})
        self.assertFalse(found["dolly: p90 of job times at most 1.3 of the same jobs without stragglers"])

    def test_mantri_is_judged_by_time_by_the_tuned_one_and_by_containers(self):
        for seconds, reached in ((6.0, True), (6.1, False)):
            self.assertIs(self.one("0.6 of native", "mantri", drover={"seconds": seconds}), reached)
        for seconds, reached in ((5.0, True), (4.9, False)):
            both = {"drover": {"seconds": 5.0}, "native_tuned": {"seconds": seconds}}
            self.assertIs(self.one("at most native-tuned's", "mantri", **both), reached)
        for held, reached in ((100.0, True), (100.1, False)):
            self.assertIs(self.one("container-seconds", "mantri", drover={"container_seconds": held}), reached)
        less = {"native_tuned": {"container_seconds": 99.0}}
        self.assertFalse(self.one("container-seconds", "mantri", **less), "neither's")

    def test_the_two_ways_of_mantris_node_are_judged_apart(self):
        whole = played("mantri", drover={"seconds": 5.0})
        for runs in whole:
            for run in runs.values():
                if run["kind"] == "turns-slow":
                    run["seconds"] = 10.0
        found = {one["target"]: one["reached"] for one in live_targets.mantri(live_targets.pairs(whole))}
        self.assertTrue(found["mantri, slow-node: mean job time at most 0.6 of native"])
        self.assertFalse(found["mantri, turns-slow: mean job time at most 0.6 of native"])

    def test_more_data_gets_no_copy_and_no_restart_and_has_its_cause_named(self):
        named = {"verdicts": {"more_data": 1}}
        self.assertTrue(self.one("no copy", "data", drover=named))
        for wrong in ({}, {**named, "copies": 1}, {**named, "restarts": 1}):
            self.assertFalse(self.one("no copy", "data", drover=wrong))

    def test_where_nothing_is_slow_copies_are_few_and_nothing_is_held(self):
        self.assertTrue(self.one("one copy in 50", "healthy"))
        self.assertFalse(self.one("one copy in 50", "healthy", drover={"copies": 1}))
        for held, reached in ((102.0, True), (102.1, False)):
            self.assertIs(self.one("1.02 of none", "healthy", drover={"container_seconds": held}), reached)

    def test_a_mix_is_to_be_faster_from_the_submission_on_and_hardly_dearer(self):
        for part in ("mean job time below", "p90 of job times below"):
            self.assertFalse(self.one(part, "mix"), "as fast is not below")
            self.assertTrue(self.one(part, "mix", drover={"seconds": 9.9}))
            self.assertFalse(self.one(part, "mix", drover={"seconds": 9.9, "waited_seconds": 1.2}))
        for held, reached in ((105.0, True), (105.1, False)):
            self.assertIs(self.one("1.05 of none", "mix", drover={"container_seconds": held}), reached)

    def test_after_a_lost_node_the_mean_is_to_be_below_natives_and_as_much_must_be_lost_in_each_run(self):
        self.assertFalse(self.one("below native's", "lost-node"), "as fast is not below")
        self.assertTrue(self.one("below native's", "lost-node", drover={"seconds": 9.9}))
        self.assertTrue(self.one("same outputs lost", "lost-node"))
        for lost in (0, 2):
            self.assertFalse(self.one("same outputs lost", "lost-node", native={"lost_outputs": lost}))

    def test_a_failed_job_and_another_output_miss_their_targets_in_every_scenario(self):
        for name in LIVE:
            good = judged(name)
            self.assertTrue(
                good["every job succeeds"] and good["outputs equal byte for byte to those without speculation"]
            )
            self.assertFalse(judged(name, native={"succeeded": False})["every job succeeds"])
            for digest in ("other", ""):
                found = judged(name, drover={"digest": digest})
                self.assertFalse(found["outputs equal byte for byte to those without speculation"], name)

    def test_outputs_of_rejected_rounds_count_and_none_to_compare_with_shows_nothing(self):
        planned = LIVE["data"].jobs(0)[0]
        none, other = row("data", "none", planned), row("data", "drover", planned, take=2, digest="x")
        self.assertFalse(live_targets.same_outputs([none, other])["reached"])
        self.assertIsNone(live_targets.same_outputs([other])["reached"])

    def test_fewer_rounds_than_a_scenario_has_say_nothing(self):
        for name, batch in LIVE.items():
            self.assertIsNone(judged(name, batch.rounds - 1)[name], name)


class Reports(unittest.TestCase):
    def test_differences_are_told_job_by_job_with_their_interval(self):
        found = live_targets.pairs(played("data", drover={"seconds": 8.0}))
        told = {one["arm"]: one for one in live_report.differences(found, tuple(LIVE["data"].arms))}
        self.assertEqual(set(told), {"none", "native", "native-tuned"})
        native = told["native"]
        self.assertEqual((native["pairs"], native["difference"], native["ratio"]), (9, -2.0, 0.8))
        self.assertEqual((native["low"], native["high"]), (-2.0, -2.0))

    def test_a_report_has_what_was_judged_and_every_run(self):
        with tempfile.TemporaryDirectory() as directory:
            ledger = Ledger(Path(directory) / "runs.jsonl", "now", 0.35)
            for runs in played("mantri"):
                for one in runs.values():
                    ledger.add(one)
            with mock.patch("builtins.print"):
                told = live_report.report(ledger, bench_live.cell_of("mantri"), LIVE["mantri"], "rule")
        self.assertLessEqual({"rule", "cells", "pairs", "targets", "runs"}, set(told))
        self.assertIs(told["outputs_equal"], True)
        self.assertEqual((len(told["runs"]), all(run["counts"] for run in told["runs"])), (3 * 4 * 2, True))

    def test_copies_and_restarts_a_task_and_their_success_are_told_together(self):
        found = live_targets.pairs(played("mantri", 1, drover={"copies": 3, "copies_won": 2, "restarts": 1}))
        told = live_report.summary(found, "drover")
        self.assertEqual((told["restarts_per_task"], told["success"]), (round(8 / 64, 3), 0.5))
        self.assertIsNone(live_report.summary(found, "none")["success"])


if __name__ == "__main__":
    unittest.main()
