"""A cluster on which scenarios are played, each in one arm at a time."""

import time
from contextlib import nullcontext
from dataclasses import dataclass

from lab import jobs, slow, watch
from lab.cluster import Cluster
from lab.options import Options
from lab.progress import say
from lab.scenarios import NODE_MB, NODES, Scenario
from lab.service import Service

ACT = 'mode = "act"'


def options(directory) -> Options:
    """The cluster that the scenarios are made for; how often tasks report is each job's own setting."""
    return Options(dir=str(directory), nodes=NODES, node_mb=NODE_MB)


@dataclass
class Play:
    """One run of a scenario in one arm."""

    scenario: str
    arm: str
    result: jobs.Result
    said: watch.Said

    def row(self) -> dict:
        """What is written down of it; `id` is the job's, `verdicts` how many tasks had each."""
        verdicts = {}
        for one in sorted(verdict for of_task in self.said.verdicts.values() for verdict in of_task):
            verdicts[one] = verdicts.get(one, 0) + 1
        more = {"job": self.scenario, "arm": self.arm, "id": self.result.job}
        return {**self.result.summary(), **more, "verdicts": verdicts, "digest": self.result.digest}

    def show(self, more: str = "") -> None:
        """One line for it."""
        one = self.row()
        ended = "" if one["succeeded"] else ", FAILED"
        say(
            f"    {self.arm:14} {one['seconds']:6.1f} s, {one['copies']} copies, {one['copies_won']} won, "
            f"{one['container_seconds']:.1f} container-seconds{ended}{more}"
        )


class Stage:
    """Plays scenarios on a cluster that is up."""

    def __init__(self, cluster: Cluster):
        self.cluster = cluster
        self.texts = set()

    def play(self, name: str, scenario: Scenario, arm: str, more: dict) -> Play:
        """One run, with `more` settings. The service runs, and so costs, only where the arm has it, and begins anew."""
        chosen = scenario.arms[arm]
        settings = {"lab.name": f"{name} {arm}", **scenario.settings, **more, **chosen.settings}
        if scenario.text_mb:
            settings.update(self.words(scenario))
        spec = jobs.Spec("wordcount" if scenario.text_mb else "job", shim=chosen.drover, settings=settings)
        throttle = slow.throttled(self.cluster, scenario.throttled) if scenario.throttled else nullcontext()
        with throttle:
            if not chosen.drover:
                return Play(name, arm, jobs.run(self.cluster, spec), watch.Said())
            policy = f'\npolicy = "{chosen.policy}"' if chosen.policy else ""
            with Service(self.cluster, ACT + policy).start(quiet=True) as service:
                return Play(name, arm, *watch.run(service, spec))

    def words(self, scenario: Scenario) -> dict:
        """Text for a word count, written the first time, and a place of its own for the counts."""
        text = self.cluster.dir / f"text-{scenario.text_mb:g}-{scenario.text_files}"
        if text not in self.texts:
            self.texts.add(text)
            jobs.generate(
                self.cluster, text, scenario.text_files, int(scenario.text_mb * (1 << 20) / scenario.text_files)
            )
        return {"lab.input": text, "lab.output": self.cluster.dir / f"counts-{time.time_ns()}"}
