"""A job's attempts as its ApplicationMaster has written them down: the JobHistoryServer takes minutes to be asked for
each of 20,000 tasks."""

import json
import time
from pathlib import Path

from lab.cluster import Cluster
from lab.jobs import HISTORY_LIMIT_S, Attempt
from lab.progress import Failed

STARTED = ("MAP_ATTEMPT_STARTED", "REDUCE_ATTEMPT_STARTED")
SUCCEEDED = ("MAP_ATTEMPT_FINISHED", "REDUCE_ATTEMPT_FINISHED")
UNSUCCESSFUL = ("MAP_ATTEMPT_FAILED", "MAP_ATTEMPT_KILLED", "REDUCE_ATTEMPT_FAILED", "REDUCE_ATTEMPT_KILLED")
POLL_S = 0.2


def file(cluster: Cluster, job: str) -> Path:
    """The job's history, once the JobHistoryServer has put it away; of a cluster without HDFS."""
    until = time.monotonic() + HISTORY_LIMIT_S
    while time.monotonic() < until:
        found = list((cluster.dir / "history").rglob(f"{job}-*.jhist"))
        if found:
            return found[0]
        time.sleep(POLL_S)
    raise Failed(f"no history of {job}", cluster.logs / "jhs.log")


def attempts(history: Path) -> list:
    """Those that were launched. One whose end is not told was still being killed when its job ended."""
    found, ended, last = {}, {}, 0
    with history.open() as lines:
        next(lines), next(lines)  # what it is written in, and its schema
        for line in lines:
            if not line.strip():
                continue
            told = json.loads(line)
            ((_, event),) = told["event"].items()
            last = max(last, event.get("finishTime") or 0)
            if told["type"] in STARTED:
                found[event["attemptId"]] = event
            elif told["type"] in SUCCEEDED:
                ended[event["attemptId"]] = ("SUCCEEDED", event["finishTime"])
            elif told["type"] in UNSUCCESSFUL:
                ended[event["attemptId"]] = (event["status"], event["finishTime"])
    return [attempt(one, *ended.get(id, ("KILLED", last))) for id, one in found.items() if one["startTime"] > 0]


def attempt(started: dict, state: str, finish_ms: int) -> Attempt:
    began = started["startTime"]
    node = started["trackerName"]
    return Attempt(started["attemptId"], started["taskid"], node, state, began, max(began, finish_ms))
