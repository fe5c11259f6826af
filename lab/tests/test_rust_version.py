import json
import re
import subprocess
import unittest

from lab import paths


def told(*command) -> str:
    done = subprocess.run(command, cwd=paths.ROOT, capture_output=True, text=True)
    if done.returncode:
        raise AssertionError(f"{' '.join(command)}: {done.stderr}")
    return done.stdout


def ordered(version: str) -> tuple:
    return tuple(int(part) for part in version.split("."))[:2]


class RustVersion(unittest.TestCase):
    """The Rust that Cargo.toml asks for, and lab/prereq.sh with it."""

    def setUp(self):
        text = (paths.ROOT / "Cargo.toml").read_text()
        self.asked = re.search(r'^rust-version = "([0-9.]+)"$', text, re.M).group(1)

    def test_no_crate_of_the_lock_file_needs_a_later_one(self):
        host = re.search(r"^host: (\S+)$", told("rustc", "-vV"), re.M).group(1)
        words = ["--locked", "--all-features", "--format-version", "1", "--filter-platform", host]
        packages = json.loads(told("cargo", "metadata", *words))["packages"]
        needs = {f"{one['name']} {one['version']}": one["rust_version"] for one in packages if one["rust_version"]}
        later = {name: version for name, version in needs.items() if ordered(version) > ordered(self.asked)}
        self.assertEqual(later, {}, f"Cargo.toml asks for {self.asked}")
        self.assertGreater(len(needs), 100)

    def test_the_documents_ask_for_the_same(self):
        for name, times in (("README.md", 2), ("docs/install.md", 1)):
            named = re.findall(r"Rust(?: toolchain of)? (1\.[0-9]+) or later", (paths.ROOT / name).read_text())
            self.assertEqual(named, [self.asked] * times, name)


if __name__ == "__main__":
    unittest.main()
