import contextlib
import io
import unittest

from lab import bench, bench_cargo, bench_faults, paths
from lab.jobs import Attempt, Result


def fault(kind: str, at_ms: int, seconds: float) -> dict:
    return {"fault": kind, "at_ms": at_ms, "seconds": seconds}


class Cargo(unittest.TestCase):
    def test_what_a_bench_prints_and_how_it_ends_is_kept(self):
        with contextlib.redirect_stdout(io.StringIO()) as shown:
            self.assertEqual(bench_cargo.watched(["sh", "-c", "echo 1; echo 2"]), (["1", "2"], 0))
            self.assertEqual(bench_cargo.watched(["sh", "-c", "echo 3; exit 4"]), (["3"], 4))
        self.assertEqual(shown.getvalue(), "1\n2\n3\n")

    def test_every_bench_that_cargo_has_is_known(self):
        patterns = ("benches/*.rs", "benches/*/main.rs", "core/benches/*.rs")
        sources = [file for pattern in patterns for file in paths.ROOT.glob(pattern)]
        names = {file.parent.name if file.name == "main.rs" else file.stem for file in sources}
        known = {words[-1] for _, words in bench_cargo.TARGETS.values()}
        self.assertEqual(names, known)
        self.assertLessEqual(set(bench_cargo.TARGETS), set(bench.BENCHES))


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
