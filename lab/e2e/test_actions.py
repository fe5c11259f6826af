import time
import unittest

from lab import build, expected, http, jobs, stage
from lab.e2e import MOVES, OnCluster
from lab.scenarios import TEN_PLACES
from lab.service import Service, total
from lab.watch import NO_NATIVE_COPIES

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
PLAIN = expected.digest(WAVES["lab.maps"], WAVES["lab.reduces"])
# As many maps as run at once.
WAVE = 10
# From the word of the shim to the start of the last container that was given out before.
PROMISED_MS = 8000


class Actions(OnCluster):
    """What is done to real jobs beside copies: it helps, no attempt fails of it, and no byte of the output changes."""

    options = {"node_mb": stage.options("").node_mb}

    @classmethod
    def setUpClass(cls):
        build.drover()
        build.shim()
        super().setUpClass()

    @classmethod
    def submit(cls, settings: dict) -> jobs.Result:
        return jobs.run(cls.cluster, jobs.Spec(shim=True, settings=settings))

    def acted(self, service: str, settings: dict, name: str) -> tuple:
        """A job under a service with such settings: its result, the decisions on it, and the service's metrics."""
        with Service(self.cluster, f'mode = "act"\n{service}', name=name).start(quiet=True) as drover:
            result = self.submit({**settings, "lab.output": self.cluster.dir / name})
            self.fates(drover, result.job)
            decisions, metrics = drover.decisions(result.job), drover.metrics()
        self.assertTrue(result.succeeded)
        self.assertEqual(result.digest, PLAIN)
        self.assertNotIn("FAILED", {attempt.state for attempt in result.attempts})
        return result, decisions, metrics

    def test_slow_attempts_are_restarted_elsewhere_while_tasks_wait(self):
        # Whoever is restarted does not last as long, and however slowly JVMs start it is worth it. A single slow task
        # is enough for its machine to be avoided.
        slow = {**WAVES, "lab.slow.nodes": "nm2:25"}
        avoids = "act.avoid = true\nblacklist.beside = true\nblacklist.min_evidence = 0.5"
        settings = f'policy = "mantri"\nact.restart = true\n{avoids}'
        result, decisions, metrics = self.acted(settings, slow, "restarts")
        restarts = [one for one in decisions if one["action"] == "restart"]
        carried = [one for one in restarts if one["copy"]]
        killed = {one["copy"]["answer"] for one in carried}
        self.assertTrue(restarts and {"applied", "moved"} & killed, decisions)
        replaced = {one["task"]: set(one["copy"]["attempts"]) for one in carried if one["copy"]["answer"] == "moved"}
        ended = [a for a in result.attempts if a.id in replaced.get(a.task, ()) and a.state == "SUCCEEDED"]
        self.assertTrue(ended, "no attempt in the place of a restarted one succeeded")
        again = [a for a in result.attempts if a.id in replaced.get(a.task, ()) and a.ran() and a.node == "nm2"]
        # Where the others have no room for so long, it stays there.
        again = [a for a in again if result.given_back(a.id) < MOVES]
        self.assertEqual(again, [], "what replaced a restarted attempt ran on the slow node again")
        self.assertGreater(total(metrics, "drover_copies_ended_total", 'action="restart"', 'end="won"'), 0)

    def test_new_containers_keep_off_a_listed_machine_until_the_job_is_hadoops_again(self):
        # What a window of five minutes has shown counts half in the next, which may begin at any time.
        listing = "blacklist.beside = true\nblacklist.min_evidence = 0.5\nact.avoid = true"
        # It has free places soon, which nothing is given: its first tasks begin before the shim is asked for anything.
        slow = {**WAVES, "lab.slow.nodes": "nm2:2"}
        # What shows the machine, however slowly JVMs start on all of them: nobody copies its tasks.
        shown = {**slow, "lab.slow.nodes": "nm2:16", **NO_NATIVE_COPIES, "lab.map.ms": 1500, "drover.mode": "advise"}
        with Service(self.cluster, f'mode = "act"\n{listing}', name="avoids").start(quiet=True) as drover:
            self.assertTrue(self.submit({**shown, "lab.output": self.cluster.dir / "shown"}).succeeded)
            output = self.cluster.dir / "avoids"
            spec = jobs.Spec(shim=True, settings={**slow, "lab.maps": 60, "lab.output": output})
            running = jobs.Running(self.cluster, spec)
            try:
                applied = self.when(running, lambda: self.answer(drover, running.id()) == "applied")
                # Containers that were promised before have started by then, and others have been given since.
                self.when(running, lambda: time.time() * 1000 > applied + PROMISED_MS)
                ended = self.succeeded(drover, running)
                self.when(running, lambda: self.succeeded(drover, running) >= ended + WAVE)
                lifted = time.time() * 1000
                drover.cli("stop", "--reason", "the rest is Hadoop's")
                result = running.result()
            finally:
                running.end()
        self.assertTrue(result.succeeded)
        self.assertNotIn("FAILED", {attempt.state for attempt in result.attempts})
        there = [a.start_ms for a in result.attempts if a.node == "nm2"]
        elsewhere = [a.start_ms for a in result.attempts if a.node != "nm2"]
        kept_off = (applied + PROMISED_MS, lifted)
        self.assertTrue([at for at in elsewhere if kept_off[0] < at < kept_off[1]], "nothing began meanwhile")
        self.assertEqual([at for at in there if kept_off[0] < at < kept_off[1]], [])
        self.assertTrue([at for at in there if at > lifted], "nothing was given the machine again")

    @staticmethod
    def succeeded(drover: Service, running: jobs.Running) -> int:
        """How many maps of the job."""
        return drover.get(f"/jobs/{running.id()}")["maps"]["succeeded"]

    def answer(self, drover: Service, job: str):
        """What the job's shim has said to the order to avoid machines, last."""
        measures = drover.get(f"/jobs/{job}").get("measures", [])
        return next((one.get("answer") for one in measures if one["measure"] == "avoid"), None)

    def when(self, running: jobs.Running, holds) -> float:
        """The time at which it holds, in milliseconds; the job must not end before."""
        until = time.monotonic() + jobs.JOB_LIMIT_S
        while time.monotonic() < until and not running.done():
            try:
                if holds():
                    return time.time() * 1000
            except http.Unanswered:
                pass  # nothing was heard of the job yet
            time.sleep(0.2)
        raise AssertionError("the job ended first")


if __name__ == "__main__":
    unittest.main()
