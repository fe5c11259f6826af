import unittest

from lab import build, expected, jobs, stage
from lab.e2e import OnCluster
from lab.e2e.test_actions import WAVES
from lab.service import Service, total
from lab.watch import NO_NATIVE_COPIES, Sickness

# Tasks still wait when polls have shown the slow ones, however late those are on a busy machine. Maps end long enough
# before their job that a poll sees who won.
SLOW = {**WAVES, **NO_NATIVE_COPIES, "lab.maps": 34, "lab.reduce.ms": 8000}
PLAIN = expected.digest(SLOW["lab.maps"], SLOW["lab.reduces"])
SETTINGS = 'mode = "act"\npolicy = "mantri"\nrest.tasks_interval_soon = "1s"\n'


class OverRest(OnCluster):
    """A job without a shim, whose attempts are slow on one node while others of its tasks wait, in a cluster whose
    proxy is a server of its own."""

    options = {"node_mb": stage.options("").node_mb, "proxy": True}

    @classmethod
    def setUpClass(cls):
        build.drover()
        super().setUpClass()

    def watched(self, more: str, name: str) -> tuple:
        """The slow job under a service with such settings, until a first restart: the restarts, its result, the
        metrics."""
        sickness = Sickness(self.cluster, "nm2")
        settings = {**SLOW, **sickness.settings, "lab.output": self.cluster.dir / name}
        with Service(self.cluster, SETTINGS + more, name=name).start(quiet=True) as drover:
            running = jobs.Running(self.cluster, jobs.Spec(settings=settings))
            self.addCleanup(running.end)
            self.until("something was restarted, or to be", lambda: self.begun(drover, running.id()), running)
            sickness.cure()
            result = running.result()
            self.until("its end was heard of", lambda: self.all_ended(drover.decisions(result.job)))
            decisions, metrics = drover.decisions(result.job), drover.metrics()
        self.assertTrue(result.succeeded)
        self.assertEqual(result.digest, PLAIN)
        self.assertNotIn("FAILED", {attempt.state for attempt in result.attempts})
        return [one for one in decisions if one["action"] == "restart"], result, metrics

    def begun(self, drover: Service, job: str) -> bool:
        """A restart was carried out, or advised where it is not allowed."""
        restarts = [one for one in drover.decisions(job) if one["action"] == "restart"]
        return any(
            one["outcome"] == "advised" or (one.get("copy") or {}).get("answer") == "applied" for one in restarts
        )

    def all_ended(self, decisions: list) -> bool:
        """What was asked for has an end, and what was advised, too."""
        open_ = ("decided", "sent", "applied", "moved")
        asked = [one for one in decisions if one["action"] == "restart"]
        return bool(asked) and not any((one.get("copy") or {}).get("state") in open_ for one in asked)

    def test_a_slow_attempt_is_killed_through_the_proxy_its_replacement_succeeds_and_no_byte_changes(self):
        restarts, result, metrics = self.watched("act.rest_restart = true", "allowed")
        applied = [one for one in restarts if (one.get("copy") or {}).get("answer") == "applied"]
        self.assertTrue(applied, restarts)
        ended = {attempt.id: attempt.state for attempt in result.attempts}
        self.assertEqual({ended[one["attempt"]] for one in applied}, {"KILLED"})
        # A busy machine may answer one too late, and kill the attempt all the same.
        asked = [one for one in restarts if (one.get("copy") or {}).get("sent_ms")]
        killed = {one.id for one in result.attempts if one.state == "KILLED"}
        self.assertLessEqual(killed, {one["attempt"] for one in asked})
        for task in {one["task"] for one in applied}:
            states = [attempt.state for attempt in result.attempts if attempt.task == task]
            self.assertEqual(states.count("SUCCEEDED"), 1, states)
        kills = total(metrics, "drover_rest_requests_total", 'endpoint="am_kill"')
        self.assertTrue(len(applied) <= kills <= len(asked), (kills, restarts))
        self.assertGreater(total(metrics, "drover_copies_ended_total", 'action="restart"', 'end="won"'), 0, restarts)

    def test_where_it_is_not_allowed_it_is_advised_and_nothing_is_sent(self):
        restarts, result, metrics = self.watched("act.restart = true", "forbidden")
        self.assertTrue(restarts, "nothing was worth a restart")
        self.assertEqual({one["outcome"] for one in restarts}, {"advised"})
        self.assertEqual({attempt.state for attempt in result.attempts}, {"SUCCEEDED"})
        self.assertEqual(total(metrics, "drover_rest_requests_total", 'endpoint="am_kill"'), 0)


if __name__ == "__main__":
    unittest.main()
