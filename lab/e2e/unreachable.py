"""A node whose NodeManager is gone after its maps have succeeded, long before the ResourceManager gives it up."""

import os
import signal
import time

from lab import expected, jobs
from lab.e2e import OnCluster
from lab.scenarios import INTERVALS, SHORT, TEN_PLACES
from lab.service import Service
from lab.watch import NO_NATIVE_COPIES, Sickness

LOST = "nm2"
# Its maps end, and so the reduces start, once the other is gone: a busy machine has them all fetched before, else.
HELD = "nm3"
# Nothing is copied, or those maps would be.
ACT = """mode = "act"
act.rerun = true
policy = "late"
govern.debounce = "1h"
"""
# As shipped: within it only the reduces can tell.
EXPIRY = "yarn.nm.liveness-monitor.expiry-interval-ms=600000"
# One wave of maps.
MAPS = {
    **TEN_PLACES,
    **INTERVALS[SHORT],
    "lab.maps": 9,
    "lab.records": 200,
    "lab.map.ms": 2000,
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
# How long Hadoop waits for a node's word that a container has ended, and takes no kill of its attempt meanwhile: longer
# than it takes the reduces to start and to miss the outputs, and shorter than until they give themselves up. In the
# 60 s that are shipped they do.
UNTOLD_S = 45
# A reduce gives itself up once it has failed to fetch as often as it has fetched: with nine maps 36 s after its start,
# on a busy machine before the outputs could be made again. So a second wave of maps is elsewhere.
UNTOLD_MAPS = 16
UNTOLD = {
    "mapreduce.task.exit.timeout": UNTOLD_S * 1000,
    "mapreduce.task.exit.timeout.check-interval-ms": 1000,
    "lab.maps": UNTOLD_MAPS,
    "lab.split.hosts": "nm1,nm2,nm3,nm4,nm2,nm3,nm4,nm3,nm4,nm4,nm1,nm4,nm4,nm1,nm4,nm4",
}
# How many times slower the node is: there its maps are at work together for long enough to be stopped.
TOLD_SLOWNESS, UNTOLD_SLOWNESS = 1.5, 10
# From the word that a container has ended, at the ResourceManager, to the ApplicationMaster's heartbeat.
TOLD_S = 10


class Unreachable:
    """Such a job under a service that may have outputs made again."""

    def __init__(self, case: OnCluster, untold: bool = False):
        """`untold`: the node is gone before it has told that its maps' containers have ended."""
        self.cluster, self.until, self.untold = case.cluster, case.until, untold
        self.count = UNTOLD_MAPS if untold else MAPS["lab.maps"]
        self.held = Sickness(self.cluster, HELD)
        self.output = case.cluster.dir / "reruns"
        self.orders = []

    def play(self) -> "Unreachable":
        """Until the job has ended; the node is there again then."""
        with Service(self.cluster, ACT, name="reruns").start(quiet=True) as drover:
            running = jobs.Running(self.cluster, jobs.Spec(shim=True, settings=self.settings()))
            try:
                self.lose(drover, running)
                self.held.cure()
                self.until("the shim has had them run again", lambda: self.ordered(drover, running.id()), running)
                self.result = running.result()
            finally:
                running.end()
                if not self.cluster.alive(LOST):
                    self.cluster.restart(LOST)
        return self

    def settings(self) -> dict:
        slowness = UNTOLD_SLOWNESS if self.untold else TOLD_SLOWNESS
        slow = {**self.held.settings, "lab.slow.nodes": f"{LOST}:{slowness},{HELD}:{self.held.FACTOR}"}
        own = {**slow, **NO_NATIVE_COPIES, "lab.output": self.output}
        return {**MAPS, **own, **(UNTOLD if self.untold else {})}

    def lose(self, drover: Service, running: jobs.Running) -> None:
        """Ends the node once its maps have succeeded."""
        ended = f"the maps of {LOST} succeeded"
        if self.untold:
            work = f"the maps of {LOST} work"
            self.until(work, lambda: self.maps(drover, running.id(), lambda one: one["score"] > 0), running)
            os.kill(self.cluster.state["processes"][LOST]["pid"], signal.SIGSTOP)
        self.there = self.until(ended, lambda: self.maps(drover, running.id(), self.succeeded), running)
        if not self.untold:
            self.until(f"{LOST} has told so", lambda: not self.containers(), running)
            time.sleep(TOLD_S)
        self.cluster.end(LOST, signal.SIGKILL)

    def containers(self) -> int:
        """How many run on the node, as the ResourceManager has it."""
        nodes = self.cluster.rm("/nodes")["nodes"]["node"]
        return next(node["numContainers"] for node in nodes if node["nodeHostName"] == LOST)

    def judge(self, case: OnCluster) -> None:
        """All outputs of the node, and no others, were made again at once, but for one that was missed alone before."""
        done = [order["plan"]["rerun"] for order in self.orders if order["answer"] == "applied"]
        plans = [order["plan"]["rerun"] for order in self.orders]
        refused = [order["answer"] for order in self.orders if order["answer"] != "applied"]
        case.assertLessEqual(set(refused), {"no_output", "failed"} if self.untold else set(), self.orders)
        case.assertEqual(bool(refused), self.untold, self.orders)
        case.assertEqual({(plan["node"], len(plan["missed_by"])) for plan in plans}, {(LOST, 2)})
        case.assertEqual([len(plan["outputs"]) for plan in done[:-1]], [1] * (len(done) - 1))
        case.assertEqual(sorted(output for plan in done for output in plan["outputs"]), sorted(self.there))
        case.assertTrue(plans[-1]["whole"], plans)
        case.assertTrue(self.result.succeeded)
        states = {attempt.id: attempt.state for attempt in self.result.attempts}
        case.assertEqual({states[one] for one in self.there}, {"KILLED"})
        case.assertNotIn("FAILED", set(states.values()))
        for task in {attempt.task for attempt in self.result.attempts if attempt.id in self.there}:
            # Beside the new attempt, on the slow node perhaps, copies may have been started or given back.
            case.assertEqual([a.state for a in self.result.attempts if a.task == task].count("SUCCEEDED"), 1)
        written = [line for part in self.output.glob("part-*") for line in part.read_text().splitlines()]
        case.assertEqual(sorted(written), sorted(map(expected.line, range(self.count * MAPS["lab.records"]))))

    @staticmethod
    def succeeded(attempt: dict) -> bool:
        return attempt["state"] == "succeeded"

    def maps(self, drover: Service, job: str, such) -> list:
        """The attempts that ran on the node, once there are some, all are such, and no map waits."""
        tasks = [one for one in drover.get(f"/jobs/{job}/tasks?limit=1000")["tasks"] if one["kind"] == "map"]
        attempts = [attempt for one in tasks for attempt in one["attempts"] if attempt["node"] == LOST]
        started = len(tasks) == self.count and all(one["attempts"] for one in tasks)
        over = started and all(map(such, attempts))
        return [attempt["attempt"] for attempt in attempts] if over else []

    def ordered(self, drover: Service, job: str) -> bool:
        """Whether all has been made again: each order and its answer are kept, the newest last."""
        found = drover.get(f"/jobs/{job}").get("measures", [])
        newest = next((one for one in found if one["measure"] == "rerun" and one.get("answer")), None)
        if newest and newest not in self.orders:
            self.orders.append(newest)
        # Both reduces may have heard of a single output there when they tried; they try again in ten seconds.
        return bool(newest) and newest["plan"]["rerun"]["whole"] and newest["answer"] == "applied"
