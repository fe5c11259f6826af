import unittest

from lab import bench_faults
from lab.jobs import Attempt, Result


def fault(kind: str, at_ms: int, seconds: float) -> dict:
    return {"fault": kind, "at_ms": at_ms, "seconds": seconds}


class Storms(unittest.TestCase):
    result = Result("job", True, 9.0, "", [Attempt("a_0", "a", "nm1", "SUCCEEDED", 10_000, 19_000)])

    def found(self, **changes) -> dict:
        runs = [{"faults": ["killed", "stopped"]}, {"faults": ["black hole"]}]
        return {"succeeded": 2, "asked": 2, "exchanges_accepted": 5, "runs": runs, **changes}

    def test_faults_before_and_after_a_jobs_tasks_do_not_count_as_its_own(self):
        struck = [fault("killed", 5_000, 4), fault("stopped", 8_000, 4), fault("black hole", 19_500, 1)]
        self.assertEqual(bench_faults.hits(struck, self.result), ["stopped"])

    def test_every_job_must_succeed(self):
        self.assertTrue(bench_faults.shows(self.found()))
        self.assertFalse(bench_faults.shows(self.found(succeeded=1)))

    def test_a_run_in_which_no_shim_spoke_or_a_fault_hit_no_job_shows_nothing(self):
        self.assertFalse(bench_faults.shows(self.found(exchanges_accepted=0)))
        self.assertFalse(bench_faults.shows(self.found(runs=[{"faults": ["killed", "stopped"]}])))

    def test_the_same_seed_draws_the_same_faults(self):
        drawn = [
            [storm.fault() for _ in range(9)] for storm in (bench_faults.Storm(None, 1, 1, seed) for seed in (7, 7))
        ]
        self.assertEqual(drawn[0], drawn[1])
        self.assertEqual(
            {kind: drawn[0].count(kind) for kind in bench_faults.FAULTS}, dict.fromkeys(bench_faults.FAULTS, 3)
        )


if __name__ == "__main__":
    unittest.main()
