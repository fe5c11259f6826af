import signal
import unittest
from unittest import mock

from lab import http
from lab.losing import Loss
from lab.progress import Failed


class FakeCluster:
    """Three maps, the third of which runs; the first two were on nm2 and nm1."""

    logs = "logs"

    def __init__(self):
        self.states, self.held, self.ended, self.up, self.updates = (
            ["SUCCEEDED", "SUCCEEDED", "RUNNING"],
            0,
            [],
            True,
            0,
        )

    def am(self, app, path):
        if app != "application_1_0001":
            raise http.Unanswered(app)
        if path.endswith("/tasks?type=m"):
            tasks = [
                {"id": f"t{nth}", "state": state, "successfulAttempt": f"a{nth}"}
                for nth, state in enumerate(self.states)
            ]
            return {"tasks": {"task": tasks}}
        return {"taskAttempt": {"nodeHttpAddress": "nm2:8042" if path.endswith("a0") else "nm1:8042"}}

    def rm(self, path):
        self.updates += 1
        lost = {"nodeHostName": "nm2", "numContainers": self.held, "lastHealthUpdate": self.updates * 1e15}
        return {"nodes": {"node": [{"nodeHostName": "nm1", "numContainers": 1}, lost]}}

    def end(self, name, signum):
        self.ended.append((name, signum))
        self.up = False

    def alive(self, name):
        return self.up

    def restart(self, name):
        self.up = True


class Losses(unittest.TestCase):
    def setUp(self):
        self.cluster = FakeCluster()
        self.loss = Loss(self.cluster, "nm2", after_maps=2)
        self.running = mock.Mock()
        self.running.said.return_value = "job_1_0001"

    def test_a_node_is_killed_once_and_what_lay_there_counted(self):
        self.loss.look(self.running)
        self.loss.look(self.running)
        self.assertEqual((self.cluster.ended, self.loss.outputs), ([("nm2", signal.SIGKILL)], 1))

    def test_it_is_not_killed_before_its_maps_have_succeeded_and_their_containers_are_gone(self):
        self.cluster.states[1] = "RUNNING"
        self.loss.look(self.running)
        self.cluster.states[1], self.cluster.held = "SUCCEEDED", 1
        self.loss.look(self.running)
        self.running.said.return_value = "job_1_0002"
        self.loss.look(self.running)
        self.assertEqual((self.cluster.ended, self.loss.outputs), ([], None))

    def test_one_that_was_lost_is_back_only_when_it_has_been_heard_of_again(self):
        self.loss.mend()
        self.assertEqual(self.cluster.updates, 0, "it was never lost")
        self.loss.look(self.running)
        self.loss.mend()
        self.assertTrue(self.cluster.up)
        self.cluster.up, self.cluster.rm = (
            False,
            lambda _: {"nodes": {"node": {"nodeHostName": "nm2", "lastHealthUpdate": 1}}},
        )
        with mock.patch("lab.losing.BACK_WITHIN_S", 0), self.assertRaises(Failed):
            self.loss.mend()


if __name__ == "__main__":
    unittest.main()
