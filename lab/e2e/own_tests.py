"""What Hadoop's own published speculation tests have in common here: each case a process in a network of its own."""

import atexit
import subprocess
import sys
import unittest

from lab import paths, proc, published

MODES = ("native", "act")


class Published(unittest.TestCase):
    """Starts cases and judges them."""

    at_once = ()  # cases of which some run before their turn has come
    AHEAD = 3

    @classmethod
    def setUpClass(cls):
        cls.running = {}
        proc.interrupt_on_signals()
        published.prepare()
        cls.addClassCleanup(cls.end)
        # When it is interrupted unittest skips the cleanups of its class.
        atexit.register(cls.end)
        # As unittest orders what is named after them.
        cls.waiting = sorted((case, mode) for case in cls.at_once for mode in MODES)
        for _ in range(cls.AHEAD):
            cls.start_another()

    @classmethod
    def start_another(cls) -> None:
        """The next that nobody has started yet."""
        if cls.waiting:
            cls.start(*cls.waiting.pop(0))

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
            type(self).waiting = [one for one in self.waiting if one != (case, mode)]
            self.start(case, mode)
        try:
            code = self.running[case, mode].wait(published.LIMIT_S)
        except subprocess.TimeoutExpired:
            self.fail(f"{case} in {mode} mode: not done; read {paths.shown(self.log(case, mode))}")
        self.start_another()
        log = self.log(case, mode)
        self.assertEqual(code, 0, f"read {paths.shown(log)}:\n{log.read_text(errors='replace')}")
