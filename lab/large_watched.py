"""What is seen of a large job while it runs: its processes, the heap of its ApplicationMaster, what Drover knows."""

import re
import time
from dataclasses import dataclass, field
from pathlib import Path

from lab import conf, faults, http
from lab.bench_idle import memory_mb, own_and_childrens
from lab.cluster import Cluster, application_of
from lab.service import Service, total

TICKS = "drover_tick_duration_seconds"


@dataclass
class Watched:
    """What was seen of a job while it ran; the times are of processors, in seconds."""

    cluster: Cluster
    service: Service
    job: str
    master: int = 0
    samples: list = field(default_factory=list)
    used: dict = field(default_factory=dict)
    shells: dict = field(default_factory=dict)  # those of containers that have ended
    lives: dict = field(default_factory=dict)
    heap_mb: float = 0
    ages_s: list = field(default_factory=list)  # since the shim was heard
    silent_s: list = field(default_factory=list)  # since a task had reported, when it was judged
    metrics: dict = field(default_factory=dict)
    known: int = 0
    unanswered: int = 0

    def look(self) -> None:
        self.processes()
        try:
            self.heap()
            if self.service:
                self.ask()
        except (http.Unanswered, KeyError):
            self.unanswered += 1  # the job begins, or ends

    def processes(self) -> None:
        if not self.master or not Path(f"/proc/{self.master}").exists():
            self.master = next(iter(faults.ClusterPlace(self.cluster, None).masters(self.job)), 0)
        pids = {name: process["pid"] for name, process in self.cluster.state["processes"].items()}
        for name, pid in {**pids, "master": self.master}.items():
            try:
                self.used[name], self.shells[name] = own_and_childrens(pid)
                self.lives[name] = memory_mb(pid)["rss_peak_mb"]
            except (OSError, KeyError):
                pass  # not there, or gone

    def heap(self) -> None:
        proxied = f"http://{conf.RM_HTTP}/proxy/{application_of(self.job)}"
        (memory,) = http.get_json(f"{proxied}/jmx?qry=java.lang:type=Memory")["beans"]
        self.heap_mb = max(self.heap_mb, round(memory["HeapMemoryUsage"]["used"] / (1 << 20), 1))

    def ask(self) -> None:
        began = time.monotonic()
        self.metrics = self.service.metrics()
        answered = time.monotonic() - began
        job = self.service.get(f"/jobs/{self.job}")
        self.known = max(self.known, job["maps"]["total"])
        tasks = self.service.tasks(self.job)
        self.ages_s.append(job["age_ms"] / 1000)
        self.silent_s += [one["numbers"]["silent_ms"] / 1000 for one in tasks if one.get("numbers")]
        passes, took = (self.metrics.get(f"{TICKS}_{word}", 0) for word in ("count", "sum"))
        row = {"at": round(time.time(), 1), "succeeded": job["maps"]["succeeded"], "running": len(tasks)}
        self.samples.append({**row, "passes": passes, "passes_s": took, "metrics_s": round(answered, 4)})


def percentiles(values: list) -> dict:
    values = sorted(values)
    return {f"p{share}": round(values[(len(values) - 1) * share // 100], 3) for share in (50, 95, 100) if values}


def buckets(metrics: dict, name: str) -> dict:
    """A histogram's mean, and the upper bounds below which a half, .99 and all of it lie."""
    count, seconds = total(metrics, f"{name}_count"), total(metrics, f"{name}_sum")
    bounds = []
    for series, value in metrics.items():
        if series.startswith(f"{name}_bucket"):
            bounds.append((float(re.search(r'le="([^"]+)"', series).group(1).replace("+Inf", "inf")), value))
    found = {"count": int(count), "mean_ms": round(1000 * seconds / max(1, count), 3)}
    for share in (0.5, 0.99, 1):
        below = [bound for bound, value in sorted(bounds) if value >= share * count]
        found[f"below_{share:g}_s"] = below[0] if below else None
    return found
