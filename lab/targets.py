"""What `./dev bench act` must reach, judged on the rounds that count."""

import statistics

from lab import stats
from lab.scenarios import SHORT

FIVE_ROUNDS, THIRTY_PAIRS = 5, 30
OF_NATIVE, OF_TUNED_WHERE_HARD, HEALTHY_TIME, HEALTHY_CONTAINERS = 0.55, 0.85, 1.05, 1.02
TASKS_A_COPY = 50
HARD = ("two-slow-nodes", "slow-reduces", "turns-slow", "lands-slow")


def target(what: str, measured: str, reached) -> dict:
    return {"target": what, "measured": measured, "reached": reached}


def unmeasured(what: str, rounds: int, needed: int) -> dict:
    return target(what, f"{rounds} of {needed} rounds", None)


def median(rounds: list, arm: str, what: str = "seconds") -> float:
    return statistics.median(runs[arm][what] for runs in rounds)


def total(rounds: list, arm: str, what: str) -> float:
    return sum(runs[arm][what] for runs in rounds)


def at_most(what: str, rounds: list, share: float, others: tuple) -> dict:
    """Drover's median time against the best of some other arms'."""
    what = f"{what}: time at most {share:g} of {' and of '.join(others)}"
    if len(rounds) < FIVE_ROUNDS:
        return unmeasured(what, len(rounds), FIVE_ROUNDS)
    own, best = median(rounds, "drover"), min(median(rounds, other) for other in others)
    return target(what, f"{own:.1f} s of {best:.1f} s, {own / best:.2f}", own <= share * best)


def where_hard(what: str, rounds: list) -> dict:
    """Better by far than the tuned one, unless that has a good answer: what Drover's has to be where it is easy."""
    answered = rounds and median(rounds, "native-tuned") <= OF_NATIVE * median(rounds, "native")
    return at_most(what, rounds, 1 if answered else OF_TUNED_WHERE_HARD, ("native-tuned",))


def no_dearer(what: str, rounds: list) -> dict:
    """No more copies and no more container-seconds than the tuned one."""
    what = f"{what}: no more copies and container-seconds than native-tuned"
    if len(rounds) < FIVE_ROUNDS:
        return unmeasured(what, len(rounds), FIVE_ROUNDS)
    arms = ("drover", "native-tuned")
    copies = [total(rounds, arm, "copies") for arm in arms]
    held = [median(rounds, arm, "container_seconds") for arm in arms]
    said = f"{copies[0]} copies to {copies[1]}, {held[0]:.1f} container-seconds to {held[1]:.1f}"
    return target(what, said, copies[0] <= copies[1] and held[0] <= held[1])


def more_data(interval: str, rounds: list) -> dict:
    what = f"more-data, {interval}: no copy, and the cause said"
    if len(rounds) < FIVE_ROUNDS:
        return unmeasured(what, len(rounds), FIVE_ROUNDS)
    copies = total(rounds, "drover", "copies")
    told = sum(bool(runs["drover"]["verdicts"].get("more_data")) for runs in rounds)
    return target(
        what, f"{copies} copies, cause said in {told} of {len(rounds)} runs", not copies and told == len(rounds)
    )


def healthy(interval: str, rounds: list, tasks: int) -> list:
    """Where nothing is slow Drover must do next to nothing, and cost nothing."""
    cell = f"healthy, {interval}"
    few, held = few_copies(cell, rounds, tasks * len(rounds)), held_of_none(cell, rounds, HEALTHY_CONTAINERS)
    time = f"healthy, {interval}: upper 95 % bound of the time ratio at most {HEALTHY_TIME:g}"
    if len(rounds) < THIRTY_PAIRS:
        return [unmeasured(what, len(rounds), THIRTY_PAIRS) for what in (few["target"], held["target"], time)]
    mean, bound = stats.ratio_bound([(runs["drover"]["seconds"], runs["none"]["seconds"]) for runs in rounds])
    return [
        few,
        held,
        target(time, f"{mean:.3f}, bound {bound:.3f} over {len(rounds)} pairs", bound <= HEALTHY_TIME),
    ]


def few_copies(cell: str, rounds: list, all_tasks: int) -> dict:
    copies = total(rounds, "drover", "copies")
    what = f"{cell}: at most one copy in {TASKS_A_COPY} tasks"
    return target(what, f"{copies} in {all_tasks} tasks", copies * TASKS_A_COPY <= all_tasks if rounds else None)


def held_of_none(cell: str, rounds: list, share: float) -> dict:
    """Container-seconds of Drover's runs in all, against those of the runs without speculation."""
    what = f"{cell}: container-seconds at most {share:g} of none"
    if not rounds:
        return target(what, "no round", None)
    used = total(rounds, "drover", "container_seconds") / total(rounds, "none", "container_seconds")
    return target(what, f"{used:.3f}", used <= share)


def same_output(runs: list) -> dict:
    """Counts are the same in every run, also in those that an overloaded machine made slow."""
    what = "word-count: outputs equal byte for byte with and without copies"
    digests = {run["digest"] for run in runs}
    copied = sum(run["copies"] > 0 for run in runs)
    if not copied:
        return target(what, f"{len(runs)} runs, none with copies", None)
    return target(what, f"{len(digests)} distinct in {len(runs)} runs, {copied} with copies", len(digests) == 1)


def judge(rounds: dict, runs: list, tasks: int) -> list:
    """Every target that the cells at hand, by scenario and interval, are for."""
    found = []
    for (scenario, interval), counted in rounds.items():
        cell = f"{scenario}, {interval}"
        if scenario == "one-slow-node" and interval == SHORT:
            found.append(at_most(cell, counted, OF_NATIVE, ("native",)))
            found.append(at_most(cell, counted, 1, ("native-tuned",)))
            found.append(no_dearer(cell, counted))
        elif scenario == "one-slow-node":
            found.append(at_most(cell, counted, 1, ("native", "native-tuned")))
        elif scenario in HARD:
            found.append(where_hard(cell, counted))
        elif scenario == "more-data":
            found.append(more_data(interval, counted))
        elif scenario == "healthy":
            found += healthy(interval, counted, tasks)
    counts = [run for run in runs if run["job"] == "word-count"]
    if counts:
        found.append(same_output(counts))
    found.append(all_succeed(runs))
    return found


def all_succeed(runs: list) -> dict:
    """Every job of every run, also of those that an overloaded machine made slow."""
    failed = sum(not run["succeeded"] for run in runs)
    return target("every job succeeds", f"{len(runs) - failed} of {len(runs)}", not failed if runs else None)
