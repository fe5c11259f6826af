"""One job of many maps on a cluster of eight nodes, one of them slow, while Drover acts on it.

ResourceManager, NodeManagers, containers, ApplicationMaster and shim are real; the maps are thin (lab/thin.py).
Hadoop's own speculator may start no copy, so that every copy must have been decided. Some attempts late in the job are
slow wherever they run. It must succeed, with every map succeeded and none failed, copies of the slow node's maps and of
the slow attempts must have won, the service must know all of its maps, and lose or refuse no fact of it.
"""

import re
import time
from collections import Counter

from lab import build, commands, jhist, jobs, paths, thin, watch
from lab.cluster import Cluster, application_of
from lab.large_watched import TICKS, Watched, buckets, percentiles
from lab.options import Options
from lab.progress import say
from lab.service import Service, total

TASKS, NODES, PLACES = 20_000, 8, 20
TASK_MB, MASTER_MB = 128, 256
SLOW_NODE, NODE_FACTOR = "nm2", 6
# How many attempts are slow wherever they run, spread over the last tenth of the maps.
SLOW_ATTEMPTS, ATTEMPT_FACTOR = 5, 20
LIMIT_S = 3600
SAMPLE_S = 2
LOST = ("drover_facts_refused_total", "drover_observations_dropped_total")
QUEUE = re.compile(r"Size of event-queue is (\d+)")
EXCHANGES = "drover_shim_exchange_seconds"


def cluster_options(places: int) -> dict:
    return {"nodes": NODES, "node_mb": places * TASK_MB + MASTER_MB, "thin": True}


def slow_attempts(tasks: int) -> list:
    """The maps whose first attempts are slow."""
    apart = max(1, tasks // 10 // SLOW_ATTEMPTS)
    return [tasks - 1 - apart * nth for nth in range(SLOW_ATTEMPTS)]


def settings(tasks: int, shim: bool, node_factor: float = NODE_FACTOR) -> dict:
    slow = ",".join(f"m_{task}_0:{ATTEMPT_FACTOR}" for task in slow_attempts(tasks))
    return {
        **thin.SETTINGS,
        **(watch.NO_NATIVE_COPIES if shim else {}),
        "lab.name": f"large {tasks}",
        "lab.maps": tasks,
        "lab.map.ms": 4000,
        "lab.jitter": 0.5,
        "lab.slow.nodes": f"{SLOW_NODE}:{node_factor:g}",
        "lab.slow.attempts": slow,
        "mapreduce.task.progress-report.interval": 1000,
        "mapreduce.jobhistory.jhist.format": "json",
    }


def play(cluster: Cluster, tasks: int, service: Service = None, node_factor=NODE_FACTOR, limit_s=LIMIT_S) -> dict:
    """Runs the job, with the shim where there is a service; answers what was seen of it."""
    spec = jobs.Spec(shim=bool(service), settings=settings(tasks, bool(service), node_factor))
    running = jobs.Running(cluster, spec)
    try:
        watched = Watched(cluster, service, running.id())
        watched.processes()
        before, told = dict(watched.used), time.monotonic()
        until = time.monotonic() + limit_s
        while not running.done() and time.monotonic() < until:
            watched.look()
            if watched.samples and time.monotonic() - told > 30:
                told = time.monotonic()
                say(f"    {watched.samples[-1]}")
            time.sleep(SAMPLE_S)
        ended = running.said("RESULT") or ""
    finally:
        running.end()
    attempts = jhist.attempts(jhist.file(cluster, watched.job))
    whole = jobs.Result(watched.job, '"succeeded":true' in ended, 0, "", attempts)
    found = {"job": watched.job, "tasks": tasks, **outcome(whole, tasks), **costs(watched, before)}
    return {**found, **(service_side(watched, service) if service else {}), "samples": watched.samples}


def outcome(result: jobs.Result, tasks: int) -> dict:
    copies = result.copies()
    won = [one for one in copies if one.state == "SUCCEEDED"]
    late = {f"m_{task:06}" for task in slow_attempts(tasks)}
    node_of = {one.task: one.node for one in result.attempts if one.number % 1000 == 0}
    began, ended = min(a.start_ms for a in result.attempts), max(a.finish_ms for a in result.attempts)
    return {
        "succeeded": result.succeeded,
        "seconds": round((ended - began) / 1000, 1),
        "maps_succeeded": len({one.task for one in result.attempts if one.state == "SUCCEEDED"}),
        "attempts": Counter(one.state for one in result.attempts),
        "by_node": Counter(one.node for one in result.attempts),
        "attempt_s": percentiles([one.seconds for one in result.attempts if one.state == "SUCCEEDED"]),
        "copies": len(copies),
        "copies_won": len(won),
        "won_of_slow_node": sum(node_of[one.task] == SLOW_NODE for one in won),
        "won_of_slow_attempts": sum(one.task[-8:] in late for one in won),
        "copies_of_others": len(
            [one for one in copies if node_of[one.task] != SLOW_NODE and one.task[-8:] not in late]
        ),
        "on_the_others_node": len(result.crowded(6)),
    }


def costs(watched: Watched, before: dict) -> dict:
    used = {name: round(seconds - before.get(name, 0), 1) for name, seconds in watched.used.items()}
    nodes = [name for name in used if name.startswith("nm")]
    application = application_of(watched.job)
    queues = [0]
    for file in watched.cluster.dir.glob(f"nm*/logs/{application}/container_*_000001/syslog"):
        queues += map(int, QUEUE.findall(file.read_text(errors="replace")))
    return {
        "cpu_s": {
            **{name: seconds for name, seconds in used.items() if name not in nodes},
            "nodes": round(sum(used[name] for name in nodes), 1),
            "shells": round(sum(watched.shells[name] for name in nodes), 1),
        },
        "rss_peak_mb": {n: mb for n, mb in watched.lives.items() if n not in nodes},
        "master_heap_peak_mb": watched.heap_mb,
        "master_longest_queue": max(queues),
        "unanswered": watched.unanswered,
    }


def service_side(watched: Watched, service: Service) -> dict:
    metrics = {**watched.metrics, **service.metrics()}
    named = lambda name: {s: v for s, v in metrics.items() if s.startswith(name) and v}  # noqa: E731
    return {
        "known_maps": watched.known,
        "passes": buckets(metrics, TICKS),
        "exchanges": buckets(metrics, EXCHANGES),
        "exchanged_bytes": total(metrics, "drover_shim_exchange_bytes_total"),
        "rows": total(metrics, "drover_shim_rows_total"),
        "outcomes": named("drover_shim_exchanges_total"),
        "refused": {series: value for name in LOST for series, value in named(name).items()},
        "copies_ended": named("drover_copies_ended_total"),
        "answers": named("drover_shim_answers_total"),
        "called_off": named("drover_shim_actions_called_off_total"),
        "unsent": named("drover_shim_actions_unsent_total"),
        "ledger": named("drover_ledger"),
        "age_s": percentiles(watched.ages_s),
        "silent_s": percentiles(watched.silent_s),
        "errors": [line for line in service.log.read_text().splitlines() if '"ERROR"' in line or " ERROR " in line],
    }


def service_settings(cluster: Cluster) -> str:
    return f'mode = "act"\nledger.path = "{cluster.dir / "ledger.db"}"\n[log]\nformat = "json"\n'


def judge(found: dict) -> dict:
    """What must be, by name."""
    tasks = found["tasks"]
    return {
        "it succeeds": found["succeeded"] and found["maps_succeeded"] == tasks,
        "no attempt failed": "FAILED" not in found["attempts"],
        "every map is known": found["known_maps"] == tasks,
        "no fact refused or dropped": not found["refused"],
        "copies of the slow node's maps win": found["won_of_slow_node"] > 0,
        "copies of slow attempts win": found["won_of_slow_attempts"] > 0,
        "no error is told": not found["errors"],
    }


def options(parser) -> None:
    parser.add_argument("--tasks", type=int, default=TASKS, help=f"maps of the job (default {TASKS})")
    parser.add_argument("--places", type=int, default=PLACES, help=f"containers a node (default {PLACES})")
    parser.add_argument("--without", action="store_true", help="the same job without the shim as well, for comparison")


def run(asked) -> tuple:
    """A job of 20,000 maps on eight nodes, Drover acting on it: what of it arrives, and what it costs."""
    build.drover()
    build.shim()
    cluster = commands.bring_up(Options(dir=str(paths.TARGET / "bench-large"), **cluster_options(asked.places)))
    runs = []
    try:
        thin.start(cluster)
        with Service(cluster, service_settings(cluster)).start() as service:
            runs.append(play(cluster, asked.tasks, service))
        if asked.without:
            runs.append(play(cluster, asked.tasks))
    finally:
        cluster.down(quiet=True)
    judged = judge(runs[0])
    for one in runs:
        for name, value in one.items():
            if name != "samples":
                say(f"    {name}: {value}")
    for name, reached in judged.items():
        say(f"    {'as it must be' if reached else 'NOT as it must be'}: {name}")
    return {"rule": __doc__, "runs": runs, "judged": judged}, all(judged.values())
