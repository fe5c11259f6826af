import unittest

from lab import build, jobs, stage
from lab.e2e import OnCluster
from lab.scenarios import TEN_PLACES
from lab.service import Service

REPORTS = {"mapreduce.task.progress-report.interval": 500}
# Three waves of maps, so that tasks wait while the first shows which node is slow; reduces come after all of them.
WAVES = {
    **TEN_PLACES,
    **REPORTS,
    "lab.maps": 24,
    "lab.map.ms": 3000,
    "lab.reduces": 1,
    "lab.reduce.ms": 500,
    "mapreduce.job.reduce.slowstart.completedmaps": 1.0,
}


class Actions(OnCluster):
    """What is done to real jobs beside copies: it helps, no attempt fails of it, and no byte of the output changes."""

    options = {"node_mb": stage.options("").node_mb}

    @classmethod
    def setUpClass(cls):
        build.drover()
        build.shim()
        super().setUpClass()
        cls.plain = cls.submit({**WAVES, "lab.output": cls.cluster.dir / "plain"}, shim=False)

    @classmethod
    def submit(cls, settings: dict, shim: bool = True) -> jobs.Result:
        return jobs.run(cls.cluster, jobs.Spec(shim=shim, settings=settings))

    def acted(self, service: str, settings: dict, name: str) -> tuple:
        """A job under a service with such settings: its result, the decisions on it, and the service's metrics."""
        with Service(self.cluster, f'mode = "act"\n{service}', name=name).start(quiet=True) as drover:
            result = self.submit({**settings, "lab.output": self.cluster.dir / name})
            decisions, metrics = drover.decisions(result.job), drover.metrics()
        self.assertTrue(result.succeeded)
        self.assertEqual(result.digest, self.plain.digest)
        self.assertNotIn("FAILED", {attempt.state for attempt in result.attempts})
        return result, decisions, metrics

    def test_slow_attempts_are_restarted_elsewhere_while_tasks_wait(self):
        slow = {**WAVES, "lab.slow.nodes": "nm2:10"}
        result, decisions, metrics = self.acted('policy = "mantri"\nact.restart = true', slow, "restarts")
        restarts = [one for one in decisions if one["action"] == "restart"]
        killed = {one["copy"]["answer"] for one in restarts if one["copy"]}
        self.assertTrue(restarts and {"applied", "moved"} & killed, decisions)
        replaced = {one["task"]: set(one["copy"]["attempts"]) for one in restarts if one["copy"]["answer"] == "moved"}
        ended = [a for a in result.attempts if a.id in replaced.get(a.task, ()) and a.state == "SUCCEEDED"]
        self.assertTrue(ended, "no attempt in the place of a restarted one succeeded")
        self.assertTrue(any(a.node != "nm2" for a in ended), "each ran on the slow node again")
        self.assertGreater(metrics['drover_copies_ended_total{action="restart",end="won"}'], 0)


if __name__ == "__main__":
    unittest.main()
