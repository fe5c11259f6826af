"""Jobs whose containers run no JVM: what a map's process says to its master, one resident JVM says for all of them.

Everything else is Hadoop's own: client, ApplicationMaster, its heartbeats and state machines, ResourceManager,
NodeManagers, containers with their files, tokens and shells, the umbilical protocol. A map's JVM takes more than a
second of a processor to start, a thin one's container a few hundredths.
"""

import socket
import time

from lab import paths
from lab.cluster import Cluster
from lab.progress import Failed

HOME = paths.ROOT / "lab" / "thin"
# Where lab/thin/bin/java calls.
PORT = 7400
# What a job's maps are thin by. Shells read the command line, so it is short.
SETTINGS = {"mapreduce.map.env": f"JAVA_HOME={HOME}", "mapreduce.map.java.opts": "-Xmx64m"}
START_LIMIT_S, POLL_S = 180, 0.1


def start(cluster: Cluster) -> None:
    """Starts the resident JVM, and waits until containers can call it."""
    cluster.start("tasks", cluster.jvm.client("io.drover.lab.ThinTasks", [PORT], paths.JOBS_JAR))
    until = time.monotonic() + START_LIMIT_S
    while True:
        try:
            socket.create_connection(("127.0.0.1", PORT)).close()
            return
        except OSError as fault:
            if time.monotonic() > until:
                raise Failed(f"nobody speaks for thin tasks: {fault}", cluster.logs / "tasks.log") from None
        time.sleep(POLL_S)
