"""The one jar on other versions of Hadoop than the one every other test runs: what docs/mechanisms.md calls live.

On each a service that acts serves four small jobs of one user, whose attempts are slow by choice, the last of them over
REST alone, and another one a fifth, whose node is lost. Neither that nor anything done about it may change a byte of
what a job writes.
"""

import re
import time
import unittest
from dataclasses import dataclass, field

from lab import build, conf, hadoop, jobs, stage
from lab.batches import LIVE
from lab.e2e import MOVES, OnCluster, live_by_the_table, unreachable
from lab.progress import say
from lab.relay import Relay
from lab.reworded import Reworded
from lab.scenarios import INTERVALS, SHORT, TEN_PLACES
from lab.service import Service
from lab.troubles import Watched
from lab.watch import NO_NATIVE_COPIES, Sickness

VERSIONS = ("2.10.2", "3.3.6", "3.5.0")
# Clones with the odds known, restarts, and a machine avoided as soon as one job has shown it.
ACT = f"""mode = "act"
{LIVE["dolly"].toml()}
act.restart = true
act.avoid = true
act.rest_restart = true
rest.tasks_interval_soon = "1s"
blacklist.beside = true
blacklist.min_evidence = 0.5
"""
# All jobs have the same 1,680 records, so that they write the same. Two maps a node, one beside the ApplicationMaster.
JOB = {
    **TEN_PLACES,
    "mapreduce.map.memory.mb": 480,
    **INTERVALS[SHORT],
    "lab.reduces": 1,
    "lab.reduce.ms": 200,
    "mapreduce.job.reduce.slowstart.completedmaps": 1.0,
}
# Shows which node is slow; nobody copies anything of it.
SLOW = "nm2"
SHOWN = {**JOB, **NO_NATIVE_COPIES, "drover.mode": "advise", "lab.maps": 6, "lab.records": 280, "lab.map.ms": 500}
SHOWN["lab.split.hosts"] = "nm2,nm3,nm4"
# Three times as many maps as places. One of the first is slow, while tasks wait, and the last one, when none does.
WAVES = {**JOB, "lab.maps": 24, "lab.records": 70, "lab.map.ms": 2500, "lab.slow.attempts": "m_0_0:30,m_23_0:30"}
# Small enough for clones, of its maps and of its reduce, whose first attempt is so slow that another wins.
SMALL = {
    **JOB,
    "mapreduce.map.memory.mb": 160,
    "lab.maps": 2,
    "lab.records": 840,
    "lab.map.ms": 3000,
    "mapreduce.reduce.memory.mb": 160,
    "lab.reduce.ms": 2000,
    "lab.slow.attempts": "m_0_0:10,r_0_0:30",
    # At this level its ApplicationMaster tells what it asks the ResourceManager for.
    "yarn.app.mapreduce.am.log.level": "DEBUG",
}
ASKED = re.compile(r"addResourceRequest:.* resourceName=(nm\d+|/rack\d+) ")
# Tasks still wait when what is read each second has shown the slow one, for some waves. Nobody but the service starts
# an attempt. Maps end long enough before their job that a poll sees who won.
OVER_REST = {**WAVES, **NO_NATIVE_COPIES, "lab.maps": 30, "lab.records": 56, "lab.slow.attempts": "m_0_0:30"}
OVER_REST["lab.reduce.ms"] = 8000
BEGUN = ("RUNNING", "SUCCEEDED")
DONE = ("applied", "moved")
# For so long the small job avoids a machine, while it is held: the service says five minutes.
AVOIDED_MS = 10_000
# From the word of the shim to the start of the last container that was given out before.
PROMISED_MS = 8000


def setUpModule():
    """Fetches them all while there is a network: a process that has joined a cluster's has no other."""
    for version in VERSIONS:
        hadoop.fetch(version)


@dataclass
class Played:
    """A job that has ended, what its shim said, and what was decided of it."""

    result: jobs.Result
    said: Watched = None  # without a shim nothing is
    decisions: list = field(default_factory=list)

    def of(self, action: str, task: str) -> list:
        """The decisions to do so with a task, as m_000003, that were carried out: others may have come too late."""
        done = [one for one in self.decisions if one["copy"] and one["copy"]["answer"] in DONE]
        return [one for one in done if one["action"] == action and one["task"].endswith(task)]

    def clones(self, kind: str) -> list:
        """The decisions to clone tasks of a kind, as m or r, that were carried out."""
        copies = [one for one in self.decisions if f"_{kind}_" in one["task"]]
        return [one for one in copies if "Dolly" in one["rule"] and one in self.of("duplicate", one["task"])]

    def one(self, attempt: str) -> jobs.Attempt:
        return next(a for a in self.result.attempts if a.id == attempt)

    def winner(self, task: str) -> str:
        """The attempt of a task that succeeded."""
        return next(a.id for a in self.result.attempts if a.task.endswith(task) and a.state == "SUCCEEDED")


class OneJar(OnCluster):
    """What holds on every version; each has a class of its own below."""

    version = None

    @classmethod
    def setUpClass(cls):
        build.drover()
        build.shim()
        # Five jobs are over before class data archives have paid for themselves.
        own = {"archives": False, "set": [unreachable.EXPIRY]}
        cls.options = {"hadoop": cls.version, "node_mb": stage.options("").node_mb, **own}
        super().setUpClass()
        cls.service = Service(cls.cluster, ACT).start(quiet=True)
        cls.sickness = Sickness(cls.cluster, SLOW)
        cls.shown = cls.play("shown", {**SHOWN, **cls.sickness.settings}, cls.cure_late)
        cls.waves = cls.play("waves", WAVES)
        cls.held = Sickness(cls.cluster)
        said = Reworded(AVOIDED_MS, [*cls.held.nodes])
        cls.small = cls.play("small", {**SMALL, **cls.held.settings}, cls.cure_cloned, said)
        over_rest = {**OVER_REST, "lab.output": cls.cluster.dir / "over-rest"}
        cls.over_rest = Played(jobs.run(cls.cluster, jobs.Spec(settings=over_rest)))
        for played in (cls.waves, cls.small, cls.over_rest):
            played.decisions = cls().fates(cls.service, played.result.job)
        cls.service.stop()
        cls.lost = unreachable.Unreachable(cls()).play()

    @classmethod
    def play(cls, name: str, settings: dict, meanwhile=None, said: Watched = None) -> Played:
        said = said or Watched()
        relay = Relay(cls.service.shim, said)
        own = {"drover.service.urls": relay.url, "lab.output": cls.cluster.dir / name}
        running = jobs.Running(cls.cluster, jobs.Spec(shim=True, settings={**settings, **own}))
        try:
            if meanwhile:
                meanwhile(running, said)
            return Played(running.result(), said)
        finally:
            running.end()
            relay.close()

    @classmethod
    def cure_late(cls, running: jobs.Running, said: Watched) -> None:
        """The slow node's maps take more than twice as long as the others, however long JVMs take to start."""

        def maps() -> list:
            return [row for (kind, _, _), row in sorted(said.attempts.items()) if kind == "m" and row.get("s") in BEGUN]

        def others_ended() -> bool:
            others = [row["s"] for row in maps() if row.get("host") != SLOW]
            return len(maps()) == SHOWN["lab.maps"] and set(others) == {"SUCCEEDED"}

        cls().until("a map had begun", maps, running)
        began = time.monotonic()
        cls().until(f"all maps had ended but those of {SLOW}", others_ended, running)
        time.sleep(1.2 * (time.monotonic() - began))
        cls.sickness.cure()

    @classmethod
    def cure_cloned(cls, running: jobs.Running, said: Reworded) -> None:
        """No map ends before each has its clone, and a machine that was avoided is let in again."""
        until, maps = cls().until, set(range(SMALL["lab.maps"]))
        cls.kept = until("a machine was avoided", lambda: cls.kept_off(running), running)
        began = time.monotonic()
        until("clones ran", lambda: {row["i"] for row in said.beside("RUNNING")} == maps, running)
        until("it was let in again", lambda: not cls.kept_off(running), running)
        cls.kept_ms = 1e3 * (time.monotonic() - began)
        cls.held.cure()

    @classmethod
    def kept_off(cls, running: jobs.Running) -> set:
        """The machines on which the ResourceManager gives a job nothing."""
        app = running.id().replace("job", "application")
        known = cls.cluster.rm(f"/apps/{app}/appattempts").get("appAttempts") or {}
        told = [attempt.get("blacklistedNodes") or "" for attempt in known.get("appAttempt", [])]
        return {host for hosts in told for host in hosts.split(", ") if host}

    def only(self, played: Played, action: str, task: str) -> dict:
        """What was done so with a task; it is one."""
        found = played.of(action, task)
        self.assertEqual(len(found), 1, played.decisions)
        return found[0]

    def test_the_shim_announces_all_that_the_table_calls_live(self):
        self.assertEqual(set(self.waves.said.hello["can"]), live_by_the_table())
        self.assertEqual(self.waves.said.hello["hadoop"], self.version)

    def test_whatever_is_done_no_attempt_fails_and_the_output_is_that_without_copies(self):
        self.assertTrue(self.shown.result.digest)
        self.assertEqual(self.shown.result.copies(), [])
        for played in (self.shown, self.waves, self.small, self.over_rest):
            self.assertTrue(played.result.succeeded)
            self.assertEqual(played.result.digest, self.shown.result.digest)
            self.assertNotIn("FAILED", {attempt.state for attempt in played.result.attempts})

    def test_a_slow_attempt_is_restarted_while_tasks_wait(self):
        restart = self.only(self.waves, "restart", "m_000000")
        self.assertEqual(restart["copy"]["answer"], "moved", restart)
        (anew,), winner = restart["copy"]["attempts"], self.waves.winner("m_000000")
        if winner == anew:
            self.assertEqual(restart["copy"]["state"], "won", restart)
        else:
            # On a busy machine what replaces it may be slow as well, and a copy beside that be faster.
            copies = [one["copy"]["attempts"] for one in self.waves.of("duplicate", "m_000000")]
            self.assertIn([winner], copies, self.waves.decisions)
        # Where no job before has shown the machine to be slow, nothing but moves keeps the attempt off it.
        there = self.waves.one(anew).node == self.waves.one(restart["attempt"]).node
        self.assertTrue(not there or self.waves.result.given_back(anew) >= MOVES, self.waves.result.attempts)

    def test_over_rest_a_slow_attempt_is_killed_through_the_proxy_and_its_replacement_wins(self):
        restart = self.only(self.over_rest, "restart", "m_000000")
        self.assertEqual((restart["copy"]["answer"], restart["copy"]["state"]), ("applied", "won"), restart)
        ended = {attempt.id: attempt.state for attempt in self.over_rest.result.attempts}
        self.assertEqual(ended[restart["attempt"]], "KILLED")
        self.assertNotEqual(restart["attempt"], self.over_rest.winner("m_000000"))

    def test_a_copy_beside_a_slow_attempt_wins(self):
        copy = self.only(self.waves, "duplicate", "m_000023")
        self.assertNotIn("Dolly", copy["rule"])
        self.assertEqual((copy["copy"]["state"], copy["copy"]["winner"]), ("won", self.waves.winner("m_000023")), copy)

    def test_a_small_jobs_maps_are_cloned_as_they_start_and_a_clone_wins(self):
        clones = sorted(self.small.clones("m"), key=lambda one: one["task"])
        self.assertEqual([one["task"][-1] for one in clones], ["0", "1"], self.small.decisions)
        self.assertIn(self.small.winner("m_000000"), clones[0]["copy"]["attempts"])
        waits = {task: ms for task, ms in self.small.result.waits_ms().items() if "_m_" in task}
        self.assertEqual(len(waits), SMALL["lab.maps"])
        # Never with them: a copy of a task that does not run would end the job. How soon is not judged: it is mostly
        # how busy the machine is.
        self.assertGreater(min(waits.values()), 0)
        say(f"    {self.version}: clones launched {sorted(waits.values())} ms after the first attempts")

    def test_its_reduce_is_cloned_by_no_more_than_its_maps_were_and_a_clone_wins(self):
        (clone,) = self.small.clones("r")
        winner = self.small.winner("r_000000")
        self.assertIn(winner, clone["copy"]["attempts"])
        self.assertIn(winner, [one.id for one in self.small.result.copies()], "it did not run beside the first attempt")
        upstream = [one["copy"]["copies"] for one in self.small.clones("m")]
        self.assertLessEqual(clone["copy"]["copies"], min(upstream))
        live = self.small.result.most_live()
        reduces = max(most for task, most in live.items() if "_r_" in task)
        self.assertLessEqual(reduces, max(most for task, most in live.items() if "_m_" in task), live)

    def test_no_clone_runs_on_its_siblings_node_unless_it_was_moved_up_to_the_bound(self):
        self.assertTrue(self.small.result.copies())
        self.assertEqual(self.small.result.crowded(MOVES), [])

    def test_clones_ask_for_machines_by_name_and_it_is_told_how_many_came_there(self):
        orders = self.small.said.carried_out("duplicate")
        hosts = {host for order in orders for host in order["prefer"]}
        self.assertTrue(hosts, orders)
        master = self.small.result.job.replace("job", "container") + "_01_000001"
        (log,) = self.cluster.dir.rglob(f"{master}/syslog")
        # A split's hosts would be asked for likewise, but its splits lie nowhere.
        racks = {conf.rack(int(host.removeprefix("nm"))) for host in hosts}
        self.assertEqual(set(ASKED.findall(log.read_text())), hosts | racks)
        wishes = {f"_{order['k']}_{order['i']:06}": order["prefer"] for order in orders}
        came = [copy.node in wishes.get(copy.task[-9:], ()) for copy in self.small.result.copies()]
        say(f"    {self.version}: of {len(came)} clones {sum(came)} ran on a machine that was asked for")

    def test_a_machine_that_was_avoided_is_let_in_again_when_its_time_is_over(self):
        # That it was let in while the job ran is what was waited for. It was seen as late as the master speaks.
        self.assertGreater(self.kept_ms, AVOIDED_MS / 2)
        orders = self.small.said.carried_out("avoid")
        self.assertIn(self.kept, [set(order["avoid"]) for order in orders], orders)

    def test_all_outputs_of_a_node_that_reduces_cannot_reach_are_made_again_at_once(self):
        self.lost.judge(self)

    def test_new_containers_keep_off_a_listed_machine(self):
        said = self.waves.said
        # One that came last may not be answered before the job's end.
        answered = [action for action, kind in said.asked.items() if kind == "avoid" and action in said.since_ms]
        applied = [said.since_ms[action] for action in answered]
        self.assertTrue(applied, said.asked)
        began_at = min(applied) + PROMISED_MS
        later = [attempt.node for attempt in self.waves.result.attempts if attempt.start_ms > began_at]
        self.assertTrue(later, "nothing began after that")
        self.assertNotIn(SLOW, later)
        self.assertIn(SLOW, self.shown.result.first_by_node(), "it was given nothing before, either")


def load_tests(loader, _tests, _pattern):
    """One class a version."""
    classes = [type(f"On{version.replace('.', '_')}", (OneJar,), {"version": version}) for version in VERSIONS]
    return unittest.TestSuite(loader.loadTestsFromTestCase(one) for one in classes)


if __name__ == "__main__":
    unittest.main()
