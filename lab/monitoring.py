"""What the files under config/ ask of Prometheus: rules, alerts and panels, beside the metrics that there are."""

import json
import re
from dataclasses import dataclass, field
from pathlib import Path

from lab import paths

PROMETHEUS = paths.ROOT / "config" / "prometheus"
GRAFANA = paths.ROOT / "config" / "grafana"
RUNBOOKS = paths.ROOT / "docs" / "runbooks"
METRICS_PAGE = paths.ROOT / "docs" / "metrics.md"
# Not Drover's: what Prometheus itself has of every target.
OF_PROMETHEUS = {"up": ()}
HISTOGRAM_SERIES = (("_bucket", ("le",)), ("_sum", ()), ("_count", ()))
BEGINNING = re.compile(r"- (alert|record): (\S+)$")
# What a dashboard that shows every service puts for its variables.
VARIABLES = {"$cluster": ".*", "$instance": ".*", "$estimator": ".*", "$kind": ".*", "$__rate_interval": "1m"}
COMPARISON = re.compile(r" (>=?|!=) 0(?=\)?$)")


@dataclass
class Rule:
    """One rule of a file: `kind` is alert or record; `fields` are its other keys, labels and annotations included."""

    file: str
    kind: str
    name: str
    fields: dict = field(default_factory=dict)

    @property
    def expr(self) -> str:
        return self.fields["expr"]

    @property
    def labels(self) -> tuple:
        """Of a recorded metric, by the level in its name: instance, and then the labels that are left."""
        return tuple(self.name.partition(":")[0].split("_")[1:])


@dataclass
class Panel:
    """A panel with data, of the dashboard in `file`."""

    file: str
    title: str
    about: dict

    @property
    def unit(self) -> str:
        return self.about.get("fieldConfig", {}).get("defaults", {}).get("unit", "")

    @property
    def exprs(self) -> list:
        return [target["expr"] for target in self.about["targets"]]

    @property
    def asked(self) -> list:
        """Its expressions as a dashboard that shows every service asks them."""
        found = []
        for expression in self.exprs:
            for variable, value in VARIABLES.items():
                expression = expression.replace(variable, value)
            found.append(expression)
        return found


def uncompared(expression: str) -> str:
    """It without a comparison with 0 at its end, which leaves out what is none."""
    return COMPARISON.sub("", expression)


def read_rules(file: Path) -> list:
    """The rules of a file in the form that this project writes: each key on a line, long values as folded blocks."""
    found, key, indent = [], None, 0
    for line in file.read_text().splitlines():
        text, depth = line.strip(), len(line) - len(line.lstrip())
        if not text or text.startswith("#"):
            continue
        if key and depth > indent:
            found[-1].fields[key] = f"{found[-1].fields[key]} {text}".strip()
            continue
        key, begun = None, BEGINNING.match(text)
        if begun:
            found.append(Rule(file.name, *begun.groups()))
            continue
        word, _, value = text.partition(": ")
        if found and value and not text.startswith("- "):
            key, indent = word, depth
            found[-1].fields[key] = "" if value == ">-" else value
    return found


def rules(kind: str = "") -> list:
    """Every rule under config/, of one kind or of both."""
    files = sorted([*PROMETHEUS.glob("*.rules.yml"), *PROMETHEUS.glob("*.alerts.yml")])
    return [rule for file in files for rule in read_rules(file) if kind in ("", rule.kind)]


def dashboards() -> dict:
    """Every dashboard by the name of its file."""
    return {file.name: json.loads(file.read_text()) for file in sorted(GRAFANA.glob("*.json"))}


def panels() -> list:
    """Every panel of every dashboard, but for rows."""
    found = []
    for file, dashboard in dashboards().items():
        inner = [one for panel in dashboard["panels"] for one in (panel, *panel.get("panels", []))]
        found += [Panel(file, one["title"], one) for one in inner if one["type"] != "row"]
    return found


def documented() -> dict:
    """Labels of every series that docs/metrics.md tells, by its name."""
    found = {}
    for line in METRICS_PAGE.read_text().splitlines():
        cells = [cell.strip() for cell in line.split("|")]
        if len(cells) > 4 and cells[1].startswith("`drover_"):
            name, labels = cells[1].strip("`"), tuple(re.findall(r"`(\w+)`", cells[3]))
            for suffix, more in HISTOGRAM_SERIES if cells[2] == "histogram" else [("", ())]:
                found[name + suffix] = labels + more
    return found


def known() -> dict:
    """Labels, beside those of the target, of every series that an expression may name."""
    recorded = {rule.name: rule.labels for rule in rules("record")}
    return {**documented(), **recorded, **OF_PROMETHEUS}
