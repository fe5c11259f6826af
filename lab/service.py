"""The Drover service inside a cluster's network, and what it answers."""

import os
import signal
import subprocess
import time
from contextlib import nullcontext

from lab import http, paths
from lab.cluster import END_LIMIT_S, Cluster
from lab.progress import Failed, step

LISTENERS = API, SHIM, METRICS = ("127.0.0.1:7070", "127.0.0.1:7071", "127.0.0.1:7072")
# Of one beside another.
SECOND = ("127.0.0.1:7170", "127.0.0.1:7171", "127.0.0.1:7172")
# Not a measure of it: one service was heard of only after 29 s, of which no cause was found.
READY_LIMIT_S = 180
METRICS_TIMEOUT_S = 10


def total(metrics: dict, name: str, *labels: str) -> float:
    """A metric's sum over the label sets that hold all of these labels."""
    return sum(
        value
        for series, value in metrics.items()
        if series.partition("{")[0] == name and all(label in series for label in labels)
    )


class Service:
    """`drover serve` for one cluster. `settings` are lines of TOML besides the listeners, `words` further arguments,
    `listen` the addresses of API, shims' side and metrics, `env` further variables of its environment."""

    def __init__(
        self,
        cluster: Cluster,
        settings: str = "",
        name: str = "drover",
        words: tuple = (),
        listen: tuple = LISTENERS,
        env=None,
    ):
        self.cluster, self.settings, self.name, self.words = cluster, settings, name, words
        self.api, self.shim, self.metrics_at = listen
        self.env = {**cluster.environment(), **(env or {})}
        self.log = cluster.logs / f"{name}.log"
        self.config = cluster.dir / f"{name}.toml"

    def launch(self) -> int:
        """Starts it, waits for nothing, and answers its process id."""
        self.configure()
        return self.cluster.start(self.name, [paths.drover(), "serve", "--config", self.config, *self.words], self.env)

    def configure(self) -> None:
        listen = f'[listen]\napi = "{self.api}"\nshim = "{self.shim}"\nmetrics = "{self.metrics_at}"\n'
        self.config.write_text(f"{self.settings}\n{listen}")

    def reload(self, settings: str) -> None:
        """Has it read its configuration again, and waits until it has."""
        self.settings, said = settings, "configuration read again"
        before = self.log.read_text().count(said)
        self.configure()
        os.kill(self.cluster.state["processes"][self.name]["pid"], signal.SIGHUP)
        until = time.monotonic() + READY_LIMIT_S
        while self.log.read_text().count(said) == before:
            if time.monotonic() > until:
                raise Failed(f"the service has not read its configuration again within {READY_LIMIT_S} s", self.log)
            time.sleep(0.1)

    def start(self, quiet: bool = False) -> "Service":
        """Starts it and waits until it is ready."""
        with nullcontext() if quiet else step("starting the service", self.log):
            self.launch()
            until = time.monotonic() + READY_LIMIT_S
            while True:
                try:
                    http.get(f"http://{self.api}/readyz")
                    return self
                except http.Unanswered as fault:
                    why = fault
                if not self.cluster.alive(self.name):
                    raise Failed("the service ended", self.log)
                if time.monotonic() > until:
                    raise Failed(f"the service was not ready within {READY_LIMIT_S} s: {why}", self.log)
                time.sleep(0.1)

    def get(self, path: str):
        return http.get_json(f"http://{self.api}/api/v1{path}")

    def metrics(self, within_s: float = METRICS_TIMEOUT_S) -> dict:
        """Every sample by its series, as in `drover_jobs` or `drover_shim_sessions{state="live"}`."""
        found = {}
        for line in http.get(f"http://{self.metrics_at}/metrics", "text/plain", within_s).splitlines():
            if line and not line.startswith("#"):
                series, _, value = line.rpartition(" ")
                found[series] = float(value)
        return found

    def decisions(self, job: str) -> list:
        return self.get(f"/decisions?job={job}")["decisions"]

    def tasks(self, job: str) -> list:
        """The running tasks of a job, each with its verdict."""
        return self.get(f"/jobs/{job}/tasks?running=true&limit=1000")["tasks"]

    def ask(self, *words, limit_s: float = 300) -> subprocess.CompletedProcess:
        """A command of the command line, whatever its end."""
        command = [str(paths.drover()), *map(str, words), "--config", str(self.config)]
        return subprocess.run(command, capture_output=True, text=True, env=self.cluster.environment(), timeout=limit_s)

    def cli(self, *words) -> str:
        """What a command of the command line says."""
        done = self.ask(*words)
        if done.returncode != 0:
            raise Failed(
                f"drover {' '.join(words)}: status {done.returncode}: {done.stderr.strip() or done.stdout.strip()}",
                self.log,
            )
        return done.stdout

    def __enter__(self) -> "Service":
        return self

    def __exit__(self, *_) -> None:
        self.stop()

    def stop(self, signum: int = 15, within_s: float = END_LIMIT_S) -> None:
        self.cluster.end(self.name, signum, within_s)
