import unittest

from lab import watch
from lab.jobs import Attempt, Result


def attempt(task: str, node: str, start: int, finish: int, number: int = 0) -> Attempt:
    return Attempt(f"attempt_{task}_{number}", f"task_{task}", node, "SUCCEEDED", start, finish)


def advice(task: str, at: int, outcome: str = "advised", action: str = "duplicate") -> dict:
    return {"task": f"task_{task}", "at_ms": at, "outcome": outcome, "action": action, "node": "nm9", "reason": "why"}


class Judgement(unittest.TestCase):
    attempts = [
        attempt("a", "nm2", 0, 1000),
        attempt("b", "nm2", 0, 2000),
        attempt("c", "nm1", 0, 100),
        attempt("a", "nm3", 500, 900, 1),
    ]

    def judged(self, *decisions) -> dict:
        result = Result("job", True, 2.0, "", self.attempts)
        return watch.judge(result, watch.named(list(decisions)), "nm2")

    def test_the_latest_first_advice_counts_not_a_repeated_one(self):
        found = self.judged(advice("a", 200), advice("a", 800), advice("b", 900))
        self.assertEqual((found["slow_tasks"], found["advised"], found["advised_wrongly"]), (2, 2, 0))
        self.assertEqual(found["first_advice_fraction"], 0.45)
        self.assertTrue(watch.in_time(found))

    def test_a_task_never_named_is_not_in_time(self):
        found = self.judged(advice("a", 200), advice("b", 100, outcome="refused"), advice("b", 100, action="avoid"))
        self.assertEqual((found["advised"], found["first_advice_fraction"]), (1, 1.0))
        self.assertFalse(watch.in_time(found))

    def test_advice_on_a_healthy_nodes_task_is_wrong(self):
        found = self.judged(advice("a", 200), advice("b", 200), advice("c", 50))
        self.assertEqual(found["advised_wrongly"], 1)
        self.assertEqual([(row["task"], row["reason"]) for row in found["others"]], [("task_c", "why")])
        self.assertFalse(watch.in_time(found))

    def test_half_of_the_running_time_is_too_late(self):
        self.assertFalse(watch.in_time(self.judged(advice("a", 500), advice("b", 200))))

    def test_a_job_with_nothing_on_the_slow_node_shows_nothing(self):
        result = Result("job", True, 2.0, "", [attempt("c", "nm1", 0, 100)])
        self.assertFalse(watch.in_time(watch.judge(result, {}, "nm2")))
