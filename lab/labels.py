"""Node labels of a running cluster: what `yarn rmadmin -addToClusterNodeLabels` and `-replaceLabelsOnNode` do."""

import json
import time

from lab import http
from lab.conf import NM_PORT, RM_HTTP
from lab.progress import Failed

ADMIN = f"http://{RM_HTTP}/ws/v1/cluster"
LIMIT_S = 60


def give(labels: list) -> None:
    """Makes the labels known, gives each to its nodes, and waits until they have it."""
    known = [{"name": label.name, "exclusivity": not label.lends} for label in labels]
    http.post(f"{ADMIN}/add-node-labels", json.dumps({"nodeLabelInfo": known}))
    wanted = {node: [label.name] for label in labels for node in label.nodes}
    there = [{"nodeId": f"{node}:{NM_PORT}", "labels": names} for node, names in wanted.items()]
    http.post(f"{ADMIN}/replace-node-to-labels", json.dumps({"nodeToLabels": there}))
    until = time.monotonic() + LIMIT_S
    while not wanted.items() <= told().items():
        if time.monotonic() > until:
            raise Failed(f"nodes do not have their labels after {LIMIT_S} s: {told()}")
        time.sleep(0.1)


def told() -> dict:
    """The labels of each node that has one."""
    nodes = http.get_json(f"{ADMIN}/nodes")["nodes"]["node"]
    return {one["nodeHostName"]: one["nodeLabels"] for one in nodes if one.get("nodeLabels")}
