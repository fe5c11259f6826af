"""What Drover said of a job, against what then became of it."""

import statistics
import time
from dataclasses import dataclass, field

from lab import http, jobs
from lab.cluster import Cluster
from lab.progress import Failed, say
from lab.service import Service

POLL_S = 0.5
# Each telling is a process of its own, which the job would have to share its two cores with.
TELL_S = 4
IN_TIME = 0.5
# What was done about a decision that stands: a copy was advised, or is to be started.
STANDS = ("advised", "decided")

# Hadoop's own speculator looks on: a copy of its would end a slow task early, and the advice could not be set against
# how long the task really takes.
NO_NATIVE_COPIES = {
    "mapreduce.job.speculative.minimum-allowed-tasks": 0,
    "mapreduce.job.speculative.speculative-cap-running-tasks": 0.0,
    "mapreduce.job.speculative.speculative-cap-total-tasks": 0.0,
}


def named(decisions: list) -> dict:
    """The first decision for a copy of each task."""
    first = {}
    for one in sorted(decisions, key=lambda one: one["at_ms"]):
        if one["action"] == "duplicate" and one["outcome"] in STANDS:
            first.setdefault(one["task"], one)
    return first


def judge(result: jobs.Result, first: dict, node: str) -> dict:
    """The advice against what then happened. A task never named counts as named at its end."""
    slow = [a for a in result.attempts if a.node == node and a.id.endswith("_0")]
    rows = []
    for attempt in slow:
        at = min(first[attempt.task]["at_ms"], attempt.finish_ms) if attempt.task in first else attempt.finish_ms
        rows.append(
            {
                "task": attempt.task,
                "seconds": attempt.seconds,
                "advised": attempt.task in first,
                "first_advice_fraction": round(
                    (at - attempt.start_ms) / max(1, attempt.finish_ms - attempt.start_ms), 3
                ),
            }
        )
    others = sorted(set(first) - {attempt.task for attempt in slow})
    return {
        "slow_tasks": len(rows),
        "advised": sum(row["advised"] for row in rows),
        "advised_wrongly": len(others),
        "first_advice_fraction": max((row["first_advice_fraction"] for row in rows), default=None),
        "tasks": rows,
        "others": [{"task": task, "node": first[task]["node"], "reason": first[task]["reason"]} for task in others],
    }


def in_time(watch: dict) -> bool:
    """Every task of the slow node named, no other, each before half of its running time."""
    every = watch["slow_tasks"] > 0 and watch["advised"] == watch["slow_tasks"]
    return every and watch["advised_wrongly"] == 0 and watch["first_advice_fraction"] < IN_TIME


# Some maps for each node but that of the ApplicationMaster: one whose NodeManager was silent for a moment is given
# none, else.
SPREAD = {"lab.split.hosts": "nm2,nm3,nm4,nm3,nm4"}


class Sickness:
    """Nodes so slow that their tasks end only when they are cured: how long anything took to be noticed decides
    nothing."""

    FACTOR = 120
    LIMIT_S = 400

    def __init__(self, cluster: Cluster, *nodes: str):
        """Of all nodes where none is named."""
        self.nodes = nodes or tuple(f"nm{nth}" for nth in range(1, cluster.options.nodes + 1))
        self.file = cluster.dir / f"{'-'.join(self.nodes)}-is-slow"
        self.file.touch()
        slow = ",".join(f"{node}:{self.FACTOR}" for node in self.nodes)
        self.settings = {"lab.slow.nodes": slow, "lab.slow.file": self.file}

    def cure(self):
        self.file.unlink(missing_ok=True)

    def tasks(self, result: jobs.Result) -> set:
        return {a.task for a in result.attempts if a.node in self.nodes}

    def laggards(self, result: jobs.Result) -> set:
        """Tasks of the other nodes that a busy machine made slow all the same: a fifth longer than their median; one
        that ends soon after it was named takes no longer."""
        others = [a for a in result.attempts if a.node not in self.nodes]
        typical = statistics.median(a.seconds for a in others)
        return {a.task for a in others if a.seconds > 1.2 * typical}

    def until_named(self, service: Service, running: jobs.Running) -> bool:
        """Waits until every map that has not succeeded runs and has been named: one that waits may yet start there."""
        until = time.monotonic() + self.LIMIT_S
        while not running.done() and time.monotonic() < until:
            try:
                maps = service.get(f"/jobs/{running.id()}")["maps"]
                left = {one["task"] for one in service.tasks(running.id())}
                every = maps["total"] > 0 and maps["succeeded"] + len(left) >= maps["total"]
                if left and every and left <= set(named(service.decisions(running.id()))):
                    return True
            except http.Unanswered:
                pass  # nothing was heard of the job yet
            time.sleep(POLL_S)
        return False


@dataclass
class Said:
    """What the service said of a job while it ran."""

    first: dict = field(default_factory=dict)  # the first decision for a copy of each task
    told: str = ""  # what `drover explain` said last of the first such task
    told_at: float = 0  # when that was, by the monotonic clock
    verdicts: dict = field(default_factory=dict)  # the verdicts each task had


def run(service: Service, spec: jobs.Spec, quiet: bool = True) -> tuple:
    """Runs a job to its end; answers its result, and what the service said of it."""
    running = jobs.Running(service.cluster, spec)
    try:
        said = follow(service, running, quiet)
        return running.result(), said
    finally:
        running.end()


def follow(service: Service, running: jobs.Running, quiet: bool = False) -> Said:
    """Asks the service about a job until it ends, and says each decision as it comes."""
    job, began, said = running.id(), time.monotonic(), Said()
    while not running.done():
        if time.monotonic() - began > jobs.JOB_LIMIT_S:
            raise Failed(f"{job} had not ended after {jobs.JOB_LIMIT_S} s", running.log)
        try:
            new = look(service, job, said)
        except http.Unanswered as fault:
            if not service.cluster.alive(service.name):
                raise Failed(f"the service ended while the job ran: {fault}", service.log) from None
            new = []
        for task in [] if quiet else new:
            say(f"    {time.monotonic() - began:5.1f} s: a copy of {task} {said.first[task]['outcome']}")
        time.sleep(POLL_S)
    said.first.update(named(service.decisions(job)))
    return said


def look(service: Service, job: str, said: Said) -> list:
    """Adds what the service says now; answers the tasks it names for the first time."""
    now = named(service.decisions(job))
    new = sorted(now.keys() - said.first.keys())
    said.first.update(now)
    if said.first and time.monotonic() - said.told_at > TELL_S:
        # While it runs: of a job that has ended the service soon keeps nothing but the decisions.
        words = ("explain", job, next(iter(said.first)))
        told, said.told_at = service.ask(*words), time.monotonic()
        said.told = said.told if told.returncode else f"drover {' '.join(words)}\n\n{told.stdout}"
    note_verdicts(service, job, said)
    return new


def note_verdicts(service: Service, job: str, said: Said) -> None:
    """Adds the verdicts that the job's running tasks have now."""
    for row in service.tasks(job):
        if row.get("verdict"):
            said.verdicts.setdefault(row["task"], set()).add(row["verdict"])
