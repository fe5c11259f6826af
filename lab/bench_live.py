"""Batches of jobs with each paper's stragglers, on a real cluster: Drover against Hadoop's own speculator and none.

A round plays the same jobs, with the same luck, in every arm, in an order that turns by one from round to round. In
Drover's arm one service serves the whole batch; it begins anew in each round. Every job is a line of
target/bench-live/SCENARIO/runs.jsonl: a second start carries on, as long as service, shim, jobs and scenario are the
same. A round that was cut short is begun again, and so is one, up to three times in all, in one of whose arms
processes that are not the cluster's took more than 35 % of the machine's processor time. All runs are printed and
written down; success and outputs are judged of every one, all else of the rounds that count.

A job's time is from its start to its end, in `mix` from its submission, as jobs there wait for one another. Arms are
compared job by job: the intervals are Student's, 95 %, of the differences of pairs, and no target goes by them.
"""

import argparse
import functools
import json
import time
from dataclasses import replace

from lab import arms, batch_play, batches, bench_act, draws, live_report, losing, paths, scenarios, stats
from lab.batch_play import BatchStage
from lab.batches import LIVE
from lab.bench_act import Bench
from lab.ledger import Cell, Ledger
from lab.options import Options
from lab.progress import Failed, say
from lab.scenarios import INTERVALS, NODES

HOME = paths.TARGET / "bench-live"
# So long a start plays rounds.
MINUTES = 40
# What decides how a batch is played; another of these is another bench.
SOURCES = (batches, batch_play, losing, draws, arms, scenarios)


class LiveBench(Bench):
    """Rounds of batches."""

    def __init__(self, stage, ledger: Ledger, cells: list, rounds, played: dict, minutes: float = MINUTES):
        super().__init__(stage, ledger, cells, rounds, played)
        self.batches = BatchStage(stage.cluster)
        self.minutes, self.begun, self.played = minutes, time.monotonic(), 0
        batch = played[cells[0].scenario]
        # Of one round; as reckoned beforehand, until one has been played.
        self.takes_s = 60 * batch.minutes / batch.rounds

    def has_time(self) -> bool:
        passed = time.monotonic() - self.begun
        if self.played:
            self.takes_s = max(self.takes_s, passed / self.played)
        if self.played and passed + self.takes_s > 60 * self.minutes:
            say(f"    another round would end after more than {self.minutes:g} minutes; start the bench again to go on")
            return False
        self.played += 1
        return True

    def plays(self, cell: Cell, arm: str, number: int) -> list:
        return self.batches.play(cell.scenario, self.scenarios[cell.scenario], arm, number, cell.interval)

    def show(self, plays: list, more: str) -> None:
        """The jobs have been shown as they ended."""
        rows = [play.row() for play in plays]
        mean = sum(row["seconds"] for row in rows) / len(rows)
        held = sum(row["container_seconds"] for row in rows)
        say(f"    {rows[0]['arm']:14} all: mean {mean:.1f} s, {held:.0f} container-seconds{more}")


def estimates() -> str:
    """How long each takes, as reckoned from its jobs' times and the start of their JVMs on two processors."""
    rows = [
        (name, ", ".join(batch.arms), str(batch.rounds), str(len(batch.jobs(0))), f"{batch.minutes} min")
        for name, batch in LIVE.items()
    ]
    return stats.in_columns(("scenario", "arms", "rounds", "jobs a round", "about"), rows)


def options(parser) -> None:
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    abouts = "\n".join(f"{name}: {batch.about}" for name, batch in LIVE.items())
    parser.epilog = f"{abouts}\n\nEach on two processors, as reckoned beforehand:\n{estimates()}"
    parser.add_argument("scenario", choices=list(LIVE), metavar="SCENARIO", help="one of " + ", ".join(LIVE))
    parser.add_argument("--interval", choices=sorted(INTERVALS), help="how often tasks report (default the scenario's)")
    parser.add_argument(
        "--set",
        action="append",
        default=[],
        type=setting,
        metavar="KEY=VALUE",
        help="a setting of Drover's service instead of the scenario's (repeatable), as policy=drover: another bench",
    )
    parser.add_argument("--rounds", type=int, help="how many; with fewer than the scenario's no target is reached")
    parser.add_argument(
        "--minutes",
        type=float,
        default=MINUTES,
        help=f"no round is begun that would end later than this; a second start goes on (default {MINUTES})",
    )
    parser.add_argument(
        "--stretch",
        type=stretch,
        default=1.0,
        metavar="TIMES",
        help="jobs arrive over so many times as long, 1 to 10: for processors on which starts take long; another bench",
    )
    bench_act.rounds_options(parser)


def setting(word: str) -> tuple:
    """KEY=VALUE, the value as TOML has it, or as bare text."""
    key, is_one, value = word.partition("=")
    if not key or not is_one:
        raise argparse.ArgumentTypeError(f"{word}: KEY=VALUE, such as act.restart=false")
    try:
        return key, json.loads(value)
    except ValueError:
        return key, value


def stretch(word: str) -> float:
    try:
        times = float(word)
    except ValueError:
        times = 0.0
    if not 1 <= times <= 10:
        raise argparse.ArgumentTypeError(f"{word}: a number from 1 to 10")
    return times


def cell_of(name: str, interval=None) -> Cell:
    batch = LIVE[name]
    names = tuple(planned.name for planned in batch.jobs(0))
    return Cell(name, interval or batch.interval, tuple(batch.arms), names)


def run(asked) -> tuple:
    """Jobs of the kinds that the papers' policies are for, under none, Hadoop's own, shipped and tuned, and Drover."""
    cell = cell_of(asked.scenario, asked.interval)
    batch = LIVE[asked.scenario]
    if asked.stretch != 1 and not any(one.at for one in batch.jobs(0)):
        raise Failed(f"--stretch: the jobs of {asked.scenario} do not arrive one after the other; leave it out")
    batch = replace(batch, service={**batch.service, **dict(asked.set)}).stretched(asked.stretch)

    def named() -> str:
        return bench_act.fingerprint({asked.scenario: batch}, SOURCES)

    def report(ledger: Ledger, cells: list) -> dict:
        return live_report.report(ledger, cells[0], batch, __doc__)

    def size(directory) -> Options:
        return Options(dir=str(directory), nodes=NODES, node_mb=batch.node_mb, set=list(batch.cluster))

    home = HOME / asked.scenario
    bench = functools.partial(LiveBench, minutes=asked.minutes)
    whole = bench_act.measured(asked, home, named, [cell], report, {asked.scenario: batch}, bench, size)
    return whole, bench_act.is_reached(asked, whole, partial=False)
