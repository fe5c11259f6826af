"""The daemons of a cluster: class, arguments, and the order of their start."""

from pathlib import Path

from lab.conf import NM_PORT, node_address
from lab.options import Options

YARN, MR, DFS = "org.apache.hadoop.yarn.server", "org.apache.hadoop.mapreduce.v2.hs", "org.apache.hadoop.hdfs.server"
# Of NodeManagers whose containers are many and run no JVM: nothing is measured of them.
THIN = {
    "yarn.nodemanager.container-metrics.enable": "false",
    "yarn.nodemanager.container-monitor.enabled": "false",
}
NAME_NODE = f"{DFS}.namenode.NameNode"


def node_manager(index: int, directory: Path, thin: bool) -> list:
    name, home = f"nm{index}", directory / f"nm{index}"
    settings = {
        "yarn.nodemanager.hostname": name,
        "yarn.nodemanager.bind-host": node_address(index),
        "yarn.nodemanager.address": f"{name}:{NM_PORT}",
        "yarn.nodemanager.localizer.address": f"{name}:8040",
        "yarn.nodemanager.collector-service.address": f"{name}:8048",
        "yarn.nodemanager.webapp.address": f"{name}:8042",
        "mapreduce.shuffle.port": 13560 + index,  # its socket is a wildcard's, so the port must differ
        "yarn.nodemanager.local-dirs": home / "local",
        "yarn.nodemanager.log-dirs": home / "logs",
        "hadoop.tmp.dir": home / "tmp",
        **(THIN if thin else {}),
    }
    return [f"-D{key}={value}" for key, value in settings.items()]


def data_node(index: int, directory: Path) -> list:
    # Loopback clients all come from 127.0.0.1, by which the NameNode knows them: the ports tell them apart.
    address, port = node_address(index), 9800 + 10 * index
    settings = {
        "dfs.datanode.hostname": f"nm{index}",
        "dfs.datanode.address": f"{address}:{port}",
        "dfs.datanode.http.address": f"{address}:{port + 1}",
        "dfs.datanode.ipc.address": f"{address}:{port + 2}",
        "dfs.datanode.data.dir": directory / f"dn{index}",
    }
    return [f"-D{key}={value}" for key, value in settings.items()]


def plan(options: Options) -> list:
    """Every daemon as (name, role, main class, arguments), the ones waited for longest first."""
    directory = Path(options.dir)
    nodes = range(1, options.nodes + 1)
    found = []
    if options.hdfs:
        found.append(("nn", "nn", NAME_NODE, []))
    found.append(("rm", "rm", f"{YARN}.resourcemanager.ResourceManager", []))
    found += [
        (f"nm{i}", "nm", f"{YARN}.nodemanager.NodeManager", node_manager(i, directory, options.thin)) for i in nodes
    ]
    if options.hdfs:
        found += [(f"dn{i}", "dn", f"{DFS}.datanode.DataNode", data_node(i, directory)) for i in nodes]
    if options.proxy:
        found.append(("proxy", "jhs", f"{YARN}.webproxy.WebAppProxyServer", []))
    found.append(("jhs", "jhs", f"{MR}.JobHistoryServer", []))
    return found
