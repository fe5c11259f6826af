import json
import shlex
import time
import unittest

from lab import build, http, jobs, watch
from lab.e2e import OnCluster
from lab.service import Service


class Watch(OnCluster):
    """The service beside a real cluster: what it advises, and that it changes nothing."""

    options = {"report_interval_ms": 500, "node_mb": 1024}

    @classmethod
    def setUpClass(cls):
        build.drover()
        build.shim()
        super().setUpClass()
        cls.service = Service(cls.cluster).start()

    def test_over_rest_a_task_with_more_data_is_told_from_a_slow_one(self):
        # So much more that it still runs when the others are done, however slowly their JVMs start. Hadoop gives the
        # longest split the number 0.
        settings = {"lab.maps": 6, "lab.map.ms": 5000, "lab.sizes": "m_0:20", **watch.NO_NATIVE_COPIES}
        running = jobs.Running(self.cluster, jobs.Spec(settings=settings))
        self.addCleanup(running.end)
        job, said = running.id(), []
        while "more_data" not in said and not running.done():
            said += self.said_of(job, "m_000000")
            time.sleep(0.5)
        if "more_data" not in said:
            self.fail(f"more_data was not said, but {sorted(set(said))}\n{self.scene()}")
        self.assertNotIn("decided", said)
        advised = {one["task"] for one in self.service.decisions(job)}
        self.assertNotIn(job.replace("job_", "task_") + "_m_000000", advised)

    def said_of(self, job: str, task: str) -> list:
        """The verdict on a task, while there is one."""
        try:
            tasks = self.service.get(f"/jobs/{job}/tasks")["tasks"]
        except http.Unanswered:
            return []  # not heard of yet, or not any more
        return [one["verdict"] for one in tasks if one["task"].endswith(task) and one.get("verdict")]

    def test_a_job_whose_shim_finds_no_service_runs_as_it_would(self):
        url = {"drover.service.urls": "http://127.0.0.1:9"}
        settings = {"lab.maps": 2, "lab.map.ms": 500, "lab.reduces": 1, "lab.reduce.ms": 500, **url}
        self.assertTrue(jobs.run(self.cluster, jobs.Spec(shim=True, settings=settings)).succeeded)

    def test_with_the_users_class_path_first_the_shim_speaks_and_the_job_succeeds(self):
        def held():
            return self.service.metrics().get('drover_shim_proofs_total{outcome="held"}', 0)

        before, sickness = held(), watch.Sickness(self.cluster)
        first = {"mapreduce.job.user.classpath.first": "true"}
        settings = {"lab.maps": 2, "lab.map.ms": 2000, **first, **sickness.settings}
        running = jobs.Running(self.cluster, jobs.Spec(shim=True, settings=settings))
        self.addCleanup(running.end)
        self.until("its proof held", lambda: held() > before, running)
        sickness.cure()
        self.assertTrue(running.result().succeeded)
        self.assertEqual(held(), before + 1)

    def test_the_doctors_canary_sees_its_tasks_hears_its_shim_and_finds_its_history(self):
        # Long enough for a busy machine to see its tasks run and to believe its shim.
        spec = jobs.Spec(shim=True, settings={"lab.maps": 2, "lab.map.ms": 15_000})
        command = shlex.join(map(str, jobs.command(self.cluster, spec)))
        done = self.service.ask("doctor", "--json", "--canary", "--canary-command", command, limit_s=300)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        checks = {check["name"]: check for check in json.loads(done.stdout)["checks"]}
        self.assertEqual(checks["canary"]["verdict"], "ok", checks["canary"])
        self.assertIn("2 tasks seen; its shim spoke", checks["canary"]["says"])
        self.assertEqual(checks["canary's history"]["verdict"], "ok", checks["canary's history"])


if __name__ == "__main__":
    unittest.main()
