"""A batch played on a cluster in one arm: its jobs submitted when they are due, and what became of each."""

import time
from contextlib import nullcontext
from dataclasses import dataclass, field

from lab import http, jobs, watch
from lab.batches import Batch, Planned
from lab.client import Client
from lab.cluster import Cluster
from lab.losing import Loss
from lab.progress import Failed, say
from lab.service import Service
from lab.stage import ACT, Play

POLL_S, LOOK_S = 0.1, 0.5
SETTLED_WITHIN_S = 5
# What is not settled yet of a copy or restart that was asked for, and what never came to be.
OPEN = ("decided", "sent", "applied", "moved")
NEVER = ("refused", "unsent", "unanswered")


@dataclass
class BatchPlay(Play):
    """One job of a batch in one arm."""

    planned: Planned
    waited_s: float  # from its submission to its start: for its ApplicationMaster
    decisions: list = field(default_factory=list)
    lost_outputs: int = 0  # of its maps, on a node that was lost while it ran

    def row(self) -> dict:
        """As of any play; `of` names the job in its batch, `restarts` are attempts killed so that others begin."""
        restarts = [one["copy"]["state"] for one in self.decisions if one["action"] == "restart" and one.get("copy")]
        done = [state for state in restarts if state not in NEVER]
        more = {"of": self.planned.name, "kind": self.planned.kind, "tasks": self.planned.tasks}
        restarted = {"restarts": len(done), "restarts_won": done.count("won")}
        lost = {"lost_outputs": self.lost_outputs} if self.planned.loses else {}
        return {**super().row(), **more, "waited_seconds": round(self.waited_s, 3), **restarted, **lost}

    def show(self, more: str = "") -> None:
        one = self.row()
        ended = "" if one["succeeded"] else ", FAILED"
        restarts = f", {one['restarts']} restarts" if one["restarts"] else ""
        lost = f", {self.lost_outputs} outputs lost" if self.planned.loses else ""
        say(
            f"    {self.arm:14} {one['of']:14} {one['seconds']:6.1f} s, {one['copies']} copies, {one['copies_won']} won"
            f"{restarts}{lost}, {one['container_seconds']:.1f} container-seconds{ended}{more}"
        )


class Wave:
    """Jobs that run side by side; left early, it ends them."""

    def __init__(self, client: Client, planned: list, spec, look=None):
        self.client, self.spec, self.look = client, spec, look
        self.waiting = sorted(planned, key=lambda one: one.at)
        self.running, self.ended = [], []

    def play(self) -> list:
        """Every job, as planned and as followed, in the order in which they ended."""
        began = looked = time.monotonic()
        try:
            while self.waiting or self.running:
                now = time.monotonic()
                while self.waiting and self.waiting[0].at <= now - began:
                    planned = self.waiting.pop(0)
                    self.running.append((planned, self.client.submit(self.spec(planned))))
                self.ended += [one for one in self.running if one[1].done()]
                self.running = [one for one in self.running if one not in self.ended]
                for planned, running in self.running:
                    if now - began - planned.at > jobs.JOB_LIMIT_S:
                        raise Failed(f"{planned.name} had not ended after {jobs.JOB_LIMIT_S} s", running.log)
                if self.look and now - looked >= LOOK_S:
                    looked = now
                    self.look(self.running)
                time.sleep(POLL_S)
        finally:
            for _, running in self.running:
                running.end()
        return self.ended


class BatchStage:
    """Plays batches on a cluster that is up."""

    def __init__(self, cluster: Cluster):
        self.cluster, self.said, self.losses = cluster, {}, {}

    def play(self, name: str, batch: Batch, arm: str, number: int, interval: str) -> list:
        """A round's jobs in one arm. Where that has the service, one serves them all, or each wave; it begins anew."""
        self.said, planned = {}, batch.jobs(number)
        waves = [[one for one in planned if one.wave == wave] for wave in sorted({one.wave for one in planned})]
        served = [[wave] for wave in waves] if batch.anew else [waves]
        return [play for some in served for play in self.served(name, batch, arm, some, interval)]

    def served(self, name: str, batch: Batch, arm: str, waves: list, interval: str) -> list:
        """Waves of jobs, one after the other, with one service where the arm has it."""
        plays = []
        service = Service(self.cluster, f"{ACT}\n{batch.toml()}") if batch.arms[arm].drover else None
        asked = service if batch.verdicts else None
        with service.start(quiet=True) if service else nullcontext(), Client(self.cluster) as client:
            for of_wave in waves:
                self.losses = {one.name: Loss(self.cluster, *one.loses) for one in of_wave if one.loses}
                look = (lambda running: self.look(running, asked)) if self.losses or asked else None
                ended = Wave(client, of_wave, lambda one: self.spec(name, batch, one, arm, interval), look).play()
                # The history is read when no job is to be submitted: it takes its time.
                plays += [self.played(name, arm, planned, running) for planned, running in ended]
                for play in plays[-len(ended) :]:
                    play.decisions = settled(service, play.result.job) if service else []
                    play.show()
                for loss in self.losses.values():
                    loss.mend()
        return plays

    def look(self, running: list, service=None) -> None:
        """What is to be done while jobs run: nodes are lost, and a service is asked for its verdicts."""
        for planned, one in running:
            if planned.name in self.losses:
                self.losses[planned.name].look(one)
        if service:
            self.verdicts(service, running)

    def spec(self, name: str, batch: Batch, planned: Planned, arm: str, interval: str) -> jobs.Spec:
        own = {"lab.name": f"{name} {planned.name}", "lab.output": self.cluster.dir / f"output-{time.time_ns()}"}
        return jobs.Spec(shim=batch.arms[arm].drover, settings={**own, **batch.settings(planned, arm, interval)})

    def verdicts(self, service: Service, running: list) -> None:
        """Asks the service about the tasks of each job that runs."""
        for _, one in running:
            job = one.said("SUBMITTED")
            if not job:
                continue
            try:
                watch.note_verdicts(service, job, self.said.setdefault(job, watch.Said()))
            except http.Unanswered as fault:
                if not service.cluster.alive(service.name):
                    raise Failed(f"the service ended while {job} ran: {fault}", service.log) from None

    def played(self, name: str, arm: str, planned: Planned, running: jobs.Followed) -> BatchPlay:
        result = running.result()
        told = self.cluster.jhs(f"/mapreduce/jobs/{result.job}")["job"]
        waited_s = (told["startTime"] - told["submitTime"]) / 1000
        said = self.said.get(result.job, watch.Said())
        loss = self.losses.get(planned.name)
        lost = (loss.outputs or 0) if loss else 0
        return BatchPlay(name, arm, result, said, planned, waited_s, lost_outputs=lost)


def settled(service: Service, job: str) -> list:
    """What the service decided about a job, once it knows what became of it, or after some seconds."""
    until = time.monotonic() + SETTLED_WITHIN_S
    while True:
        decisions = service.decisions(job)
        still = any((one.get("copy") or {}).get("state") in OPEN for one in decisions)
        if not still or time.monotonic() > until:
            return decisions
        time.sleep(LOOK_S)
