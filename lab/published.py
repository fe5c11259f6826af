"""Hadoop's own published speculation tests, unchanged, with Drover's speculator chosen by the site files.

    python3 -m lab.published CASE MODE

One case in a network of its own, so that several can run at once. Modes: `native` (a service is configured, but nobody
listens there), `advise` and `act` (a service runs).
"""

import argparse
import re
import subprocess
import sys
import time

from lab import archives, build, conf, hadoop, http, jvm, paths, proc
from lab.cluster import SHORT_GRACE_S, Cluster
from lab.options import Options
from lab.progress import Failed, say, step
from lab.service import METRICS, SHIM, Service

MRAPP = "org.apache.hadoop.mapreduce.v2.TestSpeculativeExecutionWithMRApp"
MINI = "org.apache.hadoop.mapreduce.v2.TestSpeculativeExecution"
# Name: the class, what the case's name begins with, and how many masters of it have a speculator.
CASES = {
    "updates-exponential": (MRAPP, "testSpeculateSuccessfulWithUpdateEvents[0", 1),
    "silence-exponential": (MRAPP, "testSpeculateSuccessfulWithoutUpdateEvents[0", 1),
    "updates-legacy": (MRAPP, "testSpeculateSuccessfulWithUpdateEvents[1", 1),
    "silence-legacy": (MRAPP, "testSpeculateSuccessfulWithoutUpdateEvents[1", 1),
    "mini-cluster": (MINI, "testSpeculativeExecution", 2),
}
LONE = tuple(case for case, (of, _, _) in CASES.items() if of == MRAPP)
MODES = ("native", "advise", "act")
LIMIT_S = 600
HEAP_MB = 512
SETTINGS = {
    "yarn.app.mapreduce.am.job.speculator.class": "io.drover.shim.DroverSpeculator",
    "drover.service.urls": f"http://{SHIM}",
}
ALONE = re.compile(r"\[drover-exchange\].* Drover: no service answers: .*ConnectException: Connection refused")
ACCEPTED = re.compile(r"\[drover-exchange\].* session \w+ accepted by ")
COPIED = re.compile(r"TaskImpl: Scheduling a redundant attempt for task")
BY_HADOOP = re.compile(r"DefaultSpeculator: DefaultSpeculator.addSpeculativeAttempt -- we are speculating")


class Ground(Cluster):
    """A private network and site files, for a test that brings its own daemons."""

    def boot(self, options: Options) -> None:
        pass


def prepare() -> None:
    """Fetches and builds all that a case needs, but the service."""
    hadoop.fetch(hadoop.VERSION)
    archives.ensure(hadoop.VERSION)
    build.shim()
    build.upstream()


def command(ground: Ground, case: str, mode: str) -> list:
    """The JVM of a case: Hadoop's jars, the site files, the shim, and then the tests."""
    of, beginning, _ = CASES[case]
    words = [paths.java(), f"-Xmx{HEAP_MB}m", *jvm.LIGHT, *jvm.OPENS, f"-Djdk.net.hosts.file={ground.conf}/hosts"]
    words += [*ground.jvm.sharing("rm"), *ground.jvm.own()]
    class_path = ground.jvm.class_path(paths.SHIM_JAR, paths.UPSTREAM_JAR, f"{paths.UPSTREAM_JAR.parent}/lib/*")
    pages = [conf.RM_HTTP] if mode != "native" else []
    pages += [f"http://{METRICS}/metrics"] if mode == "act" else []
    return [*words, "-cp", class_path, "io.drover.upstream.Launcher", of, beginning, *pages]


def masters(ground: Ground) -> list:
    """The logs of the case's ApplicationMasters: its own, as MRApp is one, or those of its containers."""
    found = sorted(ground.dir.rglob("container_*_01_000001/syslog"))
    return found or [ground.logs / "published.log"]


def seen(ground: Ground, pattern: re.Pattern) -> int:
    """How many masters have said so."""
    return sum(bool(pattern.search(log.read_text(errors="replace"))) for log in masters(ground))


def finish(test: subprocess.Popen) -> None:
    try:
        code = test.wait(LIMIT_S)
    except subprocess.TimeoutExpired:
        raise Failed(f"not done after {LIMIT_S} s") from None
    if code != 0:
        raise Failed("Hadoop's own test failed")


def await_pages(ground: Ground) -> None:
    """Waits for the pages beside a test that has just been started, on a busy machine longer than a service would."""
    until = time.monotonic() + LIMIT_S
    while ground.alive("published") and time.monotonic() < until:
        try:
            ground.rm("/info")
            return
        except http.Unanswered:
            time.sleep(0.1)
    raise Failed("the pages beside the test did not come up")


def with_service(ground: Ground, case: str, mode: str) -> None:
    """The case beside a service, which must have done what its mode says in every master that has a speculator."""
    expected = CASES[case][2]
    ground.start("published", command(ground, case, mode))
    test = ground.children[-1]
    await_pages(ground)
    recording = ground.dir / "recording"
    service = Service(ground, f'mode = "{mode}"', words=("--record", recording)).start()
    finish(test)
    decided = service.get("/decisions")["decisions"]
    service.stop()
    say(f"    {len(decided)} decisions; recorded in {paths.shown(recording)}")
    require(seen(ground, ACCEPTED), expected, "sessions were accepted")
    if mode == "act":
        require(len(decided), expected, "copies were decided on")
        require(seen(ground, COPIED), expected, "masters started a copy")
        require(seen(ground, BY_HADOOP), 0, "masters let Hadoop's speculator start one")


def require(found: int, expected: int, what: str) -> None:
    if found != expected:
        raise Failed(f"{found} {what}, not {expected}")


def run(case: str, mode: str) -> None:
    """Runs a case; fails unless it passes with our class in every master that has a speculator."""
    ground = Ground(paths.TARGET / "published" / f"{case}-{mode}")
    words = [f"{key}={value}" for key, value in SETTINGS.items()]
    with step(f"{case}, {mode}", ground.logs / "published.log"):
        try:
            ground.up(Options(dir=str(ground.dir), set=words))
            if mode == "native":
                ground.start("published", command(ground, case, mode))
                finish(ground.children[-1])
                require(seen(ground, ALONE), CASES[case][2], "masters ran with Drover's speculator alone")
            else:
                with_service(ground, case, mode)
        finally:
            ground.down(quiet=True, grace_s=SHORT_GRACE_S)


def main() -> int:
    parser = argparse.ArgumentParser(prog="python3 -m lab.published", description=__doc__.splitlines()[0])
    parser.add_argument("case", choices=CASES)
    parser.add_argument("mode", choices=MODES)
    asked = parser.parse_args()
    proc.interrupt_on_signals()
    try:
        run(asked.case, asked.mode)
    except Failed as failure:
        say(f"failed: {failure}")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
