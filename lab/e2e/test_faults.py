import unittest

from lab import bench_faults
from lab.e2e import OnCluster


class Faults(OnCluster):
    options = bench_faults.OPTIONS

    def test_jobs_succeed_while_the_service_is_killed_stopped_and_black_holed(self):
        found = bench_faults.storm(self.cluster, count=6, at_once=3, seed=3, limit_s=900, whole=False)
        bench_faults.show(found)
        self.assertEqual([run for run in found["runs"] if not run["succeeded"]], [])
        self.assertEqual(found["succeeded"], 6)
        self.assertEqual([run["violations"] for run in found["runs"] if run["violations"]], [])
        # Which kinds hit a job in so short a run is a matter of time; the bench insists on all of them.
        self.assertGreater(found["exchanges_accepted"], 0)
        self.assertTrue(any(run["faults"] for run in found["runs"]))


if __name__ == "__main__":
    unittest.main()
