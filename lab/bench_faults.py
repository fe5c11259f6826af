"""Short jobs, all with the shim, while the service they report to is killed, started, stopped and black-holed.

When each fault comes, which it is and how long it lasts are drawn from a seed. A job that fails or does not end fails
the whole; so does a run in which no shim spoke, or some kind of fault hit no job.
"""

import os
import random
import signal
import socket
import statistics
import time

from lab import build, commands, http, jobs, paths
from lab.cluster import Cluster
from lab.options import Options
from lab.progress import Failed, say
from lab.service import SHIM, Service

# How long the service may work between two faults, and how long each fault lasts, in seconds: long enough for a shim
# to open a session and to miss several answers, short enough that most jobs see both.
UP_S, FAULT_S = (2.0, 6.0), (1.0, 5.0)
NOW = {"killed": "killed", "stopped": "stopped", "black hole": "a black hole"}
FAULTS = tuple(NOW)
OPTIONS = {"node_mb": 640, "report_interval_ms": 500}
LIMIT_S = 300
POLL_S = 0.05


class BlackHole:
    """A listener in the service's place that accepts and never answers."""

    def __init__(self, address: str):
        host, _, port = address.partition(":")
        self.listener = socket.create_server((host, int(port)), backlog=128)
        self.listener.setblocking(False)
        self.taken = []

    def swallow(self) -> None:
        """Takes the connections that wait."""
        try:
            while True:
                self.taken.append(self.listener.accept()[0])
        except BlockingIOError:
            pass

    def close(self) -> None:
        for one in (*self.taken, self.listener):
            one.close()


class Victim:
    """The service's place: what is there is `up`, or named by the fault."""

    def __init__(self, cluster: Cluster):
        self.cluster, self.state = cluster, "killed"
        self.service, self.hole = None, None
        self.lives, self.exchanges, self.swallowed = 0, 0, 0

    def mend(self) -> None:
        """A service that works."""
        if self.state == "stopped":
            self.signal(signal.SIGCONT)
        else:
            self.fill_hole()
            self.lives += 1
            self.service = Service(self.cluster, name=f"drover-{self.lives}")
            self.service.launch()
        self.state = "up"

    def strike(self, fault: str) -> None:
        if not self.cluster.alive(self.service.name):
            raise Failed("the service ended on its own", self.service.log)
        if fault == "stopped":
            self.signal(signal.SIGSTOP)
        else:
            self.kill()
            self.hole = BlackHole(SHIM) if fault == "black hole" else None
        self.state = fault

    def signal(self, signum: int) -> None:
        os.kill(self.cluster.state["processes"][self.service.name]["pid"], signum)

    def kill(self) -> None:
        self.exchanges += self.heard()
        self.service.stop(signal.SIGKILL)

    def heard(self) -> float:
        """Exchanges that this life of the service has accepted; 0 if it does not say, for it may have just begun."""
        try:
            return self.service.metrics()['drover_shim_exchanges_total{outcome="accepted"}']
        except http.Unanswered:
            return 0

    def tend(self) -> None:
        if self.hole:
            self.hole.swallow()

    def fill_hole(self) -> None:
        if self.hole:
            self.hole.swallow()
            self.swallowed += len(self.hole.taken)
            self.hole.close()
            self.hole = None

    def end(self) -> None:
        """Nothing is left in its place."""
        self.fill_hole()
        if self.state == "up":
            self.kill()
        elif self.state == "stopped":
            self.service.stop(signal.SIGKILL)
        self.state = "killed"


class Storm:
    """Jobs and faults side by side; one thread, so that what happened can be told in order."""

    def __init__(self, cluster: Cluster, count: int, at_once: int, seed: int):
        self.cluster, self.count, self.at_once = cluster, count, at_once
        self.random = random.Random(seed)
        self.victim = Victim(cluster)
        self.submitted, self.struck, self.order = [], [], []
        self.began = time.monotonic()
        self.next_at = 0.0

    def running(self) -> list:
        return [one for one in self.submitted if not one.done()]

    def submit(self) -> None:
        settings = {
            "lab.maps": 4,
            "lab.map.ms": self.random.randint(1000, 2000),
            "lab.name": f"faults {len(self.submitted)}",
        }
        self.submitted.append(jobs.Running(self.cluster, jobs.Spec(shim=True, settings=settings)))

    def fault(self) -> str:
        """Each kind comes as often as the others, in an order of chance."""
        if not self.order:
            self.order = self.random.sample(FAULTS, len(FAULTS))
        return self.order.pop()

    def turn(self, now: float) -> None:
        """The next change of the service's place."""
        if self.victim.state == "up":
            fault, lasts = self.fault(), self.random.uniform(*FAULT_S)
            self.victim.strike(fault)
            at_ms = round(time.time() * 1000)
            self.struck.append(
                {"at_seconds": round(now, 1), "at_ms": at_ms, "fault": fault, "seconds": round(lasts, 1)}
            )
            word = NOW[fault]
            say(f"    {now:5.1f} s: the service is {word} for {lasts:.1f} s, {len(self.running())} jobs on their way")
        else:
            self.victim.mend()
            lasts = self.random.uniform(*UP_S)
        self.next_at = now + lasts

    def rage(self, limit_s: float) -> None:
        """Until every job has ended, or the time is over."""
        while len(self.submitted) < self.count or self.running():
            now = time.monotonic() - self.began
            if now > limit_s:
                break
            if now >= self.next_at:
                self.turn(now)
            if len(self.submitted) < self.count and len(self.running()) < self.at_once:
                self.submit()
            self.victim.tend()
            time.sleep(POLL_S)

    def outcome(self, index: int, one: jobs.Running) -> dict:
        row = {"index": index, "faults": [], "succeeded": False}
        if not one.done():
            return {**row, "why": "it had not ended in time"}
        try:
            result = one.result()
        except Failed as failure:
            return {**row, "why": str(failure)}
        return {**row, **result.summary(), "faults": hits(self.struck, result)}


def hits(struck: list, result: jobs.Result) -> list:
    """The faults that lasted while tasks of the job ran; before that its shim may not have been there to feel them."""
    began = min((one.start_ms for one in result.attempts), default=0)
    ended = max((one.finish_ms for one in result.attempts), default=0)
    return [row["fault"] for row in struck if row["at_ms"] < ended and row["at_ms"] + 1000 * row["seconds"] > began]


def storm(cluster: Cluster, count: int, at_once: int, seed: int, limit_s: float = LIMIT_S) -> dict:
    """What became of the jobs and the service; leaves neither running."""
    one = Storm(cluster, count, at_once, seed)
    try:
        one.rage(limit_s)
        runs = [one.outcome(index, running) for index, running in enumerate(one.submitted)]
    finally:
        for running in one.running():
            running.end()
        one.victim.end()
    return {
        "seed": seed,
        "asked": count,
        "succeeded": sum(run["succeeded"] for run in runs),
        "seconds": round(time.monotonic() - one.began, 1),
        "services_started": one.victim.lives,
        "exchanges_accepted": one.victim.exchanges,
        "connections_swallowed": one.victim.swallowed,
        "faults": one.struck,
        "runs": runs,
    }


def shows(found: dict) -> bool:
    """Every job succeeded, and it means something: shims spoke, and each kind of fault hit a job."""
    hit = {fault for run in found["runs"] for fault in run["faults"]}
    return found["succeeded"] == found["asked"] and found["exchanges_accepted"] > 0 and hit == set(FAULTS)


def show(found: dict) -> None:
    print(f"\n{'job':>4} {'seconds':>8} {'copies':>7}  {'':9} faults while its tasks ran")
    for run in found["runs"]:
        word = "succeeded" if run["succeeded"] else "FAILED"
        said = ", ".join(run["faults"]) or "none"
        print(f"{run['index']:4} {run.get('seconds', '-'):>8} {run.get('copies', '-'):>7}  {word:9} {said}")
        if "why" in run:
            print(f"      {run['why']}")
    took = [run["seconds"] for run in found["runs"] if "seconds" in run]
    counts = ", ".join(f"{sum(row['fault'] == kind for row in found['faults'])} × {kind}" for kind in FAULTS)
    median = statistics.median(took or [0])
    print(f"\n{found['succeeded']} of {found['asked']} jobs succeeded, {median:.1f} s each (median)")
    print(f"{counts}; {found['services_started']} starts of the service, {found['exchanges_accepted']:.0f} exchanges")
    print(f"accepted, {found['connections_swallowed']} connections into the black hole; seed {found['seed']}")


def options(parser) -> None:
    parser.add_argument("--jobs", type=int, default=20, help="how many (default 20)")
    parser.add_argument("--at-once", type=int, default=3, help="how many at a time (default 3)")
    parser.add_argument("--seed", type=int, default=1, help="of the faults' order and moments (default 1)")


def run(asked) -> tuple:
    """Jobs with the shim while the service is killed, restarted, stopped and black-holed: all must succeed."""
    build.drover()
    build.shim()
    cluster = commands.bring_up(Options(dir=str(paths.TARGET / "bench"), **OPTIONS))
    try:
        found = storm(cluster, asked.jobs, asked.at_once, asked.seed)
    finally:
        cluster.down(quiet=True)
    show(found)
    return found, shows(found)
