"""How long a cluster takes to boot, and a small job on it."""

import multiprocessing
import statistics
import time

from lab import commands, jobs, paths
from lab.options import Options
from lab.progress import say


def boot_once(index: int) -> dict:
    began = time.monotonic()
    cluster = commands.bring_up(Options(dir=str(paths.TARGET / "bench")))
    try:
        booted = time.monotonic() - began
        result = jobs.run(cluster, jobs.Spec(settings={"lab.maps": 10, "lab.map.ms": 1000}))
    finally:
        cluster.down(quiet=True)
    say(f"    round {index}: boot {booted:.1f} s, 10 maps of 1 s in {result.seconds:.1f} s")
    return {"round": index, "boot_seconds": round(booted, 2), **result.summary()}


def options(parser) -> None:
    parser.add_argument("--rounds", type=int, default=3, help="how often (default 3)")


def run(asked) -> tuple:
    """Seconds from nothing to a cluster that accepts jobs, and of a small job on it."""
    # A process a round: one that has joined a cluster's network may not be able to join another's.
    with multiprocessing.get_context("fork").Pool(1, maxtasksperchild=1) as pool:
        found = pool.map(boot_once, range(asked.rounds), chunksize=1)
    say(f"    boot, median: {statistics.median(row['boot_seconds'] for row in found):.1f} s")
    return {"runs": found}, all(row["succeeded"] for row in found)
