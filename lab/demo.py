"""./dev demo: a real cluster with one node ten times slower, the service watching, and its advice in time.

The same job runs twice: watched over REST only, and with the shim in its ApplicationMaster. Nothing is changed in
either. Written to demo-report.json: how many tasks ran on the slow node, how many of them were advised on, how many
others were, and when in its running time the last of the slow ones was first named (0 its start, 1 its end).
"""

import argparse
import json
import time

from lab import build, commands, conf, http, jobs, paths
from lab.cluster import Cluster
from lab.options import Options, slow_node
from lab.progress import Failed, say
from lab.service import API, Service

REPORT = paths.ROOT / "demo-report.json"
ARMS = {"rest": "watched over REST only", "shim": "with the shim"}
POLL_S = 0.5
# Room for every map at once and for copies of the slow node's: without room no copy is worth advising.
NODE_MB = 1024
IN_TIME = 0.5


def named(decisions: list) -> dict:
    """The first advice on each task."""
    first = {}
    for one in sorted(decisions, key=lambda one: one["at_ms"]):
        if one["action"] == "duplicate" and one["outcome"] in ("advised", "sent"):
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


def follow(service: Service, running: jobs.Running) -> tuple:
    """Says each piece of advice as it comes; answers the first advice on each task, and one explanation."""
    job, began, first, told = running.id(), time.monotonic(), {}, ""
    while not running.done():
        if time.monotonic() - began > jobs.JOB_LIMIT_S:
            raise Failed(f"{job} had not ended after {jobs.JOB_LIMIT_S} s", running.log)
        try:
            now = named(service.decisions(job))
        except http.Unanswered as fault:
            if not service.cluster.alive(service.name):
                raise Failed(f"the service ended while the job ran: {fault}", service.log) from None
            now = first
        for task in sorted(now.keys() - first.keys()):
            say(f"    {time.monotonic() - began:5.1f} s: a copy of {task} advised")
            # While it runs: of a job that has ended the service soon keeps nothing but the decisions.
            told = told or f"drover explain {job} {task}\n\n{service.cli('explain', job, task)}"
        first = now
        time.sleep(POLL_S)
    return {**first, **named(service.decisions(job))}, told


# Hadoop's own speculator looks on: a copy of its would end a slow task early, and the advice could not be set against
# how long the task really takes.
NO_NATIVE_COPIES = {
    "mapreduce.job.speculative.minimum-allowed-tasks": 0,
    "mapreduce.job.speculative.speculative-cap-running-tasks": 0.0,
    "mapreduce.job.speculative.speculative-cap-total-tasks": 0.0,
}


def run_arm(cluster: Cluster, service: Service, arm: str, asked) -> dict:
    node, factor = slow_node(asked.slow, asked.nodes)
    say(f"==> a job of {asked.maps} maps of {asked.map_ms / 1000:g} s, {node} {factor:g} times slower, {ARMS[arm]}")
    settings = {
        "lab.maps": asked.maps,
        "lab.map.ms": asked.map_ms,
        "lab.slow.nodes": asked.slow,
        "lab.name": f"demo {arm}",
        **NO_NATIVE_COPIES,
        # The ApplicationMaster away from the slow node: that one's places are for tasks.
        "mapreduce.job.am.strict-locality": f"{conf.rack(1)}/nm1",
    }
    running = jobs.Running(cluster, jobs.Spec(shim=arm == "shim", settings=settings))
    try:
        first, told = follow(service, running)
        result = running.result()
    finally:
        running.end()
    row = {"arm": arm, **result.summary(), **judge(result, first, node), "explained": told}
    say(f"    ended after {result.seconds:.1f} s, {'succeeded' if result.succeeded else 'FAILED'}")
    return row


def report(runs: list, asked) -> dict:
    fractions = [run["first_advice_fraction"] for run in runs if run["first_advice_fraction"] is not None]
    watch = {name: sum(run[name] for run in runs) for name in ("slow_tasks", "advised", "advised_wrongly")}
    watch["first_advice_fraction"] = max(fractions, default=None)
    whole = {"watch": watch, "runs": runs, "report_interval_ms": asked.report_interval_ms, "slow": asked.slow}
    REPORT.write_text(json.dumps(whole, indent=1) + "\n")
    return whole


def show(runs: list) -> None:
    print(f"\n{'':24} {'job':>8} {'tasks on the':>13} {'advised':>8} {'others':>8} {'latest first advice':>20}")
    print(f"{'':24} {'seconds':>8} {'slow node':>13} {'on':>8} {'advised':>8} {'(share of run time)':>20}")
    for run in runs:
        fraction = run["first_advice_fraction"]
        print(
            f"{ARMS[run['arm']]:24} {run['seconds']:8.1f} {run['slow_tasks']:13} {run['advised']:8} "
            f"{run['advised_wrongly']:8} {'-' if fraction is None else f'{fraction:.2f}':>20}"
        )


def kept(cluster: Cluster) -> None:
    at = f"--dir {paths.shown(cluster.dir)}"
    drover = paths.shown(paths.DROVER)
    say(
        f"""
The cluster and the service (http://{API}, inside the cluster's network) still run:
  ./dev cluster status {at}
  ./dev cluster run {at} --shim job -Dlab.slow.nodes=nm2:10
  ./dev cluster run {at} -- {drover} advise --watch
  ./dev cluster run {at} -- curl -s http://{API}/api/v1/decisions
Stop both with:
  ./dev cluster down {at}"""
    )


def arguments_of(arguments: list):
    parser = argparse.ArgumentParser(
        prog="./dev demo", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--keep", action="store_true", help="leave cluster and service running, and say how to use and stop them"
    )
    parser.add_argument(
        "--dir", default=str(paths.TARGET / "demo"), help="the cluster's directory (default target/demo)"
    )
    parser.add_argument("--nodes", type=int, default=5, help="NodeManagers (default 5)")
    parser.add_argument("--maps", type=int, default=12, help="maps of the job (default 12)")
    parser.add_argument(
        "--map-ms", type=int, default=6000, metavar="MS", help="a map's time on a healthy node (default 6000)"
    )
    parser.add_argument("--slow", default="nm2:10", metavar="NODE:TIMES", help="the slow node (default nm2:10)")
    parser.add_argument(
        "--report-interval-ms",
        type=int,
        default=500,
        metavar="MS",
        help="how often tasks report (default 500; 0 for Hadoop's own)",
    )
    parser.add_argument("--arm", choices=sorted(ARMS), action="append", help="only this one (default both)")
    asked = parser.parse_args(arguments)
    slow_node(asked.slow, asked.nodes)
    return asked


def main(arguments: list) -> int:
    asked = arguments_of(arguments)
    build.drover()
    build.shim()
    interval = asked.report_interval_ms
    cluster = commands.bring_up(Options(dir=asked.dir, nodes=asked.nodes, node_mb=NODE_MB, report_interval_ms=interval))
    keep = False
    try:
        service = Service(cluster).start()
        runs = [run_arm(cluster, service, arm, asked) for arm in asked.arm or ARMS]
        whole = report(runs, asked)
        told = next((run["explained"] for run in reversed(runs) if run["explained"]), "")
        print(f"\n{told}")
        show(runs)
        reached = all(in_time(run) and run["succeeded"] for run in runs)
        answer = "yes" if reached else "NO"
        print(f"\nevery task of the slow node named, and no other, before half of its running time: {answer}")
        say(f"written: {REPORT.name} (watch: {json.dumps(whole['watch'])})")
        keep = asked.keep
    finally:
        if not keep:
            cluster.down(quiet=True)
    if keep:
        kept(cluster)
    return 0 if reached else 1
