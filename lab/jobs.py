"""Jobs: how they are submitted, followed, and what the JobHistoryServer says of them afterwards."""

import json
import time
from dataclasses import dataclass, field

from lab import http, paths, proc
from lab.cluster import Cluster, application_of
from lab.progress import Failed

MAINS = {
    "job": "io.drover.lab.LabJob",
    "wordcount": "io.drover.lab.WordCount",
    "generate": "io.drover.lab.TextGenerator",
}
CLIENT = "io.drover.lab.Client"
SHIM_URL = "http://127.0.0.1:7071"
# Longer than a crowded machine takes for it.
SUBMIT_LIMIT_S, HISTORY_LIMIT_S = 180, 180
# Less than any JVM takes to start, and more than a kill takes that its launch has crossed.
LAUNCH_MS = 500
# A copy that is given its container so shortly before its task's success is not moved any more: another commits.
COMMIT_MS = 3000
JOB_LIMIT_S = 600
POLL_S = 0.05


@dataclass
class Spec:
    """What to submit: which of our programs, by whom, and its properties."""

    kind: str = "job"
    user: str = "alice"
    queue: str = "default"
    shim: bool = False
    settings: dict = field(default_factory=dict)

    def properties(self) -> dict:
        chosen = {"lab.user": self.user, "mapreduce.job.queuename": self.queue}
        if self.shim:
            chosen.update(
                {
                    "mapreduce.job.cache.files": f"file://{paths.SHIM_JAR}",
                    "yarn.app.mapreduce.am.job.speculator.class": "io.drover.shim.DroverSpeculator",
                    "drover.service.urls": SHIM_URL,
                }
            )
        return {**chosen, **self.settings}


@dataclass
class Attempt:
    """One attempt, as the history has it; times in milliseconds since the epoch."""

    id: str
    task: str
    node: str
    state: str
    start_ms: int
    finish_ms: int

    @property
    def seconds(self) -> float:
        return (self.finish_ms - self.start_ms) / 1000

    @property
    def number(self) -> int:
        """Which of its task's; of the nth ApplicationMaster they count from 1000 (n - 1)."""
        return int(self.id.rpartition("_")[2])

    def ran(self) -> bool:
        """Whether its container was launched: Hadoop writes a start also for one that was killed before that."""
        return self.state != "KILLED" or self.finish_ms - self.start_ms > LAUNCH_MS

    def copies(self, other: "Attempt") -> bool:
        """Whether it started while `other`, begun before it, had not ended."""
        return (other.start_ms, other.id) < (self.start_ms, self.id) and self.start_ms < other.finish_ms


@dataclass
class Result:
    """A finished job."""

    job: str
    succeeded: bool
    seconds: float
    digest: str
    attempts: list

    def copies(self) -> list:
        """Attempts that ran and started while an older one of their task had not ended: not those that replace one."""
        tasks, ran = {}, [attempt for attempt in self.attempts if attempt.ran()]
        for attempt in ran:
            tasks.setdefault(attempt.task, []).append(attempt)
        return [a for a in ran if any(a.copies(older) for older in tasks[a.task])]

    def crowded(self, moves: int) -> list:
        """Copies that ran on the node of another attempt of their task, though fewer than `moves` had been given back
        before them."""
        ran = [a for a in self.attempts if a.ran()]
        won = {a.task: a.finish_ms for a in ran if a.state == "SUCCEEDED"}
        found = []
        for copy in self.copies():
            others = [a for a in ran if a.task == copy.task and a is not copy]
            given_back = self.given_back(copy.id)
            beside = [a.id for a in others if a.node == copy.node and copy.copies(a)]
            late = copy.start_ms > won.get(copy.task, copy.finish_ms) - COMMIT_MS
            if beside and not late and given_back < moves:
                found.append((copy.id, copy.node, beside, given_back))
        return found

    def waits_ms(self) -> dict:
        """From the launch of the first attempt of each task that had a copy to the launch of that copy."""
        waits, copies = {}, self.copies()
        for copy in sorted(copies, key=lambda a: (a.start_ms, a.id), reverse=True):
            first = min(a.start_ms for a in self.attempts if a.task == copy.task)
            waits[copy.task] = copy.start_ms - first
        return waits

    def given_back(self, attempt: str) -> int:
        """How many attempts between a task's first under the same master and this one never ran."""
        this = next(a for a in self.attempts if a.id == attempt)
        ran = {a.number for a in self.attempts if a.task == this.task and a.ran()}
        return len(set(range(this.number // 1000 * 1000, this.number)) - ran)

    def first_by_node(self) -> dict:
        """How many tasks had their first attempt on each node: how much of a job met a slow one."""
        firsts, found = {}, {}
        for one in sorted(self.attempts, key=lambda a: (a.start_ms, a.id), reverse=True):
            firsts[one.task] = one.node
        for node in sorted(firsts.values()):
            found[node] = found.get(node, 0) + 1
        return found

    def most_live(self) -> dict:
        """How many attempts of each task were live at once, at most."""
        most = {}
        for one in self.attempts:
            live = sum(a.task == one.task and a.start_ms <= one.start_ms < a.finish_ms for a in self.attempts)
            most[one.task] = max(most.get(one.task, 1), live)
        return most

    def summary(self) -> dict:
        return {
            "job": self.job,
            "seconds": round(self.seconds, 3),
            "succeeded": self.succeeded,
            "copies": len(self.copies()),
            "copies_won": sum(a.state == "SUCCEEDED" for a in self.copies()),
            "container_seconds": round(sum(a.seconds for a in self.attempts), 3),
            "first_by_node": self.first_by_node(),
        }


def arguments(spec: Spec) -> list:
    """What the program is called with."""
    return [f"-D{key}={value}" for key, value in spec.properties().items()]


def command(cluster: Cluster, spec: Spec, more: list = ()) -> list:
    """The command line that submits it and waits; `more` are further arguments of the user's."""
    return cluster.jvm.client(MAINS[spec.kind], [*arguments(spec), *more], paths.JOBS_JAR)


class Followed:
    """A job on its way, as the log of whoever submitted it tells."""

    def __init__(self, cluster: Cluster, log):
        self.cluster, self.log = cluster, log

    def done(self) -> bool:
        """Whether nothing more will be told of it."""
        raise NotImplementedError

    def end(self) -> None:
        """Ends it where it has not ended."""
        raise NotImplementedError

    def said(self, word: str):
        """The rest of the line that begins with a word, or None while there is none."""
        for line in self.log.read_text(errors="replace").splitlines() if self.log.is_file() else ():
            if line.startswith(word + " "):
                return line[len(word) + 1 :]
        return None

    def id(self, within_s: float = SUBMIT_LIMIT_S) -> str:
        until = time.monotonic() + within_s
        while time.monotonic() < until:
            job = self.said("SUBMITTED")
            if job:
                return job
            if self.done():
                break
            time.sleep(POLL_S)
        raise Failed("the job was not submitted", self.log)

    def result(self, limit_s: float = JOB_LIMIT_S) -> Result:
        """Waits for the end; a job that failed is a result too, one that never ran is a failure."""
        until = time.monotonic() + limit_s
        try:
            while not self.done():
                if time.monotonic() > until:
                    raise Failed(f"the job had not ended after {limit_s} s", self.log)
                time.sleep(POLL_S)
        finally:
            self.end()
        said = json.loads(self.said("RESULT") or "null")
        if not said:
            raise Failed("the client did not see the job's end", self.log)
        attempts = history(self.cluster, said["job"])
        return Result(said["job"], said["succeeded"], said["seconds"], said["digest"], attempts)


class Running(Followed):
    """A job with a client of its own; ends its client, and so the job, when left early."""

    def __init__(self, cluster: Cluster, spec: Spec):
        super().__init__(cluster, cluster.logs / f"submit-{time.time_ns()}.log")
        self.client = proc.spawn(command(cluster, spec), self.log, cluster.environment(), cluster.dir)

    def done(self) -> bool:
        return self.client.poll() is not None

    def end(self) -> None:
        if not self.done():
            proc.end_group(self.client)


def run(cluster: Cluster, spec: Spec, limit_s: float = JOB_LIMIT_S) -> Result:
    """Runs a job to its end."""
    running = Running(cluster, spec)
    try:
        return running.result(limit_s)
    finally:
        running.end()


def generate(cluster: Cluster, output: str, files: int, size: int, seed: int = 1) -> None:
    """Writes text for a word count."""
    settings = {"lab.output": output, "lab.text.files": files, "lab.text.bytes": size, "lab.seed": seed}
    log = cluster.logs / "generate.log"
    proc.run(command(cluster, Spec("generate", settings=settings)), log, cluster.environment(), cluster.dir)


def history(cluster: Cluster, job: str) -> list:
    """Every attempt of a finished job; waits until the JobHistoryServer has it."""
    base = f"/mapreduce/jobs/{job}"
    until = time.monotonic() + HISTORY_LIMIT_S
    while True:
        try:
            whole = cluster.jhs(base)["job"]
            tasks = [one["id"] for one in http.listed(cluster.jhs(f"{base}/tasks")["tasks"].get("task"))]
            told = {task: cluster.jhs(f"{base}/tasks/{task}/attempts")["taskAttempts"] for task in tasks}
            break
        except http.Unanswered as fault:
            if time.monotonic() > until:
                said = f"the JobHistoryServer does not have {job}: {fault}; {last_words(cluster, job)}"
                raise Failed(said, cluster.logs / "jhs.log") from None
            time.sleep(0.2)
    found = []
    for task, attempts in told.items():
        for one in http.listed(attempts.get("taskAttempt")):
            if one["startTime"] <= 0:
                continue  # given up before its container started
            found.append(attempt(one, task, whole["finishTime"]))
    return found


def last_words(cluster: Cluster, job: str) -> str:
    """What the ResourceManager says of a job's application: why one whose AM never ran has no history."""
    try:
        app = cluster.rm(f"/apps/{application_of(job)}")["app"]
    except http.Unanswered as fault:
        return f"nor does the ResourceManager: {fault}"
    said = " ".join(str(app.get("diagnostics") or "").split()) or "no more"
    return f"the ResourceManager has it {app['state']} and says {said}"


def attempt(told: dict, task: str, job_finish_ms: int) -> Attempt:
    """As the JobHistoryServer tells of it: one still being killed when its job ended has no finish, but 0 or -1."""
    start, finish = told["startTime"], told["finishTime"] if told["finishTime"] > 0 else job_finish_ms
    return Attempt(told["id"], task, told["nodeHttpAddress"].split(":")[0], told["state"], start, max(start, finish))
