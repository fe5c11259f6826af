"""A job with a shim and one without, watched at once; a master killed; a replay; a service that may not look.

The story is told once, by `setUpClass`, which keeps what was said; each test judges a part of it.
"""

import contextlib
import json
import os
import signal
import time
import unittest

from lab import conf, http, jobs, paths, watch
from lab.cluster import application_of
from lab.e2e import WAIT_S, OnCluster
from lab.faults import ClusterPlace
from lab.service import API, Service, total

SLOW = "nm2"
# More than either job has slow tasks: a cap would make it a matter of time which of them are named.
SETTINGS = """\
cluster.user = "drover"
govern.cluster_cap = 1.0
govern.job_cap = 1.0
rest.tasks_interval_soon = "1s"
"""
FIRST_AM_NODE = {"mapreduce.job.am.strict-locality": f"{conf.rack(1)}/nm1"}
NOBODY = "127.0.0.1:7999"
PAGES = {"healthz": "text/plain", "readyz": "text/plain", "openapi.json": "application/json"}


class Watched(OnCluster):
    options = {"report_interval_ms": 500, "acls": True, "node_mb": 640}

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.recording = cls.cluster.dir / "recording"
        cls.service = Service(cls.cluster, SETTINGS, words=("--record", cls.recording)).start()
        cls.watch()
        cls.restart()
        cls.last = cls.service.get("/status")
        cls.decided = cls.service.get("/decisions?limit=1000")["decisions"]
        cls.counted = cls.service.metrics()
        cls.service.stop()
        cls.replayed = cls.service.ask("replay", cls.recording, "--check", "--json")
        cls.forbid()

    @classmethod
    def submit(cls, shim: bool, **settings) -> jobs.Running:
        spec = jobs.Spec(shim=shim, settings={**watch.NO_NATIVE_COPIES, **FIRST_AM_NODE, **settings})
        running = jobs.Running(cls.cluster, spec)
        cls.addClassCleanup(running.end)
        return running

    @classmethod
    def wait(cls, what: str, running: list, found):
        """What `found` answers once that is something, while the jobs run."""
        until = time.monotonic() + WAIT_S
        while time.monotonic() < until:
            with contextlib.suppress(http.Unanswered):
                answer = found()
                if answer:
                    return answer
            if any(job.done() for job in running):
                raise AssertionError(f"a job ended before {what}; read {paths.shown(cls.service.log)}")
            time.sleep(0.2)
        raise AssertionError(f"{what}: not within {WAIT_S} s; read {paths.shown(cls.service.log)}")

    @classmethod
    def watch(cls):
        """Two jobs at once, and every way to look while their slow tasks run."""
        cls.sickness = watch.Sickness(cls.cluster, SLOW)
        work = {"lab.maps": 8, "lab.map.ms": 4000, **watch.SPREAD, **cls.sickness.settings}
        cls.running = {arm: cls.submit(arm == "shim", **work, **{"lab.name": arm}) for arm in ("rest", "shim")}
        cls.ids = {arm: running.id() for arm, running in cls.running.items()}
        both = list(cls.running.values())
        cls.all_named = {arm: cls.sickness.until_named(cls.service, job) for arm, job in cls.running.items()}
        for arm, job in cls.ids.items():
            cls.wait(f"there was advice on the job '{arm}'", both, lambda job=job: cls.first_there(job))
        cls.during = cls.service.metrics()
        cls.listed = {job["job"]: job for job in cls.service.get("/jobs")["jobs"]}
        cls.told = {job: cls.first_there(job) for job in cls.ids.values()}
        cls.explained = {job: cls.service.ask("explain", job, task) for job, task in cls.told.items()}
        cls.doctor = cls.service.ask("doctor", "--json")
        cls.pages = {page: http.get(f"http://{API}/{page}", accept) for page, accept in PAGES.items()}
        app = application_of(cls.ids["shim"])
        cls.seen_by = {
            user: cls.cluster.am(app, f"/jobs/{cls.ids['shim']}?user.name={user}")["job"]
            for user in ("drover", "mallory")
        }
        cls.once = cls.service.ask("advise", "--json", "--rounds", "3", "--set", f"listen.api={NOBODY}")
        cls.sickness.cure()
        cls.results = {arm: running.result() for arm, running in cls.running.items()}
        cls.advice = {arm: cls.service.decisions(job) for arm, job in cls.ids.items()}

    @classmethod
    def first_there(cls, job: str) -> str:
        """The task of the slow node that was advised on first; on a busy machine one elsewhere may have been before."""
        return next((one["task"] for one in cls.service.decisions(job) if one["node"] == SLOW), "")

    @classmethod
    def restart(cls):
        """The ApplicationMaster of a job with a shim is killed once some of its maps have succeeded; others do not end
        before its successor has spoken."""
        cls.held_before = cls.held()
        unended = watch.Sickness(cls.cluster, SLOW)
        work = {"lab.maps": 6, "lab.map.ms": 3000, "lab.sizes": "m_5:4", **watch.SPREAD}
        running = cls.submit(True, **work, **unended.settings)
        job = running.id()

        def by_shim():
            found = [one for one in cls.service.get("/jobs")["jobs"] if one["job"] == job and one["shim"]]
            return found[0] if found else None

        def progressed():
            return (by_shim() or {"maps": {"succeeded": 0}})["maps"]["succeeded"] >= 2

        def held_again():
            return cls.held() > cls.held_before + 1

        cls.wait("the first session told of two maps' success", [running], progressed)
        cls.first_masters = cls.masters(job)
        os.kill(cls.first_masters[0], signal.SIGKILL)
        cls.wait("the second session was accepted", [running], held_again)
        cls.second = cls.wait("the second session told facts", [running], by_shim)
        unended.cure()
        cls.restarted = running.result()
        cls.attempts = cls.cluster.rm(f"/apps/{application_of(job)}/appattempts")

    @classmethod
    def forbid(cls):
        """A service whose user may not view the job."""
        stranger = Service(cls.cluster, 'cluster.user = "mallory"\n', name="stranger").start()
        unseen = watch.Sickness(cls.cluster, SLOW)
        everywhere = {"lab.slow.nodes": ",".join(f"nm{i}:{unseen.FACTOR}" for i in range(1, 5))}
        running = cls.submit(True, **{"lab.maps": 2, "lab.map.ms": 3000, **unseen.settings, **everywhere})
        job = running.id()

        def pending():
            return total(stranger.metrics(), "drover_shim_exchanges_total", 'outcome="pending"') > 0

        def served():
            # Until its master is up, the proxy has nothing to show to anyone.
            try:
                return cls.cluster.am(application_of(job), f"/jobs/{job}?user.name=drover")
            except http.Unanswered:
                return None

        cls.wait("the shim spoke", [running], pending)

        def blocked():
            try:
                return stranger.get(f"/jobs/{job}").get("blocked")
            except http.Unanswered:
                return None  # nothing was heard of the job yet

        def refused():
            return total(stranger.metrics(), "drover_shim_proofs_total", 'outcome="may_not_view"')

        cls.wait("the master answered", [running], served)
        cls.blocked = cls.wait("the job was said to be blocked", [running], blocked)
        cls.wait("its shim's session was refused by that name", [running], refused)
        cls.stranger_explained = stranger.ask("explain", job)
        cls.stranger_doctor = stranger.ask("doctor", "--json")
        unseen.cure()
        cls.unseen = running.result()
        cls.stranger_counted = stranger.metrics()
        stranger.stop()

    @classmethod
    def held(cls) -> float:
        """Sessions whose proof held, so far."""
        return total(cls.service.metrics(), "drover_shim_proofs_total", 'outcome="held"')

    @classmethod
    def masters(cls, job: str) -> list:
        """Process ids of a job's ApplicationMasters."""
        return ClusterPlace(cls.cluster, None).masters(job)

    def slow_tasks(self, arm: str) -> set:
        return self.sickness.tasks(self.results[arm])

    def laggards(self, arm: str) -> set:
        return self.sickness.laggards(self.results[arm])

    def assert_slow_tasks_named(self, arm: str):
        self.assertTrue(self.all_named[arm], f"{arm}: a task of the slow node was never named")
        advised, slow = set(watch.named(self.advice[arm])), self.slow_tasks(arm)
        self.assertTrue(slow)
        self.assertLessEqual(slow, advised)
        self.assertLessEqual(advised, slow | self.laggards(arm))

    def test_both_jobs_succeed_without_a_copy(self):
        for arm, result in self.results.items():
            self.assertTrue(result.succeeded, arm)
            self.assertEqual(result.copies(), [], arm)

    def test_the_shim_speaks_for_its_job_and_for_no_other(self):
        speaks = {arm: self.listed[job]["shim"] for arm, job in self.ids.items()}
        self.assertEqual(speaks, {"rest": False, "shim": True})

    def test_every_task_of_the_slow_node_is_advised_on_and_no_other_over_rest(self):
        self.assert_slow_tasks_named("rest")

    def test_every_task_of_the_slow_node_is_advised_on_and_no_other_with_the_shim(self):
        self.assert_slow_tasks_named("shim")

    def test_explain_speaks_of_the_task_its_node_and_the_decision(self):
        for job, task in self.told.items():
            done = self.explained[job]
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertIn(f"{task} is running", done.stdout.lower())
            self.assertIn(f"on {SLOW}", done.stdout)
            self.assertIn("A copy is worth starting", done.stdout)
            self.assertIn("When it was advised", done.stdout)

    def test_one_shot_advice_without_a_service_names_slow_tasks_only(self):
        self.assertEqual(self.once.returncode, 0, self.once.stderr)
        self.assertIn("no service answers", self.once.stderr)
        named = {one["task"] for one in json.loads(self.once.stdout)["decisions"]}
        self.assertTrue(named)
        may_be = [found(arm) for arm in self.ids for found in (self.slow_tasks, self.laggards)]
        self.assertLessEqual(named, set().union(*may_be))

    def test_the_doctor_finds_nothing_that_fails(self):
        self.assertEqual(self.doctor.returncode, 0, self.doctor.stdout + self.doctor.stderr)
        checks = json.loads(self.doctor.stdout)["checks"]
        self.assertEqual([check for check in checks if check["verdict"] == "fail"], [])
        checked = {check["name"] for check in checks if check["verdict"] == "ok"}
        self.assertLessEqual(
            {"configuration", "resource manager", "tasks through the proxy", "shims speaking"}, checked
        )

    def test_the_service_says_that_it_lives_is_ready_and_what_it_answers(self):
        self.assertEqual(self.pages["healthz"].strip(), "ok")
        self.assertIn("ready", self.pages["readyz"])
        described = json.loads(self.pages["openapi.json"])["paths"]
        self.assertLessEqual({"/api/v1/status", "/api/v1/jobs/{id}/tasks", "/api/v1/decisions"}, set(described))

    def test_metrics_count_sessions_jobs_and_requests_while_jobs_run(self):
        self.assertEqual(total(self.during, "drover_shim_sessions", 'state="live"'), 1)
        self.assertEqual(total(self.during, "drover_jobs"), 2)
        self.assertEqual(total(self.during, "drover_tasks"), 16)
        self.assertGreater(total(self.during, "drover_rest_requests_total", 'outcome="ok"'), 0)
        self.assertGreater(total(self.during, "drover_shim_exchanges_total", 'outcome="accepted"'), 0)
        self.assertEqual(total(self.during, "drover_build_info"), 1)

    def test_metrics_count_the_decisions_that_the_api_shows(self):
        self.assertEqual(len(self.decided), self.last["decisions"])
        self.assertEqual(total(self.counted, "drover_decisions_total"), self.last["decisions"])

    def test_with_job_acls_on_only_those_who_may_view_see_the_proof_and_the_session_is_accepted(self):
        self.assertIn("drover-proof", self.seen_by["drover"].get("diagnostics", ""))
        self.assertNotIn("drover-proof", self.seen_by["mallory"].get("diagnostics", ""))
        self.assertEqual(self.held_before, 1)

    def test_a_service_that_may_not_view_accepts_no_session_harms_no_job_and_its_doctor_says_so(self):
        self.assertTrue(self.unseen.succeeded)
        self.assertEqual(total(self.stranger_counted, "drover_shim_proofs_total", 'outcome="held"'), 0)
        self.assertEqual(total(self.stranger_counted, "drover_shim_exchanges_total", 'outcome="accepted"'), 0)
        self.assertEqual(self.stranger_doctor.returncode, 4, self.stranger_doctor.stderr)
        failed = {c["name"] for c in json.loads(self.stranger_doctor.stdout)["checks"] if c["verdict"] == "fail"}
        self.assertIn("tasks through the proxy", failed)

    def test_a_job_that_may_not_be_viewed_is_told_with_what_to_change(self):
        for told in (self.blocked, self.stranger_explained.stdout):
            self.assertIn("mapreduce.job.acl-view-job", told)

    def test_after_the_masters_death_its_successors_session_is_accepted_and_the_job_succeeds(self):
        self.assertEqual(len(self.first_masters), 1)
        self.assertEqual(len(self.attempts["appAttempts"]["appAttempt"]), 2)
        self.assertTrue(self.restarted.succeeded)
        self.assertEqual(self.second["maps"]["total"], 6)
        held = total(self.counted, "drover_shim_proofs_total", 'outcome="held"')
        self.assertEqual(held, self.held_before + 2)

    def test_a_replay_of_the_recording_decides_the_same_byte_for_byte(self):
        self.assertEqual(self.replayed.returncode, 0, self.replayed.stderr)
        *decisions, summary = self.replayed.stdout.splitlines()
        self.assertEqual(json.loads(summary)["summary"]["differences"], [])
        self.assertEqual(len(decisions), self.last["decisions"])
        self.assertGreater(len(decisions), 0)


if __name__ == "__main__":
    unittest.main()
