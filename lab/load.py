"""Whose processor time it was: the cluster's own, or that of other work on the machine."""

import os
import resource
import time
from pathlib import Path

from lab import netns
from lab.cluster import Cluster

TICKS_A_SECOND = os.sysconf("SC_CLK_TCK")
IDLE, IOWAIT = 3, 4


def machine() -> tuple:
    """Processor seconds used and there were, of all processors, since boot. What a hypervisor took counts as used."""
    words = Path("/proc/stat").read_text().split("\n", 1)[0].split()[1:9]
    ticks = [int(word) for word in words]
    return (sum(ticks) - ticks[IDLE] - ticks[IOWAIT]) / TICKS_A_SECOND, sum(ticks) / TICKS_A_SECOND


def used_by(pid: int) -> float:
    """Processor seconds of a process and of its children that have ended, user and system."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return 0  # ended meanwhile: its parent's now
    return sum(int(word) for word in stat[stat.rindex(")") + 2 :].split()[11:15]) / TICKS_A_SECOND


def own(cluster: Cluster) -> float:
    """Processor seconds of the cluster, its jobs and this process."""
    ended = resource.getrusage(resource.RUSAGE_CHILDREN)
    living = sum(used_by(pid) for pid in netns.members(cluster.state["space"]))
    return living + time.process_time() + ended.ru_utime + ended.ru_stime


class Foreign:
    """The share of the machine's processors that other work has taken since a moment."""

    def __init__(self, cluster: Cluster):
        self.cluster = cluster
        (self.busy, self.all), self.own = machine(), own(cluster)

    def share(self) -> float:
        (busy, whole), ours = machine(), own(self.cluster)
        foreign = (busy - self.busy) - (ours - self.own)
        return min(1.0, max(0.0, foreign / max(whole - self.all, 1e-9)))
