"""What the service costs while nothing happens: memory and processor time against a cluster without jobs."""

import os
import time
from pathlib import Path

from lab import build, commands, paths
from lab.options import Options
from lab.progress import Failed, say, step
from lab.service import Service

RSS_LIMIT_MB = 40
CPU_LIMIT = 0.01
SETTLE_S = 5
TICKS_A_SECOND = os.sysconf("SC_CLK_TCK")


def cpu_seconds(pid: int) -> float:
    """Processor time that a process has used, user and system."""
    return own_and_childrens(pid)[0]


def own_and_childrens(pid: int) -> tuple:
    """That, and what its children had used that it has seen end."""
    stat = Path(f"/proc/{pid}/stat").read_text()
    fields = stat[stat.rindex(")") + 2 :].split()
    user, system, users, systems = map(int, fields[11:15])
    return (user + system) / TICKS_A_SECOND, (users + systems) / TICKS_A_SECOND


def memory_mb(pid: int) -> dict:
    """Resident memory now and at its highest, MiB."""
    rows = (line.split() for line in Path(f"/proc/{pid}/status").read_text().splitlines())
    kib = {row[0]: int(row[1]) for row in rows if row and row[0] in ("VmRSS:", "VmHWM:")}
    return {"rss_mb": round(kib["VmRSS:"] / 1024, 1), "rss_peak_mb": round(kib["VmHWM:"] / 1024, 1)}


def requests(service: Service) -> float:
    return sum(value for series, value in service.metrics().items() if series.startswith("drover_rest_requests_total"))


def options(parser) -> None:
    parser.add_argument("--seconds", type=int, default=60, help="how long to watch it (default 60)")
    parser.add_argument("--nodes", type=int, default=4, help="NodeManagers (default 4)")


def run(asked) -> tuple:
    """Memory and processor time of the service against an idle cluster."""
    build.drover()
    cluster = commands.bring_up(Options(dir=str(paths.TARGET / "bench"), nodes=asked.nodes))
    try:
        service = Service(cluster).start()
        pid = cluster.state["processes"][service.name]["pid"]
        time.sleep(SETTLE_S)
        with step(f"watching the service for {asked.seconds} s", service.log):
            began, used, before = time.monotonic(), cpu_seconds(pid), requests(service)
            time.sleep(asked.seconds)
            if not cluster.alive(service.name):
                raise Failed("the service ended", service.log)
            seconds, used = time.monotonic() - began, cpu_seconds(pid) - used
            found = {
                **memory_mb(pid),
                "cpu_share_of_a_core": round(used / seconds, 5),
                "requests_a_second": round((requests(service) - before) / seconds, 2),
                "seconds": round(seconds, 1),
                "nodes": asked.nodes,
            }
    finally:
        cluster.down(quiet=True)
    say(f"    memory {found['rss_mb']} MB, at most {found['rss_peak_mb']} MB (to reach: under {RSS_LIMIT_MB} MB)")
    say(f"    processor {found['cpu_share_of_a_core']:.2%} of a core (to reach: under {CPU_LIMIT:.0%})")
    say(f"    requests to the cluster {found['requests_a_second']} a second")
    reached = found["rss_peak_mb"] < RSS_LIMIT_MB and found["cpu_share_of_a_core"] < CPU_LIMIT
    return {"runs": [found], "limits": {"rss_mb": RSS_LIMIT_MB, "cpu_share_of_a_core": CPU_LIMIT}}, reached
