"""One client for many jobs: a JVM that submits and follows them all, and costs what one of a job alone does."""

import os
import subprocess
import time

from lab import jobs, paths, proc
from lab.cluster import Cluster
from lab.progress import Failed


class Client:
    """Submits jobs of generated records for as long as it is entered; left early, it ends them."""

    def __init__(self, cluster: Cluster):
        self.cluster, self.log, self.process = cluster, cluster.logs / f"client-{time.time_ns()}.log", None

    def __enter__(self) -> "Client":
        words = self.cluster.jvm.client(jobs.CLIENT, [], paths.JOBS_JAR)
        own = self.cluster.environment()
        self.process = proc.spawn(words, self.log, own, self.cluster.dir, stdin=subprocess.PIPE)
        return self

    def __exit__(self, *_) -> None:
        self.end()
        self.process.stdin.close()

    def submit(self, spec: jobs.Spec) -> "Served":
        asked = self.cluster.logs / f"submit-{time.time_ns()}.args"
        asked.write_text("".join(f"{one}\n" for one in jobs.arguments(spec)))
        try:
            os.write(self.process.stdin.fileno(), f"{asked}\n".encode())
        except BrokenPipeError:
            raise Failed("the jobs' client has ended", self.log) from None
        return Served(self, asked.with_suffix(".log"))

    def done(self) -> bool:
        return self.process.poll() is not None

    def end(self) -> None:
        if not self.done():
            proc.end_group(self.process)


class Served(jobs.Followed):
    """A job of such a client."""

    def __init__(self, client: Client, log):
        super().__init__(client.cluster, log)
        self.client = client

    def done(self) -> bool:
        return self.said("ENDED") is not None or self.client.done()

    def end(self) -> None:
        """With its client, and so with all of it: who leaves one job early leaves the batch."""
        if not self.done():
            self.client.end()
