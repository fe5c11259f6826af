"""A real Prometheus on loopback, with the configuration under config/."""

import json
import math
import shutil
import socket
import subprocess
import time
import urllib.parse
from pathlib import Path

from lab import http, monitoring, paths, proc
from lab.progress import Failed

UNPACKED = paths.TARGET / "prometheus" / "usr" / "bin"
START_LIMIT_S = 180
# Of the sample configuration, what a test has otherwise: where Drover listens, and no waiting.
SAMPLE_TARGET, SAMPLE_PACES = "127.0.0.1:7072", ("15s", "30s")
PACE = "1s"


def program(name: str) -> str:
    """The machine's own `promtool` or `prometheus`, or what ./dev unpacked."""
    found = shutil.which(name) or shutil.which(name, path=str(UNPACKED))
    if not found:
        raise Failed(f"no {name}: run ./dev test, which fetches it, or install the Debian package prometheus")
    return found


def promtool(*words) -> subprocess.CompletedProcess:
    """What promtool says of files under config/prometheus."""
    command = [program("promtool"), *map(str, words)]
    return subprocess.run(command, cwd=monitoring.PROMETHEUS, capture_output=True, text=True, timeout=600)


def free_port() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


class Prometheus:
    """A server with the sample configuration that scrapes `target`; what it keeps is in `directory`."""

    def __init__(self, directory: Path, target: str):
        self.directory, self.target = directory, target
        self.at, self.log = f"127.0.0.1:{free_port()}", directory / "prometheus.log"

    def configure(self) -> Path:
        """The sample and its rules, with another target and other paces."""
        for file in monitoring.PROMETHEUS.glob("*.yml"):
            shutil.copy(file, self.directory)
        config = self.directory / "prometheus.yml"
        text = config.read_text()
        for sample, own in ((SAMPLE_TARGET, self.target), *((pace, PACE) for pace in SAMPLE_PACES)):
            if sample not in text:
                raise Failed(f"the sample configuration has no {sample} any more")
            text = text.replace(sample, own)
        config.write_text(text)
        return config

    def __enter__(self) -> "Prometheus":
        words = [f"--config.file={self.configure()}", f"--storage.tsdb.path={self.directory / 'data'}"]
        self.process = proc.spawn([program("prometheus"), *words, f"--web.listen-address={self.at}"], self.log)
        until = time.monotonic() + START_LIMIT_S
        while True:
            try:
                http.get(f"http://{self.at}/-/ready", "text/plain")
                return self
            except http.Unanswered as fault:
                if self.process.poll() is not None or time.monotonic() > until:
                    self.__exit__()
                    raise Failed(f"Prometheus did not start: {fault}", self.log) from None
            time.sleep(0.1)

    def __exit__(self, *_) -> None:
        proc.end_group(self.process)

    def get(self, path: str, **parameters):
        query = f"?{urllib.parse.urlencode(parameters)}" if parameters else ""
        return json.loads(http.get(f"http://{self.at}/api/v1/{path}{query}"))["data"]

    def numbers(self, expression: str) -> list:
        """The series of `ask` that have a number: a share of nothing is none."""
        return [(labels, value) for labels, value in self.ask(expression) if not math.isnan(value)]

    def ask(self, expression: str) -> list:
        """The series that an expression has now, as (labels, value); an error is one."""
        found = self.get("query", query=expression)
        if found["resultType"] == "scalar":
            return [({}, float(found["result"][1]))]
        return [(one["metric"], float(one["value"][1])) for one in found["result"]]
