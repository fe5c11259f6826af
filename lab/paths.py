"""Where things lie. Everything made is under target/, which git ignores."""

import fcntl
import os
from contextlib import contextmanager
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
TARGET = ROOT / "target"
LOGS = TARGET / "dev" / "logs"
HADOOP = TARGET / "hadoop"
CLUSTER = TARGET / "cluster"
JOBS_JAR = TARGET / "lab-jobs.jar"
SHIM_JAR = TARGET / "drover-shim.jar"
UPSTREAM_JAR = TARGET / "upstream" / "upstream.jar"
# Says which build of the service is run; unset, the one that users have.
BUILD = "DROVER_LAB_BUILD"


def drover() -> Path:
    """The service's program."""
    return TARGET / os.environ.get(BUILD, "release") / "drover"


def java(tool: str = "java") -> str:
    """A tool of the JDK that ./dev found."""
    home = os.environ.get("JAVA_HOME")
    return str(Path(home) / "bin" / tool) if home else tool


def shown(path) -> str:
    """A path as a person at the repository's root would type it."""
    try:
        return str(Path(path).resolve().relative_to(ROOT))
    except ValueError:
        return str(path)


@contextmanager
def locked(name: str, wait: bool = True):
    """One process at a time for work that two clusters share, such as fetching jars. BlockingIOError for one that does
    not wait while another is at it."""
    lock = TARGET / "dev" / f"{name}.lock"
    lock.parent.mkdir(parents=True, exist_ok=True)
    with lock.open("w") as handle:
        fcntl.flock(handle, fcntl.LOCK_EX if wait else fcntl.LOCK_EX | fcntl.LOCK_NB)
        yield
