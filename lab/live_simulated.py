"""Dolly's jobs simulated: those that the cluster played, to show how far the simulator is off, and jobs of ten tasks,
whose clones would be thirty JVMs started at once.

What passes beside the work (the start of a JVM, files fetched once a node, a commit) is what fits the runs in which
nothing was slow best, of the *other* groups of jobs, never the group's own. The same attempts are slow as on the
cluster; what many draws of luck would give stands beside it.
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

# Of luck that is drawn, of luck that is known, and of none.
SEEDS, SEEDS_OF_EACH, SEEDS_TO_FIT = 200, 10, 4
# Ten tasks by three or four, forty containers at most, of eighty on machines that share nothing: beta and tau hold.
TEN_TASKS, TEN_NODES, TEN_PLACES_A_NODE, TEN_JOBS, TEN_SEEDS = 10, 20, 4, 40, 20
TEN_APART_S = 300
TEN_SERVICE = {
    **DOLLY_SERVICE,
    "dolly.beta": 0.8,
    # Twenty or thirty copies beside ten first attempts, where as shipped ten may be in flight in a cluster as small as
    # that. No more than eight of a job wait for a container at once, here as in the shim.
    "govern.cluster_cap": 1,
}


def luck(straggles: bool):
    """The law of an attempt's slowness."""
    low, high = TIMES
    return {"mixture": [[1 - STRAGGLES, 1], [STRAGGLES, {"uniform": {"low": low, "high": high}}]]} if straggles else 1


def maps(planned: Planned, known: bool = False) -> dict:
    """A job's maps; with its own slow attempts where its luck is known."""
    memory_mb = planned.settings["mapreduce.map.memory.mb"]
    found = {"tasks": planned.tasks, "work": planned.settings["lab.map.ms"] / 1000, "memory_mb": memory_mb}
    return {**found, "slow": slow_attempts(planned)} if known else found


def slow_attempts(planned: Planned) -> list:
    """Index, number and factor of each, of m_INDEX_NUMBER:FACTOR."""
    found = []
    for word in planned.settings.get("lab.slow.attempts", "").split(","):
        attempt, _, times_longer = word.partition(":")
        if attempt:
            found.append([*map(int, attempt.split("_")[1:]), float(times_longer)])
    return found


def group_scenario(
    batch: Batch, group: list, interval: str, costs: Costs, straggles: bool = False, known: bool = False
) -> dict:
    """One group of jobs, side by side on the lab's processors; slow by luck, or where it is known to have been."""
    cluster = {"nodes": NODES, "racks": 2, "memory_mb": batch.node_mb, "vcores": 64}
    return {
        "cluster": {**cluster, "network": {"lab_processors": processors()}},
        "hadoop": hadoop(interval, costs),
        "slowness": {"attempt": luck(straggles)},
        "jobs": [{"name": planned.name, "maps": maps(planned, known)} for planned in group],
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
            whole = group_scenario(self.batch, self.groups[group], self.interval, costs)
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


def means(whole: dict, batch: Batch, seeds: int) -> dict:
    """By arm with stragglers the mean time of a scenario's jobs, seconds."""
    arms = [arm for arm in batch.arms if arm in POLICIES]
    told = times(whole, [POLICIES[arm] for arm in arms], seeds, settings(batch.service))
    return {arm: told[POLICIES[arm]]["mean"] for arm in arms}


def compare(batch: Batch, rounds: list, fitted: Fitted, interval: str) -> list:
    """Every group in every arm with stragglers, the real mean beside the simulated."""
    rows = []
    for number, group in enumerate(fitted.groups):
        costs, wave = fitted.without(number), group[0].wave
        drawn = means(group_scenario(batch, group, interval, costs, straggles=True), batch, SEEDS)
        numbers = [next(iter(runs.values()))["round"] for runs in rounds]
        same = [[one for one in batch.jobs(nth) if one.wave == wave] for nth in numbers]
        of_each = [
            means(group_scenario(batch, jobs, interval, costs, known=True), batch, SEEDS_OF_EACH) for jobs in same
        ]
        for arm, of_many in drawn.items():
            real, simulated = means_of(rounds, group, arm), statistics.fmean(one[arm] for one in of_each)
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
                    "of_many_draws": round(of_many, 2),
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
    print("\nmean job time of each group, seconds: on the cluster (95 % interval of the rounds' means), simulated with")
    print("the same slow attempts, how far off that is, and of many draws of them")
    for row in rows:
        ends = "-" if row["low"] is None else f"{row['low']:.1f} to {row['high']:.1f}"
        told = f"{row['real']:6.1f} {ends:>15} {row['simulated']:9.1f} {row['error']:+7.1%} {row['of_many_draws']:9.1f}"
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
