import tempfile
import unittest
from pathlib import Path
from unittest import mock

from lab import hadoop, http
from lab.progress import Failed


class Versions(unittest.TestCase):
    def test_a_version_is_compared_by_its_numbers_and_not_as_text(self):
        of = ("2.7.7", "2.9.2", "2.10.2", "3.0.3", "3.5.0")
        self.assertEqual([one for one in of if hadoop.newer(one, 2, 9)], ["2.9.2", "2.10.2", "3.0.3", "3.5.0"])

    def test_a_list_of_one_without_its_brackets_is_read_as_one(self):
        self.assertEqual([http.listed(value) for value in (None, [], {"id": 1}, [1, 2])], [[], [], [{"id": 1}], [1, 2]])


class Fetching(unittest.TestCase):
    def fetched(self, fails: int) -> int:
        """How often a command that fails so often was run until it did not."""
        with tempfile.TemporaryDirectory() as held, mock.patch.object(hadoop, "PAUSES_S", (0, 0)):
            runs = Path(held) / "runs"
            script = f"echo >> {runs}; [ $(wc -l < {runs}) -gt {fails} ]"
            hadoop.persistently(["sh", "-c", script], Path(held) / "log")
            return len(runs.read_text().splitlines())

    def test_a_moment_without_network_fails_no_fetch(self):
        self.assertEqual([self.fetched(fails) for fails in (0, 1, 2)], [1, 2, 3])

    def test_a_fetch_that_never_succeeds_ends(self):
        with self.assertRaises(Failed):
            self.fetched(3)


if __name__ == "__main__":
    unittest.main()
