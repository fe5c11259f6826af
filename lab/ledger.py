"""Runs of a bench, a line of JSON each in a file, so that a bench that was stopped carries on where it was."""

import json
from dataclasses import dataclass
from pathlib import Path

from lab.progress import say


@dataclass(frozen=True)
class Cell:
    """One scenario at one report interval, and the arms that a round of it holds; of a batch the names of its jobs."""

    scenario: str
    interval: str
    arms: tuple
    jobs: tuple = ()

    def __str__(self) -> str:
        return f"{self.scenario}, reports {self.interval}"

    def runs(self) -> set:
        """What a whole round holds: a run in each arm, of a batch one of each job in each arm."""
        return {(arm, job) for arm in self.arms for job in self.jobs} if self.jobs else set(self.arms)


class Ledger:
    """What was run of what is measured now: lines that another build has written are left alone and not counted."""

    def __init__(self, file: Path, build: str, foreign_limit: float):
        self.file, self.build, self.foreign_limit = file, build, foreign_limit
        self.rows = []
        text = file.read_text() if file.is_file() else ""
        self.torn = bool(text) and not text.endswith("\n")
        lines = text.splitlines()
        for line in lines:
            try:
                row = json.loads(line)
            except ValueError:
                continue  # torn when the bench was stopped
            if row["build"] == build:
                self.rows.append(row)
        if lines:
            say(f"    {len(self.rows)} of {len(lines)} runs on file are of this build, and are kept")

    def add(self, row: dict) -> None:
        whole = {"build": self.build, **row}
        self.rows.append(whole)
        self.file.parent.mkdir(parents=True, exist_ok=True)
        with self.file.open("a") as out:
            out.write("\n" * self.torn + json.dumps(whole) + "\n")
        self.torn = False

    def takes(self, cell: Cell, number: int) -> dict:
        """The runs of each time that a round was begun, by arm, of a batch by arm and job."""
        found = {}
        for row in self.rows:
            if (row["job"], row["interval"], row["round"]) == (cell.scenario, cell.interval, number):
                run = (row["arm"], row["of"]) if cell.jobs else row["arm"]
                found.setdefault(row["take"], {})[run] = row
        return found

    def accepted(self, cell: Cell, number: int):
        """The runs of a round, as `takes` has them, of the first take that is whole and on no overloaded machine."""
        for _, runs in sorted(self.takes(cell, number).items()):
            if set(runs) == cell.runs() and not any(self.overloaded(run) for run in runs.values()):
                return runs
        return None

    def overloaded(self, row: dict) -> bool:
        return row["foreign"] > self.foreign_limit

    def rounds(self, cell: Cell) -> list:
        """Every accepted round of a cell, in order."""
        numbers = {row["round"] for row in self.rows if (row["job"], row["interval"]) == (cell.scenario, cell.interval)}
        found = (self.accepted(cell, number) for number in sorted(numbers))
        return [runs for runs in found if runs]
