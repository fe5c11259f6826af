"""The jars of a Hadoop version, from Maven Central by way of Maven, kept under target/hadoop/VERSION/lib."""

import re
import shutil
from pathlib import Path

from lab import paths, proc
from lab.progress import Failed, step

VERSION = "3.4.3"
COPY = "org.apache.maven.plugins:maven-dependency-plugin:3.8.1:copy-dependencies"
# What comes with another checksum than the repository tells is refused, not warned of (-C).
MAVEN = ["mvn", "-B", "-ntp", "-q", "-C"]


def lib(version: str) -> Path:
    return paths.HADOOP / version / "lib"


def fetch(version: str) -> Path:
    """The directory of the version's jars; needs the network only the first time."""
    if not re.fullmatch(r"[0-9]+\.[0-9]+\.[0-9]+[A-Za-z0-9.-]*", version):
        raise Failed(f"--hadoop {version}: not a version such as {VERSION}")
    target = lib(version)
    with paths.locked(f"hadoop-{version}"):
        if not target.is_dir():
            download(version, target)
    return target


def newer(version: str, *than: int) -> bool:
    """Whether it is that version or a later one."""
    return tuple(int(part) for part in version.split(".")[: len(than)]) >= than


def download(version: str, target: Path) -> None:
    log = paths.LOGS / f"hadoop-{version}.log"
    partial = target.with_name("lib.partial")
    shutil.rmtree(partial, ignore_errors=True)
    profiles = ["-Ptimeline"] if newer(version, 2, 9) else []
    with step(f"fetching Hadoop {version} from Maven Central", log):
        pom = Path(__file__).with_name("hadoop-jars.xml")
        options = [f"-Dhadoop.version={version}", f"-DoutputDirectory={partial}", "-DincludeScope=runtime"]
        proc.run([*MAVEN, *profiles, "-f", pom, *options, COPY], log)
        if not list(partial.glob("hadoop-mapreduce-client-app-*.jar")):
            raise Failed(f"Maven brought no hadoop-mapreduce-client-app for {version}", log)
        partial.rename(target)
