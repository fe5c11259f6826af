import signal
import subprocess
import tempfile
import time
import unittest
from pathlib import Path
from unittest import mock

from lab import cluster, suites, test
from lab.progress import Failed
from lab.suites import Totals


class Suites(unittest.TestCase):
    def setUp(self):
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        self.directory, self.totals = Path(directory.name), Totals()

    def suite(self, name: str, script: str) -> tuple:
        return name, ["sh", "-c", script], self.directory / name, test.count_unittest

    def test_one_that_breaks_without_a_failed_test_still_fails(self):
        suites.run(*self.suite("broken", "exit 1"), self.totals)
        suites.run(*self.suite("empty", "true"), self.totals)
        self.assertEqual((self.totals.passed, self.totals.failed), (0, 2))

    def test_side_by_side_each_is_run_and_counted_once_and_no_more_than_two_at_a_time(self):
        here = self.directory

        def script(name: str, beside: str, last: str) -> str:
            met = f"for i in $(seq 600); do [ -e {here}/{beside}.begun ] && break; sleep 0.05; done; [ $i -lt 600 ]"
            count = f"ls {here}/*.runs | wc -l >> {here}/at-once"
            begin, end = f"touch {here}/{name}.begun {here}/{name}.runs", f"rm {here}/{name}.runs"
            return f"{begin}; {met} || exit 2; sleep 0.3; {count}; {end}; echo Ran 3 tests; {last}"

        pairs = {"s0": "s1", "s1": "s0", "s2": "s0", "s3": "s1"}
        all_of = [self.suite(name, script(name, beside, "true")) for name, beside in pairs.items()]
        suites.side_by_side([*all_of, self.suite("broken", script("broken", "s0", "exit 1"))], self.totals)
        self.assertEqual((self.totals.passed, self.totals.failed), (15, 1))
        self.assertEqual(self.totals.logs, [self.directory / "broken"])
        at_once = [int(line) for line in (self.directory / "at-once").read_text().split()]
        self.assertEqual(len(at_once), 5)
        self.assertLessEqual(max(at_once), suites.LANES)

    def test_an_idle_suite_runs_beside_two_others_and_alone_where_there_are_none(self):
        here = self.directory
        met = f"[ $(ls {here}/*.begun | wc -l) = 3 ]"
        waits = f"for i in $(seq 600); do {met} && break; sleep 0.05; done; {met}"
        suite = [self.suite(name, f"touch {here}/{name}.begun; {waits} && echo Ran 1 test") for name in "abc"]
        suites.side_by_side(suite[:2], self.totals, suite[2:])
        self.assertEqual((self.totals.passed, self.totals.failed), (3, 0))
        suites.side_by_side([], self.totals, [self.suite("d", "echo Ran 2 tests")])
        self.assertEqual((self.totals.passed, self.totals.failed), (5, 0))

    def test_what_could_not_be_run_is_named_with_its_reason_and_does_not_pass(self):
        said = "test_a_disk (lab.Troubles.test_a_disk) ... skipped 'no loop device'"
        text = f"{said}\ntest_b (lab.Troubles.test_b) ... ok\nRan 2 tests\nOK (skipped=1)"
        with mock.patch.object(suites, "say") as told:
            suites.run(*self.suite("one", f'echo "{text}"'), self.totals)
        self.assertEqual((self.totals.passed, self.totals.failed, self.totals.skipped), (1, 0, 1))
        self.assertIn(mock.call("    not run here: test_a_disk, 'no loop device'"), told.mock_calls)

    def begun(self) -> list:
        """The suites that are begun from now on."""
        begun, of = [], suites.Suite

        def started(*words):
            begun.append(of(*words))
            return begun[-1]

        patched = mock.patch.object(suites, "Suite", started)
        patched.start()
        self.addCleanup(patched.stop)
        return begun

    def test_what_runs_beside_one_that_cannot_start_is_ended(self):
        begun, none = self.begun(), ("none", ["/no/such"], self.directory / "none", test.count_unittest)
        with self.assertRaises(Failed):
            suites.side_by_side([self.suite("lasting", "sleep 60"), none], self.totals)
        self.assertEqual([suite.process.returncode for suite in begun], [-signal.SIGTERM])

    def test_interrupted_again_while_it_ends_one_it_ends_the_other_still(self):
        begun, clock = self.begun(), mock.Mock(wraps=time)
        clock.sleep.side_effect = KeyboardInterrupt
        both = [self.suite(name, "sleep 60") for name in ("one", "other")]
        with mock.patch.object(suites, "time", clock), mock.patch.object(suites.proc, "time", clock):
            self.assertRaises(KeyboardInterrupt, suites.side_by_side, both, self.totals)
        self.assertEqual([suite.process.wait(60) for suite in begun], [-signal.SIGTERM] * 2)

    def test_interrupted_it_leaves_a_suite_the_time_to_end_its_clusters(self):
        end, clock, graces = suites.proc.end_groups, mock.Mock(wraps=time), []
        clock.sleep.side_effect = KeyboardInterrupt

        def noted(processes, grace_s=suites.proc.GRACE_S):
            # What has ended already needs none.
            graces.extend([grace_s] * len(processes))
            end(processes, grace_s)

        one, other = (self.suite(name, "sleep 60") for name in ("one", "other"))
        with mock.patch.object(suites.proc, "end_groups", noted):
            with mock.patch.object(subprocess.Popen, "wait", side_effect=KeyboardInterrupt):
                self.assertRaises(KeyboardInterrupt, suites.run, *one, self.totals)
            with mock.patch.object(suites, "time", clock):
                self.assertRaises(KeyboardInterrupt, suites.side_by_side, [other], self.totals)
        self.assertEqual(graces, [suites.GRACE_S] * 2)
        self.assertGreater(suites.GRACE_S, 3 * cluster.DOWN_GRACE_S)

    def test_what_a_failed_test_said_is_shown_however_far_from_the_end_it_is_and_no_more_than_is_bearable(self):
        said = ["---- estimate::odds::a_tie stdout ----", "panicked: 0.5 and 0"]
        log = ["ok"] * 500 + said + ["ok"] * 500
        shown = suites.told(log)
        self.assertEqual(shown[:2], said)
        self.assertEqual(len(shown), suites.LINES_OF_ONE + suites.TAIL_LINES)
        self.assertEqual(suites.told(log[:10]), log[:10])
        self.assertLessEqual(len(suites.told(said * 1000)), suites.LINES_OF_ALL + suites.TAIL_LINES)
