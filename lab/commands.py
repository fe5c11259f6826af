"""./dev cluster: argument parsing, and one function a subcommand."""

import argparse
import json
import os
import subprocess
from pathlib import Path

from lab import archives, build, conf, hadoop, http, jobs, paths, record, slow
from lab.cluster import Cluster, application_of
from lab.options import QUEUES, USERS, Options, slow_node
from lab.progress import Failed, say

EPILOG = f"""\
Inside: ResourceManager http://{conf.RM_HTTP}, JobHistoryServer http://{conf.JHS_HTTP}, nodes nm1 to nmN on two racks.
Queues: {", ".join(QUEUES)}. Users: {", ".join(USERS)} (or any other name). Nothing listens outside the private network.

  ./dev cluster up --nodes 4 --slow nm2:10
  ./dev cluster run job -Dlab.maps=16 -Dlab.slow.nodes=nm2:10
  ./dev cluster run -- curl -s http://127.0.0.1:8088/ws/v1/cluster/info
"""


def up_options(up: argparse.ArgumentParser) -> None:
    up.add_argument("--nodes", type=int, default=4, help="NodeManagers (default 4)")
    up.add_argument(
        "--hadoop", default=hadoop.VERSION, metavar="VERSION", help=f"Hadoop's version (default {hadoop.VERSION})"
    )
    up.add_argument("--hdfs", action="store_true", help="a NameNode, and a DataNode a node; else files are local ones")
    up.add_argument("--acls", action="store_true", help="switch job and queue ACLs on")
    up.add_argument(
        "--proxy", action="store_true", help="a WebAppProxy of its own, in the place of the ResourceManager's"
    )
    up.add_argument(
        "--node-mb",
        type=int,
        default=384,
        metavar="MB",
        help="memory of a node; a task takes 128, an AM 256 (default 384)",
    )
    up.add_argument(
        "--report-interval-ms", type=int, default=0, metavar="MS", help="how often tasks report (default Hadoop's: 6 s)"
    )
    up.add_argument(
        "--slow",
        action="append",
        default=[],
        metavar="NODE:TIMES",
        help="throttle a node's containers, e.g. nm2:10 (repeatable)",
    )
    up.add_argument(
        "--label",
        action="append",
        default=[],
        metavar="NAME:NODES[:lends]",
        help="give nodes a label, e.g. core:nm1,nm2; with :lends others may use what is free there (repeatable)",
    )
    up.add_argument(
        "--throttle",
        choices=("auto", "quota", "duty"),
        default="auto",
        help="how: CPU quota, or stop and continue (default: quota if possible)",
    )
    up.add_argument(
        "--set",
        action="append",
        default=[],
        metavar="KEY=VALUE",
        help="any property, in the site file it belongs to (repeatable)",
    )
    up.add_argument(
        "--no-archives", dest="archives", action="store_false", help="do without class data archives (slower starts)"
    )


def parser() -> argparse.ArgumentParser:
    top = argparse.ArgumentParser(
        prog="./dev cluster", epilog=EPILOG, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    commands = top.add_subparsers(dest="command", required=True, metavar="COMMAND")

    def add(name, function, text):
        one = commands.add_parser(name, help=text, description=text)
        one.add_argument("--dir", default=str(paths.CLUSTER), help="the cluster's directory (default target/cluster)")
        one.set_defaults(function=function)
        return one

    up_options(add("up", cluster_up, "boot a cluster"))
    add("down", cluster_down, "end the cluster, and only it")
    status = add("status", cluster_status, "what runs, with process ids")
    status.add_argument("--json", action="store_true", help="for programs")
    logs = add("logs", cluster_logs, "list the logs, or show one")
    logs.add_argument("what", nargs="?", help="a daemon (rm, nm1, jhs, ...) or a job or application id")
    slower = add("slow", cluster_slow, "throttle nodes of a running cluster, or stop throttling")
    slower.add_argument("nodes", nargs="+", metavar="NODE:TIMES|off", help="such as nm2:10, or off")
    slower.add_argument(
        "--throttle", choices=("auto", "quota", "duty"), default="auto", help="how (default: quota if possible)"
    )
    recorded = add("record", cluster_record, "record the answers of every REST resource, with a job running")
    recorded.add_argument("out", metavar="DIR", help="such as tests/recorded/3.4.3")
    run = add("run", cluster_run, "run a job or a command inside the cluster's network")
    run.add_argument("--user", default="alice", help="whose job (default alice)")
    run.add_argument("--queue", default="default", help="which queue (default default)")
    run.add_argument("--shim", action="store_true", help="with Drover's speculator in the ApplicationMaster")
    run.add_argument(
        "what", nargs=argparse.REMAINDER, metavar="job|wordcount|generate ARGS, or -- CMD", help="what to run"
    )
    return top


def main(arguments: list) -> int:
    options = parser().parse_args(arguments)
    return options.function(options)


def cluster_up(asked) -> int:
    options = Options(**{name: getattr(asked, name) for name in Options.__dataclass_fields__ if name in asked})
    cluster = bring_up(options)
    say(f"up. Next: ./dev cluster status | run | logs | down{cluster.where()}")
    return 0


def bring_up(options: Options) -> Cluster:
    """Fetches and builds what a cluster needs, boots it, and throttles what is to be slow."""
    hadoop.fetch(options.hadoop)
    build.lab_jobs()
    if options.archives:
        archives.ensure(options.hadoop)
    cluster = Cluster(options.dir)
    cluster.up(options)
    if options.slow:
        slow.start(cluster, [slow_node(word, options.nodes) for word in options.slow], options.throttle)
    return cluster


def cluster_down(asked) -> int:
    Cluster(asked.dir).down()
    return 0


def cluster_status(asked) -> int:
    cluster = Cluster(asked.dir).enter()
    rows = []
    for name, process in cluster.state["processes"].items():
        alive = cluster.alive(name)
        rows.append(
            {"name": name, "pid": process["pid"], "alive": alive, "rss_mb": rss_mb(process["pid"]) if alive else 0}
        )
    apps = http.listed((cluster.rm("/apps?states=RUNNING,ACCEPTED").get("apps") or {}).get("app"))
    report = {
        "dir": str(cluster.dir),
        "conf": str(cluster.conf),
        "options": cluster.state["options"],
        "processes": rows,
        "applications": [
            {key: app[key] for key in ("id", "user", "queue", "name", "state", "progress")} for app in apps
        ],
    }
    if asked.json:
        print(json.dumps(report, indent=1))
        return 0
    print(f"Hadoop {cluster.options.hadoop}, configuration in {paths.shown(cluster.conf)}")
    for row in rows:
        print(f"  {row['name']:6} {'pid ' + str(row['pid']) if row['alive'] else 'ENDED':12} {row['rss_mb']:5} MB")
    for app in report["applications"]:
        print(f"  {app['id']} {app['user']}@{app['queue']} {app['name']} {app['state']} {app['progress']:.0f} %")
    return 0


def rss_mb(pid: int) -> int:
    for line in Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith("VmRSS"):
            return int(line.split()[1]) // 1024
    return 0


def cluster_logs(asked) -> int:
    cluster = Cluster(asked.dir)
    if not asked.what:
        for file in sorted(cluster.logs.glob("*.log")):
            print(f"{file.stat().st_size:9} {paths.shown(file)}")
        for directory in sorted(cluster.dir.glob("nm*/logs/application_*")):
            print(f"          {paths.shown(directory)}")
        return 0
    return show_logs(cluster, asked.what)


def show_logs(cluster: Cluster, what: str) -> int:
    daemon = cluster.logs / f"{what}.log"
    if daemon.is_file():
        return subprocess.call(["tail", "-n", "200", str(daemon)])
    found = sorted(cluster.dir.glob(f"nm*/logs/{application_of(what)}/container_*/*"))
    if not found:
        raise Failed(f"no log of '{what}' in {paths.shown(cluster.dir)}; ./dev cluster logs lists them")
    for file in found:
        print(f"{file.stat().st_size:9} {paths.shown(file)}")
    for file in found:  # what the ApplicationMaster said: the first container of each attempt
        if file.parent.name.endswith("_000001") and file.stat().st_size:
            print(f"--- {paths.shown(file)}", flush=True)
            subprocess.call(["tail", "-n", "60", str(file)])
    return 0


def cluster_slow(asked) -> int:
    cluster = Cluster(asked.dir)
    if not cluster.running():
        raise Failed("no cluster is up")
    slow.stop(cluster)
    nodes = [slow_node(word, cluster.options.nodes) for word in asked.nodes if word != "off"]
    if nodes:
        slow.start(cluster, nodes, asked.throttle)
    return 0


def cluster_record(asked) -> int:
    record.record(Cluster(asked.dir).enter(), Path(asked.out).resolve())
    return 0


def cluster_run(asked) -> int:
    words = asked.what
    if not words:
        raise Failed("run what? job, wordcount or generate with their options, or -- and a command")
    cluster = Cluster(asked.dir).enter()
    if words[0] == "--":
        words = words[1:]
        if not words:
            raise Failed("run -- CMD: no command given")
        environment = cluster.environment()
    else:
        if words[0] not in jobs.MAINS:
            raise Failed(f"run {words[0]}: one of {', '.join(jobs.MAINS)}, or -- and a command")
        spec = jobs.Spec(words[0], asked.user, asked.queue, asked.shim)
        words, environment = jobs.command(cluster, spec, words[1:]), cluster.environment()
    try:
        os.execvpe(words[0], words, environment)
    except OSError as fault:
        raise Failed(f"{words[0]}: {fault.strerror}") from None
