import math
import unittest
from unittest import mock

from lab import fidelity, simulated
from lab.mixes import MIXES
from lab.simulated import Costs


def row(mix: str, arm: str, low: float, high: float, told: float) -> dict:
    return {"mix": mix, "arm": arm, "low": low, "high": high, "simulated": told}


class Scenarios(unittest.TestCase):
    costs = Costs(start_up=1.5, localize=1.0, commit=0.2, word_mb=2.0)

    def test_a_slow_node_and_the_masters_container_are_where_they_are_on_the_real_cluster(self):
        made = simulated.scenario(MIXES["two-slow-nodes"], "500ms", self.costs)
        masters, slow = {"nodes": 1, "memory_mb": 512}, {"nodes": 1, "slower": 10.0}
        self.assertEqual(made["cluster"]["kinds"], [masters, slow, slow, {"nodes": 1}])
        self.assertEqual(made["jobs"][0]["maps"], {"tasks": 16, "work": 4.0, "memory_mb": 320})
        self.assertEqual((made["hadoop"]["report"], made["hadoop"]["start_up"]), (0.5, 1.5))
        self.assertEqual(simulated.scenario(MIXES["two-slow-nodes"], "default", self.costs)["hadoop"]["report"], 6)

    def test_words_are_counted_by_the_mebibyte_and_a_throttled_node_has_its_share_of_the_processors_by_its_factor(self):
        with mock.patch.object(simulated, "processors", return_value=2):
            made = simulated.scenario(MIXES["word-count"], "500ms", self.costs)
        self.assertEqual(made["cluster"]["kinds"][1], {"nodes": 1, "processors": 0.2})
        work = made["jobs"][0]["maps"]
        self.assertEqual((work["tasks"], round(work["work"], 6), work["busy"]), (10, 2.4, 1))

    def test_tables_are_written_in_line(self):
        self.assertEqual(
            simulated.toml({"a": 1, "b": [{"c": "x", "d": False}]}), '{ a = 1, b = [{ c = "x", d = false }] }'
        )


class Fits(unittest.TestCase):
    def test_a_mixs_own_runs_have_no_part_in_what_it_is_simulated_with(self):
        real = {"one-task": {"none": [20.0]}, "one-slow-node": {"none": [20.0]}, "two-slow-nodes": {"none": [90.0]}}
        asked = []

        def answer(whole, _jobs):
            asked.append(whole["jobs"][0]["maps"]["tasks"])
            return 13 * whole["hadoop"]["start_up"] + whole["hadoop"]["localize"]

        with mock.patch.object(fidelity, "median", answer):
            costs = fidelity.Fit(real, "500ms").without("two-slow-nodes")
        self.assertEqual((costs.start_up, costs.localize), (1.5, 0.5))
        self.assertEqual(set(asked), {1, 16})


class Orders(unittest.TestCase):
    def test_only_pairs_whose_real_intervals_are_apart_are_held_to_their_order(self):
        apart = [row("a", "drover", 1.0, 2.0, 3.0), row("a", "none", 2.5, 3.0, 2.9)]
        self.assertEqual(fidelity.misordered(apart), ["a: drover before none"])
        self.assertEqual(fidelity.misordered([row("a", "drover", 1.0, 2.6, 3.0), row("a", "none", 2.5, 3.0, 2.9)]), [])
        self.assertEqual(fidelity.misordered([row("a", "drover", 1.0, 2.0, 3.0), row("b", "none", 2.5, 3.0, 2.9)]), [])

    def test_one_round_has_no_interval_and_five_have_students(self):
        self.assertEqual(fidelity.interval_of([7.0]), (-math.inf, math.inf))
        low, high = fidelity.interval_of([1.0, 2.0, 3.0, 4.0, 5.0])
        self.assertAlmostEqual(high - 3.0, 1.96, delta=0.02)
        self.assertAlmostEqual(3.0 - low, high - 3.0)

    def test_the_error_is_judged_on_the_mean_and_the_order_on_every_pair(self):
        rows = [
            {**row("a", "none", 9.0, 10.0, 9.0), "error": 0.05},
            {**row("a", "drover", 5.0, 6.0, 5.0), "error": -0.15},
        ]
        self.assertEqual([one["reached"] for one in fidelity.judge(rows, "500ms")], [True, True])
        self.assertEqual(fidelity.judge(rows, "500ms")[1]["measured"], "the same in 1 pairs")
        rows[1]["error"] = -0.16
        self.assertEqual(fidelity.judge(rows, "500ms")[0]["reached"], False)

    def test_an_order_is_not_reached_where_no_two_intervals_are_apart(self):
        rows = [{**row("a", arm, -math.inf, math.inf, 9.0), "error": 0.05} for arm in ("none", "drover")]
        self.assertEqual([one["reached"] for one in fidelity.judge(rows, "500ms")], [True, None])


if __name__ == "__main__":
    unittest.main()
