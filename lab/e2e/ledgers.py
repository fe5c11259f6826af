"""What tests of the ledger under mishaps share: disks that have them, and what a service says of its ledger then."""

import contextlib
import os
import shutil
import sqlite3
import subprocess
from pathlib import Path

from lab import http
from lab.e2e.unharmed import ACT, Unharmed
from lab.service import Service

DISK_BYTES = 4 << 20
# The tables that a job's rows come to.
TOLD_OF = ("decisions", "sent", "answers", "outcomes", "enrolments", "jobs", "calibration")


def rows(file: Path, ask: str, *values) -> list:
    """What a ledger holds, whoever else has it open."""
    with contextlib.closing(sqlite3.connect(f"file:{file}?mode=ro", uri=True)) as ledger:
        return ledger.execute(ask, values).fetchall()


def fill(directory: Path) -> Path:
    """Leaves no room on a disk; the file that takes it."""
    ballast = directory / "ballast"
    with ballast.open("wb", buffering=0) as out, contextlib.suppress(OSError):
        while True:
            out.write(b"\0" * 4096)
    return ballast


class Ledgers(Unharmed):
    def disk(self, name: str) -> Path:
        """A small file system of its own."""
        return self.mounted(name, "-t", "tmpfs", "-o", "size=1m", "drover-lab")

    def mounted(self, name: str, *what) -> Path:
        """Where something is mounted; who may mount nothing has no such tests."""
        at = self.cluster.dir / name
        at.mkdir(exist_ok=True)
        if at.is_mount():  # left by a run that was killed
            subprocess.run(["umount", "-l", str(at)], check=True)
        made = subprocess.run(["mount", *map(str, what), str(at)], capture_output=True, text=True)
        if made.returncode:
            self.skipTest(f"no file system can be mounted here: {made.stderr.strip()}")
        self.addCleanup(subprocess.run, ["umount", "-l", str(at)])
        return at

    def image(self, name: str) -> Path:
        """A disk to be mounted with `-o loop`, where there are such."""
        if not (Path("/dev/loop-control").exists() and shutil.which("mkfs.ext4")):
            self.skipTest("here is no loop device, or no mkfs.ext4")
        image = self.cluster.dir / f"{name}.img"
        image.touch()
        os.truncate(image, DISK_BYTES)
        subprocess.run(["mkfs.ext4", "-q", "-F", "-O", "^has_journal", str(image)], check=True)
        return image

    @staticmethod
    def give_up(disk: Path) -> None:
        """The kernel lets nobody write there any more, as after an error of the disk, whatever files are open."""
        subprocess.run(["mount", "-o", "remount,abort", str(disk)], check=True)

    def keeper(self, file: Path, settings: str = "", **how) -> Service:
        return self.service(f'ledger.path = "{file}"\n{settings}\n{ACT}', **how)

    def state(self, service: Service) -> str:
        return service.get("/status")["ledger"]["state"]

    def kept(self, service: Service, table: str = "") -> float:
        """Rows that the service has said it committed."""
        return self.among(service.metrics(), table)

    @staticmethod
    def among(metrics: dict, table: str) -> float:
        """The same among what it has answered."""
        name = f'drover_ledger_rows_total{{table="{table}"' if table else "drover_ledger_rows_total"
        return sum(count for series, count in metrics.items() if series.startswith(name))

    def lost(self, service: Service) -> float:
        """Rows that it could not write."""
        return service.metrics()['drover_ledger_dropped_total{reason="unwritable"}']

    def says(self, service: Service, kind: str, words: str) -> None:
        """Wherever an operator may look, the trouble is told of; and the service is ready all the same."""
        metrics = service.metrics()
        self.assertEqual(metrics["drover_ledger_active"], 0)
        self.assertGreater(metrics[f'drover_ledger_errors_total{{kind="{kind}"}}'], 0)
        self.assertGreater(self.lost(service), 0)
        self.assertIn(words, service.log.read_text())
        self.assertIn(words, http.get(f"http://{service.api}/readyz", "text/plain"))
        # Its table breaks lines.
        self.assertIn(words, " ".join(service.ask("doctor").stdout.split()))
