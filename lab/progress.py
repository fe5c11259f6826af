"""Progress on the terminal: one line a step with its seconds, and a sign of life in long ones."""

import sys
import threading
import time
from contextlib import contextmanager

from lab.paths import shown

SIGN_OF_LIFE_S = 15


class Failed(Exception):
    """A failure to be told in one line, with the log that says more."""

    def __init__(self, message, log=None):
        super().__init__(message)
        self.log = log

    def __str__(self):
        text = super().__str__()
        return f"{text}\n    read {shown(self.log)}" if self.log else text


def say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


@contextmanager
def step(title: str, log=None):
    """Announces a step, times it, and on failure names the log to read."""
    began = time.monotonic()
    ended = threading.Event()

    def alive():
        while not ended.wait(SIGN_OF_LIFE_S):
            say(f"    {title}: {time.monotonic() - began:.0f} s so far")

    say(f"==> {title}")
    teller = threading.Thread(target=alive, daemon=True)
    teller.start()
    try:
        yield
    except Failed as failure:
        failure.log = failure.log or log
        raise
    finally:
        ended.set()
        teller.join()  # joining a user namespace asks for a process without threads
    say(f"    {title}: done in {time.monotonic() - began:.1f} s")
