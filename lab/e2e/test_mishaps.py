"""Copies in a real ApplicationMaster while exchanges, the service, a master or a clock come to grief.

Whatever happens, the job succeeds, writes the same bytes, and no task has more attempts than its own and the copies
decided on.
"""

import json
import os
import signal
import time
import unittest
from datetime import datetime

from lab import build, jobs
from lab.certificates import Certificate
from lab.e2e.unharmed import ACT, Unharmed
from lab.faults import ClusterPlace, decided
from lab.service import LISTENERS, SECOND, total
from lab.troubles import STAGES, Crash, Delayed, Late, Lost, Reordered, Repeated


class Mishaps(Unharmed):
    def test_exchanges_are_lost_come_late_come_twice_and_overtake_one_another(self):
        self.service()
        played = [(trouble, *self.submit(trouble)) for trouble in (Lost(), Delayed(2.5), Repeated(), Reordered())]
        for trouble, running, relay in played:
            with self.subTest(type(trouble).__name__):
                self.check(running)
                self.assertGreater(trouble.hits, 0)
                self.assertGreater(relay.seen["applied"] + relay.seen["moved"], 0)

    def test_an_action_that_comes_after_its_lease_is_refused_and_the_task_gets_another(self):
        self.service(f'act.lease = "2s"\n{ACT}')
        late = Late(6.0)
        running, relay = self.submit(late, **{"drover.exchange.read-timeout-ms": 20_000})
        self.check(running)
        self.assertEqual(late.hits, 1)
        self.assertGreater(relay.seen["not_leased"], 0)

    def test_a_shim_that_speaks_tls_acts_and_one_that_knows_no_authority_leaves_its_job_to_hadoop(self):
        self.service(f"shim.require_tls = true\n{ACT}")
        certificate = Certificate(self.cluster.dir / "tls")
        trusts = {"yarn.app.mapreduce.am.admin-command-opts": certificate.trusted()}
        trusting, through = self.submit(tls=certificate.server(), **trusts)
        strange, past = self.submit(tls=certificate.server(), **{"lab.slow.attempts": ""})
        self.check(trusting)
        self.assertGreater(through.seen["applied"] + through.seen["moved"], 0)
        self.assertEqual(self.unharmed(strange).copies(), [])
        self.assertEqual(past.seen["exchanges"], 0)
        master = strange.id().replace("job", "container") + "_01_000001"
        logs = [log.read_text() for log in self.cluster.dir.rglob(f"{master}/syslog")]
        self.assertTrue(any("SSLHandshakeException" in log for log in logs), "its AM's log tells why")

    def killed(self, stage: str) -> None:
        """The service is killed at a stage of its first copy, and another takes its place."""
        first = self.service()

        def kill():
            os.kill(self.cluster.state["processes"][first.name]["pid"], signal.SIGKILL)

        crash = Crash(stage, kill, lambda: first.get("/decisions")["decisions"])
        running, _ = self.submit(crash)
        self.wait(f"the service was killed at the {stage}", running, lambda: crash.hits)
        # Until its last thread has ended it holds its sockets.
        first.stop(signal.SIGKILL)
        self.service()
        self.check(running)

    def test_a_master_killed_before_it_has_acknowledged_a_copy_leaves_no_task_with_two(self):
        self.service()
        place = ClusterPlace(self.cluster, None)

        def kill():
            (master,) = place.masters()
            os.kill(master, signal.SIGKILL)

        crash = Crash("acknowledgement", kill)
        running, _ = self.submit(crash)
        self.wait("the master was killed", running, lambda: crash.hits)
        app = self.unharmed(running).job.replace("job", "application")
        masters = self.cluster.rm(f"/apps/{app}/appattempts")["appAttempts"]["appAttempt"]
        self.assertEqual(len(masters), 2, "it was not")

    def test_an_attempt_whose_jvm_stands_still_is_copied(self):
        service = self.service()
        running, _ = self.submit(**{"lab.slow.attempts": "", "lab.map.ms": 6000})

        def at_work() -> list:
            return [one for one in service.tasks(running.id()) if one["score"] > 0.3]

        task = self.wait("an attempt had told of its work", running, at_work)[0]
        (jvm,) = ClusterPlace(self.cluster, None).attempts(task["attempts"][0]["attempt"])
        # Its NodeManager ends it once the copy has won.
        os.kill(jvm, signal.SIGSTOP)
        self.check(running)
        self.assertIn(task["task"], [one.task for one in running.result().copies() if one.state == "SUCCEEDED"])

    def off(self, seconds: int, listen: tuple) -> jobs.Running:
        env = {"LD_PRELOAD": str(build.skew()), "DROVER_LAB_SKEW_S": str(seconds)}
        service = self.service(env=env, listen=listen)
        said = json.loads(service.log.read_text().splitlines()[0])["timestamp"].replace("Z", "+00:00")
        away = datetime.fromisoformat(said).timestamp() - time.time()
        self.assertLess(abs(away - seconds), 120, said)
        return self.submit(to=service.shim)[0]

    def test_services_ten_minutes_ahead_of_the_cluster_and_behind_it_act_in_time(self):
        for running in (self.off(600, LISTENERS), self.off(-600, SECOND)):
            self.check(running)

    def test_a_silent_resourcemanager_and_a_stop_leave_the_job_to_hadoop_and_then_its_straggler_is_copied(self):
        # Nodes are listed every 3 s, later on a busy machine. No copy is decided on before the silence has shown.
        silence = f'govern.stale_after = "10s"\n{ACT}'
        service = self.service(f'govern.debounce = "1h"\n{silence}')
        running, _ = self.submit()

        def launcher() -> str:
            return service.get(f"/jobs/{running.id()}")["launcher"]

        def verdicts() -> set:
            return {one.get("verdict") for one in service.tasks(running.id())}

        def advised() -> list:
            return [one for one in service.decisions(running.id()) if one["outcome"] == "advised"]

        self.wait("the job was Drover's", running, lambda: launcher() == "drover")
        self.wait("its straggler had shown", running, lambda: verdicts() & {"decided", "debouncing"})
        manager = self.cluster.state["processes"]["rm"]["pid"]
        os.kill(manager, signal.SIGSTOP)
        self.addCleanup(os.kill, manager, signal.SIGCONT)
        self.wait("the ResourceManager was silent for too long", running, lambda: launcher() == "native")
        service.reload(silence)
        self.wait("nothing but the silence kept it from a copy", running, lambda: "stale_data" in verdicts())
        service.cli("stop", "--reason", "a drill")
        os.kill(manager, signal.SIGCONT)
        self.wait("it was advised on", running, advised)
        self.assertEqual(launcher(), "native")
        self.assertEqual(decided([service.log]), {}, "a copy was decided on before")
        service.cli("resume")
        self.wait("the job is Drover's", running, lambda: launcher() == "drover")
        self.check(running)
        fates = self.fates(service, running.id())
        won = [one["copy"]["state"] for one in fates].count("won")
        self.assertGreater(won, 0, fates)
        self.assertEqual(total(service.metrics(), "drover_copies_ended_total", 'end="won"'), won)

    def test_the_older_of_two_services_gives_way_and_says_so(self):
        older, younger = self.service(), self.service(listen=SECOND)
        # No attempt ends before the services have met.
        slow = self.cluster.dir / "all-are-slow"
        slow.touch()
        everywhere = ",".join(f"nm{i}:120" for i in range(1, 5))
        running, relay = self.submit(**{"lab.slow.nodes": everywhere, "lab.slow.file": slow})
        job = running.id()
        self.wait("the older one owned the job", running, lambda: older.metrics().get("drover_shim_leases"))
        relay.to = younger.shim
        self.wait("the younger one owned the job", running, lambda: younger.metrics().get("drover_shim_leases"))
        relay.to = older.shim
        self.wait("the older one gave way", running, lambda: older.metrics().get("drover_rival"))
        self.wait("its lease ended", running, lambda: older.metrics()["drover_shim_leases"] == 0)
        self.assertIn("another Drover service", older.log.read_text())
        self.wait("it told so", running, lambda: older.get(f"/jobs/{job}")["launcher"] == "native")
        before = decided([older.log])
        relay.to = younger.shim
        slow.unlink()
        self.check(running)
        self.assertEqual(decided([older.log]), before, "the older one has decided on nothing more")


for stage_name in STAGES:

    def at_stage(self, stage_name=stage_name):
        self.killed(stage_name)

    setattr(Mishaps, f"test_a_service_killed_at_the_{stage_name}_of_a_copy_is_replaced_without_harm", at_stage)


if __name__ == "__main__":
    unittest.main()
