"""The Drover service inside a cluster's network, and what it answers."""

import subprocess
import time

from lab import http, paths
from lab.cluster import Cluster
from lab.progress import Failed, step

API, SHIM, METRICS = "127.0.0.1:7070", "127.0.0.1:7071", "127.0.0.1:7072"
READY_LIMIT_S = 30


class Service:
    """`drover serve` for one cluster. `settings` are lines of TOML besides the listeners."""

    def __init__(self, cluster: Cluster, settings: str = "", name: str = "drover"):
        self.cluster, self.settings, self.name = cluster, settings, name
        self.log = cluster.logs / f"{name}.log"
        self.config = cluster.dir / f"{name}.toml"

    def start(self) -> "Service":
        listen = f'[listen]\napi = "{API}"\nshim = "{SHIM}"\nmetrics = "{METRICS}"\n'
        self.config.write_text(f"{self.settings}\n{listen}")
        with step("starting the service", self.log):
            self.cluster.start(self.name, [paths.DROVER, "serve", "--config", self.config])
            until = time.monotonic() + READY_LIMIT_S
            while not self.ready():
                if not self.cluster.alive(self.name):
                    raise Failed("the service ended", self.log)
                if time.monotonic() > until:
                    raise Failed(f"the service was not ready within {READY_LIMIT_S} s", self.log)
                time.sleep(0.1)
        return self

    def ready(self) -> bool:
        try:
            http.get(f"http://{API}/readyz")
            return True
        except http.Unanswered:
            return False

    def get(self, path: str):
        return http.get_json(f"http://{API}/api/v1{path}")

    def decisions(self, job: str) -> list:
        return self.get(f"/decisions?job={job}")["decisions"]

    def cli(self, *words) -> str:
        """What a command of the command line says."""
        command = [str(paths.DROVER), *words, "--config", str(self.config)]
        done = subprocess.run(command, capture_output=True, text=True, env=self.cluster.environment(), timeout=60)
        if done.returncode != 0:
            raise Failed(f"drover {' '.join(words)}: status {done.returncode}: {done.stderr.strip() or done.stdout.strip()}", self.log)
        return done.stdout

    def stop(self, signum: int = 15, within_s: float = 10) -> None:
        self.cluster.end(self.name, signum, within_s)
