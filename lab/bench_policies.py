"""Drover acting by each of the policies that might be its default, on the scenarios of `./dev bench act`.

Rounds, their rejection and their resumption are those of that bench.
"""

from dataclasses import replace

from lab import bench_act, build, commands, paths, stage
from lab.arms import POLICIES
from lab.ledger import Ledger
from lab.scenarios import SCENARIOS
from lab.stage import Stage

HOME = paths.TARGET / "bench-policies"
CANDIDATE, SLOWER = "drover", 1.05
PLAYED = {
    name: replace(scenario, arms=POLICIES, rounds=min(scenario.rounds, 5))
    for name, scenario in SCENARIOS.items()
    if name != "estimators"
}


def options(parser) -> None:
    bench_act.options(parser, PLAYED)


def judge(rows: list) -> list:
    """Where the candidate is slower than the best of the others by more than runs differ, it is no default."""
    cells = {}
    for row in rows:
        cells.setdefault(row["cell"], {})[row["arm"]] = row["seconds"]
    judged = []
    for cell, seconds in cells.items():
        best = min(time for arm, time in seconds.items() if arm != CANDIDATE)
        ratio = round(seconds[CANDIDATE] / best, 3)
        judged.append(
            {"target": f"{cell}: not slower than the best other", "measured": ratio, "reached": ratio <= SLOWER}
        )
    return judged


def run(asked) -> tuple:
    """Jobs with slow and healthy nodes under Drover's own policies: which should be its default."""
    build.drover()
    build.shim()
    build.lab_jobs()
    file = HOME / "runs.jsonl"
    if asked.fresh:
        file.unlink(missing_ok=True)
    ledger, cells = Ledger(file, bench_act.fingerprint(), asked.foreign_limit), bench_act.chosen(asked, PLAYED)
    cluster = commands.bring_up(stage.options(HOME / "cluster"))
    try:
        bench_act.Bench(Stage(cluster), ledger, cells, asked.rounds, PLAYED).run()
    finally:
        cluster.down(quiet=True)
        _, runs, rows = bench_act.collected(ledger, cells)
        judged = judge(rows)
        for one in judged:
            print(f"{'reached' if one['reached'] else 'NOT reached':12}  {one['target']}: {one['measured']}")
    return {"cells": rows, "targets": judged, "runs": runs}, all(one["reached"] for one in judged)
