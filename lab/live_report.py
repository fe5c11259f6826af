"""What `./dev bench live` tells: each arm's times and costs, differences pair by pair, restarts beside the paper's."""

import statistics

from lab import bench_act, live_simulated, live_targets, stats
from lab.batches import Batch
from lab.ledger import Cell, Ledger
from lab.live_targets import PAPER, mean, p90, pairs, took

SUMS = ("tasks", "container_seconds", "copies", "copies_won", "restarts", "restarts_won")


def cells_of(found: list, arms: tuple) -> list:
    """By kind of job and arm: times, costs, copies and restarts of the runs that count."""
    rows = []
    kinds = dict.fromkeys(next(iter(runs.values()))["kind"] for runs in found)
    for kind in kinds:
        ours = live_targets.of_kind(found, kind)
        for arm in arms:
            rows.append({"kind": kind, "arm": arm, **summary(ours, arm)})
    return rows


def summary(found: list, arm: str) -> dict:
    runs = [one[arm] for one in found]
    sums = {what: round(sum(run[what] for run in runs), 3) for what in SUMS}
    tries, won = sums["copies"] + sums["restarts"], sums["copies_won"] + sums["restarts_won"]
    return {
        "runs": len(runs),
        "succeeded": sum(run["succeeded"] for run in runs),
        "mean": round(mean(found, arm), 3),
        "p90": round(p90(found, arm), 3),
        "waited": round(statistics.fmean(run["waited_seconds"] for run in runs), 3),
        **sums,
        # As the paper counts: copies and kills both.
        "restarts_per_task": round(tries / sums["tasks"], 3),
        "success": round(won / tries, 3) if tries else None,
    }


def differences(found: list, arms: tuple) -> list:
    """Of Drover's times less each other arm's, job by job: the mean with its interval, and the ratio of the means."""
    rows = []
    for kind in dict.fromkeys(next(iter(runs.values()))["kind"] for runs in found):
        ours = live_targets.of_kind(found, kind)
        for arm in arms:
            if arm == "drover":
                continue
            less = [took(runs["drover"]) - took(runs[arm]) for runs in ours]
            low, high = stats.interval_of(less)
            ends = {} if len(less) < 2 else {"low": round(low, 3), "high": round(high, 3)}
            of_means = round(mean(ours, "drover") / mean(ours, arm), 3)
            told = {"difference": round(statistics.fmean(less), 3), **ends, "ratio": of_means}
            rows.append({"kind": kind, "arm": arm, "pairs": len(less), **told})
    return rows


def show(cells: list, compared: list) -> None:
    head = ("jobs", "arm", "runs", "mean s", "p90 s", "waited s", "container-s", "copies", "won", "restarts", "won")
    rows = []
    for one in cells:
        times = (f"{one[what]:.1f}" for what in ("mean", "p90", "waited", "container_seconds"))
        counts = (str(one[what]) for what in ("copies", "copies_won", "restarts", "restarts_won"))
        rows.append((one["kind"], one["arm"], str(one["runs"]), *times, *counts))
    print(f"\n{stats.in_columns(head, rows)}\n")
    for one in compared:
        ends = f" ({one['low']:+.1f} to {one['high']:+.1f})" if "low" in one else ""
        print(
            f"{one['kind']}: Drover less {one['arm']}: {one['difference']:+.1f} s{ends} over {one['pairs']} pairs, "
            f"{one['ratio']:.2f} of its mean"
        )


def show_restarts(cells: list) -> None:
    said = f"{PAPER['restarts_per_task']:g} and {PAPER['success']:.0%}"
    print(f"copies and restarts per task, and their success; Mantri's paper (§6.3, another load): {said}")
    for one in cells:
        success = "-" if one["success"] is None else f"{one['success']:.0%}"
        print(f"    {one['kind']:12} {one['arm']:14} {one['restarts_per_task']:.3f} {success:>5}")


def report(ledger: Ledger, cell: Cell, batch: Batch, rule: str) -> dict:
    """Every run with whether it counts, what each arm came to, and the targets."""
    found, runs = bench_act.counted(ledger, [cell])
    rounds = found[cell.scenario, cell.interval]
    by_job = pairs(rounds)
    cells, compared = cells_of(by_job, cell.arms), differences(by_job, cell.arms)
    show(cells, compared)
    if cell.scenario == "mantri":
        show_restarts(cells)
    judged, more = live_targets.judge(cell.scenario, batch, rounds, runs), {}
    if cell.scenario == "dolly" and len(rounds) >= batch.rounds:
        more = live_simulated.beside(batch, rounds, cell.interval)
        judged += more.pop("targets")
    whole = bench_act.told(ledger, cells, judged, runs, rule)
    about = {"scenario": cell.scenario, "about": batch.about, "service": batch.service, "paper": PAPER}
    same = live_targets.same_outputs(runs)["reached"]
    return {**about, **whole, "pairs": compared, "outputs_equal": same, **more}
