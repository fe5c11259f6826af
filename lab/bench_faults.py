"""Short jobs, all with the shim and some tasks slow, while the service and the cluster under them meet with faults.

The service is killed, stopped and replaced by a black hole; at the same time a NodeManager is killed or paused, the
ResourceManager restarted, an ApplicationMaster killed. When each fault comes, which it is and how long it lasts are
drawn from a seed. The service acts unless told otherwise, and Hadoop's own speculator may start no copy, so that
every copy must have been decided. A job that fails or does not end fails the whole; so does a task with more attempts
live at once than its own and the copies decided on, and a run in which no shim spoke, no copy was decided on, or some
fault hit no job.
"""

import random
import statistics
import time

from lab import build, commands, conf, jobs, paths, watch
from lab.cluster import Cluster
from lab.faults import UP, ClusterPlace, ServicePlace
from lab.options import Options
from lab.progress import Failed, say

# How long a place may work between two faults, and how long each fault lasts, in seconds: long enough for a shim
# to open a session and to miss several answers, short enough that most jobs see both.
TIMES = {ServicePlace: ((2.0, 6.0), (1.0, 5.0)), ClusterPlace: ((8.0, 16.0), (1.0, 8.0))}
# A ResourceManager that finds its applications again, clients and nodes that soon look for it again, and masters that
# may die as often as they are killed: a job that fails must have failed by a fault of ours.
LASTING = {
    "yarn.resourcemanager.recovery.enabled": "true",
    "yarn.resourcemanager.store.class": "org.apache.hadoop.yarn.server.resourcemanager.recovery.FileSystemRMStateStore",
    "yarn.resourcemanager.connect.retry-interval.ms": 500,
    "yarn.resourcemanager.am.max-attempts": 20,
    "mapreduce.am.max-attempts": 20,
    "yarn.app.mapreduce.client-am.ipc.max-retries": 20,
}
OPTIONS = {"node_mb": 640, "report_interval_ms": 500}
# For each job; most end within 20 s, three at a time.
LIMIT_S = 60
POLL_S = 0.05


def cluster_options(directory) -> Options:
    store = {"yarn.resourcemanager.fs.state-store.uri": f"file://{directory}/rm-store"}
    settings = [conf.SOON_LOST, *(f"{key}={value}" for key, value in {**LASTING, **store}.items())]
    return Options(dir=str(directory), set=settings, **OPTIONS)


class Clock:
    """When one place changes next, and to what: each kind of fault comes as often as the others, in chance's order."""

    def __init__(self, place, chance: random.Random, next_at: float = 0.0):
        self.place, self.random, self.next_at = place, chance, next_at
        self.up_s, self.fault_s = TIMES[type(place)]
        self.order = []

    def fault(self) -> str:
        if not self.order:
            kinds = tuple(self.place.words)
            self.order = self.random.sample(kinds, len(kinds))
        return self.order.pop()

    def turn(self, now: float):
        """The next change of the place; answers a row for a fault that began."""
        if self.place.state != UP:
            self.place.mend()
            self.next_at = now + self.random.uniform(*self.up_s)
            return None
        fault, lasts = self.fault(), self.random.uniform(*self.fault_s)
        said = self.place.strike(fault)
        self.next_at = now + lasts
        say(f"    {now:5.1f} s: {said} for {lasts:.1f} s")
        at_ms = round(time.time() * 1000)
        return {"at_seconds": round(now, 1), "at_ms": at_ms, "fault": fault, "seconds": round(lasts, 1)}


class Storm:
    """Jobs and faults side by side; one thread, so that what happened can be told in order."""

    def __init__(self, cluster: Cluster, count: int, at_once: int, seed: int, whole: bool = True, mode: str = "act"):
        self.cluster, self.count, self.at_once, self.mode = cluster, count, at_once, mode
        self.random = random.Random(seed)
        self.service = ServicePlace(cluster, f'mode = "{mode}"\n[log]\nformat = "json"\n')
        self.clocks = [Clock(self.service, self.random)]
        if whole:
            first_at = TIMES[ClusterPlace][0][0]
            self.clocks.append(Clock(ClusterPlace(cluster, self.random), self.random, first_at))
        self.submitted, self.struck = [], []
        self.began = time.monotonic()

    def kinds(self) -> list:
        return [kind for clock in self.clocks for kind in clock.place.words]

    def running(self) -> list:
        return [one for one in self.submitted if not one.done()]

    def submit(self) -> None:
        settings = {
            "lab.maps": 6,
            "lab.map.ms": self.random.randint(1500, 2500),
            "lab.slow.nodes": "nm2:10",
            "lab.name": f"faults {len(self.submitted)}",
            **watch.NO_NATIVE_COPIES,
        }
        self.submitted.append(jobs.Running(self.cluster, jobs.Spec(shim=True, settings=settings)))

    def rage(self, limit_s: float) -> None:
        """Until every job has ended, or the time is over."""
        while len(self.submitted) < self.count or self.running():
            now = time.monotonic() - self.began
            if now > limit_s:
                break
            for clock in self.clocks:
                if now >= clock.next_at:
                    row = clock.turn(now)
                    self.struck += [row] if row else []
                clock.place.tend()
            if len(self.submitted) < self.count and len(self.running()) < self.at_once:
                self.submit()
            time.sleep(POLL_S)

    def calm(self) -> None:
        for clock in self.clocks:
            clock.place.end()

    def outcome(self, index: int, one: jobs.Running, decided: dict) -> dict:
        row = {"index": index, "faults": [], "succeeded": False, "violations": []}
        if not one.done():
            return {**row, "why": "it had not ended in time"}
        try:
            result = one.result()
        except Failed as failure:
            return {**row, "why": str(failure)}
        found = violations(result, decided)
        return {**row, **result.summary(), "faults": hits(self.struck, result), "violations": found}


def violations(result: jobs.Result, decided: dict) -> list:
    """The tasks that had more attempts live at once than their own and the copies decided on."""
    return [
        {"task": task, "live": live, "decided": decided.get(task, 0)}
        for task, live in sorted(result.most_live().items())
        if live > 1 + decided.get(task, 0)
    ]


def hits(struck: list, result: jobs.Result) -> list:
    """The faults that lasted while tasks of the job ran; before that its shim may not have been there to feel them."""
    began = min((one.start_ms for one in result.attempts), default=0)
    ended = max((one.finish_ms for one in result.attempts), default=0)
    return [row["fault"] for row in struck if row["at_ms"] < ended and row["at_ms"] + 1000 * row["seconds"] > began]


def storm(cluster: Cluster, count: int, at_once: int, seed: int, limit_s=None, **how) -> dict:
    """What became of the jobs and the service; leaves neither running. Not `whole`: the cluster itself has no fault."""
    one = Storm(cluster, count, at_once, seed, **how)
    try:
        one.rage(limit_s or LIMIT_S * count)
        one.calm()
        decided = one.service.decided()
        runs = [one.outcome(index, running, decided) for index, running in enumerate(one.submitted)]
    finally:
        for running in one.running():
            running.end()
        one.calm()
    return {
        "seed": seed,
        "mode": one.mode,
        "asked": count,
        "kinds": one.kinds(),
        "succeeded": sum(run["succeeded"] for run in runs),
        "copies_decided": sum(decided.values()),
        "seconds": round(time.monotonic() - one.began, 1),
        "services_started": len(one.service.lives),
        "exchanges_accepted": one.service.exchanges,
        "connections_swallowed": one.service.swallowed,
        "faults": one.struck,
        "runs": runs,
    }


def shows(found: dict) -> bool:
    """Every job succeeded, no attempt was too many; shims spoke, copies were decided, or in advice none ran, and every
    fault hit a job."""
    hit = {fault for run in found["runs"] for fault in run["faults"]}
    harmless = found["succeeded"] == found["asked"] and not any(run["violations"] for run in found["runs"])
    ran = any(run.get("copies") for run in found["runs"])
    acted = found["copies_decided"] > 0 if found["mode"] == "act" else not ran
    return harmless and acted and found["exchanges_accepted"] > 0 and hit == set(found["kinds"])


def show(found: dict) -> None:
    print(f"\n{'job':>4} {'seconds':>8} {'copies':>7}  {'':9} faults while its tasks ran")
    for run in found["runs"]:
        word = "succeeded" if run["succeeded"] else "FAILED"
        said = ", ".join(run["faults"]) or "none"
        print(f"{run['index']:4} {run.get('seconds', '-'):>8} {run.get('copies', '-'):>7}  {word:9} {said}")
        if "why" in run:
            print(f"      {run['why']}")
        for one in run["violations"]:
            print(f"      TOO MANY: {one['live']} attempts of {one['task']} at once, {one['decided']} copies decided")
    took = [run["seconds"] for run in found["runs"] if "seconds" in run]
    counts = ", ".join(f"{sum(row['fault'] == kind for row in found['faults'])} × {kind}" for kind in found["kinds"])
    median, copies = statistics.median(took or [0]), sum(run.get("copies", 0) for run in found["runs"])
    beyond = sum(len(run["violations"]) for run in found["runs"])
    print(f"\n{found['succeeded']} of {found['asked']} jobs succeeded, {median:.1f} s each (median)")
    print(f"{found['copies_decided']} copies decided on, {copies} ran; {beyond} tasks with more attempts than decided")
    print(f"{counts}; {found['services_started']} starts of the service")
    print(
        f"{found['exchanges_accepted']:.0f} exchanges accepted, {found['connections_swallowed']} connections", end=" "
    )
    print(f"into the black hole; seed {found['seed']}")


def options(parser) -> None:
    parser.add_argument("--jobs", type=int, default=60, help="how many (default 60)")
    parser.add_argument("--mode", choices=("act", "advise"), default="act", help="the service's (default act)")
    parser.add_argument("--service-only", action="store_true", help="strike the service alone, not the cluster")
    parser.add_argument("--at-once", type=int, default=3, help="how many at a time (default 3)")
    parser.add_argument("--seed", type=int, default=1, help="of the faults' order and moments (default 1)")


def run(asked) -> tuple:
    """Jobs with the shim while service, nodes and masters are killed: all succeed, and no copy is undecided."""
    build.drover()
    build.shim()
    cluster = commands.bring_up(cluster_options(paths.TARGET / "bench"))
    try:
        how = {"whole": not asked.service_only, "mode": asked.mode}
        found = storm(cluster, asked.jobs, asked.at_once, asked.seed, **how)
    finally:
        cluster.down(quiet=True)
    show(found)
    return found, shows(found)
