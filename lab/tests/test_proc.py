import os
import signal
import subprocess
import tempfile
import threading
import time
import unittest
from pathlib import Path

from lab import proc
from lab.progress import Failed

FAMILY = "sleep 600 & echo $$; wait"


class Processes(unittest.TestCase):
    def setUp(self):
        self.directory = tempfile.TemporaryDirectory()
        self.addCleanup(self.directory.cleanup)
        self.log = Path(self.directory.name) / "log"

    def test_a_failure_names_its_log(self):
        with self.assertRaises(Failed) as caught:
            proc.run(["sh", "-c", "echo why; exit 3"], self.log)
        self.assertIn("status 3", str(caught.exception))
        self.assertIn(str(self.log), str(caught.exception))
        self.assertEqual(self.log.read_text(), "why\n")

    def test_a_missing_program_is_a_failure_not_a_crash(self):
        with self.assertRaises(Failed) as caught:
            proc.run(["no-such-program-here"], self.log)
        self.assertIn("no-such-program-here", str(caught.exception))

    def test_leaving_early_ends_the_command_and_its_children(self):
        # Started in the background by a shell, a test runner may be deaf to SIGINT.
        self.addCleanup(signal.signal, signal.SIGINT, signal.signal(signal.SIGINT, signal.default_int_handler))
        main = threading.main_thread().ident
        seen = []

        def interrupt_once_both_run():
            while len(seen) < 2:
                group = self.log.read_text().strip() if self.log.is_file() else ""
                seen[:] = proc.group_members(int(group)) if group else []
                time.sleep(0.01)
            signal.pthread_kill(main, signal.SIGINT)

        threading.Thread(target=interrupt_once_both_run, daemon=True).start()
        with self.assertRaises(KeyboardInterrupt):
            proc.run(["sh", "-c", FAMILY], self.log, timeout_s=60)
        self.assertEqual(proc.group_members(int(self.log.read_text())), [])

    def test_a_command_deaf_to_the_request_is_killed(self):
        deaf = proc.spawn(["sh", "-c", "trap '' TERM; echo up; sleep 600 & wait; wait"], self.log)
        while not self.log.read_text():
            time.sleep(0.01)
        proc.end_group(deaf, grace_s=0.3)
        self.assertEqual(deaf.returncode, -signal.SIGKILL)
        self.assertEqual(proc.group_members(deaf.pid), [])

    def test_an_id_given_to_another_process_is_not_mistaken_for_it(self):
        child = subprocess.Popen(["sleep", "600"])
        ticks = proc.start_ticks(child.pid)
        self.assertIsNotNone(ticks)
        self.assertEqual(proc.wait_gone({child.pid: ticks}, 0), {child.pid: ticks})
        self.assertEqual(proc.wait_gone({child.pid: ticks + 1}, 0), {})
        child.kill()
        child.wait()
        self.assertIsNone(proc.start_ticks(child.pid))
        self.assertIn(os.getpid(), proc.parents())
