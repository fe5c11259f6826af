"""What the tests of copies under mishaps share: services, jobs whose shims speak through a relay, and what no mishap
may change."""

import signal

from lab import bench_faults, build, expected, jobs, stage, watch
from lab.e2e import OnCluster
from lab.faults import decided
from lab.relay import Relay
from lab.service import SHIM, Service

ACT = 'mode = "act"\n[log]\nformat = "json"\n'
# A shim that gives up on an answer, and asks again, soon.
JOB = {
    "mapreduce.map.memory.mb": 256,
    "yarn.app.mapreduce.am.resource.mb": 512,
    **watch.NO_NATIVE_COPIES,
    "lab.maps": 4,
    "lab.map.ms": 1500,
    "lab.slow.attempts": "m_0_0:240",
    "mapreduce.task.progress-report.interval": 500,
    "drover.exchange.read-timeout-ms": 1500,
    "drover.exchange.max-backoff-ms": 1000,
}

PLAIN = expected.digest(JOB["lab.maps"])


class Unharmed(OnCluster):
    """Copies in real ApplicationMasters. Hadoop's own speculator may start none, so that every copy must have been
    decided on; one attempt is so slow that only a copy ends the job soon."""

    options = {"node_mb": stage.options("").node_mb}

    @classmethod
    def setUpClass(cls):
        build.drover()
        build.shim()
        build.lab_jobs()
        super().setUpClass()
        cls.lives, cls.outputs = [], 0

    def service(self, settings: str = ACT, **how) -> Service:
        """One that acts, with a log of its own."""
        service = Service(self.cluster, settings, name=f"drover-{len(self.lives)}", **how).start(quiet=True)
        self.lives.append(service)
        self.addCleanup(service.stop, signal.SIGKILL)
        return service

    def submit(self, trouble=None, to: str = SHIM, tls=None, **settings) -> tuple:
        """A job and the relay of its shim."""
        relay = Relay(to, trouble, tls)
        self.addCleanup(relay.close)
        type(self).outputs += 1
        own = {"lab.output": self.cluster.dir / f"out-{self.outputs}", "drover.service.urls": relay.url}
        running = jobs.Running(self.cluster, jobs.Spec(shim=True, settings={**JOB, **own, **settings}))
        self.addCleanup(running.end)
        return running, relay

    def wait(self, what: str, running: jobs.Running, found):
        """What `found` answers once that is something, while the job runs."""
        return self.until(what, found, running)

    def unharmed(self, running: jobs.Running, digest: str = "") -> jobs.Result:
        """The job's end: with the same bytes, and no task had more attempts live at once than decided."""
        result = running.result()
        self.assertTrue(result.succeeded)
        self.assertEqual(result.digest, digest or PLAIN)
        self.assertEqual(bench_faults.violations(result, decided(life.log for life in self.lives)), [])
        return result

    def check(self, running: jobs.Running) -> None:
        """Unharmed, with no more attempts in all than decided, and a copy has won."""
        result = self.unharmed(running)
        allowed = decided(life.log for life in self.lives)
        for task in {one.task for one in result.copies()}:
            attempts = [one for one in result.attempts if one.task == task and one.ran()]
            self.assertLessEqual(len(attempts), 1 + allowed.get(task, 0), attempts)
        won = [one for one in result.copies() if one.state == "SUCCEEDED"]
        self.assertTrue(won, ("no copy won", result.attempts))
