"""What a cluster is made of."""

from dataclasses import asdict, dataclass, field
from pathlib import Path

from lab import hadoop, paths
from lab.progress import Failed

MAX_NODES = 64
USERS = ("alice", "bob", "carol")
QUEUES = {"default": 70, "batch": 30}


@dataclass
class Options:
    """The options of `cluster up`, kept with the cluster."""

    dir: str = str(paths.CLUSTER)
    nodes: int = 4
    hadoop: str = hadoop.VERSION
    hdfs: bool = False
    acls: bool = False
    proxy: bool = False
    node_mb: int = 384
    report_interval_ms: int = 0
    archives: bool = True
    slow: list = field(default_factory=list)
    label: list = field(default_factory=list)
    throttle: str = "auto"
    set: list = field(default_factory=list)
    thin: bool = False  # for thousands of containers that run no JVM (thin.py)

    def __post_init__(self):
        self.dir = str(Path(self.dir).resolve())
        if not 1 <= self.nodes <= MAX_NODES:
            raise Failed(f"--nodes {self.nodes}: 1 to {MAX_NODES}")
        if not 256 <= self.node_mb <= 65536:
            raise Failed(f"--node-mb {self.node_mb}: 256 to 65536")
        if self.report_interval_ms and not 50 <= self.report_interval_ms <= 600_000:
            raise Failed(f"--report-interval-ms {self.report_interval_ms}: 50 to 600000, or 0 for Hadoop's own default")
        for word in self.set:
            if "=" not in word:
                raise Failed(f"--set {word}: KEY=VALUE, such as yarn.resourcemanager.ha.enabled=false")
        for word in self.slow:
            slow_node(word, self.nodes)
        self.labels()

    def labels(self) -> list:
        """The node labels, each with its nodes."""
        return [labelled(word, self.nodes) for word in self.label]

    def as_dict(self) -> dict:
        return asdict(self)


def slow_node(word: str, nodes: int):
    """NODE:FACTOR, such as nm2:10, as a pair."""
    node, _, factor = word.partition(":")
    try:
        index, times = int(node[2:]), float(factor)
    except ValueError:
        index, times = 0, 0.0
    if not node.startswith("nm") or not 1 <= index <= nodes or not 1 <= times <= 1000:
        raise Failed(
            f"slow node {word}: nm1 to nm{nodes}, then a colon and how many times slower (1 to 1000), such as nm2:10"
        )
    return node, times


@dataclass(frozen=True)
class Label:
    """A node label."""

    name: str
    nodes: tuple
    lends: bool  # what is free there to whoever asks for no label


def labelled(word: str, nodes: int) -> Label:
    """NAME:NODE,NODE or NAME:NODE,NODE:lends, such as core:nm1,nm2."""
    name, _, rest = word.partition(":")
    there, _, lends = rest.partition(":")
    known = [f"nm{index}" for index in range(1, nodes + 1)]
    if not name or not set(there.split(",")) <= set(known) or lends not in ("", "lends"):
        raise Failed(f"label {word}: a name, a colon and nodes of nm1 to nm{nodes}, such as core:nm1,nm2, and :lends")
    return Label(name, tuple(there.split(",")), bool(lends))
