"""What `./dev bench live` must reach, judged on the rounds that count."""

import statistics

from lab import stats, targets
from lab.batches import NO_STRAGGLERS, Batch
from lab.targets import HEALTHY_CONTAINERS, target, unmeasured

OF_NATIVE, OF_NO_STRAGGLERS, MIX_CONTAINERS = 0.6, 1.3, 1.05
# Mantri, OSDI'10, §6.3: restarts (copies and kills both) a task of the average phase, and the share that succeeds.
PAPER = {"restarts_per_task": 0.2, "success": 0.70}


def pairs(rounds: list) -> list:
    """The same job of the same round in every arm: by arm, one entry a job."""
    found = []
    for runs in rounds:
        of_job = {}
        for (arm, job), row in runs.items():
            of_job.setdefault(job, {})[arm] = row
        found += of_job.values()
    return found


def of_kind(found: list, kind: str) -> list:
    return [runs for runs in found if next(iter(runs.values()))["kind"] == kind]


def took(row: dict) -> float:
    """A job's time, seconds; where jobs wait for one another, from its submission."""
    return row["seconds"] + (row["waited_seconds"] if row["kind"] == "mix" else 0)


def mean(found: list, arm: str) -> float:
    return statistics.fmean(took(runs[arm]) for runs in found)


def p90(found: list, arm: str) -> float:
    return stats.quantile([took(runs[arm]) for runs in found], 0.9)


def ratio(what: str, own: float, other: float, share: float, strictly: bool = False) -> dict:
    """Whether one is at most a share of another, or less than it."""
    reached = own < share * other if strictly else own <= share * other
    return target(what, f"{own:.1f} s of {other:.1f} s, {own / other:.2f}", reached)


def dolly(found: list) -> list:
    own, native = mean(found, "drover"), mean(found, "native")
    of_native = ratio("dolly: mean job time at most 0.6 of native", own, native, OF_NATIVE)
    # More than what straggles under native cannot be gained.
    least = mean(found, NO_STRAGGLERS) / native
    return [
        {**of_native, "measured": f"{of_native['measured']}; without any straggler {least:.2f}"},
        ratio(
            "dolly: p90 of job times at most 1.3 of the same jobs without stragglers",
            p90(found, "drover"),
            p90(found, NO_STRAGGLERS),
            OF_NO_STRAGGLERS,
        ),
    ]


def mantri(found: list) -> list:
    judged = []
    for kind in ("slow-node", "turns-slow"):
        ours = of_kind(found, kind)
        own = mean(ours, "drover")
        judged.append(
            ratio(f"mantri, {kind}: mean job time at most 0.6 of native", own, mean(ours, "native"), OF_NATIVE)
        )
        judged.append(
            ratio(f"mantri, {kind}: mean job time at most native-tuned's", own, mean(ours, "native-tuned"), 1)
        )
        held = {arm: targets.total(ours, arm, "container_seconds") for arm in ("drover", "native", "native-tuned")}
        said = ", ".join(f"{seconds:.1f} {arm}" for arm, seconds in held.items())
        what = f"mantri, {kind}: container-seconds at most native's and native-tuned's"
        judged.append(target(what, said, held["drover"] <= min(held.values())))
    return judged


def data(found: list) -> list:
    copies = targets.total(found, "drover", "copies") + targets.total(found, "drover", "restarts")
    told = sum(bool(runs["drover"]["verdicts"].get("more_data")) for runs in found)
    said = f"{copies} copies, cause named in {told} of {len(found)} runs"
    return [target("data: no copy, and the cause named", said, not copies and told == len(found))]


def healthy(found: list) -> list:
    tasks = sum(runs["drover"]["tasks"] for runs in found)
    return [
        targets.few_copies("healthy", found, tasks),
        targets.held_of_none("healthy", found, HEALTHY_CONTAINERS),
    ]


def mix(found: list) -> list:
    return [
        ratio("mix: mean job time below native's", mean(found, "drover"), mean(found, "native"), 1, strictly=True),
        ratio("mix: p90 of job times below native's", p90(found, "drover"), p90(found, "native"), 1, strictly=True),
        targets.held_of_none("mix", found, MIX_CONTAINERS),
    ]


def lost_node(found: list) -> list:
    lost = [run["lost_outputs"] for runs in found for run in runs.values()]
    return [
        ratio(
            "lost-node: mean job time below native's", mean(found, "drover"), mean(found, "native"), 1, strictly=True
        ),
        target(
            "lost-node: the same outputs lost in each run", f"{min(lost)} to {max(lost)}", 1 < min(lost) == max(lost)
        ),
    ]


JUDGES = {
    "dolly": dolly,
    "mantri": mantri,
    "data": data,
    "healthy": healthy,
    "mix": mix,
    "lost-node": lost_node,
}


def same_outputs(runs: list) -> dict:
    """Each job's output against that of the same job of the same round without speculation, in all takes."""
    what = "outputs equal byte for byte to those without speculation"
    plain = {}
    for run in runs:
        if run["arm"] == "none":
            plain.setdefault((run["round"], run["of"]), set()).add(run["digest"])
    others = [run for run in runs if run["arm"] != "none" and (run["round"], run["of"]) in plain]
    equal = sum(bool(run["digest"]) and plain[run["round"], run["of"]] == {run["digest"]} for run in others)
    copied = sum(run["copies"] + run["restarts"] > 0 for run in others)
    said = f"{equal} of {len(others)}, {copied} of them with copies or restarts"
    return target(what, said, equal == len(others) if others else None)


def judge(scenario: str, batch: Batch, rounds: list, runs: list) -> list:
    """Every target of a scenario; those that go by times need all of its rounds."""
    if len(rounds) < batch.rounds:
        judged = [unmeasured(scenario, len(rounds), batch.rounds)]
    else:
        judged = JUDGES[scenario](pairs(rounds))
    return [*judged, targets.all_succeed(runs), same_outputs(runs)]
