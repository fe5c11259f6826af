"""python3 -m lab COMMAND: what ./dev runs once the machine has what is needed."""

import importlib
import sys

from lab import proc
from lab.progress import Failed, say

COMMANDS = ("demo", "test", "cluster", "bench", "fidelity", "mutants", "lint")


def main(arguments: list) -> int:
    if not arguments or arguments[0] not in COMMANDS:
        say(f"one of: {', '.join(COMMANDS)}")
        return 2
    proc.interrupt_on_signals()
    name = "commands" if arguments[0] == "cluster" else arguments[0]
    command = importlib.import_module(f"lab.{name}")
    try:
        return command.main(arguments[1:]) or 0
    except Failed as failure:
        say(f"./dev {arguments[0]}: {failure}")
        return 1
    except KeyboardInterrupt:
        say(f"./dev {arguments[0]}: stopped")
        return 130


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
