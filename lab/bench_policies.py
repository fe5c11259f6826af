"""Drover acting by each of the policies that might be its default, on the scenarios of `./dev bench act`.

Rounds, their rejection and their resumption are those of that bench.
"""

from dataclasses import replace

from lab import bench_act, paths
from lab.arms import POLICIES
from lab.ledger import Ledger
from lab.scenarios import SCENARIOS

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


def report(ledger: Ledger, cells: list) -> dict:
    """Every run with whether it counts, each cell's medians, and how the candidate does beside the others."""
    _, runs, rows = bench_act.collected(ledger, cells)
    return bench_act.told(ledger, rows, judge(rows), runs)


def run(asked) -> tuple:
    """Jobs with slow and healthy nodes under Drover's own policies: which should be its default."""
    return bench_act.perform(asked, HOME, report, PLAYED)
