"""The ledger's disk, full nodes, a lost node and a dead master, against jobs that have copies.

A fault of the ledger costs rows and says so; copies that no container comes for harm nobody; what dies with a node or a
master is told and not done twice. Each job succeeds and writes the bytes that it writes without any of it.
"""

import contextlib
import json
import os
import shutil
import signal
import subprocess
import unittest
from pathlib import Path

from lab import conf, expected, jobs, netns
from lab.e2e import MOVES, live_by_the_table
from lab.e2e.ledgers import TOLD_OF, Ledgers, fill, rows
from lab.e2e.lives import Lives
from lab.e2e.unharmed import ACT, JOB
from lab.faults import ClusterPlace
from lab.scenarios import AM_AWAY
from lab.service import Service
from lab.troubles import Held, Watched

# Of a job with a reduce that starts as soon as one map has ended.
REDUCED = {"lab.reduces": 1, "lab.reduce.ms": 500, "mapreduce.reduce.memory.mb": 256}
EARLY = {"mapreduce.job.reduce.slowstart.completedmaps": 0.05}
SLOW = 200
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
    # More than it takes to see that they run, in steps that are short even on a machine that is slow.
    "lab.reduce.ms": 8000,
    "lab.records": 2000,
    "lab.slow.nodes": ",".join(f"nm{i}:{SLOW}" for i in range(1, 5)),
}
# Every task of a job is cloned as it starts.
CLONES = f'policy = "dolly"\ndolly.prior = 0.1\ndolly.beta = 1.0\ndolly.tau = 1.0\n{ACT}'
# How many exchanges of a job a copy is seen to wait for, each of them ten heartbeats of its master.
EXCHANGES = 6
# Parts of what is learned, each of them a row.
ROOMS = 6
# How often the service is killed by chance while it writes, and the job that it writes of.
KILLS = 3
ADVISED = {"drover.mode": "advise", "lab.maps": 5, "lab.slow.attempts": "m_0_0:240,m_1_0:240"}
TOO_SOON = """
    SELECT later.task FROM sent JOIN decisions later USING (incarnation, decision)
    JOIN decisions earlier ON earlier.task = later.task AND earlier.incarnation <> later.incarnation
    JOIN sent first ON first.incarnation = earlier.incarnation AND first.decision = earlier.decision
    LEFT JOIN outcomes o ON o.incarnation = earlier.incarnation AND o.decision = earlier.decision
    WHERE sent.at_ms > first.at_ms AND sent.at_ms < min(earlier.deadline_ms, coalesce(o.at_ms, earlier.deadline_ms))"""


class Troubles(Ledgers):
    options = {**Ledgers.options, "set": [conf.SOON_LOST]}
    reduced = expected.digest(JOB["lab.maps"], reduces=1)

    def test_a_disk_that_fills_costs_rows_and_no_copy_and_the_ledger_goes_on_once_there_is_room(self):
        disk = self.disk("full")
        service = self.keeper(disk / "ledger.db")
        running, _ = self.submit()
        self.wait("a row of the job was kept", running, lambda: self.kept(service, "enrolments"))
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

    def test_a_disk_that_is_read_only_from_the_start_costs_rows_and_no_copy(self):
        disk = self.disk("read-only")
        subprocess.run(["mount", "-o", "remount,ro", str(disk)], check=True)
        service = self.keeper(disk / "ledger.db")
        self.until("it was found read-only", lambda: self.state(service) == "read_only")
        self.check(self.submit()[0])
        self.until("rows were lost", lambda: self.lost(service))
        self.says(service, "read_only", "the ledger cannot be opened")
        self.assertNotEqual(service.ask("report").returncode, 0, "a report of nothing would pass for one")
        self.assertEqual(list(disk.iterdir()), [])
        subprocess.run(["mount", "-o", "remount,rw", str(disk)], check=True)
        self.until("it is kept", lambda: self.state(service) == "keeping")
        self.assertEqual(rows(disk / "ledger.db", "PRAGMA integrity_check"), [("ok",)])

    def test_a_disk_that_turns_read_only_costs_rows_and_no_copy(self):
        image = self.image("turns-read-only")
        disk = self.mounted("turns-read-only", "-o", "loop", image)
        service = self.keeper(disk / "ledger.db")
        running = self.submit()[0]
        self.wait("a row was kept", running, lambda: self.kept(service, "enrolments"))
        self.give_up(disk)
        told = {table: self.kept(service, table) for table in TOLD_OF}
        self.check(running)
        self.until("rows were lost", lambda: self.lost(service))
        # SQLite calls it an I/O error; half a minute later, when the file is opened anew, it is known to be read-only.
        self.says(service, "unwritable", "the ledger cannot be")
        self.assertEqual(service.ask("report").returncode, 0, "what was kept is still told of")
        self.put_right(disk, image)
        self.until("it is kept", lambda: self.state(service) == "keeping")
        self.assertEqual(rows(disk / "ledger.db", "PRAGMA integrity_check"), [("ok",)])
        for table, count in told.items():
            self.assertGreaterEqual(len(rows(disk / "ledger.db", f"SELECT * FROM {table}")), count, table)

    def put_right(self, disk: Path, image: Path) -> None:
        """What had reached the disk, on another in its place: the old one is still held by whoever has a lock there."""
        whole = shutil.copy(image, image.with_suffix(".copy"))
        subprocess.run(["umount", "-l", str(disk)], check=True)
        subprocess.run(["mount", "-o", "loop", whole, str(disk)], check=True)

    def test_a_ledger_deleted_under_the_service_is_begun_anew_and_says_so(self):
        file = self.cluster.dir / "deleted" / "ledger.db"
        service = self.keeper(file)
        running, _ = self.submit()
        self.wait("a row of the job was kept", running, lambda: self.kept(service, "enrolments"))
        file.unlink()
        self.wait("it was begun anew", running, lambda: file.exists() and self.state(service) == "keeping")
        self.check(running)
        self.assertEqual(service.metrics()['drover_ledger_errors_total{kind="deleted"}'], 1)
        self.assertIn("was deleted or replaced while it was in use", service.log.read_text())
        ended = "SELECT state FROM jobs WHERE job = ?"
        self.until("its end was kept", lambda: rows(file, ended, running.id()) == [("succeeded",)])
        self.assertEqual(rows(file, "PRAGMA integrity_check"), [("ok",)])

    def test_a_service_killed_while_it_writes_has_lost_no_row_it_told_of_and_repeats_nothing(self):
        lives = Lives(self, self.cluster.dir / "killed" / "ledger.db", KILLS)
        (other, _), (running, _) = self.submit(lives.other, **ADVISED), self.submit(lives)
        for _ in range(KILLS + 1):
            lives.replace(other)
        self.assertEqual((lives.left, lives.struck.hits), (0, 1))
        self.check(running)
        other.end()
        self.assertGreater(len(lives.before["decisions"]), 1, "it was killed before it had anything to write")
        said = [life.log.read_text() for life in lives.all]
        self.assertTrue(any("an earlier process left actions without an end" in one for one in said))
        file = lives.file
        self.until("its end was kept", lambda: rows(file, "SELECT 1 FROM jobs WHERE job = ?", running.id()))
        self.assertEqual(rows(file, TOO_SOON), [], "sent while an earlier process's order might yet be carried out")
        self.assertEqual(lives.now.ask("report").returncode, 0)

    def test_what_a_killed_service_had_learned_is_known_to_the_next_and_to_the_one_after_that(self):
        file = self.cluster.dir / "learned" / "ledger.db"
        killed = self.keeper(file)
        self.assertIsNone(killed.get("/status")["learned"]["resumed"])
        job = self.submit()[0]
        self.check(job)
        of_user = "SELECT 1 FROM learned WHERE room = 'priors' AND state LIKE '%\"user\"%'"
        self.until("the times of its tasks were kept", lambda: rows(file, of_user))
        self.until("all rooms were", lambda: len(rows(file, "SELECT 1 FROM learned")) == ROOMS)
        known = killed.get("/status")["learned"]["now"]
        self.assertGreaterEqual(known["tasks"], JOB["lab.maps"])
        killed.stop(signal.SIGKILL)

        second = self.keeper(file)
        told = second.get("/status")["learned"]
        for what in ("tasks", "machines", "kinds", "breakers"):
            self.assertEqual((told["resumed"][what], told["now"][what]), (known[what], known[what]), what)
        self.assertGreater(told["resumed"]["predictions"], 0)
        self.assertIn("going on from what an earlier process had learned", second.log.read_text())
        self.assertIn(f"began with {known['tasks']}, ", second.ask("status").stdout)
        self.check(self.submit()[0])
        self.until("its end was read", lambda: second.get("/status")["jobs"] == 0)
        more = second.get("/status")["learned"]["now"]
        # At the full hour the tasks since then are not counted yet.
        grown = [what for what in ("tasks", "predictions") if more[what] > told["resumed"][what]]
        self.assertTrue(grown, "it learns nothing more")
        second.stop()

        third = self.keeper(file).get("/status")["learned"]
        self.assertEqual((third["resumed"], third["now"]), (more, more))
        self.lives[-1].stop()
        forgets = self.keeper(file, settings="ledger.resume_learned = false")
        self.assertIsNone(forgets.get("/status")["learned"]["resumed"])

    def crowd(self) -> tuple:
        """Two jobs, one with a running reduce, whose orders for copies arrive when a third job's reduces have filled
        the cluster and wait for more of it."""
        cls = type(self)
        if hasattr(cls, "crowded"):
            return cls.crowded
        settings = f'act.lease = "1m"\nact.deadline = "1m"\n{ACT}'
        service = self.service(f'govern.debounce = "1h"\n{settings}')
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
        # No order is held up for long: whoever is to fill the cluster is on its way before, and both are given at once.
        self.wait("its map had a container", other, lambda: self.containers(other) == 2)
        reduces, maps = self.submit(troubles[0], **slow, **REDUCED, **EARLY)[0], self.submit(troubles[1], **slow)[0]
        for running in (reduces, maps):
            self.wait("its slow tasks had shown", running, lambda running=running: self.shown(service, running))
        service.reload(settings)
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
            "reduces": [row.get("s") for (kind, _, _), row in sorted(troubles[0].attempts.items()) if kind == "r"],
        }
        ours.unlink()
        results = [self.unharmed(reduces, self.reduced), self.unharmed(maps)]
        seen["others went on"] = not other.done()
        theirs.unlink()
        results.append(other.result())
        told = [self.fates(service, running.id()) for running in (reduces, maps)]
        cls.crowded = seen, results, told
        return cls.crowded

    @staticmethod
    def shown(service: Service, running: jobs.Running) -> bool:
        """Whether tasks of a job are worth a copy."""
        return "debouncing" in [one.get("verdict") for one in service.tasks(running.id())]

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
        self.assertEqual(result.crowded(MOVES), [], "a clone ran on its sibling's node")
        self.assertTrue(self.fates(service, result.job))


if __name__ == "__main__":
    unittest.main()
