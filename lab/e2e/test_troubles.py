"""The ledger's disk, full nodes, a lost node and a dead master, against jobs that have copies.

A fault of the ledger costs rows and says so; copies that no container comes for harm nobody; what dies with a node or a
master is told and not done twice. Each job succeeds and writes the bytes that it writes without any of it.
"""

import contextlib
import json
import os
import signal
import sqlite3
import subprocess
import threading
import time
import unittest
from pathlib import Path

from lab import conf, expected, http, jobs, netns
from lab.e2e import live_by_the_table
from lab.e2e.unharmed import ACT, JOB, Unharmed
from lab.faults import ClusterPlace
from lab.scenarios import AM_AWAY
from lab.service import Service
from lab.troubles import Crash, Held, Watched

# Of a job with a reduce that starts as soon as one map has ended.
REDUCED = {"lab.reduces": 1, "lab.reduce.ms": 500, "mapreduce.reduce.memory.mb": 256}
EARLY = {"mapreduce.job.reduce.slowstart.completedmaps": 0.05}
SLOW = 120
# Fills the cluster with reduces once its map has ended.
FILLER = {
    **JOB,
    **REDUCED,
    "lab.slow.attempts": "",
    "mapreduce.job.am.strict-locality": f"{conf.rack(4)}/nm4",
    "lab.split.hosts": "nm4",
    "lab.maps": 1,
    "lab.map.ms": 2000,
    "lab.reduces": 7,
    # More than it takes to see that they run.
    "lab.reduce.ms": 8000,
    "lab.slow.nodes": ",".join(f"nm{i}:{SLOW}" for i in range(1, 5)),
}
# Every task of a job is cloned as it starts.
CLONES = f'policy = "dolly"\ndolly.prior = 0.1\ndolly.beta = 1.0\ndolly.tau = 1.0\n{ACT}'
# How many exchanges of a job a copy is seen to wait for, each of them ten heartbeats of its master.
EXCHANGES = 6
# How often the service is killed before an order is under way, and the tables of which it tells only new rows.
KILLS = 3
TOLD_OF = ("decisions", "sent", "answers")
TOO_SOON = """
    SELECT later.task FROM sent JOIN decisions later USING (incarnation, decision)
    JOIN decisions earlier ON earlier.task = later.task AND earlier.incarnation <> later.incarnation
    JOIN sent first ON first.incarnation = earlier.incarnation AND first.decision = earlier.decision
    LEFT JOIN outcomes o ON o.incarnation = earlier.incarnation AND o.decision = earlier.decision
    WHERE sent.at_ms > first.at_ms AND sent.at_ms < min(earlier.deadline_ms, coalesce(o.at_ms, earlier.deadline_ms))"""


def rows(file: Path, ask: str, *values) -> list:
    """What a ledger holds, whoever else has it open."""
    with contextlib.closing(sqlite3.connect(f"file:{file}?mode=ro", uri=True)) as ledger:
        return ledger.execute(ask, values).fetchall()


def fill(directory: Path) -> Path:
    """Leaves no room on a disk; the file that takes it."""
    ballast = directory / "ballast"
    with ballast.open("wb", buffering=0) as out, contextlib.suppress(OSError):
        while True:
            out.write(b"\0" * 4096)
    return ballast


class Troubles(Unharmed):
    options = {**Unharmed.options, "set": [conf.SOON_LOST]}
    reduced = expected.digest(JOB["lab.maps"], reduces=1)

    def disk(self, name: str) -> Path:
        """A small file system of its own."""
        at = self.cluster.dir / name
        at.mkdir(exist_ok=True)
        if at.is_mount():  # left by a run that was killed
            subprocess.run(["umount", "-l", str(at)], check=True)
        made = subprocess.run(
            ["mount", "-t", "tmpfs", "-o", "size=1m", "drover-lab", str(at)], capture_output=True, text=True
        )
        if made.returncode:
            self.skipTest(f"no file system can be mounted here: {made.stderr.strip()}")
        self.addCleanup(subprocess.run, ["umount", "-l", str(at)])
        return at

    def keeper(self, file: Path) -> Service:
        return self.service(f'ledger.path = "{file}"\n{ACT}')

    def state(self, service: Service) -> str:
        return service.get("/status")["ledger"]["state"]

    def kept(self, service: Service, table: str = "") -> float:
        """Rows that the service has said it committed."""
        name = f'drover_ledger_rows_total{{table="{table}"' if table else "drover_ledger_rows_total"
        return sum(count for series, count in service.metrics().items() if series.startswith(name))

    def says(self, service: Service, kind: str, words: str) -> None:
        """Wherever an operator may look, the trouble is told of; and the service is ready all the same."""
        metrics = service.metrics()
        self.assertEqual(metrics["drover_ledger_active"], 0)
        self.assertGreater(metrics[f'drover_ledger_errors_total{{kind="{kind}"}}'], 0)
        self.assertGreater(metrics['drover_ledger_dropped_total{reason="unwritable"}'], 0)
        self.assertIn(words, service.log.read_text())
        self.assertIn(words, http.get(f"http://{service.api}/readyz", "text/plain"))
        # Its table breaks lines.
        self.assertIn(words, " ".join(service.ask("doctor").stdout.split()))

    def test_a_disk_that_fills_costs_rows_and_no_copy_and_the_ledger_goes_on_once_there_is_room(self):
        disk = self.disk("full")
        service = self.keeper(disk / "ledger.db")
        running, _ = self.submit()
        self.wait("a row was kept", running, lambda: self.kept(service))
        before = self.kept(service)
        ballast = fill(disk)
        self.check(running)
        self.until("the ledger was given up", lambda: self.state(service) == "full")
        self.says(service, "full", "no space left for the ledger")
        self.assertEqual(service.ask("report").returncode, 0, "what was kept is still told of")
        self.assertGreaterEqual(len(rows(disk / "ledger.db", "SELECT 1 FROM enrolments")), 1)
        ballast.unlink()
        self.until("it went on", lambda: self.state(service) == "keeping")
        self.assertGreaterEqual(self.kept(service), before)
        said = [json.loads(line) for line in service.log.read_text().splitlines()]
        lost = [one["lost"] for one in said if one["message"].startswith("keeping a ")]
        self.assertEqual(lost[0], 0)
        self.assertEqual(len(lost), 2, "it said that it went on before it could")
        self.assertGreater(lost[1], 0)
        again, _ = self.submit(**{"lab.slow.attempts": "", "lab.map.ms": 100})
        self.unharmed(again)
        ended = "SELECT state FROM jobs WHERE job = ?"
        self.until("its rows were kept", lambda: rows(disk / "ledger.db", ended, again.id()) == [("succeeded",)])

    def test_a_read_only_disk_costs_rows_and_no_copy_and_a_ledger_is_begun_once_it_takes_one(self):
        disk = self.disk("read-only")
        subprocess.run(["mount", "-o", "remount,ro", str(disk)], check=True)
        service = self.keeper(disk / "ledger.db")
        self.assertEqual(self.state(service), "read_only")
        running, _ = self.submit()
        self.check(running)
        self.until("rows were lost", lambda: service.metrics()['drover_ledger_dropped_total{reason="unwritable"}'])
        self.says(service, "read_only", "the ledger cannot be opened")
        self.assertNotEqual(service.ask("report").returncode, 0, "a report of nothing would pass for one")
        self.assertEqual(list(disk.iterdir()), [])
        subprocess.run(["mount", "-o", "remount,rw", str(disk)], check=True)
        self.until("it was begun", lambda: self.state(service) == "keeping")
        self.assertEqual(rows(disk / "ledger.db", "PRAGMA integrity_check"), [("ok",)])

    def test_a_ledger_deleted_under_the_service_is_begun_anew_and_says_so(self):
        file = self.cluster.dir / "deleted" / "ledger.db"
        service = self.keeper(file)
        running, _ = self.submit()
        self.wait("a row was kept", running, lambda: self.kept(service))
        file.unlink()
        self.wait("it was begun anew", running, lambda: file.exists() and self.state(service) == "keeping")
        self.check(running)
        self.assertEqual(service.metrics()['drover_ledger_errors_total{kind="deleted"}'], 1)
        self.assertIn("was deleted or replaced while it was in use", service.log.read_text())
        ended = "SELECT state FROM jobs WHERE job = ?"
        self.until("its end was kept", lambda: rows(file, ended, running.id()) == [("succeeded",)])
        self.assertEqual(rows(file, "PRAGMA integrity_check"), [("ok",)])

    def test_a_service_killed_while_it_writes_has_lost_no_row_it_told_of_and_repeats_nothing(self):
        file = self.cluster.dir / "killed" / "ledger.db"
        lives, told, before = [self.keeper(file)], [], {table: set() for table in TOLD_OF}

        def wrote(life) -> bool:
            """What a later life hears first was there before, and counts as no row."""
            return self.kept(life) > 0 or (len(lives) > 1 and "a shim's session is accepted" in life.log.read_text())

        def counts() -> dict:
            return {table: self.kept(lives[-1], table) for table in TOLD_OF}

        def strike():
            """Once the order that is under way is in the ledger."""
            life = lives[-1]
            self.until("the order was kept", lambda: self.kept(life, "sent") or not self.cluster.alive(life.name))
            told.append(counts())
            os.kill(self.cluster.state["processes"][life.name]["pid"], signal.SIGKILL)

        def replace():
            """Another service; of what the dead one had told of, everything is there, and all from before."""
            lives[-1].stop(signal.SIGKILL)
            self.assertEqual(rows(file, "PRAGMA integrity_check"), [("ok",)])
            for table, count in told[-1].items():
                now = set(rows(file, f"SELECT * FROM {table}"))
                self.assertLessEqual(before[table], now)
                self.assertGreaterEqual(len(now - before[table]), count, table)
                before[table] = now
            lives.append(self.keeper(file))

        struck, turn = Crash("application", strike), threading.Lock()

        def in_turn(request, forward):
            """No exchange passes while a service is replaced: the one that is struck down has answered. Nor does one for
            whose answer the shim does not wait any more."""
            asked = time.monotonic()
            with turn:
                return struck(request, forward) if time.monotonic() < asked + 1 else None

        running, _ = self.submit(in_turn)
        for _ in range(KILLS):
            self.wait("a row was kept", running, lambda: struck.hits or wrote(lives[-1]))
            with turn:
                if not struck.hits:
                    told.append(counts())
                    replace()
        self.wait("it was killed with an order under way", running, lambda: not self.cluster.alive(lives[-1].name))
        replace()
        self.check(running)
        self.assertIn("an earlier process left actions without an end", lives[-1].log.read_text())
        self.until("its end was kept", lambda: rows(file, "SELECT 1 FROM jobs WHERE job = ?", running.id()))
        self.assertEqual(rows(file, TOO_SOON), [], "sent while an earlier process's order might yet be carried out")
        self.assertEqual(lives[-1].ask("report").returncode, 0)

    def crowd(self) -> tuple:
        """Two jobs, one with a running reduce, whose orders for copies arrive when a third job's reduces have filled
        the cluster and wait for more of it."""
        cls = type(self)
        if hasattr(cls, "crowded"):
            return cls.crowded
        service = self.service(f'act.lease = "1m"\nact.deadline = "1m"\n{ACT}')
        ours, theirs = self.cluster.dir / "ours-are-slow", self.cluster.dir / "theirs-are-slow"
        ours.touch()
        theirs.touch()
        slow = {
            **AM_AWAY,
            "lab.slow.attempts": "",
            "lab.slow.nodes": f"nm2:{SLOW}",
            "lab.slow.file": ours,
            "lab.split.hosts": "nm2,nm3",
            "drover.exchange.read-timeout-ms": 60_000,
        }
        troubles = Held(), Held()
        filler = {**FILLER, "lab.slow.file": theirs, "lab.output": self.cluster.dir / "other"}
        other = jobs.Running(self.cluster, jobs.Spec(user="bob", settings=filler))
        self.addCleanup(other.end)
        # An order is not held up for long: whoever is to fill the cluster is on its way before.
        self.wait("its map had a container", other, lambda: self.containers(other) == 2)
        reduces, maps = self.submit(troubles[0], **slow, **REDUCED, **EARLY)[0], self.submit(troubles[1], **slow)[0]
        for trouble, running in zip(troubles, (reduces, maps)):
            self.wait("orders for copies were under way", running, lambda trouble=trouble: trouble.hits)
        theirs.unlink()
        self.wait("the queue was full", other, self.full)
        theirs.touch()
        for trouble in troubles:
            trouble.free.set()
        for trouble, running in zip(troubles, (reduces, maps)):
            self.wait("copies were asked for", running, lambda trouble=trouble: trouble.applied)
        goals = [trouble.exchanges + EXCHANGES for trouble in troubles]
        for trouble, goal, running in zip(troubles, goals, (reduces, maps)):
            self.wait("some time had passed", running, lambda trouble=trouble, goal=goal: trouble.exchanges > goal)
        seen = {
            "full": self.full(),
            "waiting": [trouble.beside("STARTING") + trouble.beside("NEW") for trouble in troubles],
            "running": [trouble.beside("RUNNING") for trouble in troubles],
            "reduces": [row.get("s") for (kind, _, _), row in troubles[0].attempts.items() if kind == "r"],
        }
        ours.unlink()
        results = [self.unharmed(reduces, self.reduced), self.unharmed(maps)]
        seen["others went on"] = not other.done()
        theirs.unlink()
        results.append(other.result())
        told = [self.fates(service, running.id()) for running in (reduces, maps)]
        cls.crowded = seen, results, told
        return cls.crowded

    def containers(self, running: jobs.Running) -> int:
        """How many an application has."""
        return self.cluster.rm(f"/apps/{running.id().replace('job', 'application')}")["app"]["runningContainers"]

    def full(self) -> bool:
        """No node has room for another container, and some are asked for."""
        metrics = self.cluster.rm("/metrics")["clusterMetrics"]
        return metrics["availableMB"] < 256 and metrics["containersPending"] > 0

    def test_copies_that_no_container_comes_for_are_few_and_their_jobs_end_without_them(self):
        seen, results, told = self.crowd()
        self.assertTrue(seen["full"])
        self.assertEqual(seen["running"], [[], []])
        for waiting, decisions in zip(seen["waiting"], told):
            self.assertTrue(waiting)
            self.assertEqual(len(waiting), len({row["i"] for row in waiting}), "a task has two of them")
            self.assertLessEqual(len(waiting), 2, "more than half of the job's tasks")
            self.assertTrue(decisions)
        self.assertTrue(seen["others went on"], "the jobs waited for room")
        for result in results[:2]:
            originals = {a.task for a in result.attempts if a.state == "SUCCEEDED" and a.id.endswith("_0")}
            self.assertEqual(originals, {a.task for a in result.attempts}, "a task had to wait for its copy")

    def test_a_running_reduce_is_never_preempted_for_a_copy_of_a_map(self):
        seen, results, _ = self.crowd()
        self.assertEqual(seen["reduces"], ["RUNNING"])
        self.assertTrue(seen["waiting"][0], "no copy of the reduce's own job waited")
        for result in (results[0], results[2]):
            self.assertTrue(result.succeeded)
            reduces = [a for a in result.attempts if "_r_" in a.id]
            self.assertTrue(reduces)
            self.assertEqual([a for a in reduces if a.state != "SUCCEEDED" or not a.id.endswith("_0")], [])
            app = self.cluster.rm(f"/apps/{result.job.replace('job', 'application')}")["app"]
            self.assertEqual((app["preemptedResourceMB"], app["numNonAMContainerPreempted"]), (0, 0))

    def on_node(self, node: str) -> list:
        """The processes of this cluster's containers on a node."""
        found = []
        for pid in netns.members(self.cluster.state["space"]):
            with contextlib.suppress(OSError):
                if f"NM_HOST={node}".encode() in Path(f"/proc/{pid}/environ").read_bytes().split(b"\0"):
                    found.append(pid)
        return found

    def back(self, node: str) -> None:
        """The node takes part again, and nothing waits for it."""
        self.cluster.restart(node)
        nodes = self.cluster.options.nodes
        self.until("the node was back", lambda: self.cluster.rm("/metrics")["clusterMetrics"]["activeNodes"] == nodes)

    def lose_a_node(self, service: Service, watched: Watched, **settings) -> None:
        """A job on which the first node is lost that a copy runs on: it costs the copy, and is told."""
        whole = {
            **AM_AWAY,
            **REDUCED,
            # The master has its node for itself.
            "yarn.app.mapreduce.am.resource.mb": 1024,
            # As shipped the master asks a lost node for three minutes to end what ran there, and copies wait so long.
            "yarn.client.nodemanager-connect.max-wait-ms": 5000,
            **settings,
        }
        running, _ = self.submit(watched, **whole)
        (copy, *_) = self.wait("a copy ran", running, lambda: watched.beside("RUNNING"))
        lost = copy["host"]
        self.assertNotEqual(lost, "nm1")
        self.cluster.end(lost, signal.SIGKILL)
        for pid in self.on_node(lost):
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        self.addCleanup(self.back, lost)
        result = self.unharmed(running, self.reduced)
        task = result.job.replace("job", "task") + f"_m_{copy['i']:06}"
        gone = next(a for a in result.attempts if a.id.endswith(f"_m_{copy['i']:06}_{copy['n']}"))
        self.assertNotEqual(gone.state, "SUCCEEDED")
        told = [one for one in self.fates(service, result.job) if one["task"] == task]
        self.assertIn(told[0]["copy"]["state"], ("died", "lost"), told)

    def test_a_node_lost_with_a_copy_on_it_costs_the_copy_and_no_job(self):
        self.lose_a_node(self.service(), Watched(), **{"lab.map.ms": 4000, "lab.slow.attempts": "m_0_0:60"})

    def test_a_node_lost_with_a_clone_on_it_costs_the_clone_and_no_job(self):
        self.lose_a_node(self.service(CLONES), Watched(), **{"lab.map.ms": 8000, "lab.slow.attempts": ""})

    def test_a_master_killed_with_clones_running_has_none_of_them_twice(self):
        service, watched = self.service(CLONES), Watched()
        running, _ = self.submit(watched, **{**AM_AWAY, **REDUCED, "lab.map.ms": 6000, "lab.slow.attempts": ""})
        self.wait("clones ran", running, lambda: watched.beside("RUNNING"))
        (master,) = ClusterPlace(self.cluster, None).masters(running.id())
        os.kill(master, signal.SIGKILL)
        result = self.unharmed(running, self.reduced)
        self.assertEqual(len(watched.masters), 2, "the job's second master never spoke")
        self.assertEqual(set(watched.hello["can"]), live_by_the_table())
        self.assertTrue(watched.applied)
        twice = {action: by for action, by in watched.applied.items() if len(by) > 1}
        self.assertEqual(twice, {}, "an action was carried out in both masters")
        self.assertTrue(self.fates(service, result.job))


if __name__ == "__main__":
    unittest.main()
