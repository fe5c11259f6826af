import os
import shutil
import subprocess
import tempfile
import unittest
from pathlib import Path

from lab import paths

# Of the machine only these: what is not among them is not there.
TOOLS = ("bash", "chmod", "cp", "grep", "id", "mkdir", "mv", "rm", "tr")


class Prereq(unittest.TestCase):
    """What ./dev does about what a machine lacks, on a machine of stand-ins."""

    def setUp(self):
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        self.root = Path(directory.name)
        self.bin = self.root / "bin"
        self.bin.mkdir()
        for tool in TOOLS:
            (self.bin / tool).symlink_to(shutil.which(tool))

    def stand_in(self, program: str, script: str) -> None:
        (self.bin / program).write_text(f"#!{self.bin}/bash\n{script}\n")
        (self.bin / program).chmod(0o755)

    def asked(self, script: str) -> subprocess.CompletedProcess:
        """What the functions of prereq.sh answer."""
        script = f"set -euo pipefail\nroot={self.root}\n. {paths.ROOT}/lab/prereq.sh\n{script}"
        environment = {**os.environ, "PATH": str(self.bin)}
        return subprocess.run([self.bin / "bash", "-c", script], env=environment, capture_output=True, text=True)

    def unpack(self, dpkg: str) -> int:
        """Fetches promtool and the server with that for the end of dpkg's work."""
        self.stand_in("apt-get", "echo packed >prometheus_2_amd64.deb")
        programs = "usr/bin/promtool usr/bin/prometheus"
        self.stand_in("dpkg", f"mkdir -p usr/bin; for it in {programs}; do echo >$it; chmod +x $it; done; {dpkg}")
        return self.asked("has_prometheus || unpack_prometheus").returncode

    def installed(self, *known: str) -> str:
        """What apt is asked to install where a JDK and a compiler are missing, and its fetched lists name these."""
        fetched, asked = self.root / "fetched", self.root / "asked"
        self.stand_in(
            # Of a name that another package only mentions it shows nothing, and ends with 0 all the same.
            "apt-cache",
            f'[ ! -e {fetched} ] || case " {" ".join(known)} " in *" $2 "*) echo "Package: $2" ;; esac',
        )
        self.stand_in("apt-get", f'[ "$1" != update ] || echo >{fetched}; [ "$1" != install ] || echo "$*" >{asked}')
        for program in ("mvn", "python3", "ip", "openssl", "unshare"):
            self.stand_in(program, "exit 0")
        script = "find_jdk() { :; }; mapfile -t missing < <(missing_packages); install_packages ${missing[@]}"
        done = self.asked(script)
        self.assertEqual(done.returncode, 0, done.stderr)
        return asked.read_text().split("recommends ")[1].strip()

    def test_where_apt_has_no_jdk_17_its_default_is_installed(self):
        jdk_17, default = "openjdk-17-jdk-headless", "default-jdk-headless"
        self.assertEqual(self.installed(default), f"{default} gcc libc6-dev")
        (self.root / "fetched").unlink()
        # Of another release the default may be too old.
        self.assertEqual(self.installed(default, jdk_17), f"{jdk_17} gcc libc6-dev")

    def test_programs_of_prometheus_that_a_full_disk_cut_are_not_taken_for_whole(self):
        self.assertEqual(self.unpack("exit 2"), 1)
        self.assertNotEqual(self.asked("has_prometheus").returncode, 0)
        self.assertEqual(self.unpack("true"), 0)
        self.assertEqual(self.asked("has_prometheus").returncode, 0)
        self.assertEqual([entry.name for entry in (self.root / "target/prometheus").iterdir()], ["usr"])

    def test_rusts_and_javas_tests_are_not_refused_for_want_of_prometheus(self):
        asked = {
            words: self.asked(f"uses_prometheus {words}").returncode == 0
            for words in ("test", "test python rust", "test e2e --only act", "test rust java", "test --explore", "lint")
        }
        self.assertEqual([words for words, needed in asked.items() if needed], list(asked)[:3])


if __name__ == "__main__":
    unittest.main()
