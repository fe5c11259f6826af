import contextlib
import io
import json
import random
import tempfile
import unittest
from pathlib import Path

from lab import bench, bench_cargo, bench_faults, faults, paths
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
    attempts = [
        Attempt("a_0", "a", "nm1", "SUCCEEDED", 10_000, 19_000),
        Attempt("a_1", "a", "nm2", "KILLED", 12_000, 19_000),
    ]
    result = Result("job", True, 9.0, "", attempts)

    def found(self, **changes) -> dict:
        runs = [{"faults": ["killed", "stopped"], "violations": []}, {"faults": ["RM restarted"], "violations": []}]
        whole = {"mode": "act", "succeeded": 2, "asked": 2, "exchanges_accepted": 5, "copies_decided": 1}
        return {**whole, "runs": runs, "kinds": ["killed", "stopped", "RM restarted"], **changes}

    def test_faults_before_and_after_a_jobs_tasks_do_not_count_as_its_own(self):
        struck = [fault("killed", 5_000, 4), fault("stopped", 8_000, 4), fault("black hole", 19_500, 1)]
        self.assertEqual(bench_faults.hits(struck, self.result), ["stopped"])

    def test_every_job_must_succeed(self):
        self.assertTrue(bench_faults.shows(self.found()))
        self.assertFalse(bench_faults.shows(self.found(succeeded=1)))

    def test_a_copy_that_nobody_decided_on_is_a_violation(self):
        self.assertEqual(bench_faults.violations(self.result, {"a": 1}), [])
        beyond = bench_faults.violations(self.result, {})
        self.assertEqual(beyond, [{"task": "a", "live": 2, "decided": 0}])
        runs = [*self.found()["runs"], {"faults": [], "violations": beyond}]
        self.assertFalse(bench_faults.shows(self.found(runs=runs)))

    def test_a_run_without_exchanges_or_copies_or_with_a_fault_that_hit_no_job_shows_nothing(self):
        self.assertFalse(bench_faults.shows(self.found(exchanges_accepted=0)))
        self.assertFalse(bench_faults.shows(self.found(copies_decided=0)))
        self.assertFalse(bench_faults.shows(self.found(runs=self.found()["runs"][:1])))

    def test_in_advice_no_copy_may_run_and_none_need_be_decided(self):
        runs = [{**run, "copies": 0} for run in self.found()["runs"]]
        self.assertTrue(bench_faults.shows(self.found(mode="advise", copies_decided=0, runs=runs)))
        runs[0]["copies"] = 1
        self.assertFalse(bench_faults.shows(self.found(mode="advise", copies_decided=0, runs=runs)))

    def test_the_same_seed_draws_the_same_faults_each_kind_as_often(self):
        for place in (faults.ServicePlace, faults.ClusterPlace):
            drawn = []
            for chance in (random.Random(7), random.Random(7)):
                clock = bench_faults.Clock(place(None, None), chance)
                drawn.append([clock.fault() for _ in range(3 * len(place.words))])
            self.assertEqual(drawn[0], drawn[1])
            self.assertEqual({kind: drawn[0].count(kind) for kind in place.words}, dict.fromkeys(place.words, 3))

    def test_copies_decided_are_those_of_every_life_that_acted(self):
        with tempfile.TemporaryDirectory() as directory:
            logs = [Path(directory) / name for name in ("one", "two")]
            said = {"message": faults.DECIDED, "mode": "act", "task": "a"}
            logs[0].write_text(json.dumps(said) + "\n" + json.dumps({**said, "mode": "advise"}) + "\n{torn")
            logs[1].write_text(json.dumps(said) + "\n" + json.dumps({"message": "stopping"}) + "\n")
            self.assertEqual(faults.decided(logs), {"a": 2})


if __name__ == "__main__":
    unittest.main()
