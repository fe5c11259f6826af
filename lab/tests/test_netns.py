import subprocess
import sys
import unittest

from lab import paths

# Whoever runs this, what follows is nobody's; and a process that gave up its rights may still look at itself.
NOBODY = """
import ctypes, json, os, sys
from lab import netns
from lab.progress import Failed
if os.geteuid() == 0:
    os.setgroups([])
    os.setgid(65534)
    os.setuid(65534)
    ctypes.CDLL(None).prctl(4, 1, 0, 0, 0)
"""
# Two namespaces, one made from within the other, as on a machine's first boot of a cluster.
MAKE = """
try:
    first, one = netns.create()
except Failed as failure:
    sys.exit(f"refused: {failure}")
netns.enter(first)
second, two = netns.create()
netns.enter(second)
assert netns.inode_of("self") == second["inode"] != first["inode"]
print(json.dumps(second), flush=True)
sys.stdin.readline()
one.kill()
two.kill()
"""
# Then one who comes from outside joins the second.
JOIN = """
space = json.loads(sys.argv[1])
assert netns.alive(space)
netns.enter(space)
print(netns.inode_of("self") == space["inode"])
"""


class Unprivileged(unittest.TestCase):
    def test_whoever_is_not_root_joins_a_namespace_made_by_an_earlier_command(self):
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
        how = {"text": True, "cwd": paths.ROOT}
        maker = subprocess.Popen([sys.executable, "-c", NOBODY + MAKE], **pipes, **how)
        with maker.stdin, maker.stdout, maker.stderr:
            space = maker.stdout.readline()
            if space:
                joined = subprocess.run([sys.executable, "-c", NOBODY + JOIN, space], capture_output=True, **how)
                maker.stdin.write("\n")
                maker.stdin.close()
                maker.wait()
                self.assertEqual(joined.stdout.strip(), "True", joined.stderr)
            else:
                maker.wait()
                self.assertIn("Run as root, or allow user namespaces", maker.stderr.read())


if __name__ == "__main__":
    unittest.main()
