"""Child processes: logged, in groups of their own, and ended with us."""

import contextlib
import os
import signal
import subprocess
import time
from pathlib import Path

from lab.progress import Failed

GRACE_S = 10


def interrupt_on_signals() -> None:
    """A terminate or hang-up unwinds like Ctrl-C, so that every `finally` runs."""

    def interrupt(_signum, _frame):
        raise KeyboardInterrupt

    for signum in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(signum, interrupt)


def start_ticks(pid: int):
    """The kernel's start time of a process (clock ticks since boot), or None: with the id it names one process."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return None
    fields = stat[stat.rindex(")") + 2 :].split()
    return None if fields[0] == "Z" else int(fields[19])


def parents() -> dict:
    """Every process id with its parent's."""
    found = {}
    for entry in os.listdir("/proc"):
        if entry.isdigit():
            try:
                stat = Path(f"/proc/{entry}/stat").read_text()
                found[int(entry)] = int(stat[stat.rindex(")") + 2 :].split()[1])
            except OSError:
                pass  # ended meanwhile
    return found


def spawn(command, log: Path, env=None, cwd=None, stdin=subprocess.DEVNULL) -> subprocess.Popen:
    """Starts a command that outlives nobody's terminal: own session, output to its log."""
    log.parent.mkdir(parents=True, exist_ok=True)
    words = [str(word) for word in command]
    with log.open("wb") as out:
        try:
            return subprocess.Popen(
                words,
                stdin=stdin,
                stdout=out,
                stderr=subprocess.STDOUT,
                env=env,
                cwd=cwd,
                start_new_session=True,
            )
        except OSError as fault:
            raise Failed(f"cannot run {words[0]}: {fault.strerror}") from None


def end_group(process: subprocess.Popen, grace_s: float = GRACE_S) -> None:
    """Ends a process of `spawn` with all its children, and returns when they are gone."""
    end_groups([process], grace_s)


def end_groups(processes: list, grace_s: float = GRACE_S) -> None:
    """The same of several, which are all told before any is waited for."""
    for signum in (signal.SIGTERM, signal.SIGKILL):
        until = time.monotonic() + grace_s
        for process in processes:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signum)
        while processes := [one for one in processes if one.poll() is None or group_members(one.pid)]:
            if time.monotonic() > until:
                break
            time.sleep(0.02)
        else:
            return


def group_members(group: int) -> list:
    """The living processes of a group."""
    found = []
    for pid in parents():
        try:
            if os.getpgid(pid) == group and start_ticks(pid) is not None:
                found.append(pid)
        except ProcessLookupError:
            pass
    return found


def run(command, log: Path, env=None, cwd=None, timeout_s=None) -> None:
    """Runs a command to its end; its failure names its log, and leaving early ends it."""
    wait(spawn(command, log, env, cwd), command, log, timeout_s)


def wait(process: subprocess.Popen, command, log: Path, timeout_s=None, grace_s: float = GRACE_S) -> None:
    """The same of a command that is on its way."""
    try:
        code = process.wait(timeout_s)
    except subprocess.TimeoutExpired:
        raise Failed(f"{command[0]} took more than {timeout_s} s", log) from None
    finally:
        if process.returncode is None:
            end_group(process, grace_s)
    if code != 0:
        raise Failed(f"{Path(str(command[0])).name} failed with status {code}", log)


def wait_gone(pids: dict, within_s: float) -> dict:
    """Waits for processes, given as id to start ticks; answers those still there."""
    until = time.monotonic() + within_s
    while True:
        pids = {pid: ticks for pid, ticks in pids.items() if start_ticks(pid) == ticks}
        if not pids or time.monotonic() > until:
            return pids
        time.sleep(0.05)
