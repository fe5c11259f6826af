"""./dev bench NAME: measurements, printed as they come and written to bench-NAME.json at the repository's root."""

import argparse
import json

from lab import (
    bench_act,
    bench_boot,
    bench_cargo,
    bench_faults,
    bench_idle,
    bench_large,
    bench_live,
    bench_policies,
    paths,
)
from lab.progress import say

# Each has `options(parser)`, and `run(asked)`, which answers what to write down and whether all was as it must be.
BENCHES = {
    "act": bench_act,
    "boot": bench_boot,
    "faults": bench_faults,
    "idle": bench_idle,
    "large": bench_large,
    "live": bench_live,
    "policies": bench_policies,
    **bench_cargo.BENCHES,
}


def main(arguments: list) -> int:
    parser = argparse.ArgumentParser(prog="./dev bench", description=__doc__)
    names = parser.add_subparsers(dest="name", required=True, metavar="NAME")
    for name, bench in BENCHES.items():
        bench.options(names.add_parser(name, help=bench.run.__doc__, description=bench.run.__doc__))
    asked = parser.parse_args(arguments)
    whole, reached = BENCHES[asked.name].run(asked)
    name = f"{asked.name}-{asked.scenario}" if "scenario" in asked else asked.name
    file = paths.ROOT / f"bench-{name}.json"
    file.write_text(json.dumps({**whole, "reached": reached}, indent=1) + "\n")
    say(f"written: {file.name}")
    if not reached:
        say(f"./dev bench {asked.name}: NOT as it must be")
    return 0 if reached else 1
