"""The few statistics of the benches."""

import math
import statistics


def t_quantile(p: float, freedom: int) -> float:
    """Student's t by the expansion of Cornish and Fisher: good to four digits from ten degrees of freedom up."""
    z = statistics.NormalDist().inv_cdf(p)
    terms = (
        (z**3 + z) / 4,
        (5 * z**5 + 16 * z**3 + 3 * z) / 96,
        (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / 384,
    )
    return z + sum(term / freedom ** (power + 1) for power, term in enumerate(terms))


def ratio_bound(pairs: list, confidence: float = 0.95) -> tuple:
    """Of pairs (a, b) the geometric mean of a / b, and its one-sided upper bound; none of a single pair."""
    logs = [math.log(a / b) for a, b in pairs]
    mean = statistics.fmean(logs)
    if len(logs) < 2:
        return math.exp(mean), None
    error = statistics.stdev(logs) / math.sqrt(len(logs))
    return math.exp(mean), math.exp(mean + t_quantile(confidence, len(logs) - 1) * error)


def interval_of(values: list) -> tuple:
    """Student's 95 % interval of a mean; without end where there is one value."""
    mean = statistics.fmean(values)
    if len(values) < 2:
        return -math.inf, math.inf
    half = t_quantile(0.975, len(values) - 1) * statistics.stdev(values) / math.sqrt(len(values))
    return mean - half, mean + half


def quantile(values: list, share: float) -> float:
    """The value below which that share of the values lies, even between one and the next."""
    ordered = sorted(values)
    place = share * (len(ordered) - 1)
    below = math.floor(place)
    above = min(below + 1, len(ordered) - 1)
    return ordered[below] + (place - below) * (ordered[above] - ordered[below])


def summary(runs: list) -> dict:
    """Of runs of one job in one arm: medians and ranges of times, sums of copies."""
    seconds = [run["seconds"] for run in runs]
    return {
        "runs": len(runs),
        "succeeded": sum(run["succeeded"] for run in runs),
        "seconds": round(statistics.median(seconds), 3),
        "seconds_least": min(seconds),
        "seconds_most": max(seconds),
        "copies": sum(run["copies"] for run in runs),
        "copies_won": sum(run["copies_won"] for run in runs),
        "container_seconds": round(statistics.median(run["container_seconds"] for run in runs), 3),
    }


def table(cells: dict) -> str:
    """Summaries as text, by (job, arm)."""
    head = ("job", "arm", "runs", "seconds", "range", "copies", "won", "container-s")
    rows = []
    for (job, arm), one in cells.items():
        spread = f"{one['seconds_least']:.1f}-{one['seconds_most']:.1f}"
        failed = one["runs"] - one["succeeded"]
        runs = f"{one['runs']}" + (f", {failed} FAILED" if failed else "")
        words = (job, arm, runs, f"{one['seconds']:.1f}", spread, str(one["copies"]), str(one["copies_won"]))
        rows.append((*words, f"{one['container_seconds']:.1f}"))
    return in_columns(head, rows)


def in_columns(head: tuple, rows: list) -> str:
    """Rows of words under a head, the first two columns to the left, the others to the right."""
    rows = [head, *rows]
    widths = [max(len(row[i]) for row in rows) for i in range(len(head))]
    lines = [
        "  ".join(word.ljust(w) if i < 2 else word.rjust(w) for i, (word, w) in enumerate(zip(row, widths)))
        for row in rows
    ]
    return "\n".join(line.rstrip() for line in lines)
