import atexit
import json
import os
import signal
import subprocess
import sys
import time
import unittest
from pathlib import Path

from lab import netns, paths, proc
from lab.cluster import Cluster

LIMIT_S = 500


class Lifecycle(unittest.TestCase):
    """From outside, as a user: this process joins no cluster's network."""

    @classmethod
    def setUpClass(cls):
        proc.interrupt_on_signals()

    def directory(self, name: str) -> Path:
        directory = paths.TARGET / "e2e" / name

        def down():
            Cluster(directory).down(quiet=True)

        down()  # that of a run that was killed outright
        self.addCleanup(self.dev, "down", "--dir", directory)
        # When it is interrupted unittest skips the cleanups of its tests.
        atexit.register(down)
        return directory

    def dev(self, *words, check: bool = True):
        command = [str(paths.ROOT / "dev"), "cluster", *map(str, words)]
        done = subprocess.run(command, capture_output=True, text=True, timeout=LIMIT_S, stdin=subprocess.DEVNULL)
        if check:
            self.assertEqual(done.returncode, 0, done.stderr)
        return done

    def inside(self, directory: Path) -> set:
        """The processes of a cluster, by the namespace in its state."""
        state = json.loads((directory / "state.json").read_text())
        return set(netns.members(state["space"]))

    def recorded(self, directory: Path) -> set:
        """The process ids of a cluster's daemons."""
        state = json.loads((directory / "state.json").read_text())
        return {process["pid"] for process in state["processes"].values()}

    def test_two_clusters_at_once_and_ending_one_leaves_the_other_whole(self):
        one, two = self.directory("one"), self.directory("two")
        self.dev("up", "--nodes", "1", "--dir", one)
        self.dev("up", "--nodes", "1", "--dir", two)
        first = self.inside(one)
        self.assertFalse(first & self.inside(two))
        self.dev("down", "--dir", one)
        self.assertEqual([pid for pid in first if proc.start_ticks(pid)], [])
        self.assertLessEqual(self.recorded(two), self.inside(two))
        status = json.loads(self.dev("status", "--json", "--dir", two).stdout)
        self.assertTrue(all(process["alive"] for process in status["processes"]))
        again = self.dev("up", "--nodes", "1", "--dir", two, check=False)
        self.assertEqual(again.returncode, 1)
        self.assertIn("already up", again.stderr)
        self.assertIn(f"./dev cluster down --dir {paths.shown(two)}", again.stderr)

    def booting(self, directory: Path) -> subprocess.Popen:
        """A boot under way, with daemons started."""
        words = [sys.executable, "-m", "lab", "cluster", "up", "--nodes", "2", "--dir", str(directory)]
        # Started in the background by a shell, a test runner may be deaf to SIGINT, and its children with it.
        hearing = {"preexec_fn": lambda: signal.signal(signal.SIGINT, signal.SIG_DFL)}
        script = subprocess.Popen(words, cwd=paths.ROOT, stderr=subprocess.DEVNULL, start_new_session=True, **hearing)
        atexit.register(lambda: script.poll() is None and proc.end_group(script))
        until = time.monotonic() + LIMIT_S
        while not (directory / "state.json").is_file() or len(self.inside(directory)) < 4:
            self.assertIsNone(script.poll(), "it ended on its own")
            self.assertLess(time.monotonic(), until)
            time.sleep(0.02)
        return script

    def test_a_boot_killed_outright_is_cleaned_up_by_down(self):
        directory = self.directory("killed")
        script = self.booting(directory)
        script.kill()
        script.wait()
        left = self.inside(directory)
        self.assertTrue(left)
        self.dev("down", "--dir", directory)
        self.assertEqual([pid for pid in left if proc.start_ticks(pid)], [])

    def test_ctrl_c_during_a_boot_leaves_nothing_running(self):
        directory = self.directory("interrupted")
        script = self.booting(directory)
        left = self.inside(directory)
        os.kill(script.pid, signal.SIGINT)
        self.assertEqual(script.wait(LIMIT_S), 130)
        self.assertEqual([pid for pid in left if proc.start_ticks(pid)], [])

    def test_a_directory_that_is_not_a_clusters_is_not_cleared(self):
        directory = self.directory("precious")
        directory.mkdir(parents=True, exist_ok=True)
        keep = directory / "thesis.txt"
        keep.write_text("mine")
        refused = self.dev("up", "--dir", directory, check=False)
        self.assertEqual(refused.returncode, 1)
        self.assertEqual(keep.read_text(), "mine")
        keep.unlink()

    def test_commands_without_a_cluster_say_how_to_start_one(self):
        refused = self.dev("status", "--dir", self.directory("absent"), check=False)
        self.assertEqual(refused.returncode, 1)
        self.assertIn("./dev cluster up", refused.stderr)


if __name__ == "__main__":
    unittest.main()
