"""Places where faults strike: the service's, and the cluster's own daemons and ApplicationMasters."""

import json
import os
import random
import signal
import socket
from pathlib import Path

from lab import http, netns
from lab.cluster import Cluster, application_of
from lab.progress import Failed
from lab.service import SHIM, Service

UP = "up"
DECIDED = "a copy is worth starting"
MASTER = b"org.apache.hadoop.mapreduce.v2.app.MRAppMaster"
CHILD = b"org.apache.hadoop.mapred.YarnChild"


class BlackHole:
    """A listener in the service's place that accepts and never answers."""

    def __init__(self, address: str):
        host, _, port = address.partition(":")
        self.listener = socket.create_server((host, int(port)), backlog=128)
        self.listener.setblocking(False)
        self.taken = []

    def swallow(self) -> None:
        """Takes the connections that wait."""
        try:
            while True:
                self.taken.append(self.listener.accept()[0])
        except BlockingIOError:
            pass

    def close(self) -> None:
        for one in (*self.taken, self.listener):
            one.close()


class ServicePlace:
    """The service's place: what is there is `up`, or named by the fault."""

    words = {
        "killed": "the service is killed",
        "stopped": "the service is stopped",
        "black hole": "a black hole answers",
    }

    def __init__(self, cluster: Cluster, settings: str):
        self.cluster, self.settings, self.state = cluster, settings, "killed"
        self.service, self.hole = None, None
        self.lives, self.exchanges, self.swallowed = [], 0, 0

    def mend(self) -> None:
        """A service that works."""
        if self.state == "stopped":
            self.signal(signal.SIGCONT)
        else:
            self.fill_hole()
            self.service = Service(self.cluster, self.settings, name=f"drover-{len(self.lives) + 1}")
            self.lives.append(self.service)
            self.service.launch()
        self.state = UP

    def strike(self, fault: str) -> str:
        if not self.cluster.alive(self.service.name):
            raise Failed("the service ended on its own", self.service.log)
        if fault == "stopped":
            self.signal(signal.SIGSTOP)
        else:
            self.kill()
            self.hole = BlackHole(SHIM) if fault == "black hole" else None
        self.state = fault
        return self.words[fault]

    def signal(self, signum: int) -> None:
        os.kill(self.cluster.state["processes"][self.service.name]["pid"], signum)

    def kill(self) -> None:
        self.exchanges += self.heard()
        self.service.stop(signal.SIGKILL)

    def heard(self) -> float:
        """Exchanges that this life of the service has accepted; 0 if it does not say, for it may have just begun."""
        try:
            return self.service.metrics(within_s=2)['drover_shim_exchanges_total{outcome="accepted"}']
        except http.Unanswered:
            return 0

    def tend(self) -> None:
        if self.hole:
            self.hole.swallow()

    def fill_hole(self) -> None:
        if self.hole:
            self.hole.swallow()
            self.swallowed += len(self.hole.taken)
            self.hole.close()
            self.hole = None

    def end(self) -> None:
        """Nothing is left in its place."""
        self.fill_hole()
        if self.state == UP:
            self.kill()
        elif self.state == "stopped":
            self.service.stop(signal.SIGKILL)
        self.state = "killed"

    def decided(self) -> dict:
        """How many copies of each task all its lives have decided on, by their logs: no kill loses a line."""
        return decided(life.log for life in self.lives)


def decided(logs) -> dict:
    """Decisions to have a copy started, by task, as the service's JSON logs tell."""
    found = {}
    for log in logs:
        for line in Path(log).read_text(errors="replace").splitlines():
            try:
                said = json.loads(line)
            except ValueError:
                continue  # the line in which it was killed
            if said.get("message") == DECIDED and said.get("mode") == "act":
                found[said["task"]] = found.get(said["task"], 0) + said.get("copies", 1)
    return found


class ClusterPlace:
    """The ResourceManager, the nodes and the ApplicationMasters of whatever runs; the first node is spared."""

    words = {
        "node killed": "{} is killed",
        "node paused": "{} is stopped",
        "RM restarted": "{} is killed",
        "AM killed": "{} is killed",
    }

    def __init__(self, cluster: Cluster, chance: random.Random):
        self.cluster, self.chance = cluster, chance
        self.state, self.victim = UP, None

    def strike(self, fault: str) -> str:
        if fault == "AM killed":
            masters = sorted(self.masters())
            if masters:
                os.kill(self.chance.choice(masters), signal.SIGKILL)
            self.victim = f"one of {len(masters)} ApplicationMasters"
        else:
            node = f"nm{self.chance.randint(2, self.cluster.options.nodes)}"
            self.victim = "rm" if fault == "RM restarted" else node
            if fault == "node paused":
                os.kill(self.cluster.state["processes"][node]["pid"], signal.SIGSTOP)
            else:
                self.cluster.end(self.victim, signal.SIGKILL)
        self.state = fault
        return self.words[fault].format(self.victim)

    def masters(self, job: str = "") -> list:
        """The JVMs of ApplicationMasters, or of a job's: one that has ended lasts for some seconds."""
        return self.jvms(MASTER, application_of(job))

    def attempts(self, attempt: str) -> list:
        """The JVM of an attempt, once it runs."""
        return self.jvms(CHILD, attempt)

    def jvms(self, main: bytes, of: str) -> list:
        found = []
        for pid in netns.members(self.cluster.state["space"]):
            try:
                command = Path(f"/proc/{pid}/cmdline").read_bytes()
            except OSError:
                continue
            if main in command.split(b"\0") and of.encode() in command:
                found.append(pid)
        return found

    def mend(self) -> None:
        if self.state == "node paused":
            os.kill(self.cluster.state["processes"][self.victim]["pid"], signal.SIGCONT)
        elif self.state in ("node killed", "RM restarted"):
            self.cluster.restart(self.victim)
        self.state = UP

    def tend(self) -> None:
        pass

    def end(self) -> None:
        """All of it works again."""
        if self.state != UP:
            self.mend()
