"""Services that keep one ledger, one after the other: each is killed, and the next must find what it told of."""

import contextlib
import os
import random
import signal
import threading
import time
from pathlib import Path

from lab import http
from lab.e2e.ledgers import TOLD_OF, Ledgers, rows
from lab.troubles import Crash

# Within which time from when it is given an exchange a service is killed by chance.
MOMENT_S = 0.3


class Lives:
    """What ends the service that lives: once, with the first order of the job whose exchanges pass through it under
    way; and so many times at some moment while exchanges of an `other` job go on, of which it writes."""

    def __init__(self, case: Ledgers, file: Path, by_chance: int):
        self.case, self.file, self.left = case, file, by_chance
        self.all, self.told = [case.keeper(file)], {}
        self.before = {table: set() for table in TOLD_OF}
        self.struck, self.turn = Crash("application", self.strike), threading.Lock()
        self.chance, self.exchanges = random.Random(7), 0

    @property
    def now(self):
        return self.all[-1]

    def alive(self) -> bool:
        return self.case.cluster.alive(self.now.name)

    def look(self) -> None:
        """What it has told of by now, of each table: only new rows."""
        metrics = self.now.metrics()
        self.told = {table: self.case.among(metrics, table) for table in TOLD_OF}

    def kill(self) -> None:
        os.kill(self.case.cluster.state["processes"][self.now.name]["pid"], signal.SIGKILL)

    def strike(self) -> None:
        """Once the order that is under way is in the ledger."""
        self.case.until("the order was kept", lambda: self.case.kept(self.now, "sent") or not self.alive())
        self.look()
        self.kill()

    def __call__(self, request, forward):
        """No exchange passes while a service is replaced: the one that is struck down has answered. Nor does one whose
        answer the shim does not wait for any more."""
        asked = time.monotonic()
        with self.turn:
            return self.struck(request, forward) if time.monotonic() < asked + 1 else None

    def other(self, _request, forward):
        """The same for the other job."""
        asked = time.monotonic()
        with self.turn:
            if time.monotonic() > asked + 1:
                return None
            self.exchanges += 1
            return self.strike_by_chance(forward) if self.left and self.alive() and self.ripe() else forward()

    def ripe(self) -> bool:
        """Whether it writes: a later life once it has accepted the session, the first when tasks have been slow."""
        if len(self.all) == 1:
            return self.case.kept(self.now, "decisions") > 0
        return self.exchanges >= self.chance.randint(2, 3)

    def strike_by_chance(self, forward):
        """At some moment from when an exchange is passed on."""
        self.look()
        self.left -= 1
        blow = threading.Timer(self.chance.uniform(0, MOMENT_S), self.kill)
        blow.start()
        answer = forward()
        while blow.is_alive():
            with contextlib.suppress(http.Unanswered):
                self.look()
        return answer

    def replace(self, running) -> None:
        """Another service, once this one was killed; what it had told of is all there, and what was there before."""
        self.case.wait("the service was killed", running, lambda: not self.alive())
        with self.turn:
            self.now.stop(signal.SIGKILL)
            self.case.assertEqual(rows(self.file, "PRAGMA integrity_check"), [("ok",)])
            for table, count in self.told.items():
                now = set(rows(self.file, f"SELECT * FROM {table}"))
                self.case.assertLessEqual(self.before[table], now)
                self.case.assertGreaterEqual(len(now - self.before[table]), count, table)
                self.before[table] = now
            self.exchanges = 0
            self.all.append(self.case.keeper(self.file))
