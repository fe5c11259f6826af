"""./dev fidelity: the same jobs on the real cluster and simulated: how far apart are their times, and is the order of
policies the same?

Sleeping tasks and a throttled word count, 1 to 40 tasks, one or two slow nodes; without speculation, under Hadoop's
own, as shipped and tuned, and under Drover. What passes beside the work (the start of a JVM, a commit, counting words)
is what fits the runs without speculation of the *other* mixes best, never the mix's own. Rounds, their rejection and
their resumption are those of `./dev bench act`.
"""

import argparse
import functools
import itertools
import json
import math
import statistics
import subprocess
import sys
from dataclasses import replace

from lab import bench_act, paths
from lab.ledger import Ledger
from lab.mixes import MIXES
from lab.progress import Failed, say
from lab.scenarios import INTERVALS, SHORT
from lab.simulated import Costs, median, scenario, simulate
from lab.stats import interval_of

HOME = paths.TARGET / "fidelity"
ERROR_AT_MOST, ROUNDS = 0.10, 5
SEEDS, JOBS_TO_FIT = 40, 9
START_UPS = [round(0.6 + 0.1 * n, 1) for n in range(16)]
BESIDE = (0.0, 0.15, 0.3, 0.45, 0.6, 1.0, 1.5)
LOCALIZES = (0.0, 0.5, 1.0, 2.0)
COMMITS = (0.1, 0.3)
WORD_MBS = [round(0.05 * n, 2) for n in range(2, 61)]


def off(simulated: float, real: list) -> float:
    """By how much the simulated time lies from the mean of the real ones, share of that."""
    return simulated / statistics.fmean(real) - 1


def choices() -> list:
    """All that is tried of start-ups and commits."""
    whole = itertools.product(START_UPS, BESIDE, LOCALIZES, COMMITS)
    return [Costs(start_up, localize, commit, beside=beside) for start_up, beside, localize, commit in whole]


class Fit:
    """What fits mixes' runs without speculation best: their medians, as a reduce that lands on the slow node is luck,
    which start-ups have no part in. Simulations that were run once are kept."""

    def __init__(self, real: dict, interval: str):
        self.real, self.interval, self.known = real, interval, {}

    def error(self, mix: str, costs: Costs) -> float:
        if (mix, costs) not in self.known:
            whole = scenario(MIXES[mix], self.interval, costs)
            self.known[mix, costs] = abs(median(whole, JOBS_TO_FIT) / statistics.median(self.real[mix]["none"]) - 1)
        return self.known[mix, costs]

    def best(self, choices, mixes: list) -> Costs:
        return min(choices, key=lambda costs: sum(self.error(mix, costs) for mix in mixes))

    def without(self, mix: str) -> Costs:
        """Start-ups and commits by mixes of tasks that sleep, then the counting of words by those that count."""
        others = [other for other in self.real if other != mix]
        words = [other for other in others if MIXES[other].text_mb]
        asleep = [other for other in others if not MIXES[other].text_mb]
        costs = self.best(choices(), asleep)
        if not words:
            return costs
        return self.best([replace(costs, word_mb=word_mb) for word_mb in WORD_MBS], words)


def rows_of(mix: str, real: dict, simulated: dict, costs: Costs) -> list:
    def row(arm: str, seconds: list) -> dict:
        low, high = interval_of(seconds)
        told = {"real": statistics.fmean(seconds), "low": low, "high": high, "simulated": simulated[arm]}
        rounded = {key: round(value, 2) if math.isfinite(value) else None for key, value in told.items()}
        error = round(off(simulated[arm], seconds), 4)
        return {"mix": mix, "arm": arm, "rounds": len(seconds), **rounded, "error": error, "costs": vars(costs)}

    return [row(arm, seconds) for arm, seconds in real.items()]


def apart(rows: list) -> list:
    """Pairs of one mix's arms whose real intervals are apart, the sooner one first."""
    found = []
    for one, other in itertools.permutations(rows, 2):
        known = None not in (one["high"], other["low"])
        if one["mix"] == other["mix"] and known and one["high"] < other["low"]:
            found.append((one, other))
    return found


def misordered(rows: list) -> list:
    """Those of them whose simulated times stand the other way round."""
    wrong = [(one, other) for one, other in apart(rows) if one["simulated"] >= other["simulated"]]
    return [f"{one['mix']}: {one['arm']} before {other['arm']}" for one, other in wrong]


def compare(real: dict, interval: str) -> list:
    """Every mix that was played, simulated."""
    fit, rows = Fit(real, interval), []
    for mix, arms in real.items():
        say(f"==> {mix}, reports {interval}: simulated with what the other mixes show")
        costs = fit.without(mix)
        rows += rows_of(mix, arms, simulate(scenario(MIXES[mix], interval, costs), list(arms), SEEDS), costs)
    return rows


def judge(rows: list, interval: str) -> list:
    error = statistics.fmean(abs(row["error"]) for row in rows)
    wrong, pairs = misordered(rows), len(apart(rows))
    return [
        {
            "target": f"reports {interval}: mean absolute error of job times at most {ERROR_AT_MOST:.0%}",
            "measured": f"{error:.1%} of {len(rows)} times",
            "reached": error <= ERROR_AT_MOST,
        },
        {
            "target": f"reports {interval}: the order of policies where the real ones' intervals are apart",
            "measured": "; ".join(wrong) or (f"the same in {pairs} pairs" if pairs else "no two intervals are apart"),
            # Of two rounds next to none are.
            "reached": not wrong if pairs else None,
        },
    ]


def show(rows: list) -> None:
    say(f"    {'mix':16} {'arm':14} {'real':>6} {'interval':>15} {'simulated':>9} {'off':>7}")
    for row in rows:
        ends = "-" if row["low"] is None else f"{row['low']:.1f}-{row['high']:.1f}"
        told = f"{row['real']:6.1f} {ends:>15} {row['simulated']:9.1f} {row['error']:+7.1%}"
        say(f"    {row['mix']:16} {row['arm']:14} {told}")


def report(ledger: Ledger, cells: list) -> dict:
    """Each mix's real times beside the simulated ones, and the targets."""
    found, runs, _ = bench_act.collected(ledger, cells)
    rows, judged = [], []
    for interval in INTERVALS:
        real = {
            cell.scenario: {arm: [one[arm]["seconds"] for one in found[cell.scenario, interval]] for arm in cell.arms}
            for cell in cells
            if cell.interval == interval and found[cell.scenario, interval]
        }
        if len(real) > 1:
            compared = compare(real, interval)
            show(compared)
            rows += [{"interval": interval, **row} for row in compared]
            judged += judge(compared, interval)
    return bench_act.told(ledger, rows, judged, runs)


def play_round(asked, number: int) -> None:
    """Plays the rounds up to this one on a cluster of its own: nodes report in an order that a boot keeps, and who is
    given a reduce or a copy follows from it. A process of its own, as one that has joined a cluster's network cannot
    leave it; in a session of its own, so that it is told once to stop."""
    command = [sys.executable, "-m", "lab", "fidelity", "--play", f"--rounds={number}", f"--interval={asked.interval}"]
    command += [f"--foreign-limit={asked.foreign_limit}", *(f"--only={mix}" for mix in asked.only or [])]
    with subprocess.Popen(command, start_new_session=True) as process:
        try:
            if process.wait():
                raise Failed(f"round {number} could not be played")
        except KeyboardInterrupt:
            process.terminate()
            process.wait()
            raise


def main(arguments: list) -> int:
    parser = argparse.ArgumentParser(prog="./dev fidelity", description=__doc__)
    bench_act.options(parser, MIXES)
    parser.add_argument("--play", action="store_true", help="only play, all rounds on one boot of the cluster")
    parser.set_defaults(interval=SHORT, rounds=ROUNDS)
    asked = parser.parse_args(arguments)
    if asked.play:
        bench_act.perform(asked, HOME, lambda *_: {"targets": []}, MIXES)
        return 0
    named, cells = functools.partial(bench_act.fingerprint, MIXES), bench_act.chosen(asked, MIXES)
    ledger = bench_act.on_file(asked, HOME, named)
    asked.fresh = False
    for number in range(1, asked.rounds + 1):
        if not all(ledger.accepted(cell, number - 1) for cell in cells):
            play_round(asked, number)
    whole = report(bench_act.on_file(asked, HOME, named), cells)
    reached = bench_act.is_reached(asked, whole, partial=asked.only)
    file = paths.ROOT / "fidelity.json"
    file.write_text(json.dumps({**whole, "reached": reached}, indent=1) + "\n")
    say(f"written: {file.name}")
    return 0 if reached else 1
