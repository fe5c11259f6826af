"""Dolly's jobs simulated: those that the cluster played, to show how far the simulator is off, and jobs of ten tasks,
whose clones would be thirty JVMs started at once.

What passes beside the work (the start of a JVM, files fetched once a node, a commit) is what fits the runs in which
nothing was slow best, of the *other* groups of jobs, never the group's own. The simulator draws luck of its own, so
its means are those of many draws and the cluster's those of a few: the interval of these is told beside the error.
"""

import statistics

from lab.batches import (
    DOLLY_SERVICE,
    NO_STRAGGLERS,
    STRAGGLES,
    TIMES,
    Batch,
    Planned,
)
from lab.fidelity import choices, off
from lab.live_targets import OF_NATIVE, OF_NO_STRAGGLERS
from lab.progress import say
from lab.scenarios import NODES
from lab.simulated import POLICIES, Costs, hadoop, processors, times
from lab.stats import interval_of
from lab.targets import target

SEEDS, SEEDS_TO_FIT = 200, 4
# Ten tasks by three or four, forty containers at most, of eighty on machines that share nothing: beta and tau hold.
TEN_TASKS, TEN_NODES, TEN_PLACES_A_NODE, TEN_JOBS, TEN_SEEDS = 10, 20, 4, 40, 20
TEN_APART_S = 300
TEN_SERVICE = {
    **DOLLY_SERVICE,
    "dolly.beta": 0.8,
    # Twenty or thirty copies beside ten first attempts, all asked for at once; as shipped ten may be in flight in a
    # cluster as small as that, and eight wait.
    "govern.cluster_cap": 1,
    "act.waiting_copies": 30,
}


def luck(straggles: bool):
    """The law of an attempt's slowness."""
    low, high = TIMES
    return {"mixture": [[1 - STRAGGLES, 1], [STRAGGLES, {"uniform": {"low": low, "high": high}}]]} if straggles else 1


def maps(planned: Planned) -> dict:
    memory_mb = planned.settings["mapreduce.map.memory.mb"]
    return {"tasks": planned.tasks, "work": planned.settings["lab.map.ms"] / 1000, "memory_mb": memory_mb}


def group_scenario(batch: Batch, group: list, interval: str, costs: Costs, straggles: bool) -> dict:
    """One group of jobs, side by side on the lab's processors."""
    cluster = {"nodes": NODES, "racks": 2, "memory_mb": batch.node_mb, "vcores": 64}
    return {
        "cluster": {**cluster, "network": {"lab_processors": processors()}},
        "hadoop": hadoop(interval, costs),
        "slowness": {"attempt": luck(straggles)},
        "jobs": [{"name": planned.name, "maps": maps(planned)} for planned in group],
    }


def ten_scenario(interval: str, costs: Costs, straggles: bool) -> dict:
    """Jobs of ten tasks of 20 s, one after the other, on machines that share no processor."""
    cluster = {"nodes": TEN_NODES, "racks": 2, "memory_mb": 1024 * TEN_PLACES_A_NODE, "vcores": 64}
    job = {"name": "ten", "count": TEN_JOBS, "arrive": {"every": TEN_APART_S}}
    return {
        "cluster": cluster,
        "hadoop": hadoop(interval, costs),
        "slowness": {"attempt": luck(straggles)},
        "jobs": [{**job, "maps": {"tasks": TEN_TASKS, "work": 20, "memory_mb": 1024}}],
    }


def means_of(rounds: list, group: list, arm: str) -> list:
    """Of each round the mean time of the group's jobs in an arm."""
    return [statistics.fmean(runs[arm, planned.name]["seconds"] for planned in group) for runs in rounds]


class Fitted:
    """Costs that fit other groups' runs without stragglers; simulations that were run once are kept."""

    def __init__(self, batch: Batch, groups: list, rounds: list, interval: str):
        self.batch, self.groups, self.interval, self.known = batch, groups, interval, {}
        self.real = [means_of(rounds, group, NO_STRAGGLERS) for group in groups]

    def error(self, group: int, costs: Costs) -> float:
        if (group, costs) not in self.known:
            whole = group_scenario(self.batch, self.groups[group], self.interval, costs, straggles=False)
            told = times(whole, ["none"], SEEDS_TO_FIT)["none"]["mean"]
            self.known[group, costs] = abs(off(told, self.real[group]))
        return self.known[group, costs]

    def without(self, group: int) -> Costs:
        """Those that the others show; of all where the number is no group's."""
        others = [other for other in range(len(self.groups)) if other != group]
        return min(choices(), key=lambda costs: sum(self.error(other, costs) for other in others))


def settings(service: dict) -> dict:
    """The service's settings but for the policy, which the simulator is told by name."""
    return {key: value for key, value in service.items() if key != "policy"}


def compare(batch: Batch, rounds: list, fitted: Fitted, interval: str) -> list:
    """Every group in every arm with stragglers, the real mean beside the simulated."""
    rows, arms = [], [arm for arm in batch.arms if arm in POLICIES]
    for number, group in enumerate(fitted.groups):
        costs = fitted.without(number)
        whole = group_scenario(batch, group, interval, costs, straggles=True)
        told = times(whole, [POLICIES[arm] for arm in arms], SEEDS, settings(batch.service))
        for arm in arms:
            real, simulated = means_of(rounds, group, arm), told[POLICIES[arm]]["mean"]
            low, high = interval_of(real) if len(real) > 1 else (None, None)
            rows.append(
                {
                    "jobs": " and ".join(str(planned.tasks) for planned in group) + " tasks",
                    "arm": arm,
                    "rounds": len(real),
                    "real": round(statistics.fmean(real), 2),
                    "low": low and round(low, 2),
                    "high": high and round(high, 2),
                    "simulated": round(simulated, 2),
                    "error": round(off(simulated, real), 4),
                    "costs": vars(costs),
                }
            )
    return rows


def ten_tasks(interval: str, costs: Costs) -> dict:
    """Jobs of ten tasks by arm: mean and p90 of their times, seconds."""
    arms = ["none", "native", "native-tuned", "drover"]
    told = times(
        ten_scenario(interval, costs, straggles=True),
        [POLICIES[arm] for arm in arms],
        TEN_SEEDS,
        settings(TEN_SERVICE),
    )
    plain = times(ten_scenario(interval, costs, straggles=False), ["none"], TEN_SEEDS)["none"]
    by_arm = {**{arm: told[POLICIES[arm]] for arm in arms}, NO_STRAGGLERS: plain}
    kept = ("mean", "p90", "container_seconds")
    return {arm: {what: round(of[what], 2) for what in kept} for arm, of in by_arm.items()}


def judge(ten: dict) -> list:
    of_native = ten["drover"]["mean"] / ten["native"]["mean"]
    of_plain = ten["drover"]["p90"] / ten[NO_STRAGGLERS]["p90"]
    what = "dolly, ten tasks, simulated"
    return [
        target(f"{what}: mean job time at most 0.6 of native", f"{of_native:.2f}", of_native <= OF_NATIVE),
        target(
            f"{what}: p90 of job times at most 1.3 of the same jobs without stragglers",
            f"{of_plain:.2f}",
            of_plain <= OF_NO_STRAGGLERS,
        ),
    ]


def show(rows: list, ten: dict) -> None:
    print("\nmean job time of each group, seconds: on the cluster (95 % interval of the rounds' means), and simulated")
    for row in rows:
        ends = "-" if row["low"] is None else f"{row['low']:.1f} to {row['high']:.1f}"
        told = f"{row['real']:6.1f} {ends:>15} {row['simulated']:9.1f} {row['error']:+7.1%}"
        print(f"    {row['jobs']:20} {row['arm']:14} {told}")
    error = statistics.fmean(abs(row["error"]) for row in rows)
    print(f"    mean absolute error {error:.1%} of {len(rows)} times")
    print("jobs of ten tasks, simulated: mean, p90, container-seconds a run")
    for arm, of in ten.items():
        print(f"    {arm:14} {of['mean']:6.1f} {of['p90']:6.1f} {of['container_seconds']:9.0f}")


def beside(batch: Batch, rounds: list, interval: str) -> dict:
    """The groups that were played, simulated; ten tasks, simulated; and the targets of these."""
    say("==> the same jobs, and jobs of ten tasks, simulated")
    planned = batch.jobs(0)
    groups = [[one for one in planned if one.wave == wave] for wave in sorted({one.wave for one in planned})]
    fitted = Fitted(batch, groups, rounds, interval)
    rows = compare(batch, rounds, fitted, interval)
    ten = ten_tasks(interval, fitted.without(len(groups)))
    show(rows, ten)
    return {"fidelity": rows, "ten_tasks": ten, "targets": judge(ten)}
