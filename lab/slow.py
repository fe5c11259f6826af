"""A slow node, for real: its containers, not its NodeManager, get a share of the CPU that it would have had.

By a CPU quota (control groups, version 1 or 2) where one can be set, else by stopping and continuing the containers'
processes in turn. A watcher process of the cluster finds containers as they start: the descendants of the NodeManager.
"""

import os
import signal
import sys
import time
from contextlib import contextmanager
from pathlib import Path

from lab import paths, proc
from lab.cluster import Cluster
from lab.options import slow_node
from lab.progress import Failed, say

WATCH_S = 0.05
PERIOD_US = 100_000
LEAST_QUOTA_US = 1_000
CYCLE_S = 0.2
V1, V2 = Path("/sys/fs/cgroup/cpu"), Path("/sys/fs/cgroup")


class Quota:
    """A control group a node, given the node's even share of the machine divided by its factor."""

    def __init__(self, group: Path):
        self.group = group
        self.held = set()

    @staticmethod
    def make(name: str, share: float):
        """The group, or None where this machine does not let us set one."""
        quota = max(LEAST_QUOTA_US, int(PERIOD_US * share))
        for root, files in (
            (V1, {"cpu.cfs_period_us": PERIOD_US, "cpu.cfs_quota_us": quota}),
            (V2, {"cpu.max": f"{quota} {PERIOD_US}"}),
        ):
            group = root / name
            try:
                group.mkdir(exist_ok=True)
                if all((group / file).is_file() for file in files):
                    for file, value in files.items():
                        (group / file).write_text(str(value))
                    return Quota(group)
                group.rmdir()
            except OSError:
                continue
        return None

    def hold(self, pids: set) -> None:
        new, self.held = pids - self.held, pids
        for pid in new:
            try:
                (self.group / "cgroup.procs").write_text(str(pid))
            except OSError:
                pass  # ended meanwhile

    def release(self) -> None:
        for pid in (self.group / "cgroup.procs").read_text().split():
            try:
                (self.group.parent / "cgroup.procs").write_text(pid)
            except OSError:
                pass
        try:
            self.group.rmdir()
        except OSError:
            pass  # a process is still leaving; `cluster down` removes it


class Duty:
    """Runs the processes one part of each cycle out of `factor`."""

    def __init__(self, factor: float):
        self.factor = factor
        self.held = set()

    def hold(self, pids: set) -> None:
        """Sets who is to be stopped, and stops or continues them by where the cycle stands."""
        self.held = pids
        runs = time.monotonic() % CYCLE_S < CYCLE_S / self.factor
        self.tell(signal.SIGCONT if runs else signal.SIGSTOP)

    def release(self) -> None:
        self.tell(signal.SIGCONT)

    def tell(self, signum) -> None:
        for pid in self.held:
            try:
                os.kill(pid, signum)
            except ProcessLookupError:
                pass


def start(cluster: Cluster, nodes: list, by: str = "auto") -> None:
    """Starts the watcher for (node, factor) pairs."""
    state, cpus = cluster.state, os.cpu_count() or 1
    words, groups = [], []
    for node, factor in nodes:
        name = f"drover-lab-{state['space']['inode']}-{node}"
        quota = None if by == "duty" else Quota.make(name, cpus / cluster.options.nodes / factor)
        if by == "quota" and not quota:
            raise Failed("no CPU quota can be set here (control groups are not writable); use --throttle duty")
        groups += [str(quota.group)] if quota else []
        words.append(f"{node}:{factor}:{quota.group if quota else ''}")
        say(f"    {node}: {factor:g} times slower by {'CPU quota' if quota else 'stopping and continuing'}")
    state["cgroups"] = groups
    cluster.start(
        "slow",
        [sys.executable, "-m", "lab.slow", str(cluster.dir), *words],
        {**os.environ, "PYTHONPATH": str(paths.ROOT)},
    )


def stop(cluster: Cluster) -> None:
    """Ends the watcher, which lets its processes go."""
    cluster.end("slow")


@contextmanager
def throttled(cluster: Cluster, nodes):
    """(node, factor) pairs held back for a while."""
    start(cluster, nodes)
    try:
        yield
    finally:
        stop(cluster)


def containers(node_manager: int) -> set:
    """The processes that a NodeManager has started, and theirs."""
    children = {}
    for pid, parent in proc.parents().items():
        children.setdefault(parent, []).append(pid)
    found, queue = set(), [node_manager]
    while queue:
        for pid in children.get(queue.pop(), []):
            found.add(pid)
            queue.append(pid)
    return found


def watch(directory: str, words: list) -> None:
    cluster = Cluster(directory)
    nodes = []
    for word in words:
        node, factor, group = word.split(":")
        slow_node(f"{node}:{factor}", cluster.options.nodes)
        nodes.append((cluster.state["processes"][node]["pid"], Quota(Path(group)) if group else Duty(float(factor))))
    pause = WATCH_S if all(isinstance(throttle, Quota) for _, throttle in nodes) else CYCLE_S / 20
    try:
        # Ends with the nodes it slows, should nobody end it before.
        while any(Path(f"/proc/{pid}").exists() for pid, _ in nodes):
            for pid, throttle in nodes:
                throttle.hold(containers(pid))
            time.sleep(pause)
    finally:
        for _, throttle in nodes:
            throttle.release()


if __name__ == "__main__":
    proc.interrupt_on_signals()
    try:
        watch(sys.argv[1], sys.argv[2:])
    except KeyboardInterrupt:
        pass
