"""End-to-end tests: each file a process of its own, with a real cluster for each of its classes."""

import atexit
import unittest

from lab import commands, paths, proc
from lab.options import Options


class OnCluster(unittest.TestCase):
    """A cluster for the class; `options` say which."""

    options = {}
    cluster = None

    @classmethod
    def setUpClass(cls):
        proc.interrupt_on_signals()
        directory = paths.TARGET / "e2e" / cls.__name__
        cls.cluster = commands.bring_up(Options(dir=str(directory), **cls.options))
        cls.addClassCleanup(cls.cluster.down, quiet=True)
        # When it is interrupted unittest skips the cleanups of its class.
        atexit.register(cls.cluster.down, quiet=True)

    def apps(self, query: str = "") -> list:
        return (self.cluster.rm(f"/apps{query}").get("apps") or {}).get("app") or []
