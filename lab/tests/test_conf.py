import tempfile
import unittest
import xml.etree.ElementTree as ElementTree
from pathlib import Path

from lab import conf
from lab.options import Options, slow_node
from lab.progress import Failed

OPTS = {"am": "-Xmx1m", "map": "-Xmx1m", "reduce": "-Xmx1m"}


def written(**options) -> dict:
    """The properties of every site file of a cluster."""
    with tempfile.TemporaryDirectory() as directory:
        where = conf.write(Options(dir=directory, **options), "a,b", OPTS)
        return {
            file.stem: {p.findtext("name"): p.findtext("value") for p in ElementTree.parse(file).getroot()}
            for file in Path(where).glob("*.xml")
        }


class SiteFiles(unittest.TestCase):
    def test_reporting_interval_is_hadoops_own_unless_asked_for(self):
        key = "mapreduce.task.progress-report.interval"
        self.assertNotIn(key, written()["mapred-site"])
        self.assertEqual(written(report_interval_ms=500)["mapred-site"][key], "500")

    def test_a_set_property_lands_in_its_site_file_and_wins(self):
        sites = written(
            set=["yarn.app.mapreduce.am.resource.mb=512", "yarn.acl.enable=true", "dfs.replication=2", "fs.x=1&2"]
        )
        self.assertEqual(sites["mapred-site"]["yarn.app.mapreduce.am.resource.mb"], "512")
        self.assertEqual(sites["yarn-site"]["yarn.acl.enable"], "true")
        self.assertEqual(sites["hdfs-site"]["dfs.replication"], "2")
        self.assertEqual(sites["core-site"]["fs.x"], "1&2")

    def test_queue_shares_make_up_the_whole(self):
        shares = [int(v) for k, v in written()["capacity-scheduler"].items() if k.endswith(".capacity")]
        self.assertEqual((len(shares), sum(shares)), (2, 100))

    def test_queues_have_of_a_labels_nodes_what_they_have_of_the_others_and_no_label_is_known_unless_one_is_given(self):
        self.assertNotIn("yarn.node-labels.enabled", written()["yarn-site"])
        key = "yarn.scheduler.capacity.root.batch.default-node-label-expression"
        sites = written(label=["core:nm1,nm2:lends", "gpu:nm3"], set=[f"{key}=gpu"])
        self.assertEqual(sites["yarn-site"]["yarn.node-labels.enabled"], "true")
        queues = sites["capacity-scheduler"]
        self.assertEqual(queues[key], "gpu")
        for label in ("core", "gpu"):
            of = f"accessible-node-labels.{label}.capacity"
            shares = {name: queues[f"yarn.scheduler.capacity.root.{name}{of}"] for name in ("", "default.", "batch.")}
            self.assertEqual(shares, {"": "100", "default.": "70", "batch.": "30"})

    def test_a_label_names_its_nodes_and_whether_it_lends(self):
        core, gpu = Options(dir="x", label=["core:nm1,nm2:lends", "gpu:nm3"]).labels()
        self.assertEqual((core.name, core.nodes, core.lends), ("core", ("nm1", "nm2"), True))
        self.assertEqual((gpu.name, gpu.nodes, gpu.lends), ("gpu", ("nm3",), False))

    def test_history_lies_outside_staging_since_its_parents_are_closed(self):
        for hdfs in (False, True):
            sites = written(hdfs=hdfs)["mapred-site"]
            staging = sites["yarn.app.mapreduce.am.staging-dir"]
            for key in ("mapreduce.jobhistory.done-dir", "mapreduce.jobhistory.intermediate-done-dir"):
                self.assertFalse(sites[key].startswith(staging + "/"), sites[key])

    def test_every_node_has_an_address_and_one_of_two_racks(self):
        hosts = dict(reversed(row.split(" ", 1)) for row in conf.hosts_table().splitlines())
        racks = dict(row.split() for row in conf.rack_table().splitlines())
        for index in range(1, 9):
            self.assertEqual(racks[f"nm{index}"], racks[hosts[f"nm{index}"]])
        self.assertEqual(set(racks.values()), {"/rack1", "/rack2"})


class BadOptions(unittest.TestCase):
    def test_each_is_refused_and_named(self):
        lists = ({"slow": ["nm9:2"]}, {"set": ["x"]}, {"label": ["gpu:nm9"]})
        for bad in ({"nodes": 0}, {"node_mb": 1}, {"report_interval_ms": 1}, *lists):
            with self.assertRaises(Failed, msg=str(bad)) as caught:
                Options(**bad)
            self.assertIn(str(next(iter(bad.values()))).strip("[]'"), str(caught.exception))

    def test_a_slow_node_is_a_name_and_a_factor(self):
        self.assertEqual(slow_node("nm2:2.5", 4), ("nm2", 2.5))
        for bad in ("nm2", "nm0:2", "nm5:2", "node:2", "nm2:0.5", "nm2:x", "nmx:2", ""):
            with self.assertRaises(Failed, msg=bad):
                slow_node(bad, 4)
