import tempfile
import unittest
from pathlib import Path

from lab import test


class Counts(unittest.TestCase):
    def counted(self, count, text: str) -> tuple:
        with tempfile.TemporaryDirectory() as directory:
            log = Path(directory) / "log"
            log.write_text(text)
            return count(log, 0)

    def test_cargo_adds_up_every_binary(self):
        text = "test result: ok. 3 passed; 0 failed; 1 ignored\ntest result: FAILED. 2 passed; 4 failed; 0 ignored\n"
        self.assertEqual(self.counted(test.count_cargo, text), (5, 4))

    def test_unittest_errors_and_failures_both_count_and_skips_do_not_pass(self):
        text = "Ran 9 tests in 1s\n\nFAILED (failures=1, errors=2, skipped=3)\n"
        self.assertEqual(self.counted(test.count_unittest, text), (3, 3))

    def test_each_hadoop_that_the_shim_is_compiled_against_counts(self):
        text = "hadoop 2.7.7    compiles\nhadoop 3.1.4    does not compile, see jvm-shim/target/compile-3.1.4.log\n"
        self.assertEqual(self.counted(test.count_compiled, text), (1, 1))

    def test_a_suite_that_breaks_without_a_failed_test_still_fails(self):
        totals = test.Totals()
        with tempfile.TemporaryDirectory() as directory:
            test.run("broken", ["sh", "-c", "exit 1"], Path(directory) / "log", test.count_cargo, totals)
            test.run("empty", ["true"], Path(directory) / "log", test.count_cargo, totals)
        self.assertEqual((totals.passed, totals.failed), (0, 2))

    def test_what_a_failed_test_said_is_shown_however_far_from_the_end_it_is_and_no_more_than_is_bearable(self):
        said = ["---- estimate::odds::a_tie stdout ----", "panicked: 0.5 and 0"]
        log = ["ok"] * 500 + said + ["ok"] * 500
        shown = test.told(log)
        self.assertEqual(shown[:2], said)
        self.assertEqual(len(shown), test.LINES_OF_ONE + test.TAIL_LINES)
        self.assertEqual(test.told(log[:10]), log[:10])
        self.assertLessEqual(len(test.told(said * 1000)), test.LINES_OF_ALL + test.TAIL_LINES)
