import unittest

from lab import jobs
from lab.jobs import Attempt, Result


def attempt(number: int, start: int, finish: int, state: str = "KILLED", task: str = "t") -> Attempt:
    return Attempt(f"attempt_{task}_{number}", task, "nm1", state, 1000 * start, 1000 * finish)


def result(*attempts: Attempt) -> Result:
    return Result("job", True, 1.0, "", list(attempts))


class Copies(unittest.TestCase):
    def test_an_original_whose_end_the_history_lacks_lived_to_the_end_of_its_job(self):
        told = {"id": "attempt_t_0", "nodeHttpAddress": "nm1:8042", "state": "KILLED", "startTime": 5_000}
        for lacking in (0, -1):
            original = jobs.attempt({**told, "finishTime": lacking}, "t", 90_000)
            self.assertEqual(len(result(original, attempt(1, 50, 90, "SUCCEEDED")).copies()), 1)
        self.assertEqual(jobs.attempt({**told, "finishTime": 7_000}, "t", 90_000).finish_ms, 7_000)

    def test_an_attempt_beside_a_live_one_is_a_copy(self):
        found = result(attempt(0, 0, 100), attempt(1, 50, 90, "SUCCEEDED"))
        self.assertEqual([copy.id for copy in found.copies()], ["attempt_t_1"])
        self.assertEqual(found.summary()["copies_won"], 1)
        self.assertEqual(found.most_live(), {"t": 2})

    def test_what_replaces_an_ended_attempt_is_no_copy(self):
        found = result(attempt(0, 0, 40, "FAILED"), attempt(1, 40, 90, "SUCCEEDED"))
        self.assertEqual(found.copies(), [])
        self.assertEqual(found.most_live(), {"t": 1})

    def test_a_copys_replacement_counts_again_while_the_original_lives(self):
        found = result(attempt(0, 0, 100, "SUCCEEDED"), attempt(1, 30, 40), attempt(2, 41, 100))
        self.assertEqual(len(found.copies()), 2)
        self.assertEqual(found.most_live(), {"t": 2})

    def test_a_copy_is_as_late_as_it_is_launched_after_its_tasks_first_attempt_and_the_first_counts(self):
        copied = (attempt(0, 0, 100, "SUCCEEDED"), attempt(1, 30, 40), attempt(2, 41, 100))
        self.assertEqual(result(*copied, attempt(0, 7, 9, task="alone")).waits_ms(), {"t": 30_000})

    def test_one_killed_before_its_container_was_launched_is_no_copy(self):
        found = result(attempt(0, 0, 100), attempt(1, 50, 50.003), attempt(2, 51, 90, "SUCCEEDED"))
        self.assertEqual([copy.id for copy in found.copies()], ["attempt_t_2"])

    def test_attempts_of_other_tasks_are_nobodys_copies(self):
        found = result(attempt(0, 0, 100, task="a"), attempt(0, 50, 100, task="b"))
        self.assertEqual(found.copies(), [])

    def test_two_that_started_at_once_are_one_and_its_copy(self):
        found = result(attempt(0, 0, 100, "SUCCEEDED"), attempt(1, 0, 100))
        self.assertEqual([copy.id for copy in found.copies()], ["attempt_t_1"])
        self.assertEqual(found.most_live(), {"t": 2})

    def test_a_copy_beside_its_sibling_is_told_of_unless_it_was_moved_often_enough_or_came_at_the_very_end(self):
        slow, copy = attempt(0, 0, 100), attempt(1, 50, 90, "SUCCEEDED")
        self.assertEqual(result(slow, copy).crowded(1), [("attempt_t_1", "nm1", ["attempt_t_0"], 0)])
        moved = attempt(3, 50, 90, "SUCCEEDED")
        self.assertEqual(result(slow, moved).crowded(2), [])
        self.assertEqual(len(result(slow, moved).crowded(3)), 1)
        self.assertEqual(len(result(slow, attempt(2, 40, 40.003), moved).crowded(3)), 1)
        elsewhere = Attempt("attempt_t_1", "t", "nm2", "KILLED", 50_000, 90_000)
        self.assertEqual(result(slow, elsewhere).crowded(6), [])
        second = attempt(1001, 150, 190, "SUCCEEDED"), attempt(1000, 120, 200)
        self.assertEqual([one[0] for one in result(slow, *second).crowded(1)], ["attempt_t_1001"])
        late = result(slow, copy, attempt(2, 88, 91)).crowded(6)
        self.assertEqual([one[0] for one in late], ["attempt_t_1"])

    def test_every_attempt_pays_for_its_container(self):
        self.assertEqual(result(attempt(0, 0, 3), attempt(1, 1, 2.5)).summary()["container_seconds"], 4.5)

    def test_a_tasks_first_attempt_says_where_the_task_fell_and_its_copies_do_not(self):
        copy = Attempt("attempt_a_1", "a", "nm2", "SUCCEEDED", 50_000, 60_000)
        found = result(copy, attempt(0, 0, 100, task="a"), attempt(0, 20, 30, task="b"))
        self.assertEqual(found.summary()["first_by_node"], {"nm1": 2})


if __name__ == "__main__":
    unittest.main()
