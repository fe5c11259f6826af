"""A node that is lost while a job runs, at a point that is the same whoever watches the job."""

import signal
import time

from lab import http
from lab.cluster import Cluster, application_of
from lab.jobs import Followed
from lab.progress import Failed

BACK_WITHIN_S, POLL_S = 60, 0.2


class Loss:
    """Ends a node's NodeManager once so many of a job's maps have succeeded and no container is left on the node: what
    they wrote there is then out of reach, and nothing else is lost. The ResourceManager is asked, not Drover."""

    def __init__(self, cluster: Cluster, node: str, after_maps: int):
        self.cluster, self.node, self.after_maps = cluster, node, after_maps
        self.outputs = None  # how many lay there; None while the node is up

    def look(self, running: Followed) -> None:
        job = running.said("SUBMITTED")
        if self.outputs is not None or not job:
            return
        try:
            ended = self.succeeded(job)
            if len(ended) < self.after_maps or self.told()["numContainers"]:
                return
            self.outputs = sum(self.ran_on(job, task) == self.node for task in ended)
        except http.Unanswered:
            return  # its ApplicationMaster is not there yet
        self.cluster.end(self.node, signal.SIGKILL)

    def succeeded(self, job: str) -> list:
        tasks = http.listed((self.am(job, "/tasks?type=m").get("tasks") or {}).get("task"))
        return [one for one in tasks if one["state"] == "SUCCEEDED"]

    def ran_on(self, job: str, task: dict) -> str:
        attempt = self.am(job, f"/tasks/{task['id']}/attempts/{task['successfulAttempt']}")["taskAttempt"]
        return attempt["nodeHttpAddress"].split(":")[0]

    def am(self, job: str, path: str) -> dict:
        return self.cluster.am(application_of(job), f"/jobs/{job}{path}")

    def told(self) -> dict:
        """What the ResourceManager has of the node."""
        nodes = http.listed(self.cluster.rm("/nodes")["nodes"]["node"])
        return next(one for one in nodes if one["nodeHostName"] == self.node)

    def mend(self) -> None:
        """The node is there again, as the ResourceManager sees it, which never gave it up."""
        if self.cluster.alive(self.node):
            return
        self.cluster.restart(self.node)
        since, until = time.time() * 1000, time.monotonic() + BACK_WITHIN_S
        while not self.told()["lastHealthUpdate"] > since:
            if time.monotonic() > until:
                raise Failed(f"{self.node} was not back within {BACK_WITHIN_S} s", self.cluster.logs)
            time.sleep(POLL_S)
