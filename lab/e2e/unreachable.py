"""A node whose NodeManager is gone after its maps have succeeded, long before the ResourceManager gives it up."""

import signal

from lab import expected, jobs
from lab.e2e import OnCluster
from lab.scenarios import INTERVALS, SHORT, TEN_PLACES
from lab.service import Service
from lab.watch import NO_NATIVE_COPIES

LOST = "nm2"
# As shipped: within it only the reduces can tell.
EXPIRY = "yarn.nm.liveness-monitor.expiry-interval-ms=600000"
# One wave of maps, those of one node slower, so that the reduces start when another's have long succeeded.
MAPS = {
    **TEN_PLACES,
    **INTERVALS[SHORT],
    "lab.maps": 9,
    "lab.records": 200,
    "lab.map.ms": 2000,
    "lab.slow.nodes": f"{LOST}:1.5,nm3:6",
    # One a node, and two: three that miss an output at once are enough for Hadoop itself.
    "lab.reduces": 2,
    "mapreduce.reduce.memory.mb": 640,
    "lab.reduce.ms": 500,
    "mapreduce.job.reduce.slowstart.completedmaps": 1.0,
    # A reduce comes to a node with the outputs that it knows of: here to the other nodes first, then to all of
    # this one's at once, and not to its first alone.
    "mapreduce.reduce.shuffle.parallelcopies": 1,
    # As shipped a reduce whose connection is refused tries for three minutes before it says so.
    "mapreduce.reduce.shuffle.connect.timeout": 2000,
    # Hadoop itself does nothing: where one reduce starts late, the other's second word would be its third.
    "mapreduce.reduce.shuffle.max-fetch-failures-notifications": 100,
    # What ran on the lost node is not to be asked to end for three minutes.
    "yarn.client.nodemanager-connect.max-wait-ms": 5000,
}


class Unreachable:
    """Such a job under a service that may have outputs made again."""

    def __init__(self, case: OnCluster):
        self.cluster, self.until, self.output = case.cluster, case.until, case.cluster.dir / "reruns"

    def play(self) -> "Unreachable":
        """Until the job has ended; the node is there again then."""
        with Service(self.cluster, 'mode = "act"\nact.rerun = true', name="reruns").start(quiet=True) as drover:
            settings = {**MAPS, **NO_NATIVE_COPIES, "lab.output": self.output}
            running = jobs.Running(self.cluster, jobs.Spec(shim=True, settings=settings))
            try:
                ended, again = f"the maps of {LOST} succeeded", "the shim has had them run again"
                self.there = self.until(ended, lambda: self.done(drover, running.id()), running)
                self.cluster.end(LOST, signal.SIGKILL)
                self.orders = [self.until(again, lambda: self.ordered(drover, running.id()), running)]
                if not self.orders[0]["plan"]["rerun"]["whole"]:
                    # Both reduces had heard of a single output there when they tried; they try again in ten seconds.
                    self.orders.append(self.until("the rest, too", lambda: self.rest(drover, running.id()), running))
                self.result = running.result()
            finally:
                running.end()
                if not self.cluster.alive(LOST):
                    self.cluster.restart(LOST)
        return self

    def judge(self, case: OnCluster) -> None:
        """All outputs of the node, and no others, were made again at once, but for one that was missed alone before."""
        plans = [order["plan"]["rerun"] for order in self.orders]
        case.assertEqual({order["answer"] for order in self.orders}, {"applied"})
        case.assertEqual({(plan["node"], len(plan["missed_by"])) for plan in plans}, {(LOST, 2)})
        case.assertEqual([len(plan["outputs"]) for plan in plans[:-1]], [1] * (len(plans) - 1))
        case.assertEqual(sorted(output for plan in plans for output in plan["outputs"]), sorted(self.there))
        case.assertTrue(plans[-1]["whole"], plans)
        case.assertTrue(self.result.succeeded)
        states = {attempt.id: attempt.state for attempt in self.result.attempts}
        case.assertEqual({states[one] for one in self.there}, {"KILLED"})
        case.assertNotIn("FAILED", set(states.values()))
        for task in {attempt.task for attempt in self.result.attempts if attempt.id in self.there}:
            # Beside the new attempt, on the slow node perhaps, copies may have been started or given back.
            case.assertEqual([a.state for a in self.result.attempts if a.task == task].count("SUCCEEDED"), 1)
        written = [line for part in self.output.glob("part-*") for line in part.read_text().splitlines()]
        case.assertEqual(sorted(written), sorted(map(expected.line, range(MAPS["lab.maps"] * MAPS["lab.records"]))))

    @staticmethod
    def done(drover: Service, job: str) -> list:
        """The attempts that ran on the node, once there are some, all have succeeded, and no map waits."""
        tasks = [one for one in drover.get(f"/jobs/{job}/tasks?limit=1000")["tasks"] if one["kind"] == "map"]
        attempts = [attempt for one in tasks for attempt in one["attempts"] if attempt["node"] == LOST]
        started = len(tasks) == MAPS["lab.maps"] and all(one["attempts"] for one in tasks)
        over = started and all(attempt["state"] == "succeeded" for attempt in attempts)
        return [attempt["attempt"] for attempt in attempts] if over else []

    @staticmethod
    def ordered(drover: Service, job: str):
        """The newest order to make outputs again, once the shim has answered it."""
        found = drover.get(f"/jobs/{job}").get("measures", [])
        return next((one for one in found if one["measure"] == "rerun" and one.get("answer")), None)

    def rest(self, drover: Service, job: str):
        """The same, once it is another one than before."""
        newest = self.ordered(drover, job)
        return newest if newest and newest["plan"] != self.orders[0]["plan"] else None
