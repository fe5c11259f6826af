import unittest

from lab import build, expected, jobs, labels
from lab.conf import ALLOCATION_MB, rack
from lab.e2e import OnCluster
from lab.options import labelled
from lab.service import Service
from lab.watch import NO_NATIVE_COPIES, Sickness

NODES, NODE_MB, MAP_MB = 5, 1024, 192
# What asks for no label is lent what is free on `core`'s nodes, and never gets one of `gpu`'s.
CORE, ALL_CORE, GPU = "core:nm2,nm3:lends", "core:nm1,nm2,nm3:lends", "gpu:nm4,nm5"
JOB = {
    "mapreduce.map.memory.mb": MAP_MB,
    "mapreduce.reduce.memory.mb": MAP_MB,
    "mapreduce.task.progress-report.interval": 500,
    "mapreduce.job.reduce.slowstart.completedmaps": 1.0,
    "lab.maps": 6,
    "lab.map.ms": 3000,
    "lab.reduces": 1,
    "lab.reduce.ms": 500,
}
PLAIN = expected.digest(JOB["lab.maps"], JOB["lab.reduces"])
ON_CORE = {"mapreduce.job.am.node-label-expression": "core"}


class Labels(OnCluster):
    """Copies on clusters whose nodes have labels, of which the ResourceManager's totals do not tell."""

    options = {
        "nodes": NODES,
        "node_mb": NODE_MB,
        "label": [CORE, GPU],
        "set": ["yarn.scheduler.capacity.root.batch.default-node-label-expression=gpu"],
    }

    @classmethod
    def setUpClass(cls):
        build.drover()
        build.shim()
        super().setUpClass()

    def running(self, name: str, settings: dict, **spec) -> jobs.Running:
        more = {**JOB, "lab.name": name, "lab.output": self.cluster.dir / name, **settings}
        running = jobs.Running(self.cluster, jobs.Spec(settings=more, **spec))
        self.addCleanup(running.end)
        return running

    def judge(self, running: jobs.Running, service: Service) -> set:
        """The nodes on which copies of the job won; it wrote what it always writes."""
        result = running.result()
        self.assertTrue(result.succeeded)
        self.assertEqual(result.digest, PLAIN)
        self.assertIn("won", [one["copy"]["state"] for one in self.fates(service, result.job)])
        return {copy.node for copy in result.copies() if copy.state == "SUCCEEDED"}

    def test_what_is_lent_is_room_beside_a_full_partition_and_what_is_not_lent_is_none(self):
        held, filled = Sickness(self.cluster, "nm2", "nm3"), Sickness(self.cluster)
        # Its queue's default is gpu; it asks for the nodes without a label, of which its master takes the one there is.
        slow = {
            "mapreduce.job.node-label-expression": "",
            "mapreduce.job.am.strict-locality": f"{rack(1)}/nm1",
            "yarn.app.mapreduce.am.resource.mb": NODE_MB - 2 * ALLOCATION_MB,
            **held.settings,
            "lab.slow.nodes": "nm2:20,nm3:20",
            "lab.slow.attempts": "m_0_0:60,m_1_0:60",
        }
        filler = {**ON_CORE, **filled.settings, **NO_NATIVE_COPIES, "lab.maps": 10, "lab.reduces": 0}
        with Service(self.cluster, 'mode = "act"', name="part").start(quiet=True) as drover:
            job = self.running("part", slow, queue="batch", shim=True)
            self.until("its maps run", lambda: len(drover.tasks(job.id())) == JOB["lab.maps"], job)
            other = self.running("filler", filler, user="bob")
            self.until("core is full", lambda: self.most_free("nm2", "nm3") < MAP_MB, job)
            held.cure()
            self.until("a copy is refused for want of room", lambda: self.refused(drover, job), job)
            self.assertEqual(self.most_free("nm4", "nm5"), NODE_MB, "what it was refused")
            self.assertEqual([one["action"] for one in drover.decisions(job.id())], [])
            filled.cure()
            self.assertTrue(other.result().succeeded)
            self.assertLessEqual(self.judge(job, drover), {"nm2", "nm3"})

    def test_where_every_node_has_a_label_slow_tasks_are_copied_within_theirs(self):
        labels.give([labelled(word, NODES) for word in (ALL_CORE, GPU)])
        with Service(self.cluster, 'mode = "act"', name="whole").start(quiet=True) as drover:
            settings = {**Sickness(self.cluster, "nm2").settings, "lab.split.hosts": "nm2,nm3"}
            lent = self.running("lent", {**ON_CORE, **settings}, shim=True)
            settings = {**Sickness(self.cluster, "nm5").settings, "lab.split.hosts": "nm5,nm4"}
            own = self.running("own", settings, queue="batch", shim=True)
            self.until("both run", lambda: drover.tasks(lent.id()) and drover.tasks(own.id()), own)
            said = " ".join(drover.ask("doctor").stdout.split())
            self.assertIn("nodes have labels (core, gpu), and each job's queue tells", said)
            self.assertLessEqual(self.judge(lent, drover), {"nm1", "nm3"})
            self.assertEqual(self.judge(own, drover), {"nm4"})

    def most_free(self, *nodes: str) -> int:
        told = self.cluster.rm("/nodes")["nodes"]["node"]
        return max(one["availMemoryMB"] for one in told if one["nodeHostName"] in nodes)

    @staticmethod
    def refused(service: Service, running: jobs.Running) -> bool:
        return "no_headroom" in [one.get("verdict") for one in service.tasks(running.id())]


if __name__ == "__main__":
    unittest.main()
