import os
import tempfile
import unittest
from pathlib import Path
from unittest import mock

from lab import paths, test
from lab.progress import Failed


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

    def test_no_file_of_end_to_end_tests_is_left_out_or_run_twice_and_the_longest_begin_first(self):
        names = [file.stem[5:] for file in test.E2E.glob("test_*.py")]
        self.assertLessEqual({*test.LONGEST, *test.ALONE, *test.IDLE}, set(names))
        alone, others, idle = test.in_order(names)
        self.assertEqual(sorted(alone + others + idle), sorted(names))
        self.assertEqual(tuple(others[: len(test.LONGEST)]), test.LONGEST)
        self.assertEqual(test.in_order(["watch", "troubles"]), ([], ["troubles", "watch"], []))


class OnlyOne(unittest.TestCase):
    def patched(self, patch) -> None:
        patch.start()
        self.addCleanup(patch.stop)

    def test_a_second_run_in_the_same_checkout_is_refused_and_runs_nothing(self):
        directory, ran = tempfile.TemporaryDirectory(), []
        self.addCleanup(directory.cleanup)
        self.patched(mock.patch.object(paths, "TARGET", Path(directory.name)))
        self.patched(mock.patch.object(test, "java", ran.append))
        self.patched(mock.patch.dict(os.environ))
        self.patched(mock.patch("builtins.print"))
        with test.only_one(), self.assertRaises(Failed) as caught:
            test.main(["java"])
        self.assertEqual((str(caught.exception), ran), ("another ./dev test runs in this checkout", []))
        test.main(["java"])
        self.assertEqual(len(ran), 1)
