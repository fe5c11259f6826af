import argparse
import tempfile
import unittest
from pathlib import Path
from unittest import mock

from lab import (
    batch_play,
    bench,
    bench_act,
    bench_live,
    jobs,
    live_report,
    live_simulated,
    live_targets,
    paths,
    simulated,
)
from lab.batch_play import BatchPlay, Wave
from lab.batches import LIVE, NO_STRAGGLERS, Planned
from lab.jobs import Result
from lab.ledger import Ledger
from lab.progress import Failed
from lab.simulated import Costs
from lab.watch import Said


def row(name: str, arm: str, planned: Planned, number: int = 0, take: int = 1, **more) -> dict:
    place = {"job": name, "interval": LIVE[name].interval, "round": number, "take": take, "foreign": 0.1}
    costs = {"container_seconds": 100.0, "copies": 0, "copies_won": 0, "restarts": 0, "restarts_won": 0}
    of = {"of": planned.name, "kind": planned.kind, "tasks": planned.tasks, "arm": arm, "digest": planned.name}
    times = {"seconds": 10.0, "waited_seconds": 1.0, "succeeded": True, "verdicts": {}}
    return {**place, **costs, **of, **times, **more}


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
        with mock.patch.multiple(paths, **{name: __file__ for name in ("DROVER", "SHIM_JAR", "JOBS_JAR")}):
            names = {bench_act.fingerprint({name: batch}, bench_live.SOURCES) for name, batch in LIVE.items()}
        self.assertEqual(len(names), len(LIVE))


class Settings(unittest.TestCase):
    def test_a_setting_that_is_asked_for_takes_the_place_of_the_scenarios_and_is_another_bench(self):
        asked = mock.Mock(
            scenario="mantri", interval=None, set=[bench_live.setting(w) for w in ("policy=late", "act.restart=false")]
        )
        programs = {name: __file__ for name in ("DROVER", "SHIM_JAR", "JOBS_JAR")}
        names = []

        def measured(_asked, _home, named, cells, report, played, bench, size):
            self.assertEqual(played["mantri"].toml(), 'policy = "late"\nact.restart = false')
            names.append(named())
            return {"targets": []}

        with mock.patch.object(bench_act, "measured", measured), mock.patch.multiple(paths, **programs):
            asked.foreign_limit = 0.35
            self.assertEqual(bench_live.run(asked), ({"targets": []}, True))
            self.assertNotEqual(names, [bench_act.fingerprint({"mantri": LIVE["mantri"]}, bench_live.SOURCES)])
        with self.assertRaises(argparse.ArgumentTypeError):
            bench_live.setting("act.restart")


class Restarts(unittest.TestCase):
    def test_what_was_killed_to_start_anew_is_counted_and_what_never_came_to_be_is_not(self):
        states = ("won", "lost", "unknown", "refused", "unsent", "unanswered")
        decisions = [{"action": "restart", "copy": {"state": state}} for state in states]
        decisions += [{"action": "duplicate", "copy": {"state": "won"}}, {"action": "restart"}]
        planned = LIVE["mantri"].jobs(0)[0]
        made = BatchPlay("mantri", "drover", Result("job_1", True, 1.0, "", []), Said(), planned, 0.0, decisions).row()
        self.assertEqual((made["restarts"], made["restarts_won"], made["of"]), (3, 1, planned.name))

    def test_copies_and_restarts_a_task_and_their_success_are_told_together(self):
        found = live_targets.pairs(played("mantri", 1, drover={"copies": 3, "copies_won": 2, "restarts": 1}))
        told = live_report.summary(found, "drover")
        self.assertEqual((told["restarts_per_task"], told["success"]), (round(8 / 64, 3), 0.5))
        self.assertIsNone(live_report.summary(found, "none")["success"])


class Waves(unittest.TestCase):
    def client(self, lasts: int):
        one = mock.Mock()
        one.done.side_effect = [False] * lasts + [True] * 99
        return one

    def play(self, made: dict, planned: list) -> tuple:
        begun = []

        def start(_, spec):
            begun.append(spec)
            return made[spec]

        with mock.patch.object(jobs, "Running", start), mock.patch.object(batch_play, "POLL_S", 0.001):
            return begun, Wave(None, planned, lambda one: one.name).play()

    def test_jobs_are_submitted_when_they_are_due_though_others_run(self):
        planned = [Planned("late", "k", 1, {}, at=0.02), Planned("first", "k", 1, {})]
        begun, ended = self.play({"late": self.client(1), "first": self.client(60)}, planned)
        self.assertEqual(begun, ["first", "late"])
        self.assertEqual([one.name for one, _ in ended], ["late", "first"])

    def test_one_that_does_not_end_is_ended_and_told(self):
        stuck = self.client(10**4)
        with mock.patch.object(jobs, "JOB_LIMIT_S", 0.01), self.assertRaises(Failed):
            self.play({"stuck": stuck}, [Planned("stuck", "k", 1, {})])
        stuck.end.assert_called_once()


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
        self.assertEqual((len(told["runs"]), all(run["counts"] for run in told["runs"])), (4 * 4 * 2, True))

    def test_its_file_has_the_scenarios_name(self):
        with tempfile.TemporaryDirectory() as directory, mock.patch.object(paths, "ROOT", Path(directory)):
            with mock.patch.object(bench_live, "run", lambda asked: ({"of": asked.scenario}, True)):
                self.assertEqual(bench.main(["live", "data"]), 0)
            self.assertTrue((Path(directory) / "bench-live-data.json").is_file())


class Simulated(unittest.TestCase):
    def test_a_group_has_the_same_jobs_and_the_same_law_of_luck(self):
        batch, costs = LIVE["dolly"], Costs(1.5, 1.0, 0.2)
        group = [one for one in batch.jobs(0) if one.wave == 1]
        whole = live_simulated.group_scenario(batch, group, "default", costs, straggles=True)
        self.assertEqual([job["maps"]["tasks"] for job in whole["jobs"]], [3, 1])
        self.assertEqual(whole["jobs"][0]["maps"], {"tasks": 3, "work": 20.0, "memory_mb": 128})
        self.assertEqual(whole["slowness"]["attempt"]["mixture"][1], [0.15, {"uniform": {"low": 3, "high": 8}}])
        self.assertEqual(whole["hadoop"]["report"], 6)
        plain = live_simulated.group_scenario(batch, group, "default", costs, straggles=False)
        self.assertEqual(plain["slowness"], {"attempt": 1})

    def test_real_times_stand_beside_those_that_costs_of_other_groups_give(self):
        rounds = played("dolly", no_stragglers={"seconds": 25.0}, drover={"seconds": 30.0})

        def answer(whole, policies, seeds, settings=None):
            own = whole["hadoop"]["start_up"] + len(whole["jobs"])
            of = {"mean": 22.0 + own, "p90": 30.0, "container_seconds": 9.0}
            return dict.fromkeys(policies, of)

        with mock.patch.object(live_simulated, "times", answer), mock.patch("builtins.print"):
            told = live_simulated.beside(LIVE["dolly"], rounds, "default")
        self.assertEqual(len(told["fidelity"]), 3 * 4)
        drover = [one for one in told["fidelity"] if one["arm"] == "drover"]
        self.assertEqual([one["real"] for one in drover], [30.0] * 3)
        # A group of four tasks alone is fitted by those of two and three jobs, which want less of a start.
        self.assertEqual([one["jobs"] for one in drover], ["4 tasks", "3 and 1 tasks", "2 and 2 and 1 tasks"])
        self.assertEqual(told["fidelity"][0]["costs"]["start_up"], 0.6)

    def test_ten_tasks_are_judged_as_the_smaller_jobs_are(self):
        ten = {arm: {"mean": 10.0, "p90": 10.0} for arm in ("native", "drover", NO_STRAGGLERS)}
        self.assertEqual([one["reached"] for one in live_simulated.judge(ten)], [False, True])
        ten["drover"] = {"mean": 6.0, "p90": 13.1}
        self.assertEqual([one["reached"] for one in live_simulated.judge(ten)], [True, False])

    def test_settings_go_to_the_simulator_as_its_own_and_the_policy_by_name(self):
        self.assertNotIn("policy", live_simulated.settings(LIVE["dolly"].service))
        said = mock.Mock(returncode=0, stdout='{"policies": []}')
        with mock.patch.object(simulated.subprocess, "run", return_value=said) as ran:
            simulated.times({}, ["none", "drover"], 3, {"dolly.beta": 0.5})
        command = ran.call_args[0][0]
        self.assertIn("none,drover", command)
        self.assertEqual(command[-2:], ["--set", "dolly.beta=0.5"])


if __name__ == "__main__":
    unittest.main()
