import unittest
from pathlib import Path
from unittest import mock

from lab import batch_play, jobs
from lab.batch_play import BatchPlay, Wave
from lab.batches import LIVE, NO_STRAGGLERS, Planned
from lab.jobs import Result
from lab.progress import Failed
from lab.watch import Said


class Restarts(unittest.TestCase):
    def test_what_was_killed_to_start_anew_is_counted_and_what_never_came_to_be_is_not(self):
        states = ("won", "lost", "unknown", "refused", "unsent", "unanswered")
        decisions = [{"action": "restart", "copy": {"state": state}} for state in states]
        decisions += [{"action": "duplicate", "copy": {"state": "won"}}, {"action": "restart"}]
        planned = LIVE["mantri"].jobs(0)[0]
        made = BatchPlay("mantri", "drover", Result("job_1", True, 1.0, "", []), Said(), planned, 0.0, decisions).row()
        self.assertEqual((made["restarts"], made["restarts_won"], made["of"]), (3, 1, planned.name))


class Waves(unittest.TestCase):
    def client(self, lasts: int):
        one = mock.Mock()
        one.done.side_effect = [False] * lasts + [True] * 99
        return one

    def play(self, made: dict, planned: list) -> tuple:
        begun = []

        def submit(spec):
            begun.append(spec)
            return made[spec]

        with mock.patch.object(batch_play, "POLL_S", 0.001):
            return begun, Wave(mock.Mock(submit=submit), planned, lambda one: one.name).play()

    def test_jobs_are_submitted_when_they_are_due_though_others_run(self):
        planned = [Planned("late", "k", 1, {}, at=0.02), Planned("first", "k", 1, {})]
        begun, ended = self.play({"late": self.client(1), "first": self.client(60)}, planned)
        self.assertEqual(begun, ["first", "late"])
        self.assertEqual([one.name for one, _ in ended], ["late", "first"])

    def test_one_that_does_not_end_is_ended_and_told(self):
        stuck = self.client(10**4)
        with mock.patch.object(jobs, "JOB_LIMIT_S", 0.01), self.assertRaises(Failed):
            self.play({"stuck": stuck}, [Planned("stuck", "k", 1, {})])
        stuck.end.assert_called_once()


class FakeService:
    """A service that answers one restart, sent at first and won a moment later."""

    def __init__(self, cluster, settings):
        self.cluster, self.toml, self.name, self.asked, self.served = cluster, settings, "drover", 0, 0
        FakeService.made.append(self)

    def start(self, quiet):
        return self

    def __enter__(self):
        return self

    def __exit__(self, *_):
        pass

    def decisions(self, job):
        self.asked += 1
        return [{"action": "restart", "copy": {"state": "sent" if self.asked == 1 else "won"}}]

    def tasks(self, job):
        self.served += 1
        return [{"task": "t", "verdict": "more_data"}, {"task": "u", "verdict": None}]


class FakeLoss:
    """A node that is lost at the second look."""

    def __init__(self, cluster, node, after_maps):
        self.lost, self.looks, self.outputs, self.mended = (node, after_maps), 0, None, False
        FakeLoss.made.append(self)

    def look(self, running):
        self.looks += 1
        self.outputs = 3 if self.looks > 1 else None

    def mend(self):
        self.mended = True


class FakeJob:
    """Ends at the third look."""

    def __init__(self, job: str):
        self.job, self.looks = job, 0

    def done(self):
        self.looks += 1
        return self.looks > 3

    def said(self, word):
        return self.job

    def result(self):
        return Result(self.job, True, 9.0, "d", [])

    def end(self):
        pass


class FakeClient:
    """Keeps what it was asked to submit."""

    specs = []

    def __init__(self, cluster):
        pass

    def __enter__(self):
        return self

    def __exit__(self, *_):
        pass

    def submit(self, spec):
        self.specs.append(spec)
        return FakeJob(f"job_{len(self.specs)}")


class Stages(unittest.TestCase):
    def play(self, name: str, arm: str) -> tuple:
        FakeService.made, FakeClient.specs = [], []
        cluster = mock.Mock(dir=Path("/nowhere"))
        cluster.jhs.return_value = {"job": {"submitTime": 1_000, "startTime": 3_500}}
        quick = {"POLL_S": 0.001, "LOOK_S": 0.001, "Service": FakeService, "Loss": FakeLoss, "Client": FakeClient}
        FakeLoss.made = []
        with mock.patch.multiple(batch_play, **quick):
            plays = batch_play.BatchStage(cluster).play(name, LIVE[name], arm, 0, "500ms")
        return [play.row() for play in plays], FakeClient.specs

    def test_one_service_serves_the_whole_batch_of_drovers_arm_with_the_scenarios_settings(self):
        rows, specs = self.play("lost-node", "drover")
        self.assertEqual([one.toml for one in FakeService.made], [f'mode = "act"\n{LIVE["lost-node"].toml()}'])
        self.assertEqual([one["restarts_won"] for one in rows], [1, 1], "asked again until it was settled")
        self.assertEqual((rows[0]["waited_seconds"], rows[0]["digest"], FakeService.made[0].served), (2.5, "d", 0))
        self.assertTrue(all(one.shim and one.settings["lab.output"] for one in specs))
        self.assertEqual(len({one.settings["lab.output"] for one in specs}), 2)

    def test_where_no_job_is_to_know_of_anothers_slow_node_each_has_a_service_that_begins_anew(self):
        rows, specs = self.play("mantri", "drover")
        self.assertEqual([one.toml for one in FakeService.made], [f'mode = "act"\n{LIVE["mantri"].toml()}'] * 2)
        self.assertEqual(([one["of"] for one in rows], len(specs)), (["slow-node-0", "turns-slow-1"], 2))

    def test_verdicts_are_asked_for_where_the_cause_is_judged(self):
        rows, _ = self.play("data", "drover")
        self.assertEqual([one["verdicts"] for one in rows], [{"more_data": 1}] * 3)

    def test_the_node_is_lost_in_every_arm_at_the_same_point_and_is_back_before_the_next_job(self):
        for arm in LIVE["lost-node"].arms:
            rows, _ = self.play("lost-node", arm)
            self.assertEqual([one["lost_outputs"] for one in rows], [3, 3])
            self.assertEqual([(one.lost, one.mended) for one in FakeLoss.made], [(("nm2", 9), True)] * 2)

    def test_no_other_arm_has_the_service_or_the_shim(self):
        for arm in ("none", "native", "native-tuned", NO_STRAGGLERS):
            rows, specs = self.play("dolly", arm)
            self.assertEqual((FakeService.made, len(rows)), ([], 6))
            self.assertFalse(any(one.shim for one in specs))
            slow = any("lab.slow.attempts" in one.settings for one in specs)
            self.assertIs(slow, arm != NO_STRAGGLERS)
            own = LIVE["dolly"].arms[arm].settings
            self.assertTrue(all(own.items() <= one.settings.items() for one in specs))


if __name__ == "__main__":
    unittest.main()
