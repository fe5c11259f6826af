import tempfile
import unittest
from pathlib import Path
from unittest import mock

from lab import client, jobs, proc
from lab.progress import Failed

# Tells of one job what its arguments ask it to; of the one that "stays", no end.
ANSWERS = """
while read -r asked; do
  told="${asked%.args}.log"
  echo 'SUBMITTED job_1' > "$told"
  if ! grep -q stays "$asked"; then echo 'ENDED 0' >> "$told"; fi
done
"""


class Clients(unittest.TestCase):
    def setUp(self):
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        self.cluster = mock.Mock(logs=Path(directory.name), dir=Path(directory.name))
        self.cluster.environment.return_value = None
        self.cluster.jvm.client.return_value = ["sh", "-c", ANSWERS]

    def submit(self, one: client.Client, name: str) -> client.Served:
        served = one.submit(jobs.Spec(settings={"lab.name": name}))
        self.assertEqual(served.id(), "job_1")
        return served

    def test_the_job_that_ended_is_told_from_the_one_that_has_not(self):
        with client.Client(self.cluster) as one:
            stays, ends = self.submit(one, "stays"), self.submit(one, "ends")
            while not ends.done():
                pass
            ends.end()
            self.assertFalse(stays.done(), "the end of one is no end of all")

    def test_leaving_one_job_early_ends_the_client_and_all_its_jobs(self):
        with client.Client(self.cluster) as one:
            stays, other = self.submit(one, "stays"), self.submit(one, "stays, too")
            with self.assertRaises(Failed):
                stays.result(limit_s=0.01)
            self.assertTrue(other.done())
            self.assertEqual(proc.group_members(one.process.pid), [])
            with self.assertRaises(Failed) as caught:
                one.submit(jobs.Spec())
        self.assertIn("client has ended", str(caught.exception))

    def test_a_job_has_its_arguments_one_a_line_blanks_and_all(self):
        with client.Client(self.cluster) as one:
            self.submit(one, "with blanks")
        (asked,) = self.cluster.logs.glob("submit-*.args")
        self.assertIn("-Dlab.name=with blanks", asked.read_text().splitlines())


if __name__ == "__main__":
    unittest.main()
