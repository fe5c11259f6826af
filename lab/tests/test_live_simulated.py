import unittest
from unittest import mock

from lab import live_simulated, simulated
from lab.batches import LIVE, NO_STRAGGLERS
from lab.simulated import Costs
from lab.tests.test_live_targets import played


class Simulated(unittest.TestCase):
    def test_a_group_has_the_same_jobs_and_the_same_law_of_luck(self):
        batch, costs = LIVE["dolly"], Costs(1.5, 1.0, 0.2)
        group = [one for one in batch.jobs(0) if one.wave == 1]
        whole = live_simulated.group_scenario(batch, group, "default", costs, straggles=True)
        self.assertEqual([job["maps"]["tasks"] for job in whole["jobs"]], [3, 1])
        self.assertEqual(whole["jobs"][0]["maps"], {"tasks": 3, "work": 20.0, "memory_mb": 128})
        self.assertEqual(whole["slowness"]["attempt"]["mixture"][1], [0.15, {"uniform": {"low": 3, "high": 8}}])
        self.assertEqual(whole["hadoop"]["report"], 6)
        plain = live_simulated.group_scenario(batch, group, "default", costs)
        self.assertEqual(plain["slowness"], {"attempt": 1})
        known = live_simulated.group_scenario(batch, group, "default", costs, known=True)
        self.assertEqual(known["slowness"], {"attempt": 1})
        luck = group[0].settings["lab.slow.attempts"]
        slow = [f"m_{task}_{attempt}:{times}" for task, attempt, times in known["jobs"][0]["maps"]["slow"]]
        self.assertEqual(",".join(slow), luck)

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

    def test_each_round_is_simulated_with_its_own_slow_attempts_though_one_before_it_was_rejected(self):
        batch, rounds, seen = LIVE["dolly"], played("dolly")[1:], []

        def answer(whole, policies, seeds, settings=None):
            if seeds == live_simulated.SEEDS_OF_EACH:
                seen.append([job["maps"]["slow"] for job in whole["jobs"]])
            return dict.fromkeys(policies, {"mean": 22.0, "p90": 30.0, "container_seconds": 9.0})

        with mock.patch.object(live_simulated, "times", answer), mock.patch("builtins.print"):
            live_simulated.beside(batch, rounds, "default")
        luck = [live_simulated.slow_attempts(batch.jobs(number)[0]) for number in (1, 2)]
        self.assertNotEqual(*luck)
        self.assertEqual([one[0] for one in seen[:2]], luck)

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
