import tempfile
import unittest
from unittest import mock

from lab import paths
from lab.cluster import Cluster
from lab.options import Options
from lab.progress import Failed


class WhichCluster(unittest.TestCase):
    def advice(self, directory) -> str:
        """What is said to whoever boots a cluster where one is up."""
        with mock.patch.object(Cluster, "running", return_value=True), self.assertRaises(Failed) as caught:
            Cluster(directory).up(Options())
        return str(caught.exception)

    def test_the_command_that_is_to_end_a_cluster_means_that_one_and_no_other(self):
        with tempfile.TemporaryDirectory() as directory:
            self.assertIn(f"./dev cluster down --dir {directory}", self.advice(directory))
        self.assertTrue(self.advice(paths.CLUSTER).endswith("./dev cluster down"))


if __name__ == "__main__":
    unittest.main()
