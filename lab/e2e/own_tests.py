"""What Hadoop's own published speculation tests have in common here: each case a process in a network of its own."""

import atexit
import subprocess
import sys
import unittest

from lab import paths, proc, published

MODES = ("native", "act")


class Published(unittest.TestCase):
    """Starts cases and judges them."""

    at_once = ()  # cases that all run from the beginning

    @classmethod
    def setUpClass(cls):
        cls.running = {}
        proc.interrupt_on_signals()
        published.prepare()
        cls.addClassCleanup(cls.end)
        # When it is interrupted unittest skips the cleanups of its class.
        atexit.register(cls.end)
        for case in cls.at_once:
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
