"""./dev demo: a real cluster with one slow node: Drover's advice in time, and its copies against Hadoop's own.

First a job with one node ten times slower is watched and advised on, over REST only and with the shim in its
ApplicationMaster; nothing is changed in either. Then two jobs run in turns without speculation, with Hadoop's own
speculator as shipped, with Hadoop's own tuned, and with Drover acting: short equal tasks with one node ten times
slower, and a real word count on a throttled node, whose output must be the same in every run.

Written to demo-report.json: `watch`, the tasks of the slow node, how many of them were advised on, how many others
were, and when in its running time the last of the slow ones was first named (0 its start, 1 its end); `runs`, one
entry a run.
"""

import argparse
import json

from lab import build, commands, jobs, paths, stage, stats, watch
from lab.progress import say
from lab.scenarios import AM_AWAY, DEMO, QUICK_DEMO
from lab.service import API, Service
from lab.stage import Stage

REPORT = paths.ROOT / "demo-report.json"
WATCHED = {"rest": "watched over REST only", "shim": "with the shim"}
SLOW, FACTOR = "nm2", 10


def intervals(asked) -> dict:
    return {"mapreduce.task.progress-report.interval": asked.report_interval_ms} if asked.report_interval_ms else {}


def watch_one(service: Service, way: str, asked) -> dict:
    """One job, only watched: what was said of it against what became of it."""
    say(f"==> a job of {asked.maps} maps of {asked.map_ms / 1000:g} s, {SLOW} {FACTOR} times slower, {WATCHED[way]}")
    settings = {
        "lab.maps": asked.maps,
        "lab.map.ms": asked.map_ms,
        "lab.slow.nodes": f"{SLOW}:{FACTOR}",
        "lab.name": f"demo {way}",
        **watch.NO_NATIVE_COPIES,
        **AM_AWAY,
        **intervals(asked),
    }
    result, said = watch.run(service, jobs.Spec(shim=way == "shim", settings=settings), quiet=False)
    found = watch.judge(result, said.first, SLOW)
    say(f"    ended after {result.seconds:.1f} s, {'succeeded' if result.succeeded else 'FAILED'}")
    return {"way": way, **result.summary(), **found, "explained": said.told}


def watched(cluster, asked) -> list:
    with Service(cluster).start() as service:
        return [watch_one(service, way, asked) for way in WATCHED]


def compared(on: Stage, asked) -> list:
    """Every play of every round; the order of the arms turns by one from round to round."""
    plays, rounds, scenarios = [], 1 if asked.quick else asked.rounds, QUICK_DEMO if asked.quick else DEMO
    for number in range(rounds):
        for name, scenario in scenarios.items():
            say(f"==> round {number + 1} of {rounds}: {scenario.about}")
            arms = list(scenario.arms)
            turn = number % len(arms)
            for arm in arms[turn:] + arms[:turn]:
                plays.append((number, on.play(name, scenario, arm, intervals(asked))))
                plays[-1][1].show()
    return plays


def totals(runs: list) -> dict:
    fractions = [run["first_advice_fraction"] for run in runs if run["first_advice_fraction"] is not None]
    watch = {name: sum(run[name] for run in runs) for name in ("slow_tasks", "advised", "advised_wrongly")}
    return {**watch, "first_advice_fraction": max(fractions, default=None)}


def show_watched(runs: list) -> None:
    print(f"\n{'':24} {'job':>8} {'tasks on the':>13} {'advised':>8} {'others':>8} {'latest first advice':>20}")
    print(f"{'':24} {'seconds':>8} {'slow node':>13} {'on':>8} {'advised':>8} {'(share of run time)':>20}")
    for run in runs:
        fraction = run["first_advice_fraction"]
        print(
            f"{WATCHED[run['way']]:24} {run['seconds']:8.1f} {run['slow_tasks']:13} {run['advised']:8} "
            f"{run['advised_wrongly']:8} {'-' if fraction is None else f'{fraction:.2f}':>20}"
        )


def show_compared(rows: list) -> bool:
    """Prints the comparison; answers whether all word counts gave the same bytes, files in the order of their names."""
    cells = {}
    for name, scenario in DEMO.items():
        for arm in scenario.arms:
            cells[name, arm] = stats.summary([row for row in rows if (row["job"], row["arm"]) == (name, arm)])
    print(f"\n{stats.table(cells)}\n")
    for name in DEMO:
        drover, others = cells[name, "drover"], {arm: one for (job, arm), one in cells.items() if job == name}
        said = ", ".join(
            f"{drover['seconds'] / one['seconds']:.2f} of {arm}" for arm, one in others.items() if arm != "drover"
        )
        print(f"{name}: Drover's median time is {said}")
    digests = [row["digest"] for row in rows if row["digest"]]
    same = len(digests) > 0 and len(set(digests)) == 1
    copied = sum(row["copies"] > 0 for row in rows if row["digest"])
    word = "equal byte for byte" if same else "NOT EQUAL"
    print(f"outputs of the {len(digests)} word counts, {copied} of them with copies: {word}")
    return same


def tell(seen: list, plays: list) -> bool:
    """Prints and writes what was found; answers whether all was as it must be."""
    rows = [{**play.row(), "round": number} for number, play in plays]
    told = [play.said.told for _, play in plays] + [run["explained"] for run in seen]
    print(f"\n{next(filter(None, told), 'No copy was decided on, so none is explained.')}")
    show_watched(seen)
    same, whole = not plays or show_compared(rows), totals(seen)
    in_time = all(watch.in_time(run) for run in seen)
    named = f"every task of the slow node named, and no other, before {watch.IN_TIME:g} of its running time"
    print(f"{named}: {'yes' if in_time else 'NO'}")
    succeeded = all(run["succeeded"] for run in [*seen, *rows])
    print(f"every job succeeded: {'yes' if succeeded else 'NO'}")
    report = {"watch": whole, "watched": seen, "runs": rows, "outputs_equal": same}
    REPORT.write_text(json.dumps(report, indent=1) + "\n")
    say(f"written: {REPORT.name} (watch: {json.dumps(whole)})")
    return same and in_time and succeeded


def kept(cluster) -> None:
    at, drover = f"--dir {paths.shown(cluster.dir)}", paths.shown(paths.drover())
    say(
        f"""
The cluster and the service (http://{API}, inside the cluster's network; it acts on jobs with the shim) still run:
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
    parser.add_argument("--rounds", type=int, default=3, help="of the comparison (default 3)")
    parser.add_argument("--quick", action="store_true", help="one round, with less to count")
    parser.add_argument(
        "--watch-only", action="store_true", help="only the advice in time, no comparison; the report has no runs then"
    )
    parser.add_argument(
        "--keep", action="store_true", help="leave cluster and service running, and say how to use and stop them"
    )
    parser.add_argument(
        "--dir", default=str(paths.TARGET / "demo"), help="the cluster's directory (default target/demo)"
    )
    parser.add_argument("--maps", type=int, default=6, help="maps of the watched job (default 6)")
    parser.add_argument(
        "--map-ms", type=int, default=2000, metavar="MS", help="a map's time on a healthy node (default 2000)"
    )
    parser.add_argument(
        "--report-interval-ms",
        type=int,
        default=500,
        metavar="MS",
        help="how often tasks report (default 500; 0 for Hadoop's own)",
    )
    asked = parser.parse_args(arguments)
    if asked.rounds < 1:
        parser.error("--rounds: 1 or more")
    return asked


def main(arguments: list) -> int:
    asked = arguments_of(arguments)
    build.drover()
    build.shim()
    cluster = commands.bring_up(stage.options(asked.dir))
    keep = False
    try:
        seen = watched(cluster, asked)
        plays = [] if asked.watch_only else compared(Stage(cluster), asked)
        reached = tell(seen, plays)
        keep = asked.keep
        if keep:
            Service(cluster, stage.ACT).start()
    finally:
        if not keep:
            cluster.down(quiet=True)
    if keep:
        kept(cluster)
    return 0 if reached else 1
