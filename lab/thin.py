"""Jobs whose containers run no JVM: what a map's process says to its master, one resident JVM says for all of them.

Everything else is Hadoop's own: client, ApplicationMaster, its heartbeats and state machines, ResourceManager,
NodeManagers, containers with their files, tokens and shells, the umbilical protocol. A map's JVM takes more than a
second of a processor to start, a thin one's container a few hundredths.
"""

from lab import paths
from lab.cluster import Cluster

HOME = paths.ROOT / "lab" / "thin"
# Where lab/thin/bin/java calls.
PORT = 7400
# What a job's maps are thin by. Shells read the command line, so it is short.
SETTINGS = {"mapreduce.map.env": f"JAVA_HOME={HOME}", "mapreduce.map.java.opts": "-Xmx64m"}


def start(cluster: Cluster) -> int:
    """Starts the resident JVM; answers its process id."""
    return cluster.start("tasks", cluster.jvm.client("io.drover.lab.ThinTasks", [PORT], paths.JOBS_JAR))
