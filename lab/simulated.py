"""The simulator's counterpart of what is played on the real cluster: the same tasks, nodes and policies."""

import json
import math
import os
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path

from lab import conf, paths
from lab.progress import Failed
from lab.scenarios import INTERVALS, NODE_MB, NODES, Scenario

# Which of Drover's policies does what each arm's speculator does.
POLICIES = {"none": "none", "native": "hadoop", "native-tuned": "hadoop-tuned", "drover": "drover"}
DEFAULT_REPORT_MS = 6000
# As the cluster's logs have them: a heartbeat comes a little later than it is set to.
HEARTBEAT_S, LAUNCH_S = 0.11, 0.1
REDUCE_COPY_S = 0.3
# What a mebibyte of text takes of all reduces, share of what it takes of maps: as measured on jobs of two maps of 2, 4
# and 6 MB and one reduce, alone on the cluster.
WORD_REDUCE_SHARE = 0.25


@dataclass(frozen=True)
class Costs:
    """What passes beside the work that a scenario names: seconds of a JVM's start with nobody beside it, and of a job's
    first on a node beyond that, seconds of a commit, processor-seconds in which a mebibyte of words is counted, and
    processors that a start keeps busy beside its JVM's, with what the cluster's daemons do for it: a throttled node's
    containers are slowed, and these are not."""

    start_up: float
    localize: float
    commit: float
    word_mb: float = 0.0
    beside: float = 0.0


def processors() -> int:
    return len(os.sched_getaffinity(0))


def hadoop(interval: str, costs: Costs) -> dict:
    """What jobs have in common."""
    report_ms = INTERVALS[interval].get("mapreduce.task.progress-report.interval", DEFAULT_REPORT_MS)
    return {
        # A request leaves with an ApplicationMaster's heartbeat, a container comes with another and is then launched.
        "ask": HEARTBEAT_S,
        "allocate": {"uniform": {"low": LAUNCH_S, "high": LAUNCH_S + HEARTBEAT_S}},
        "node_heartbeat": HEARTBEAT_S,
        "start_up": costs.start_up,
        "start_up_beside": costs.beside,
        "localize": costs.localize,
        "slow_start_up": False,
        "commit": costs.commit,
        "report": report_ms / 1000,
        "exchange": 0.5,
        "poll": 1,
    }


def scenario(played: Scenario, interval: str, costs: Costs) -> dict:
    """A scenario of `drover simulate`, in which the ApplicationMaster's container is taken off its node."""
    settings = {**played.settings, **played.more_at(interval)}
    return {
        "cluster": {
            "nodes": NODES,
            "racks": len({conf.rack(number) for number in range(1, NODES + 1)}),
            "memory_mb": NODE_MB,
            "vcores": 64,
            "kinds": kinds(played, settings),
            "network": {"lab_processors": processors()},
        },
        "hadoop": {
            **hadoop(interval, costs),
            "slow_start": settings.get("mapreduce.job.reduce.slowstart.completedmaps", 0.05),
        },
        "slowness": {"data": jitter(settings.get("lab.jitter", 0))},
        "jobs": [{"name": "mix", "maps": maps(played, settings, costs), "reduces": reduces(played, settings, costs)}],
    }


def kinds(played: Scenario, settings: dict) -> list:
    """Node by node what sets it apart: room for the ApplicationMaster, tasks that sleep longer, fewer processors."""
    named = (one.split(":") for one in settings.get("lab.slow.nodes", "").split(",") if one)
    slower = {name: float(factor) for name, factor in named}
    throttled = {name: processors() / NODES / factor for name, factor in played.throttled}
    found = []
    for number in range(1, NODES + 1):
        name, kind = f"nm{number}", {"nodes": 1}
        if number == 1:
            kind["memory_mb"] = NODE_MB - settings["yarn.app.mapreduce.am.resource.mb"]
        if name in slower:
            kind["slower"] = slower[name]
        if name in throttled:
            kind["processors"] = throttled[name]
        found.append(kind)
    return found


def maps(played: Scenario, settings: dict, costs: Costs) -> dict:
    room = {"memory_mb": granted_mb(settings["mapreduce.map.memory.mb"])}
    if played.text_mb:
        work = costs.word_mb * played.text_mb / played.text_files
        return {"tasks": played.text_files, "work": work, "busy": 1, **room}
    return {"tasks": settings["lab.maps"], "work": settings["lab.map.ms"] / 1000, **room}


def reduces(played: Scenario, settings: dict, costs: Costs) -> dict:
    room = {"memory_mb": granted_mb(settings["mapreduce.reduce.memory.mb"]), "copy": REDUCE_COPY_S}
    if played.text_mb:
        work = WORD_REDUCE_SHARE * costs.word_mb * played.text_mb / settings["lab.reduces"]
        return {"tasks": settings["lab.reduces"], "work": work, "busy": 1, **room}
    return {"tasks": settings.get("lab.reduces", 0), "work": settings.get("lab.reduce.ms", 0) / 1000, **room}


def granted_mb(asked: int) -> int:
    """What YARN makes of it: the next multiple of the smallest container."""
    return math.ceil(asked / conf.ALLOCATION_MB) * conf.ALLOCATION_MB


def jitter(share: float):
    return {"uniform": {"low": 1 - share / 2, "high": 1 + share / 2}} if share else 1


def toml(value) -> str:
    """A value as TOML has it, tables in line; of a whole file its keys."""
    if isinstance(value, dict):
        return "{ " + ", ".join(f"{key} = {toml(one)}" for key, one in value.items()) + " }"
    if isinstance(value, list):
        return "[" + ", ".join(toml(one) for one in value) + "]"
    return json.dumps(value)


def simulate(whole: dict, arms, seeds: int) -> dict:
    """By arm: the mean time of its jobs over so many seeds, seconds."""
    told = times(whole, [POLICIES[arm] for arm in arms], seeds)
    return {arm: told[POLICIES[arm]]["mean"] for arm in arms}


def median(whole: dict, jobs: int) -> float:
    """The median time of so many of its jobs without speculation, an hour apart, seconds."""
    apart = {"count": jobs, "arrive": {"every": {"uniform": {"low": 3600, "high": 3601}}}}
    return times({**whole, "jobs": [{**job, **apart} for job in whole["jobs"]]}, ["none"], 1)["none"]["p50"]


def times(whole: dict, policies: list, seeds: int, settings=None) -> dict:
    """By policy: mean and quantiles of its jobs' times, seconds, and container-seconds, each the mean over seeds."""
    with tempfile.TemporaryDirectory() as directory:
        file = Path(directory) / "mix.toml"
        file.write_text("".join(f"{key} = {toml(value)}\n" for key, value in whole.items()))
        command = [paths.drover(), "simulate", file, "--policy", ",".join(policies), "--seeds", str(seeds), "--json"]
        for key, value in (settings or {}).items():
            command += ["--set", f"{key}={json.dumps(value)}"]
        ran = subprocess.run(command, capture_output=True, text=True)
    if ran.returncode:
        raise Failed(f"drover simulate: {ran.stderr.strip()}")
    found = {}
    for one in json.loads(ran.stdout)["policies"]:
        of = {name: point["mean"] for name, point in one["jobs"]["of"].items()}
        found[one["policy"]] = {**of, "container_seconds": one["costs"]["container_seconds"]["mean"]}
    return found
