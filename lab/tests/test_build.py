import os
import tempfile
import unittest
import zipfile
from pathlib import Path

from lab import build


class Stale(unittest.TestCase):
    def test_a_jar_that_a_full_disk_cut_is_made_anew_however_new_it_is(self):
        with tempfile.TemporaryDirectory() as directory:
            module, product = Path(directory), Path(directory) / "made.jar"
            (module / "pom.xml").write_text("<project/>")
            os.utime(module / "pom.xml", (1, 1))
            self.assertTrue(build.stale(product, module))
            with zipfile.ZipFile(product, "w") as jar:
                jar.writestr("Main.class", "x" * 10_000)
            self.assertFalse(build.stale(product, module))
            os.truncate(product, product.stat().st_size - 1)
            self.assertTrue(build.stale(product, module))


if __name__ == "__main__":
    unittest.main()
