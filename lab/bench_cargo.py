"""Benches of single rooms, without a cluster: cargo runs them, and they print what they measure."""

import subprocess
from types import SimpleNamespace

from lab import paths, proc
from lab.progress import step


def watched(command: list) -> tuple:
    """Runs a command, shows what it prints as it comes, and answers that and its status."""
    printed = []
    # A group of its own, so that cargo cannot leave the bench behind.
    bench = subprocess.Popen(command, cwd=paths.ROOT, stdout=subprocess.PIPE, text=True, start_new_session=True)
    try:
        for line in bench.stdout:
            print(line, end="", flush=True)
            printed.append(line.rstrip("\n"))
        bench.wait()
    finally:
        bench.stdout.close()
        if bench.returncode is None:
            proc.end_group(bench)
    return printed, bench.returncode


def bench(about: str, target: list) -> SimpleNamespace:
    """One of cargo's benches."""

    def options(parser) -> None:
        parser.add_argument("words", nargs="*", metavar="WORD", help="options of the bench itself, after --")

    def run(asked) -> tuple:
        command = ["cargo", "bench", "--locked", *target, "--", *asked.words]
        with step(" ".join(command)):
            printed, status = watched(command)
        return {"command": command, "printed": printed}, status == 0

    run.__doc__ = about
    return SimpleNamespace(options=options, run=run)


# Name: what it tells, and cargo's words for it.
TARGETS = {
    "learned": (
        "What it costs to keep what is learned over jobs, each room as large as it may be.",
        ["-p", "drover-core", "--bench", "learned"],
    ),
    "pass": ("Time of an engine's pass, and memory of its state.", ["-p", "drover-core", "--bench", "pass"]),
    "rest": ("Age of what the poller knows of 200 jobs, and what knowing it costs.", ["--bench", "rest_poll"]),
    "sim": ("Speed and memory of simulations.", ["-p", "drover-core", "--bench", "sim"]),
    "scale": (
        "Simulations of the papers' own scale: Mantri's phases, or with `day TRACE [POLICY]` a day of SWIM's.",
        ["--bench", "scale"],
    ),
    "shims": ("Thousands of shims' sessions against one service on loopback.", ["--bench", "shim_sessions"]),
}
BENCHES = {name: bench(*target) for name, target in TARGETS.items()}
