"""A job of hundreds of maps at once on eight nodes: `./dev bench large` in small."""

import unittest

from lab import bench_large, build, thin
from lab.e2e import OnCluster
from lab.service import Service

TASKS, PLACES, LIMIT_S = 400, 12, 900
# So slow that what began there before the last maps of so short a job runs on after them.
NODE_FACTOR = 15


class Large(OnCluster):
    options = bench_large.cluster_options(PLACES)

    def test_copies_win_in_a_job_of_hundreds_of_maps_and_no_fact_of_it_is_lost(self):
        build.drover()
        build.shim()
        thin.start(self.cluster)
        with Service(self.cluster, bench_large.service_settings(self.cluster)).start(quiet=True) as service:
            found = bench_large.play(self.cluster, TASKS, service, NODE_FACTOR, LIMIT_S)
        judged = bench_large.judge(found)
        self.assertEqual([name for name, so in judged.items() if not so], [], {**found, "samples": []})


if __name__ == "__main__":
    unittest.main()
