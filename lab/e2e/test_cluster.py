import collections
import contextlib
import http.client
import re
import socket
import time
import unittest
from pathlib import Path

from lab import client, jobs, slow
from lab.cluster import application_of
from lab.e2e import WAIT_S, OnCluster
from lab.scenarios import AM_AWAY
from lab.watch import Sickness

SAID = r"([mr]_\d+_\d+) on (nm\d+): slowness ([\d.]+) of \{(.*)\}"


class Cluster(OnCluster):
    options = {"report_interval_ms": 500, "acls": True}

    def test_four_nodes_on_two_racks_each_a_process_of_its_own(self):
        nodes = self.cluster.rm("/nodes")["nodes"]["node"]
        self.assertEqual(sorted(node["nodeHostName"] for node in nodes), ["nm1", "nm2", "nm3", "nm4"])
        racks = collections.Counter(node["rack"] for node in nodes)
        self.assertEqual(racks, {"/rack1": 2, "/rack2": 2})
        pids = {process["pid"] for process in self.cluster.state["processes"].values()}
        self.assertEqual(len(pids), 6)
        self.assertTrue(all(self.cluster.alive(name) for name in self.cluster.state["processes"]))

    def test_the_network_has_loopback_and_nothing_else(self):
        self.assertEqual([name for _, name in socket.if_nameindex()], ["lo"])

    def test_jobs_of_two_users_in_two_queues_give_the_same_output_whatever_was_slow(self):
        plain = {"lab.maps": 6, "lab.reduces": 2, "lab.map.ms": 500, "lab.reduce.ms": 500}
        slowed = {**plain, "lab.slow.nodes": "nm2:6", "lab.slow.attempts": "r_0_0:4", "lab.jitter": 0.5, "lab.seed": 7}
        results = []
        for user, queue, settings in (("alice", "default", plain), ("bob", "batch", slowed)):
            settings = {**settings, "lab.output": self.cluster.dir / f"out-{user}"}
            results.append(jobs.run(self.cluster, jobs.Spec(user=user, queue=queue, settings=settings)))
        self.assertTrue(all(result.succeeded for result in results))
        self.assertEqual(results[0].digest, results[1].digest)
        known = {(app["user"], app["queue"].split(".")[-1]) for app in self.apps()}
        self.assertLessEqual({("alice", "default"), ("bob", "batch")}, known)
        self.assertEqual(self.slowness(results[0].job), {(1.0, 1.0)})
        slowed = self.slowness(results[1].job)
        self.assertTrue(slowed)
        self.assertEqual({said for asked, said in slowed if asked != said}, set())

    def slowness(self, job: str) -> set:
        """What each attempt of a job should have been slowed by, by its node and id, and what it says it was."""
        found = set()
        for file in self.cluster.dir.glob(f"nm*/logs/{application_of(job)}/*/stdout"):
            for attempt, node, said, nodes in re.findall(SAID, file.read_text(errors="replace")):
                asked = (6.0 if node == "nm2" else 1.0) * (4.0 if attempt == "r_0_0" else 1.0)
                found.add((asked if nodes else 1.0, float(said)))
        return found

    def test_a_word_count_counts_what_the_generator_wrote(self):
        text, counts = self.cluster.dir / "text", self.cluster.dir / "counts"
        jobs.generate(self.cluster, text, files=3, size=50_000)
        settings = {"lab.input": text, "lab.output": counts}
        result = jobs.run(self.cluster, jobs.Spec("wordcount", user="carol", settings=settings))
        self.assertTrue(result.succeeded)
        expected = collections.Counter(word for file in Path(text).glob("text-*") for word in file.read_text().split())
        found = dict(line.split("\t") for part in Path(counts).glob("part-*") for line in part.read_text().splitlines())
        self.assertEqual({word: int(count) for word, count in found.items()}, expected)

    def test_one_client_follows_jobs_side_by_side_and_leaves_none_behind(self):
        settings = {"lab.maps": 1, "lab.map.ms": 500}
        with client.Client(self.cluster) as one:
            outputs = {user: self.cluster.dir / f"side-by-side-{user}" for user in ("alice", "bob")}
            asked = [jobs.Spec(user=user, settings={**settings, "lab.output": out}) for user, out in outputs.items()]
            results = [served.result() for served in [one.submit(spec) for spec in asked]]
            self.assertEqual([result.succeeded for result in results], [True, True])
            self.assertEqual(len({result.digest for result in results}), 1, "the same records")
            self.assertEqual(len({result.job for result in results}), 2)
            left = one.submit(jobs.Spec(settings={**settings, "lab.map.ms": 60_000})).id()
        app = application_of(left)
        until = time.monotonic() + WAIT_S
        while self.cluster.rm(f"/apps/{app}")["app"]["finalStatus"] != "KILLED":
            self.assertLess(time.monotonic(), until, "the job was not killed")
            time.sleep(0.2)

    def test_what_a_failed_application_master_said_can_be_read(self):
        spec = jobs.Spec(settings={"yarn.app.mapreduce.am.job.speculator.class": "no.such.Speculator", "lab.maps": 1})
        running = jobs.Running(self.cluster, spec)
        self.addCleanup(running.end)
        app = application_of(running.id())
        until = time.monotonic() + WAIT_S
        while self.cluster.rm(f"/apps/{app}")["app"]["finalStatus"] != "FAILED":
            self.assertLess(time.monotonic(), until, "the job did not fail")
            time.sleep(0.2)
        logs = self.cluster.dir.glob(f"nm*/logs/{app}/container_*/*")
        self.assertTrue(any("no.such.Speculator" in file.read_text(errors="replace") for file in logs))

    def test_the_proxy_shows_a_running_job_and_sends_on_for_a_finished_one(self):
        held = Sickness(self.cluster)
        running = jobs.Running(self.cluster, jobs.Spec(settings={"lab.maps": 2, "lab.map.ms": 2000, **held.settings}))
        self.addCleanup(running.end)
        job = running.id()
        app = application_of(job)
        shown = {}
        while not running.done() and shown.get("state") != "RUNNING":
            try:
                shown = self.cluster.am(app, f"/jobs/{job}")["job"]
            except Exception:  # not up yet: the proxy answers with a page, or a redirect to one
                time.sleep(0.1)
        self.assertEqual((shown.get("state"), shown.get("mapsTotal")), ("RUNNING", 2))
        held.cure()
        running.result()
        # Its master may still answer for a moment.
        self.until("the proxy sends on", lambda: "/jobhistory/job/" in self.sent_on(app))

    def sent_on(self, app: str) -> str:
        """Where the proxy sends whoever asks for an application's jobs; empty while it does not."""
        with contextlib.closing(http.client.HTTPConnection("127.0.0.1", 8088, timeout=30)) as proxy:
            try:
                proxy.request("GET", f"/proxy/{app}/ws/v1/mapreduce/jobs")
                answer = proxy.getresponse()
            except (OSError, http.client.HTTPException):
                return ""  # its master goes
            return answer.getheader("Location", "") if answer.status == 302 else ""


class Throttle(OnCluster):
    options = {"nodes": 2}

    def stopped(self, node: str) -> int:
        """How many containers of a node are stopped at this moment."""
        states = []
        for pid in slow.containers(self.cluster.state["processes"][node]["pid"]):
            try:
                stat = Path(f"/proc/{pid}/stat").read_text()
                states.append(stat[stat.rindex(")") + 2])
            except OSError:
                pass
        return states.count("T")

    def test_containers_of_the_slow_node_and_no_others_are_held_back(self):
        slow.start(self.cluster, [("nm2", 4.0)], by="duty")
        running = jobs.Running(self.cluster, jobs.Spec(settings={**AM_AWAY, "lab.maps": 4, "lab.map.ms": 3000}))
        self.addCleanup(running.end)
        seen = collections.Counter()
        while not running.done():
            for node in ("nm1", "nm2"):
                seen[node] += self.stopped(node)
            time.sleep(0.02)
        self.assertTrue(running.result().succeeded)
        self.assertGreater(seen["nm2"], 0)
        self.assertEqual(seen["nm1"], 0)
        slow.stop(self.cluster)
        self.assertEqual(self.stopped("nm2"), 0)


class OnHdfs(OnCluster):
    options = {"hdfs": True, "nodes": 1, "node_mb": 1024}

    def test_a_word_count_reads_from_hdfs_and_writes_to_it(self):
        jobs.generate(self.cluster, "/texts/words", files=2, size=20_000)
        spec = jobs.Spec("wordcount", settings={"lab.input": "/texts/words", "lab.output": "/texts/counts"})
        result = jobs.run(self.cluster, spec)
        self.assertTrue(result.succeeded)
        self.assertTrue(result.digest)
        self.assertFalse(Path("/texts").exists())


if __name__ == "__main__":
    unittest.main()
