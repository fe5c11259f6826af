import unittest

from lab import build, stage, stats
from lab.arms import ARMS
from lab.e2e import OnCluster
from lab.scenarios import AM_AWAY, Scenario
from lab.stage import Play, Stage

REPORTS = {"mapreduce.task.progress-report.interval": 500}
PLAIN = {**AM_AWAY, "lab.maps": 8, "lab.map.ms": 3000, "lab.reduces": 1, "lab.reduce.ms": 500}


class Acting(OnCluster):
    """Copies in real ApplicationMasters: they win where a node is slow, and change no byte of what a job writes."""

    options = {"node_mb": stage.options("").node_mb}

    @classmethod
    def setUpClass(cls):
        build.drover()
        build.shim()
        super().setUpClass()
        cls.stage = Stage(cls.cluster)

    def play(self, name: str, arm: str, settings: dict, **scenario) -> Play:
        chosen = Scenario(name, settings, arms={arm: ARMS[arm]}, **scenario)
        play = self.stage.play(name, chosen, arm, REPORTS)
        self.assertTrue(play.result.succeeded)
        return play

    def test_copies_of_a_slow_nodes_tasks_win_and_the_output_is_the_same(self):
        def settings(output: str, **slow) -> dict:
            return {**PLAIN, "lab.output": self.cluster.dir / output, **slow}

        plain = self.play("as it is", "none", settings("plain"))
        slow = {"lab.slow.nodes": "nm2:40", "lab.split.hosts": "nm2,nm3,nm4"}
        cured = self.play("one slow node", "drover", settings("cured", **slow))
        self.assertEqual(plain.result.copies(), [])
        self.assertTrue(plain.result.digest)
        self.assertEqual(cured.result.digest, plain.result.digest)
        won = [copy for copy in cured.result.copies() if copy.state == "SUCCEEDED"]
        self.assertTrue(won, stats.table({("one slow node", "drover"): stats.summary([cured.row()])}))
        self.assertLessEqual({copy.task for copy in won}, cured.said.first.keys(), "a copy that nobody decided on")
        self.assertIn("copy", cured.said.told)

    def test_a_word_count_with_copies_writes_what_it_writes_without(self):
        words = {"text_mb": 2, "settings": {**AM_AWAY, "lab.reduces": 2}}
        plain = self.play("words", "none", **words)
        cured = self.play("words on a throttled node", "drover", throttled=(("nm2", 10.0),), **words)
        self.assertTrue(plain.result.digest)
        self.assertEqual(cured.result.digest, plain.result.digest)
        self.assertGreater(len(cured.result.copies()), 0)


if __name__ == "__main__":
    unittest.main()
