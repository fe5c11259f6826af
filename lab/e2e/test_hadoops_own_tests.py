"""Hadoop's own speculation tests, as published, pass with Drover's speculator in Hadoop's place.

All cases run at once, each in a network of its own: most of their time they wait for a clock.
"""

import atexit
import subprocess
import sys
import unittest

from lab import paths, proc, published

MODES = ("native", "act")


class Published(unittest.TestCase):
    """The cases with a clock of their own first, then the one with a cluster, which needs the processors to itself."""

    running = {}

    @classmethod
    def setUpClass(cls):
        proc.interrupt_on_signals()
        published.prepare()
        cls.addClassCleanup(cls.end)
        # When it is interrupted unittest skips the cleanups of its class.
        atexit.register(cls.end)
        for case in published.LONE:
            for mode in MODES:
                cls.start(case, mode)

    @classmethod
    def start(cls, case: str, mode: str) -> None:
        command = [sys.executable, "-m", "lab.published", case, mode]
        cls.running[case, mode] = proc.spawn(command, cls.log(case, mode), cwd=paths.ROOT)

    @classmethod
    def end(cls) -> None:
        for process in cls.running.values():
            proc.end_group(process)

    @staticmethod
    def log(case: str, mode: str):
        return paths.LOGS / f"published-{case}-{mode}.log"

    def passes(self, case: str, mode: str) -> None:
        if (case, mode) not in self.running:
            self.start(case, mode)
        try:
            code = self.running[case, mode].wait(published.LIMIT_S)
        except subprocess.TimeoutExpired:
            self.fail(f"{case} in {mode} mode: not done; read {paths.shown(self.log(case, mode))}")
        log = self.log(case, mode)
        self.assertEqual(code, 0, f"read {paths.shown(log)}:\n{log.read_text(errors='replace')}")


def a_test(case: str, mode: str):
    def test(self):
        self.passes(case, mode)

    return test


for _mode in MODES:
    for _place, _case in enumerate(published.CASES):
        _name = f"test_{_place}_{_case.replace('-', '_')}_passes_in_{_mode}_mode"
        setattr(Published, _name, a_test(_case, _mode))
