import tempfile
import unittest
from dataclasses import replace
from pathlib import Path
from unittest import mock

from lab import bench_act, paths, targets
from lab.arms import ARMS
from lab.ledger import Cell, Ledger
from lab.scenarios import SCENARIOS

CELL = Cell("one-slow-node", "500ms", ("native", "drover"))


def row(arm: str, number: int = 0, take: int = 1, foreign: float = 0.1, **more) -> dict:
    place = {"job": CELL.scenario, "interval": CELL.interval, "round": number, "take": take, "foreign": foreign}
    found = {"seconds": 10.0, "copies": 0, "copies_won": 0, "container_seconds": 50.0, "succeeded": True}
    return {**place, **found, "arm": arm, "digest": "", "verdicts": {}, **more}


# In the place of what has been built.
PROGRAMS = {"drover": lambda: __file__, "SHIM_JAR": __file__, "JOBS_JAR": __file__}


class Fingerprints(unittest.TestCase):
    def test_jobs_that_are_played_otherwise_are_another_bench(self):
        played = dict(SCENARIOS)
        with mock.patch.multiple(paths, **PROGRAMS):
            before = bench_act.fingerprint(played)
            self.assertEqual(bench_act.fingerprint(dict(reversed(played.items()))), before)
            played[CELL.scenario] = replace(played[CELL.scenario], settings={"lab.maps": 3})
            self.assertNotEqual(bench_act.fingerprint(played), before)


class Ledgers(unittest.TestCase):
    def setUp(self):
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        self.file = Path(directory.name) / "runs.jsonl"

    def ledger(self, *rows: dict, build: str = "now") -> Ledger:
        found = Ledger(self.file, build, 0.35)
        for one in rows:
            found.add(one)
        return found

    def test_a_second_start_carries_on_and_a_line_cut_short_is_left_out(self):
        self.ledger(row("native"), row("drover"))
        with self.file.open("a") as out:
            out.write('{"build": "now", "jo')
        again = self.ledger()
        self.assertEqual(len(again.rounds(CELL)), 1)
        self.assertEqual(again.accepted(CELL, 0)["drover"]["arm"], "drover")
        again.add(row("native", number=1))
        again.add(row("drover", number=1))
        self.assertEqual(len(self.ledger().rounds(CELL)), 2)

    def test_runs_of_another_build_are_not_mixed_in(self):
        self.ledger(row("native"), row("drover"), build="before")
        self.assertEqual(self.ledger().rounds(CELL), [])

    def test_a_round_cut_short_does_not_count_nor_is_it_filled_up_later(self):
        ledger = self.ledger(row("native"), row("drover", take=2))
        self.assertEqual((ledger.rounds(CELL), len(ledger.takes(CELL, 0))), ([], 2))

    def test_one_run_on_an_overloaded_machine_rejects_its_round_and_another_take_stands(self):
        ledger = self.ledger(row("native"), row("drover", foreign=0.36))
        self.assertIsNone(ledger.accepted(CELL, 0))
        for one in (row("native", take=2, seconds=7.0), row("drover", take=2)):
            ledger.add(one)
        self.assertEqual(ledger.accepted(CELL, 0)["native"]["seconds"], 7.0)


class Intervals(unittest.TestCase):
    def test_a_scenario_differs_by_interval_only_where_it_says_so(self):
        self.assertEqual(SCENARIOS["one-slow-node"].more_at("default"), {})
        self.assertEqual(list(SCENARIOS["turns-slow"].more_at("500ms").values()), [500])
        self.assertEqual(SCENARIOS["turns-slow"].more_at("default"), {"lab.map.ms": 16000})


class Targets(unittest.TestCase):
    def judged(self, scenario: str, interval: str, rounds: list) -> dict:
        runs = [run for arms in rounds for run in arms.values()]
        found = targets.judge({(scenario, interval): rounds}, runs, SCENARIOS["healthy"].tasks)
        return {one["target"].partition(": ")[2] or one["target"]: one["reached"] for one in found}

    def rounds(self, count: int = 5, **seconds: float) -> list:
        return [{arm: row(arm, seconds=seconds.get(arm.replace("-", "_"), 10.0)) for arm in ARMS}] * count

    def test_half_of_natives_time_is_enough_only_if_the_tuned_one_is_no_faster(self):
        found = self.judged("one-slow-node", "500ms", self.rounds(native=20.0, native_tuned=9.9, drover=10.0))
        self.assertTrue(found["time at most 0.55 of native"])
        self.assertFalse(found["time at most 1 of native-tuned"])

    def test_the_better_of_the_two_is_to_be_beaten_at_the_default_interval(self):
        found = self.judged("one-slow-node", "default", self.rounds(native=9.0, native_tuned=11.0))
        self.assertFalse(found["time at most 1 of native and of native-tuned"])

    def test_fifteen_in_a_hundred_is_to_be_gained_where_it_is_hard(self):
        hard = "time at most 0.85 of native-tuned"
        self.assertTrue(self.judged("turns-slow", "default", self.rounds(drover=8.5))[hard])
        self.assertFalse(self.judged("turns-slow", "default", self.rounds(drover=8.6))[hard])

    def test_where_the_tuned_one_has_a_good_answer_drover_must_not_be_slower(self):
        for seconds, reached in ((11.0, True), (11.1, False)):
            rounds = self.rounds(native=20.0, native_tuned=11.0, drover=seconds)
            self.assertEqual(
                list(self.judged("slow-reduces", "default", rounds).items())[0],
                ("time at most 1 of native-tuned", reached),
            )
        rounds = self.rounds(native=20.0, native_tuned=11.1, drover=11.0)
        self.assertIs(self.judged("slow-reduces", "default", rounds)["time at most 0.85 of native-tuned"], False)

    def test_four_rounds_say_nothing(self):
        self.assertIsNone(
            self.judged("turns-slow", "default", self.rounds(4, drover=1.0))["time at most 0.85 of native-tuned"]
        )

    def test_a_copy_of_the_task_with_more_data_or_silence_about_it_misses_the_target(self):
        def found(**drover) -> bool:
            rounds = [{"drover": row("drover", **drover)}] * 5
            return self.judged("more-data", "500ms", rounds)["no copy, and the cause said"]

        self.assertTrue(found(verdicts={"more_data": 1}))
        self.assertFalse(found(verdicts={"more_data": 1}, copies=1))
        self.assertFalse(found())

    def test_nothing_slow_is_judged_by_copies_containers_and_the_bound(self):
        pairs = [{"none": row("none"), "drover": row("drover", seconds=10.4 + i % 2 / 5)} for i in range(30)]
        found = self.judged("healthy", "500ms", pairs)
        self.assertTrue(found["at most one copy in 50 tasks"])
        self.assertTrue(found["container-seconds at most 1.02 of none"])
        self.assertFalse(found["upper 95 % bound of the time ratio at most 1.05"])

    def test_one_job_that_failed_misses_the_target_even_in_a_rejected_round(self):
        found = targets.judge({}, [row("native"), row("drover", foreign=0.9, succeeded=False)], 1)
        self.assertEqual([one["reached"] for one in found], [False])

    def test_outputs_are_compared_over_all_arms_and_only_copies_show_anything(self):
        def same(*digests: str, copies: int = 1):
            return targets.same_output([row("native", digest=one, copies=copies) for one in digests])["reached"]

        self.assertTrue(same("a", "a"))
        self.assertFalse(same("a", "b"))
        self.assertIsNone(same("a", "a", copies=0))


if __name__ == "__main__":
    unittest.main()
