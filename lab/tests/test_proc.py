import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
import unittest
from pathlib import Path

from lab import proc
from lab.progress import Failed

FAMILY = "import subprocess, sys, time; subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(600)']); print(1, flush=True); time.sleep(600)"


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
        main = threading.main_thread().ident

        def interrupt_once_it_runs():
            while not self.log.is_file() or not self.log.read_text():
                time.sleep(0.01)
            signal.pthread_kill(main, signal.SIGINT)

        threading.Thread(target=interrupt_once_it_runs).start()
        with self.assertRaises(KeyboardInterrupt):
            proc.run([sys.executable, "-c", FAMILY], self.log)
        left = [pid for pid in proc.parents() if FAMILY[:40].encode() in self.command_line(pid)]
        self.assertEqual(left, [])

    @staticmethod
    def command_line(pid: int) -> bytes:
        try:
            return Path(f"/proc/{pid}/cmdline").read_bytes()
        except OSError:
            return b""

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
