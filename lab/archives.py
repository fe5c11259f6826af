"""Class data archives, made once for each Hadoop version and JDK by a cluster that runs one small job.

Each JVM of that cluster writes, as it ends, the classes it had loaded. A JVM that cannot use an archive runs without.
The job consists of Hadoop's own classes: an archive is good only while every jar it was made from is unchanged.
"""

import shutil
import time
from pathlib import Path

from lab import conf, http, jobs, paths, proc
from lab.cluster import Cluster
from lab.jvm import HEAP_MB, archive
from lab.options import Options
from lab.progress import Failed, say

# Nobody waits for it but where two cores have other work, and a NodeManager's archive was cut short after 60 s.
WRITING_LIMIT_S = 240
# A NodeManager gives a master that has said farewell a quarter of a second to end; it has an archive to write. The
# NodeManager's own end waits as long.
PATIENT = ["yarn.nodemanager.sleep-delay-before-sigkill.ms=10000"]
TRIES = 2


def ensure(version: str) -> None:
    with paths.locked(f"archives-{version}"):
        directory = archive(version, "rm").parent
        if (directory / "made").is_file():
            return
        shutil.rmtree(directory.parent, ignore_errors=True)  # those of another JDK or other jars
        directory.mkdir(parents=True)
        say("==> making class data archives, once: JVMs start twice as fast with them")
        # A loaded machine can cost the small job its master, and with it an archive; one more try is cheaper than slow
        # starts ever after.
        for _ in range(TRIES):
            try:
                train(version)
            except Failed as failure:
                say(f"    not all were made: {failure}")
            missing = [role for role in HEAP_MB if not whole(archive(version, role))]
            if not missing:
                break
            say(f"    no archive for: {', '.join(missing)}, so those starts are slower")
        (directory / "made").touch()


def whole(file: Path) -> bool:
    """Whether the JVM has written it to its end: what it begins with, it writes last."""
    try:
        with open(file, "rb") as content:
            return any(content.read(4))
    except OSError:
        return False


def train(version: str) -> None:
    cluster = Cluster(paths.TARGET / "training" / version, train=True)
    shutil.rmtree(cluster.dir, ignore_errors=True)
    try:
        cluster.up(Options(dir=str(cluster.dir), nodes=1, node_mb=1024, hdfs=True, hadoop=version, set=PATIENT))
        word_count(cluster)
        reduces = sorted(archive(version, "reduce").parent.glob("reduce-*.jsa"))
        if reduces:  # the first is whole; the job's end cuts the last one short
            reduces[0].rename(archive(version, "reduce"))
            for cut_short in reduces[1:]:
                cut_short.unlink()
        until = time.monotonic() + WRITING_LIMIT_S
        while not whole(archive(version, "am")) and time.monotonic() < until:
            time.sleep(0.2)
    finally:
        cluster.down(quiet=True, grace_s=WRITING_LIMIT_S)


def word_count(cluster: Cluster) -> None:
    """One map, then two reduces one by one, over a file of ours, submitted by Hadoop's own client."""
    text = cluster.dir / "text"
    text.write_text("a few words, and a few more words\n" * 1000)
    lib = "org.apache.hadoop.mapreduce.lib"
    settings = {
        "mapred.mapper.new-api": "true",
        "mapred.reducer.new-api": "true",
        "mapreduce.job.map.class": f"{lib}.map.TokenCounterMapper",
        "mapreduce.job.reduce.class": f"{lib}.reduce.IntSumReducer",
        "mapreduce.job.output.key.class": "org.apache.hadoop.io.Text",
        "mapreduce.job.output.value.class": "org.apache.hadoop.io.IntWritable",
        "mapreduce.input.fileinputformat.inputdir": f"file://{text}",
        "mapreduce.output.fileoutputformat.outputdir": f"file://{cluster.dir}/out",
        "mapreduce.task.progress-report.interval": 200,
        "mapreduce.job.reduces": 2,
        "mapreduce.job.running.reduce.limit": 1,
    }
    file = cluster.dir / "job.xml"
    file.write_text(conf.site(settings))
    words = cluster.jvm.client("org.apache.hadoop.mapred.JobClient", ["-submit", str(file)])
    proc.run(words, cluster.logs / "submit.log", cluster.environment(), cluster.dir)
    (app,) = http.listed(cluster.rm("/apps")["apps"]["app"])
    jobs.history(cluster, app["id"].replace("application_", "job_"))
