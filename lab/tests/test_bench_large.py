import unittest

from lab import bench_large, large_watched
from lab.jobs import Attempt, Result

TASKS = 100


def attempt(task: int, number: int, node: str, start: int, finish: int, state: str = "SUCCEEDED") -> Attempt:
    name = f"job_m_{task:06}"
    return Attempt(f"attempt_{name}_{number}", f"task_{name}", node, state, 1000 * start, 1000 * finish)


class Outcome(unittest.TestCase):
    def test_slow_attempts_lie_in_the_last_tenth_of_the_maps_and_are_told_apart_whatever_the_jobs_size(self):
        for tasks in (50, 400, 20_000):
            slow = bench_large.slow_attempts(tasks)
            self.assertEqual(len(set(slow)), bench_large.SLOW_ATTEMPTS)
            self.assertLess(max(slow), tasks)
            self.assertGreaterEqual(min(slow), tasks * 0.9)

    def test_copies_are_counted_by_why_their_tasks_were_slow(self):
        slow = bench_large.slow_attempts(TASKS)[0]
        others = (3, "nm5"), (4, bench_large.SLOW_NODE), (slow, "nm5")
        attempts = [attempt(1, 0, "nm1", 0, 5)]
        for task, node in others:
            attempts += [attempt(task, 0, node, 0, 20, "KILLED"), attempt(task, 1, "nm3", 10, 19)]
        found = bench_large.outcome(Result("job", True, 20, "", attempts), TASKS)
        self.assertEqual((found["copies"], found["copies_won"], found["copies_of_others"]), (3, 3, 1))
        self.assertEqual((found["won_of_slow_node"], found["won_of_slow_attempts"]), (1, 1))
        self.assertEqual((found["maps_succeeded"], found["seconds"]), (4, 20))


class Histogram(unittest.TestCase):
    def test_it_is_told_by_its_mean_and_by_bounds(self):
        rows = {"0.001": 5, "0.01": 9, "0.1": 10, "+Inf": 10}
        metrics = {f'x_bucket{{le="{bound}"}}': count for bound, count in rows.items()}
        found = large_watched.buckets({**metrics, "x_count": 10, "x_sum": 0.1}, "x")
        self.assertEqual(
            found, {"count": 10, "mean_ms": 10, "below_0.5_s": 0.001, "below_0.99_s": 0.1, "below_1_s": 0.1}
        )


if __name__ == "__main__":
    unittest.main()
