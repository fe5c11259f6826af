"""Records what a real cluster's REST resources answer, for the tests of the clients.

Bodies are kept as they came, but for this machine's paths and names; of a job's configuration a part.
"""

import http.client
import json
import os
import socket
import time
import xml.etree.ElementTree as ElementTree
from pathlib import Path

from lab import conf, jobs, paths
from lab import http as web
from lab.cluster import Cluster, application_of
from lab.options import USERS
from lab.progress import Failed, step

RM, JHS = (tuple(address.split(":")) for address in (conf.RM_HTTP, conf.JHS_HTTP))
MOMENT_LIMIT_S = 120
UNKNOWN_APP = "application_1000000000000_0001"
KEPT_CONF = (
    "mapreduce.job",
    "mapreduce.map",
    "mapreduce.reduce",
    "mapreduce.task",
    "mapreduce.cluster",
    "yarn.app",
    "lab.",
    "mapreduce.output",
    "mapreduce.fileoutput",
)
KILL = '{"state":"KILLED"}'
# Slow enough that maps and reduces, done and running ones, are there at one moment, and copies too.
JOB = {
    "lab.maps": 12,
    "lab.reduces": 2,
    "lab.map.ms": 3000,
    "lab.reduce.ms": 15000,
    "lab.slow.nodes": "nm2:8",
    "mapreduce.task.progress-report.interval": 500,
    "mapreduce.job.reduce.slowstart.completedmaps": 0.2,
    "mapreduce.job.speculative.retry-after-speculate": 1000,
}


class Recorder:
    """Writes answers under a directory."""

    def __init__(self, cluster: Cluster, out: Path):
        self.cluster, self.out = cluster, out

    def plain(self, text: str) -> str:
        """The text without what is only this machine's."""
        home = os.environ.get("JAVA_HOME", "/nonexistent")
        for own, general in (
            (str(self.cluster.dir), "/srv/hadoop/cluster"),
            (str(paths.ROOT), "/srv/hadoop"),
            (home, "/usr/lib/jvm/java-17"),
            (os.path.expanduser("~"), "/home/hadoop"),
            (f'"value":"{socket.gethostname()}"', '"value":"client"'),
            (f"<value>{socket.gethostname()}</value>", "<value>client</value>"),
        ):
            if own not in ("/", "/nonexistent"):
                text = text.replace(own, general).replace(own.replace("/", "%2F"), general.replace("/", "%2F"))
        return text

    def ask(self, server: tuple, path: str, accept: str, put: str = "") -> tuple:
        connection = http.client.HTTPConnection(*server, timeout=10)
        try:
            headers = {"Accept": accept, **({"Content-Type": "application/json"} if put else {})}
            connection.request("PUT" if put else "GET", path, body=put or None, headers=headers)
            answer = connection.getresponse()
            return answer.status, answer.getheaders(), answer.read().decode()
        finally:
            connection.close()

    def body(self, name: str, server: tuple, path: str, xml: bool = False) -> None:
        """Keeps the body of a good answer, as JSON and, if asked, as XML."""
        for suffix in ("json", "xml") if xml else ("json",):
            status, _, text = self.ask(server, path, f"application/{suffix}")
            if status != 200:
                raise Failed(f"{path}: status {status}: {text[:200]}")
            if path.endswith("/conf"):
                text = trimmed(text, suffix)
            self.write(f"{name}.{suffix}", text)

    def whole(self, name: str, server: tuple, path: str, accept: str = "application/json", put: str = "") -> None:
        """Keeps status, headers and body of an answer that is not a plain one; of a PUT where there is something to."""
        status, headers, text = self.ask(server, path, accept, put)
        lines = [f"HTTP/1.1 {status}", *(f"{key}: {value}" for key, value in headers if key != "Date"), "", text]
        self.write(f"{name}.http", "\n".join(lines))

    def write(self, name: str, text: str) -> None:
        file = self.out / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(self.plain(text))


def trimmed(text: str, suffix: str) -> str:
    """A part of a job's configuration, of a few hundred properties."""
    if suffix == "json":
        found = json.loads(text)
        found["conf"]["property"] = [p for p in found["conf"]["property"] if p["name"].startswith(KEPT_CONF)]
        return json.dumps(found, separators=(",", ":"))
    root = ElementTree.fromstring(text)
    for one in root.findall("property"):
        if not one.findtext("name", "").startswith(KEPT_CONF):
            root.remove(one)
    return ElementTree.tostring(root, encoding="unicode")


def job_resources(keep, server: tuple, prefix: str, base: str, cluster_get) -> None:
    """Everything under one job, of the ApplicationMaster or the JobHistoryServer alike."""
    tasks = cluster_get("/tasks")["tasks"]["task"]
    keep(f"{prefix}/job", server, base, xml=True)
    for name in ("jobattempts", "counters", "conf", "tasks"):
        keep(f"{prefix}/{name}", server, f"{base}/{name}", xml=True)
    for kind, word in (("m", "MAP"), ("r", "REDUCE")):
        keep(f"{prefix}/tasks_{kind}", server, f"{base}/tasks?type={kind}")
        of_kind = [t for t in tasks if t["type"] == word]
        task = next((t for t in of_kind if t["state"] == "RUNNING"), of_kind[0])["id"]
        keep(f"{prefix}/task_{kind}", server, f"{base}/tasks/{task}", xml=True)
        keep(f"{prefix}/task_{kind}_counters", server, f"{base}/tasks/{task}/counters")
        keep(f"{prefix}/attempts_{kind}", server, f"{base}/tasks/{task}/attempts", xml=True)
        attempt = cluster_get(f"/tasks/{task}/attempts")["taskAttempts"]["taskAttempt"][0]["id"]
        keep(f"{prefix}/attempt_{kind}", server, f"{base}/tasks/{task}/attempts/{attempt}", xml=True)
        keep(f"{prefix}/attempt_{kind}_counters", server, f"{base}/tasks/{task}/attempts/{attempt}/counters")
    for task in tasks:
        if len(cluster_get(f"/tasks/{task['id']}/attempts")["taskAttempts"]["taskAttempt"]) > 1:
            keep(f"{prefix}/attempts_copied", server, f"{base}/tasks/{task['id']}/attempts", xml=True)
            return


def kills(recorder: Recorder, base: str, cluster_get) -> None:
    """A running reduce's attempt is killed, and one that never was."""
    task = next(t["id"] for t in cluster_get("/tasks?type=r")["tasks"]["task"] if t["state"] == "RUNNING")
    attempt = task.replace("task_", "attempt_")
    for name, number in (("kill", 0), ("kill_unknown", 99)):
        at = f"{base}/tasks/{task}/attempts/{attempt}_{number}/state"
        recorder.whole(f"am/{name}", RM, at, put=KILL)


def mixed(cluster: Cluster, app: str, job: str) -> bool:
    """Whether maps are done, maps run, and a reduce reports progress."""
    try:
        now = cluster.am(app, f"/jobs/{job}")["job"]
        return now["mapsCompleted"] > 0 and now["mapsRunning"] > 0 and now["reduceProgress"] > 0
    except (web.Unanswered, KeyError):
        return False


# Of the two, in a queue with a default label, one fills that label's nodes and waits; the other asks for the others.
LABELLED = {"lab.map.ms": 30_000, "mapreduce.map.memory.mb": 192}
FULL, EMPTY = {"lab.maps": 20}, {"lab.maps": 4, "mapreduce.job.node-label-expression": ""}


def labelled(recorder: Recorder, cluster: Cluster) -> None:
    """What the ResourceManager tells of a cluster whose nodes have labels."""
    running = []
    try:
        for number, more in enumerate((FULL, EMPTY)):
            settings = {**LABELLED, **more, "lab.output": cluster.dir / f"out-{time.time_ns()}"}
            running.append(jobs.Running(cluster, jobs.Spec(user=USERS[number], queue="batch", settings=settings)))
        until = time.monotonic() + MOMENT_LIMIT_S
        while not all(app["runningContainers"] > EMPTY["lab.maps"] for app in apps(cluster, len(running))):
            if time.monotonic() > until:
                raise Failed("the jobs came to no moment with all their maps running", running[0].log)
            time.sleep(0.5)
        time.sleep(2)
        keep, rm = recorder.body, "/ws/v1/cluster"
        keep("labels/apps", RM, f"{rm}/apps?states=RUNNING&applicationTypes=MAPREDUCE&deSelects=resourceRequests", True)
        for name in ("metrics", "nodes", "scheduler", "get-node-labels"):
            keep(f"labels/{name}", RM, f"{rm}/{name}", True)
    finally:
        for one in running:
            one.end()


def apps(cluster: Cluster, many: int) -> list:
    found = (cluster.rm("/apps?states=RUNNING").get("apps") or {}).get("app") or []
    return found if len(found) == many else [{"runningContainers": 0}]


def record(cluster: Cluster, out: Path) -> None:
    recorder = Recorder(cluster, out)
    if cluster.options.label:
        labelled(recorder, cluster)
        return
    keep, rm = recorder.body, "/ws/v1/cluster"
    keep("rm/apps_none", RM, f"{rm}/apps?states=RUNNING", xml=True)
    running = jobs.Running(cluster, jobs.Spec(settings={**JOB, "lab.output": cluster.dir / f"out-{time.time_ns()}"}))
    try:
        job = running.id()
        app = application_of(job)
        proxy = f"/proxy/{app}/ws/v1/mapreduce"
        recorder.whole("rm/proxy_before_am", RM, f"{proxy}/jobs")
        with step("recording a running job"):
            until = time.monotonic() + MOMENT_LIMIT_S
            while not mixed(cluster, app, job):
                if running.done() or time.monotonic() > until:
                    raise Failed("the job came to no moment with maps and reduces running", running.log)
                time.sleep(0.1)
            keep("rm/apps", RM, f"{rm}/apps?states=RUNNING&applicationTypes=MAPREDUCE", xml=True)
            keep("rm/apps_deselected", RM, f"{rm}/apps?states=RUNNING&deSelects=resourceRequests")
            for name in ("info", "metrics", "nodes", "scheduler"):
                keep(f"rm/{name}", RM, f"{rm}/{name}", xml=True)
            keep("rm/node", RM, f"{rm}/nodes/nm2:45454")
            keep("rm/app", RM, f"{rm}/apps/{app}", xml=True)
            keep("rm/appattempts", RM, f"{rm}/apps/{app}/appattempts")
            keep("am/info", RM, f"{proxy}/info", xml=True)
            keep("am/jobs", RM, f"{proxy}/jobs", xml=True)
            base = f"{proxy}/jobs/{job}"
            job_resources(keep, RM, "am", base, lambda path: cluster.am(app, f"/jobs/{job}{path}"))
            recorder.whole("am/job_unknown", RM, f"{proxy}/jobs/job_1000000000000_0001")
            recorder.whole("am/task_unknown", RM, f"{base}/tasks/{job.replace('job_', 'task_')}_m_000999")
            recorder.whole("am/blacklistednodes", RM, f"{proxy}/blacklistednodes")
            kills(recorder, base, lambda path: cluster.am(app, f"/jobs/{job}{path}"))
        with step("recording the finished job"):
            running.result()
            finished(recorder, cluster, app, job)
    finally:
        running.end()


def finished(recorder: Recorder, cluster: Cluster, app: str, job: str) -> None:
    keep, rm, jhs = recorder.body, "/ws/v1/cluster", "/ws/v1/history"
    keep("rm/app_finished", RM, f"{rm}/apps/{app}", xml=True)
    recorder.whole("rm/proxy_finished", RM, f"/proxy/{app}/ws/v1/mapreduce/jobs/{job}")
    attempt = f"{job.replace('job_', 'attempt_')}_m_000000_0"
    at = f"/tasks/{attempt[:-2].replace('attempt_', 'task_')}/attempts/{attempt}/state"
    recorder.whole("rm/proxy_finished_kill", RM, f"/proxy/{app}/ws/v1/mapreduce/jobs/{job}{at}", put=KILL)
    recorder.whole("rm/proxy_unknown", RM, f"/proxy/{UNKNOWN_APP}/ws/v1/mapreduce/jobs")
    recorder.whole("rm/app_unknown", RM, f"{rm}/apps/{UNKNOWN_APP}")
    recorder.whole("rm/app_unknown_xml", RM, f"{rm}/apps/{UNKNOWN_APP}", "application/xml")
    recorder.whole("rm/app_malformed", RM, f"{rm}/apps/nonsense")
    keep("jhs/info", JHS, f"{jhs}/info", xml=True)
    keep("jhs/jobs", JHS, f"{jhs}/mapreduce/jobs", xml=True)
    keep("jhs/jobs_none", JHS, f"{jhs}/mapreduce/jobs?user=nobody")
    base = f"{jhs}/mapreduce/jobs/{job}"
    job_resources(keep, JHS, "jhs", base, lambda path: cluster.jhs(f"/mapreduce/jobs/{job}{path}"))
    recorder.whole("jhs/job_unknown", JHS, f"{jhs}/mapreduce/jobs/job_1000000000000_0001")
