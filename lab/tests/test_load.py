import subprocess
import sys
import time
import unittest
from types import SimpleNamespace

from lab import load

BURN = "import time\nwhile time.process_time() < 0.3: pass"


class Load(unittest.TestCase):
    # A namespace with nothing in it: what is left is this process and its children.
    cluster = SimpleNamespace(state={"space": {"inode": -1}})

    def test_what_this_process_and_its_ended_children_use_is_the_clusters_own(self):
        before, began = load.own(self.cluster), time.process_time()
        while time.process_time() < began + 0.2:
            pass
        subprocess.run([sys.executable, "-c", BURN], check=True)
        self.assertGreaterEqual(load.own(self.cluster) - before, 0.49)

    def test_a_living_process_counts_with_its_ended_children(self):
        script = (
            f"import subprocess, sys; subprocess.run([sys.executable, '-c', {BURN!r}]); print(1, flush=True); input()"
        )
        words = [sys.executable, "-c", script]
        with subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as child:
            child.stdout.readline()
            self.assertGreaterEqual(load.used_by(child.pid), 0.29)
            child.communicate(b"\n")
        self.assertEqual(load.used_by(child.pid), 0)

    def test_a_share_is_one_of_the_machine_whole(self):
        busy, whole = load.machine()
        self.assertTrue(0 < busy <= whole)
        foreign = load.Foreign(self.cluster)
        time.sleep(0.05)
        self.assertTrue(0 <= foreign.share() <= 1)


if __name__ == "__main__":
    unittest.main()
