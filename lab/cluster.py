"""One cluster: up, down, and what is known of it, kept in DIR/state.json."""

import json
import os
import shutil
import signal
import subprocess
import time
from pathlib import Path

from lab import conf, daemons, http, labels, netns, paths, proc
from lab.jvm import Jvm
from lab.options import Options
from lab.progress import Failed, say, step

BOOT_LIMIT_S = 400
DOWN_GRACE_S = 10
# Whoever is told to end alone and does not is at fault; a crowded machine takes long for it.
END_LIMIT_S = 60
# Where nobody uses what a NodeManager takes ten seconds to put in order.
SHORT_GRACE_S = 0.5


def application_of(job: str) -> str:
    """The id of a job's application; an application's own is left as it is."""
    return job.replace("job_", "application_")


class Cluster:
    """A cluster of a directory, running or not."""

    def __init__(self, directory, train: bool = False):
        self.dir = Path(directory).resolve()
        self.file = self.dir / "state.json"
        self.logs = self.dir / "logs"
        self.conf = self.dir / "conf"
        self.state = json.loads(self.file.read_text()) if self.file.is_file() else None
        self.train = train
        self.children = []  # of this process, so that they are reaped

    @property
    def options(self) -> Options:
        return Options(**self.state["options"])

    @property
    def jvm(self) -> Jvm:
        return Jvm(self.options.hadoop, self.conf, self.options.archives, self.train, self.options.thin)

    def running(self) -> bool:
        return bool(self.state) and netns.alive(self.state["space"])

    def save(self) -> None:
        partial = self.file.with_suffix(".partial")
        partial.write_text(json.dumps(self.state, indent=1))
        partial.replace(self.file)

    def where(self) -> str:
        """What a command of ./dev cluster is to be told besides, to mean this one."""
        return "" if self.dir == paths.CLUSTER.resolve() else f" --dir {paths.shown(self.dir)}"

    def enter(self) -> "Cluster":
        """Joins the cluster's network; everything this process asks or starts is then inside."""
        if not self.running():
            raise Failed(f"no cluster is up in {paths.shown(self.dir)}; start one with: ./dev cluster up{self.where()}")
        netns.enter(self.state["space"])
        return self

    def environment(self) -> dict:
        """What a program inside needs to find the cluster."""
        return {
            **os.environ,
            "HADOOP_CONF_DIR": str(self.conf),
            "LAB_CLASSPATH": self.jvm.class_path(),
            "LAB_JAVA_OPTIONS": " ".join(self.jvm.flags("client")),
            "LAB_DIR": str(self.dir),
        }

    def start(self, name: str, command: list, env=None) -> int:
        """Starts a long-running process of the cluster and remembers it by id and start time."""
        child = proc.spawn(command, self.logs / f"{name}.log", env or self.environment(), self.dir)
        self.children.append(child)
        self.state["processes"][name] = {"pid": child.pid, "ticks": proc.start_ticks(child.pid)}
        self.save()
        return child.pid

    def restart(self, name: str) -> None:
        """Starts a daemon that was ended, as it was at the boot; what it had logged is kept beside its new log."""
        daemon = next(rest for known, *rest in daemons.plan(self.options) if known == name)
        log = self.logs / f"{name}.log"
        log.rename(log.with_name(f"{name}-{time.time_ns()}.log"))
        self.start(name, self.jvm.daemon(*daemon, self.logs))

    def end(self, name: str, signum: int = signal.SIGTERM, within_s: float = END_LIMIT_S) -> None:
        """Ends one process of the cluster, if it still runs."""
        process = self.state["processes"].pop(name, None)
        if process and proc.start_ticks(process["pid"]) == process["ticks"]:
            os.kill(process["pid"], signum)
            if proc.wait_gone({process["pid"]: process["ticks"]}, within_s):
                raise Failed(f"{name} (process {process['pid']}) does not end", self.logs / f"{name}.log")
        if process:
            self.reap(process["pid"], within_s)
        self.save()

    def reap(self, pid: int, within_s: float) -> None:
        """Waits for a child's last thread: until that has ended, a killed process still holds its sockets."""
        for child in [child for child in self.children if child.pid == pid]:
            try:
                child.wait(within_s)
            except subprocess.TimeoutExpired:
                raise Failed(f"process {pid} has threads that do not end") from None
            self.children.remove(child)

    def alive(self, name: str) -> bool:
        process = self.state["processes"].get(name)
        return bool(process) and proc.start_ticks(process["pid"]) == process["ticks"]

    def up(self, options: Options) -> None:
        """Boots; on any failure, Ctrl-C included, nothing is left running."""
        if self.running():
            up, words = f"a cluster is already up in {paths.shown(self.dir)}", self.where()
            raise Failed(f"{up}; ./dev cluster status{words}, or ./dev cluster down{words}")
        self.down(quiet=True)
        self.clear()
        try:
            space, holder = netns.create()
            self.children.append(holder)
            self.state = {"space": space, "options": options.as_dict(), "processes": {}, "cgroups": []}
            (self.dir / "tmp").mkdir(parents=True, exist_ok=True)
            self.save()
            opts = {role: self.jvm.container(role) for role in ("am", "map", "reduce")}
            conf.write(options, self.jvm.class_path().replace(":", ","), opts)
            self.enter()
            self.boot(options)
        except BaseException:
            self.down(quiet=True)
            raise

    def clear(self) -> None:
        """Removes what an earlier cluster left, so that every boot is the same; only its own directory is touched."""
        if self.dir.is_dir() and any(self.dir.iterdir()) and not self.state and not (self.dir / "conf").is_dir():
            raise Failed(f"--dir {paths.shown(self.dir)}: not empty, and no cluster made it")
        shutil.rmtree(self.dir, ignore_errors=True)

    def boot(self, options: Options) -> None:
        with step(
            f"booting Hadoop {options.hadoop}: {options.nodes} nodes{' with HDFS' if options.hdfs else ''}", self.logs
        ):
            if options.hdfs:
                format_log = self.logs / "format.log"
                words = self.jvm.daemon("client", daemons.NAME_NODE, ["-format", "-nonInteractive"], self.logs)
                proc.run(words, format_log, self.environment(), self.dir)
            for name, *daemon in daemons.plan(options):
                self.start(name, self.jvm.daemon(*daemon, self.logs))
            until = time.monotonic() + BOOT_LIMIT_S
            while not self.ready(options):
                dead = [name for name in self.state["processes"] if not self.alive(name)]
                if dead:
                    raise Failed(f"{dead[0]} ended while booting", self.logs / f"{dead[0]}.log")
                if time.monotonic() > until:
                    raise Failed(f"not ready after {BOOT_LIMIT_S} s", self.logs)
                time.sleep(0.1)
            if options.label:
                labels.give(options.labels())

    def ready(self, options: Options) -> bool:
        try:
            metrics = self.rm("/metrics")["clusterMetrics"]
            self.jhs("/info")
            if options.hdfs:
                bean = "Hadoop:service=NameNode,name=FSNamesystemState"
                state = http.get_json(f"http://{conf.NN_HTTP}/jmx?qry={bean}")["beans"][0]
                if state["NumLiveDataNodes"] < options.nodes or state["FSState"] != "Operational":
                    return False
            return metrics["activeNodes"] == options.nodes
        except (http.Unanswered, KeyError, IndexError):
            return False

    def rm(self, path: str):
        return http.get_json(f"http://{conf.RM_HTTP}/ws/v1/cluster{path}")

    def am(self, app: str, path: str):
        proxy = conf.PROXY_HTTP if self.options.proxy else conf.RM_HTTP
        return http.get_json(f"http://{proxy}/proxy/{app}/ws/v1/mapreduce{path}")

    def jhs(self, path: str):
        return http.get_json(f"http://{conf.JHS_HTTP}/ws/v1/history{path}")

    def down(self, quiet: bool = False, grace_s: float = DOWN_GRACE_S) -> None:
        """Ends every process of the cluster's namespace, and no other; works after a crash of whoever started it. What
        has not ended by itself within `grace_s` is killed."""
        if not self.state:
            if not quiet:
                say(f"no cluster in {paths.shown(self.dir)}")
            return
        for signum, within_s in ((signal.SIGTERM, grace_s), (signal.SIGKILL, max(grace_s, DOWN_GRACE_S))):
            pids = self.own_processes()
            for pid in pids:
                try:
                    os.kill(pid, signum)
                    os.kill(pid, signal.SIGCONT)  # a throttled process is stopped, and would not hear
                except ProcessLookupError:
                    pass
            if not proc.wait_gone(pids, within_s):
                break
        left = proc.wait_gone(self.own_processes(), 1)
        if left:
            raise Failed(f"processes that would not end: {sorted(left)}")
        for group in self.state["cgroups"]:
            if os.path.isdir(group):
                os.rmdir(group)
        self.file.unlink(missing_ok=True)
        self.state = None
        for child in self.children:
            child.wait()
        self.children.clear()
        if not quiet:
            say(f"cluster in {paths.shown(self.dir)} ended")

    def own_processes(self) -> dict:
        """Those in the namespace. It is ours if a process that we recorded still is in it; else each must show it."""
        space = self.state["space"]
        inside = netns.members(space)
        recorded = [*self.state["processes"].values(), space]
        if any(inside.get(process["pid"]) == process["ticks"] for process in recorded):
            return inside
        return {pid: ticks for pid, ticks in inside.items() if netns.belongs(pid, self.dir)}
