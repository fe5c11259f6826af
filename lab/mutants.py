"""./dev mutants: which changes of core's code its tests do not notice; all are compiled at once, one is on in a run."""

import argparse
import json
import os
import random
import re
import sys
import time
from concurrent.futures import ThreadPoolExecutor, as_completed

from lab import mutant_build, mutant_runs, paths
from lab.progress import say, step

OUTCOMES = mutant_build.HOME / "outcomes.jsonl"
KINDS = ("caught", "timeout", "survived", "unviable", "not schematised")
SIGN_OF_LIFE_S = 15


def options() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="./dev mutants", description=__doc__)
    parser.add_argument(
        "--only", action="append", metavar="GLOB", help="files, such as 'core/src/govern/**'; may repeat"
    )
    parser.add_argument("--sample", type=float, default=1.0, metavar="SHARE", help="of the mutants, such as 0.1")
    parser.add_argument("--seed", type=int, default=1, metavar="N", help="which ones the sample has (default 1)")
    parser.add_argument("--jobs", type=int, default=2, metavar="N", help="mutants judged at a time (default 2)")
    parser.add_argument("--again", action="store_true", help="judge those anew that survived, though nothing changed")
    parser.add_argument("--json", action="store_true", help="every mutant's outcome as a line of JSON")
    return parser


def known(prints: tuple, again: bool) -> dict:
    """Outcomes that still hold: what was caught while the code is the same, what survived while the tests are too."""
    found = {}
    for line in OUTCOMES.read_text().splitlines() if OUTCOMES.exists() else ():
        entry = json.loads(line)
        if entry["code"] == prints[0]:
            found[entry["name"]] = entry
    stale = [e["name"] for e in found.values() if e["outcome"] == "survived" and (again or e["all"] != prints[1])]
    for name in stale:
        del found[name]
    return found


class Record:
    """Outcomes by the mutant's name, kept as they come."""

    def __init__(self, prints: tuple, again: bool):
        self.prints, self.found = prints, known(prints, again)

    def add(self, mutant, outcome: str, seconds: float = 0.0) -> None:
        entry = {"name": mutant.name, "file": mutant.file, "outcome": outcome, "seconds": seconds}
        self.found[mutant.name] = {**entry, "code": self.prints[0], "all": self.prints[1]}
        with OUTCOMES.open("a") as out:
            out.write(json.dumps(self.found[mutant.name]) + "\n")


def judge(mutants: list, tests: list, record: Record, jobs: int) -> None:
    began = told = time.monotonic()
    counts = dict.fromkeys(KINDS, 0)
    with ThreadPoolExecutor(jobs) as pool:
        waiting = {pool.submit(mutant_runs.judged, mutant.number, tests): mutant for mutant in mutants}
        try:
            for done, future in enumerate(as_completed(waiting), 1):
                outcome, seconds = future.result()
                counts[outcome] += 1
                record.add(waiting[future], outcome, seconds)
                now = time.monotonic()
                if now - told > SIGN_OF_LIFE_S or done == len(mutants):
                    told = now
                    left_min = (now - began) / done * (len(mutants) - done) / 60
                    said = ", ".join(f"{count} {kind}" for kind, count in counts.items() if count)
                    say(f"    {done} of {len(mutants)}: {said}; {left_min:.0f} min left")
        finally:
            pool.shutdown(cancel_futures=True)


def share(counts: dict) -> str:
    judged = counts["caught"] + counts["timeout"] + counts["survived"]
    return f"{100 * (counts['caught'] + counts['timeout']) / judged:.1f} %" if judged else "-"


def table(entries: list) -> str:
    """By file; and below, the survivors and what needs the slow way."""
    files = sorted({entry["file"] for entry in entries})
    width = max(map(len, [*files, "all"]))
    heads = (*KINDS, "share caught")
    rows = [f"{'file':{width}}  {'mutants':>7}  " + "  ".join(f"{head:>12}" for head in heads)]
    for file in [*files, "all"]:
        here = [entry for entry in entries if file in (entry["file"], "all")]
        counts = {kind: sum(entry["outcome"] == kind for entry in here) for kind in KINDS}
        cells = [*(f"{counts[kind]:>12}" for kind in KINDS), f"{share(counts):>12}"]
        rows.append(f"{file:{width}}  {len(here):>7}  " + "  ".join(cells))
    for kind, about in (("survived", "survived"), ("not schematised", "only `cargo mutants -F` judges these")):
        names = [entry["name"] for entry in entries if entry["outcome"] == kind]
        rows += [f"\n{about}: {len(names)}", *names] if names else []
    return "\n".join(rows)


def in_order(name: str) -> list:
    return [int(part) if part.isdigit() else part for part in re.split(r"(\d+)", name)]


def main(arguments: list) -> int:
    asked = options().parse_args(arguments)
    os.nice(19)
    mutant_build.HOME.mkdir(parents=True, exist_ok=True)
    with paths.locked("mutants"):
        mutants = mutant_build.listed(asked.only or ["core/src/**"])
        chosen = random.Random(asked.seed).sample(mutants, round(len(mutants) * asked.sample))
        record = Record(mutant_build.fingerprints(), asked.again)
        todo = [mutant for mutant in chosen if mutant.name not in record.found]
        say(f"    {len(mutants)} mutants, {len(chosen)} chosen, {len(todo)} to judge")
        if todo:
            build = mutant_build.Build(todo)
            programs = build.make()
            for number, reason in build.out.items():
                record.add(build.mutants[number], reason)
            with step("running the tests without a mutant"):
                tests = [
                    mutant_runs.measured(program, name) for program in programs for name in mutant_runs.names(program)
                ]
            say(f"    {len(tests)} tests, {sum(test.seconds for test in tests):.1f} s")
            judge([mutant for mutant in todo if mutant.number not in build.out], tests, record, asked.jobs)
    entries = sorted((record.found[mutant.name] for mutant in chosen), key=lambda entry: in_order(entry["name"]))
    print("\n".join(map(json.dumps, entries)) if asked.json else table(entries), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
