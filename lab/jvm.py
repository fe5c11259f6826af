"""Command lines of the cluster's JVMs.

A JVM's start is mostly class loading. Class data archives (AppCDS) halve it: made once for each Hadoop version and
JDK by archives.py, used here where they exist. An archive asks for the jars first on the class path, in one order.
"""

import hashlib
from pathlib import Path

from lab import hadoop, paths

LIGHT = ["-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-XX:-UsePerfData"]
# Hadoop 3.4 and earlier generate classes in a way that JDK 17 closes by default.
OPENS = [f"--add-opens=java.base/{package}=ALL-UNNAMED" for package in ("java.lang", "java.net")]
# Hadoop puts the attempt's id in, so that the reduces of one job do not write one file.
TRAINED_REDUCE = "reduce-@taskid@.jsa"
HEAP_MB = {"rm": 192, "nm": 96, "jhs": 128, "nn": 128, "dn": 96, "am": 160, "map": 64, "reduce": 64, "client": 128}
# Where thousands of containers come and go, and jobs have as many tasks.
THIN_HEAP_MB = {"rm": 384, "nm": 192, "jhs": 1024, "am": 1024, "client": 256}


def key(version: str) -> str:
    """Names the archives that fit these jars and this JDK."""
    release = Path(paths.java()).parent.parent / "release"
    facts = [str(hadoop.lib(version)), release.read_text() if release.is_file() else ""]
    facts += [
        f"{jar.name} {jar.stat().st_size} {jar.stat().st_mtime_ns}" for jar in sorted(hadoop.lib(version).iterdir())
    ]
    return hashlib.sha256("\n".join(facts).encode()).hexdigest()[:12]


def archive(version: str, role: str) -> Path:
    return paths.HADOOP / version / "archives" / key(version) / f"{role}.jsa"


class Jvm:
    """Options of the JVMs of one cluster; `train` makes archives instead of using them."""

    def __init__(self, version: str, conf: Path, use_archives: bool, train: bool = False, thin: bool = False):
        self.version, self.conf = version, conf
        self.use_archives, self.train = use_archives, train
        self.heap_mb = {**HEAP_MB, **(THIN_HEAP_MB if thin else {})}
        self.more = [paths.JOBS_JAR] if thin else []

    def sharing(self, role: str) -> list:
        file = archive(self.version, role)
        if self.train and role == "reduce":
            file = file.with_name(TRAINED_REDUCE)
        if self.train:
            return [f"-XX:ArchiveClassesAtExit={file}"]
        return ["-Xshare:auto", f"-XX:SharedArchiveFile={file}"] if self.use_archives and file.is_file() else []

    def flags(self, role: str) -> list:
        return [
            f"-Xmx{self.heap_mb[role]}m",
            *LIGHT,
            *OPENS,
            f"-Djdk.net.hosts.file={self.conf}/hosts",
            *self.sharing(role),
        ]

    def container(self, role: str) -> str:
        """The options of an AM or task: Hadoop's own class path stays, behind the archived jars."""
        words = self.flags(role)
        if self.sharing(role):
            words += ["-cp", f"{hadoop.lib(self.version)}/*:$CLASSPATH"]
        return " ".join(words)

    def class_path(self, *more) -> str:
        return ":".join([f"{hadoop.lib(self.version)}/*", str(self.conf), *map(str, more)])

    def own(self) -> list:
        """Logs as we want them, and nothing in the machine's /tmp."""
        return [f"-Dlog4j.configuration=file:{self.conf}/log4j.properties", f"-Djava.io.tmpdir={self.conf.parent}/tmp"]

    def daemon(self, role: str, main: str, arguments: list, logs: Path) -> list:
        log = [f"-Dyarn.log.dir={logs}", f"-Dhadoop.log.dir={logs}"]
        return [
            paths.java(),
            *self.flags(role),
            *self.own(),
            *log,
            "-cp",
            self.class_path(*self.more),
            main,
            *arguments,
        ]

    def client(self, main: str, arguments: list, *jars) -> list:
        return [paths.java(), *self.flags("client"), *self.own(), "-cp", self.class_path(*jars), main, *arguments]
