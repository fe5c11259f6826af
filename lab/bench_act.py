"""Drover against Hadoop's own speculator, job by job.

A round runs one scenario at one report interval in every arm, in an order that turns by one from round to round; the
rounds of different scenarios alternate. Every run is a line of target/bench-act/runs.jsonl: a second start carries on,
as long as service, shim, jobs and scenarios are the same. A round that was cut short is begun again.

A round is rejected if in one of its runs the machine was overloaded: if processes that are not the cluster's took
more than 35 % of its processors' time from the submission to the end. It is then run again, up to three times in all.
Rejected runs are printed and written down, and only their success is judged.
"""

import hashlib
import time

from lab import arms, build, commands, paths, scenarios, stage, stats, targets
from lab.ledger import Cell, Ledger
from lab.load import Foreign
from lab.progress import say
from lab.scenarios import INTERVALS, SCENARIOS
from lab.stage import Stage

FOREIGN_LIMIT = 0.35
TAKES = 3
CALM_WAIT_S, CALM_SAMPLE_S = 60, 2
HOME = paths.TARGET / "bench-act"


def fingerprint(played: dict, sources=(scenarios, arms)) -> str:
    """Names what is measured: other programs or scenarios are another bench."""
    digest = hashlib.sha256(repr(sorted(played.items())).encode())
    for file in (paths.drover(), paths.SHIM_JAR, paths.JOBS_JAR, *(source.__file__ for source in sources)):
        with open(file, "rb") as content:
            digest.update(hashlib.sha256(content.read()).digest())
    return digest.hexdigest()[:12]


class Bench:
    """The cells asked for, on a stage."""

    def __init__(self, stage: Stage, ledger: Ledger, cells: list, rounds, played=SCENARIOS):
        self.stage, self.ledger, self.cells, self.rounds, self.scenarios = stage, ledger, cells, rounds, played

    def wanted(self, cell: Cell) -> int:
        return self.rounds or self.scenarios[cell.scenario].rounds

    def run(self) -> None:
        most = max(self.wanted(cell) for cell in self.cells)
        for _ in range(TAKES):
            for number in range(most):
                for cell in self.cells:
                    takes = self.ledger.takes(cell, number)
                    done = self.ledger.accepted(cell, number) or len(takes) >= TAKES
                    if number < self.wanted(cell) and not done:
                        if not self.has_time():
                            return
                        self.round(cell, number, max(takes, default=0) + 1)

    def has_time(self) -> bool:
        """For another round; a bench may have a limit."""
        return True

    def round(self, cell: Cell, number: int, take: int) -> None:
        again = f", take {take}" if take > 1 else ""
        say(f"==> {cell}, round {number + 1} of {self.wanted(cell)}{again}")
        turn = number % len(cell.arms)
        for arm in cell.arms[turn:] + cell.arms[:turn]:
            self.calm()
            foreign = Foreign(self.stage.cluster)
            plays = self.plays(cell, arm, number)
            place = {"interval": cell.interval, "round": number, "take": take, "foreign": round(foreign.share(), 3)}
            for played in plays:
                self.ledger.add({**played.row(), **place})
            over = ": OVERLOADED, round rejected" if self.ledger.overloaded(place) else ""
            self.show(plays, f"; other work took {place['foreign']:.0%} of the processors{over}")

    def plays(self, cell: Cell, arm: str, _number: int) -> list:
        """What an arm's part of a round is: one run."""
        scenario = self.scenarios[cell.scenario]
        return [self.stage.play(cell.scenario, scenario, arm, scenario.more_at(cell.interval))]

    def show(self, plays: list, more: str) -> None:
        plays[0].show(more)

    def calm(self) -> None:
        """Waits a while for other work to leave the machine."""
        until, told = time.monotonic() + CALM_WAIT_S, False
        while time.monotonic() < until:
            foreign = Foreign(self.stage.cluster)
            time.sleep(CALM_SAMPLE_S)
            if foreign.share() <= self.ledger.foreign_limit:
                return
            if not told:
                say(f"    other work is on the machine; waiting for it, {CALM_WAIT_S} s at most")
                told = True


def chosen(asked, played=SCENARIOS) -> list:
    """The cells asked for, by scenario and interval."""
    names = asked.only or [name for name, scenario in played.items() if not scenario.asked]
    intervals = [asked.interval] if asked.interval else list(INTERVALS)
    return [Cell(name, interval, tuple(played[name].arms)) for name in names for interval in intervals]


def counted(ledger: Ledger, cells: list) -> tuple:
    """The rounds that count by cell, and every run with whether it does."""
    found, runs = {}, []
    for cell in cells:
        rounds = ledger.rounds(cell)
        whole = {id(run) for one in rounds for run in one.values()}
        mine = [row for row in ledger.rows if (row["job"], row["interval"]) == (cell.scenario, cell.interval)]
        runs += [{**row, "counts": id(row) in whole} for row in mine]
        found[cell.scenario, cell.interval] = rounds
    return found, runs


def collected(ledger: Ledger, cells: list) -> tuple:
    """The same, and each cell's medians, which are shown."""
    found, runs = counted(ledger, cells)
    summaries = {}
    for cell in cells:
        for arm in cell.arms:
            of_arm = [runs_of[arm] for runs_of in found[cell.scenario, cell.interval]]
            if of_arm:
                summaries[f"{cell.scenario}, {cell.interval}", arm] = stats.summary(of_arm)
    if summaries:
        print(f"\n{stats.table(summaries)}\n")
    return found, runs, [{"cell": cell, "arm": arm, **one} for (cell, arm), one in summaries.items()]


def report(ledger: Ledger, cells: list) -> dict:
    """Every run with whether it counts, each cell's medians, and the targets."""
    found, runs, rows = collected(ledger, cells)
    return told(ledger, rows, targets.judge(found, runs, SCENARIOS["healthy"].tasks), runs)


def told(ledger: Ledger, rows: list, judged: list, runs: list, rule: str = __doc__) -> dict:
    """What a bench leaves behind; its targets are shown."""
    for one in judged:
        word = {True: "reached", False: "NOT reached", None: "not measured"}[one["reached"]]
        print(f"{word:12}  {one['target']}: {one['measured']}")
    return {"rule": rule, "foreign_limit": ledger.foreign_limit, "cells": rows, "targets": judged, "runs": runs}


def options(parser, played=SCENARIOS) -> None:
    parser.add_argument(
        "--only", action="append", choices=sorted(played), help="only this scenario (repeatable; default all)"
    )
    parser.add_argument("--interval", choices=sorted(INTERVALS), help="only this report interval (default both)")
    parser.add_argument("--rounds", type=int, help="how many (default 5; of pairs where nothing is slow 30)")
    rounds_options(parser)


def rounds_options(parser) -> None:
    """What every bench in rounds can be asked for."""
    parser.add_argument("--fresh", action="store_true", help="forget the runs on file")
    parser.add_argument(
        "--foreign-limit",
        type=float,
        default=FOREIGN_LIMIT,
        metavar="SHARE",
        help=f"to try the bench on a busy machine: other work allowed (default {FOREIGN_LIMIT}); more counts as failed",
    )


def run(asked) -> tuple:
    """Jobs with slow and healthy nodes under no speculation, Hadoop's own, Hadoop's own tuned, and Drover."""
    return perform(asked, HOME, report)


def perform(asked, home, report, played=SCENARIOS) -> tuple:
    """Plays what is asked for on a cluster of its own; what `report` makes of it, and whether all was reached."""
    whole = measured(asked, home, lambda: fingerprint(played), chosen(asked, played), report, played)
    return whole, is_reached(asked, whole, partial=asked.only or asked.interval)


def on_file(asked, home, named) -> Ledger:
    """The runs so far of what is measured, which `named` answers once all is built."""
    build.drover()
    build.shim()
    build.lab_jobs()
    file = home / "runs.jsonl"
    if asked.fresh:
        file.unlink(missing_ok=True)
    return Ledger(file, named(), asked.foreign_limit)


def measured(asked, home, named, cells: list, report, played: dict, bench=Bench, options=stage.options) -> dict:
    """Plays cells; what `report` makes of them."""
    ledger = on_file(asked, home, named)
    cluster = commands.bring_up(options(home / "cluster"))
    try:
        bench(Stage(cluster), ledger, cells, asked.rounds, played).run()
    finally:
        cluster.down(quiet=True)
        whole = report(ledger, cells)
    return whole


def is_reached(asked, whole: dict, partial) -> bool:
    """Were all targets? Of a bench that was asked for in part those that it measured."""
    verdicts = [one["reached"] for one in whole["targets"]]
    reached = all(one or (partial and one is None) for one in verdicts)
    return bool(verdicts) and asked.foreign_limit <= FOREIGN_LIMIT and reached
