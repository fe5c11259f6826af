"""The site files of a cluster, and the two tables behind its host names and racks."""

import socket
from pathlib import Path
from xml.sax.saxutils import escape

from lab.options import MAX_NODES, QUEUES, Options

# By address, not by name: programs that are no JVMs do not know the names.
RM_HTTP, JHS_HTTP, NN_HTTP = "127.0.0.1:8088", "127.0.0.1:19888", "127.0.0.1:9870"
PROXY_HTTP = "127.0.0.1:9099"
RM_PACKAGE = "org.apache.hadoop.yarn.server.resourcemanager"
NM_PORT = 45454
HEARTBEAT_MS = 100
ALLOCATION_MB = 64
# A machine that stands still for some seconds costs no node; where one is lost on purpose that shows sooner.
LIVENESS_MS = 60_000
SOON_LOST = "yarn.nm.liveness-monitor.expiry-interval-ms=20000"
# Permissions set without a process for each. A NodeManager takes this from no argument of its own.
UNFORKED = {"fs.AbstractFileSystem.file.impl": "io.drover.lab.UnforkedLocalFs"}
SITES = {
    "core": ("fs.", "hadoop.", "io.", "ipc.", "net."),
    "yarn": ("yarn.",),
    "capacity-scheduler": ("yarn.scheduler.capacity.",),
    "mapred": ("mapreduce.", "yarn.app.mapreduce.", "drover."),
    "hdfs": ("dfs.",),
}

LOG4J = """\
log4j.rootLogger=INFO,console
log4j.appender.console=org.apache.log4j.ConsoleAppender
log4j.appender.console.target=System.err
log4j.appender.console.layout=org.apache.log4j.PatternLayout
log4j.appender.console.layout.ConversionPattern=%d{ISO8601} %p [%t] %c{1}: %m%n
log4j.logger.org.apache.hadoop.util.NativeCodeLoader=ERROR
"""


def node_address(index: int) -> str:
    return f"127.0.0.{10 + index}"


def rack(index: int) -> str:
    """Half of the nodes to each of two racks, alternating."""
    return f"/rack{1 + (index - 1) % 2}"


def hosts_table() -> str:
    """Names for the JVMs (`jdk.net.hosts.file`); the first name of an address is its reverse name too."""
    rows = [f"127.0.0.1 rm localhost {socket.gethostname()}"]
    rows += [f"{node_address(i)} nm{i}" for i in range(1, MAX_NODES + 1)]
    return "\n".join(rows) + "\n"


def rack_table() -> str:
    rows = []
    for i in range(1, MAX_NODES + 1):
        rows += [f"nm{i} {rack(i)}", f"{node_address(i)} {rack(i)}"]
    return "\n".join(rows) + "\n"


def core(directory: Path, options: Options) -> dict:
    return {
        "fs.defaultFS": "hdfs://rm:9000" if options.hdfs else "file:///",
        "hadoop.tmp.dir": directory / "tmp",
        "hadoop.http.staticuser.user": "drover",
        "hadoop.proxyuser.root.hosts": "*",
        "hadoop.proxyuser.root.groups": "*",
        "ipc.client.connect.max.retries.on.timeouts": 3,
        "net.topology.node.switch.mapping.impl": "org.apache.hadoop.net.TableMapping",
        "net.topology.table.file.name": directory / "conf" / "racks",
        **(UNFORKED if options.thin else {}),
    }


def yarn(directory: Path, options: Options, class_path: str) -> dict:
    acls = {"yarn.acl.enable": "true", "yarn.admin.acl": "root,drover"} if options.acls else {}
    proxy = {"yarn.web-proxy.address": PROXY_HTTP} if options.proxy else {}
    labels = {
        "yarn.node-labels.enabled": "true",
        "yarn.node-labels.fs-store.root-dir": f"file://{directory}/node-labels",
    }
    return {
        "yarn.resourcemanager.hostname": "rm",
        "yarn.resourcemanager.bind-host": "127.0.0.1",
        "yarn.resourcemanager.webapp.address": RM_HTTP,
        "yarn.resourcemanager.scheduler.class": f"{RM_PACKAGE}.scheduler.capacity.CapacityScheduler",
        "yarn.resourcemanager.nodemanagers.heartbeat-interval-ms": HEARTBEAT_MS,
        "yarn.nm.liveness-monitor.expiry-interval-ms": LIVENESS_MS,
        "yarn.resourcemanager.nm.liveness-monitor.interval-ms": 1000,
        "yarn.resourcemanager.max-completed-applications": 1000,
        # By default in /tmp under a name that every cluster of every user shares.
        "yarn.node-attribute.fs-store.root-dir": f"file://{directory}/node-attributes",
        "yarn.scheduler.minimum-allocation-mb": ALLOCATION_MB,
        "yarn.scheduler.maximum-allocation-mb": 4096,
        "yarn.nodemanager.resource.memory-mb": options.node_mb,
        "yarn.nodemanager.resource.cpu-vcores": 8,
        "yarn.nodemanager.vmem-check-enabled": "false",
        "yarn.nodemanager.pmem-check-enabled": "false",
        # Of what it measures nothing is used, and it reads every process of the machine.
        "yarn.nodemanager.container-monitor.interval-ms": 15_000,
        # Else each container lists all that it starts with.
        "yarn.nodemanager.log-container-debug-info.enabled": "false",
        "yarn.nodemanager.disk-health-checker.enable": "false",
        "yarn.nodemanager.aux-services": "mapreduce_shuffle",
        # Containers' logs stay, so that what a failed job said can be read.
        "yarn.nodemanager.delete.debug-delay-sec": 86_400,
        "yarn.nodemanager.sleep-delay-before-sigkill.ms": 100,
        "yarn.nodemanager.env-whitelist": "JAVA_HOME,HADOOP_CONF_DIR,PATH",
        "yarn.application.classpath": class_path,
        **acls,
        **proxy,
        **(labels if options.label else {}),
    }


def scheduler(options: Options) -> dict:
    prefix = "yarn.scheduler.capacity"
    queues = {}
    for name, share in QUEUES.items():
        queues.update(
            {
                f"{prefix}.root.{name}.capacity": share,
                f"{prefix}.root.{name}.maximum-capacity": 100,
                f"{prefix}.root.{name}.maximum-am-resource-percent": 0.9,
                f"{prefix}.root.{name}.user-limit-factor": 10,
            }
        )
    for label in options.labels():
        # A queue has of a label's nodes what it has of the others.
        of = f"accessible-node-labels.{label.name}"
        queues[f"{prefix}.root.{of}.capacity"] = 100
        for name, share in QUEUES.items():
            queues[f"{prefix}.root.{name}.{of}.capacity"] = share
            queues[f"{prefix}.root.{name}.{of}.maximum-capacity"] = 100
    return {
        f"{prefix}.root.queues": ",".join(QUEUES),
        f"{prefix}.maximum-am-resource-percent": 0.9,
        f"{prefix}.node-locality-delay": 40,
        # Whoever asks for a host waits until it has been offered, as among many nodes. By default a request of one
        # container goes anywhere after one heartbeat where nodes are as few as here.
        f"{prefix}.rack-locality-additional-delay": 40,
        # One container a heartbeat: tasks spread over the nodes the same way every time.
        f"{prefix}.per-node-heartbeat.multiple-assignments-enabled": "false",
        **queues,
    }


def mapred(directory: Path, options: Options, opts: dict) -> dict:
    interval = (
        {"mapreduce.task.progress-report.interval": options.report_interval_ms} if options.report_interval_ms else {}
    )
    acls = (
        {"mapreduce.cluster.acls.enabled": "true", "mapreduce.cluster.administrators": "root,drover"}
        if options.acls
        else {}
    )
    return {
        "mapreduce.framework.name": "yarn",
        "mapreduce.application.classpath": directory / "conf",
        "yarn.app.mapreduce.am.staging-dir": files(directory, options, "staging"),
        "mapreduce.jobhistory.address": "rm:10020",
        "mapreduce.jobhistory.bind-host": "127.0.0.1",
        "mapreduce.jobhistory.webapp.address": JHS_HTTP,
        "mapreduce.jobhistory.admin.address": "rm:10033",
        "mapreduce.jobhistory.intermediate-done-dir": files(directory, options, "history-new"),
        "mapreduce.jobhistory.done-dir": files(directory, options, "history"),
        "mapreduce.jobhistory.move.interval-ms": 1000,
        "mapreduce.map.memory.mb": 128,
        "mapreduce.reduce.memory.mb": 128,
        "yarn.app.mapreduce.am.resource.mb": 256,
        "yarn.app.mapreduce.am.command-opts": opts["am"],
        "mapreduce.map.java.opts": opts["map"],
        "mapreduce.reduce.java.opts": opts["reduce"],
        "mapreduce.task.io.sort.mb": 8,
        "mapreduce.reduce.shuffle.parallelcopies": 2,
        "yarn.app.mapreduce.am.scheduler.heartbeat.interval-ms": HEARTBEAT_MS,
        "mapreduce.client.completion.pollinterval": 200,
        "mapreduce.client.progressmonitor.pollinterval": 200,
        "mapreduce.client.submit.file.replication": 1,
        "mapreduce.job.counters.max": 500,
        **interval,
        **acls,
    }


def files(directory: Path, options: Options, name: str) -> str:
    """A directory of the default file system. Not within one another: the history's parents are closed to users."""
    return f"/{name}" if options.hdfs else str(directory / name)


def hdfs(directory: Path) -> dict:
    return {
        "dfs.replication": 1,
        "dfs.permissions.enabled": "false",
        "dfs.namenode.name.dir": directory / "nn",
        "dfs.namenode.rpc-bind-host": "127.0.0.1",
        "dfs.namenode.http-address": NN_HTTP,
        "dfs.namenode.http-bind-host": "127.0.0.1",
        "dfs.namenode.secondary.http-address": "rm:9868",
        "dfs.namenode.datanode.registration.ip-hostname-check": "false",
        "dfs.namenode.safemode.extension": 0,
        "dfs.client.use.datanode.hostname": "true",
        "dfs.datanode.use.datanode.hostname": "true",
    }


def site(values: dict) -> str:
    rows = [
        f"  <property><name>{escape(name)}</name><value>{escape(str(value))}</value></property>"
        for name, value in values.items()
    ]
    return '<?xml version="1.0"?>\n<configuration>\n' + "\n".join(rows) + "\n</configuration>\n"


def site_of(key: str) -> str:
    """Which site file a property belongs to: the one with the longest prefix."""
    fits = [(len(prefix), name) for name, prefixes in SITES.items() for prefix in prefixes if key.startswith(prefix)]
    return max(fits)[1] if fits else "core"


def write(options: Options, class_path: str, opts: dict) -> Path:
    """Writes the configuration directory and answers it."""
    directory = Path(options.dir)
    conf = directory / "conf"
    for empty in ("webapps/hdfs", "webapps/datanode"):  # HDFS from Maven's jars looks for them on the class path
        (conf / empty).mkdir(parents=True, exist_ok=True)
    sites = {
        "core": core(directory, options),
        "yarn": yarn(directory, options, class_path),
        "mapred": mapred(directory, options, opts),
        "hdfs": hdfs(directory),
        "capacity-scheduler": scheduler(options),
    }
    for word in options.set:
        key, _, value = word.partition("=")
        sites[site_of(key)][key] = value
    for name, values in sites.items():
        (conf / (f"{name}.xml" if name == "capacity-scheduler" else f"{name}-site.xml")).write_text(site(values))
    (conf / "log4j.properties").write_text(LOG4J)
    (conf / "hosts").write_text(hosts_table())
    (conf / "racks").write_text(rack_table())
    return conf
