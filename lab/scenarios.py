"""What `./dev bench act` runs: jobs that repeat, each with one way of being slow, on one cluster of four nodes."""

from dataclasses import dataclass, field, replace

from lab import conf
from lab.arms import ARMS, ESTIMATORS

NODES, NODE_MB = 4, 1024
SHORT, DEFAULT = "500ms", "default"
INTERVALS = {SHORT: {"mapreduce.task.progress-report.interval": 500}, DEFAULT: {}}
# The ApplicationMaster on a node that is never slow, so that no arm has it throttled.
AM_AWAY = {"mapreduce.job.am.strict-locality": f"{conf.rack(1)}/nm1"}
# Three tasks a node, and one beside the ApplicationMaster: ten in all, as many starting JVMs as two cores bear.
TEN_PLACES = {
    **AM_AWAY,
    "yarn.app.mapreduce.am.resource.mb": 512,
    "mapreduce.map.memory.mb": 320,
    "mapreduce.reduce.memory.mb": 320,
}
MAPS = {**TEN_PLACES, "lab.maps": 16, "lab.map.ms": 4000}
# Six tasks a node, and four beside the ApplicationMaster: all maps of such a job at once, and room for a few copies.
# Three begin beside the ApplicationMaster, and some other node has five, now the slow one and now another.
ONE_WAVE = {**MAPS, "mapreduce.map.memory.mb": 160, "yarn.app.mapreduce.am.resource.mb": 384}


@dataclass(frozen=True)
class Scenario:
    """One job, its arms, and how often each runs unless said otherwise."""

    about: str
    settings: dict
    arms: dict = field(default_factory=lambda: ARMS)
    rounds: int = 5
    tasks: int = 0  # where copies are counted by the task
    text_mb: float = 0  # a word count over so much generated text
    text_files: int = 10  # as many maps
    throttled: tuple = ()  # nodes held back from outside while it runs, and how many times
    asked: bool = False  # only where it is asked for by name
    # What differs at Hadoop's default interval, where short work is over before a report shows what is slow about it.
    at_default: dict = field(default_factory=dict)

    def more_at(self, interval: str) -> dict:
        """What a reporting interval adds to its settings."""
        return {**INTERVALS[interval], **(self.at_default if interval == DEFAULT else {})}


SCENARIOS = {
    "one-slow-node": Scenario("one node of four is ten times slower", {**ONE_WAVE, "lab.slow.nodes": "nm2:10"}),
    "two-waves": Scenario(
        "one node of four is ten times slower, and the second wave of maps leaves no room for a copy",
        {**MAPS, "lab.slow.nodes": "nm2:10"},
        asked=True,
    ),
    "two-slow-nodes": Scenario("two nodes of four are ten times slower", {**MAPS, "lab.slow.nodes": "nm2:10,nm3:10"}),
    "slow-reduces": Scenario(
        "reduces start early and wait for two waves of maps; two of the four are then eight times slower",
        {
            **TEN_PLACES,
            "lab.maps": 12,
            "lab.map.ms": 4000,
            "lab.reduces": 4,
            "lab.reduce.ms": 5000,
            "lab.slow.attempts": "r_1_0:8,r_3_0:8",
            "mapreduce.job.reduce.slowstart.completedmaps": 0.05,
        },
        # Reduces whose wait is seen: of one that waits for less than two intervals nothing is reported.
        at_default={"lab.map.ms": 12000},
    ),
    "turns-slow": Scenario(
        "a node turns ten times slower when the job's tasks, all at work, have done 60 % of it",
        {**MAPS, "lab.maps": 10, "lab.map.ms": 8000, "lab.slow.nodes": "nm2:10", "lab.slow.from.share": 0.6},
        # The second score, the first that can show a turn, 18 s after the work began, while a copy still pays.
        at_default={"lab.map.ms": 16000},
    ),
    "lands-slow": Scenario(
        "the slow node alone holds its tasks' input and has room: a copy asks for it again",
        {
            **AM_AWAY,
            "lab.maps": 8,
            "lab.map.ms": 4000,
            "lab.split.hosts": "nm1,nm2,nm3,nm4",
            "lab.slow.nodes": "nm2:10",
        },
    ),
    "more-data": Scenario(
        "one task has five times the data, and no node is slow",
        {**TEN_PLACES, "lab.maps": 10, "lab.map.ms": 4000, "lab.sizes": "m_5:5"},
    ),
    "healthy": Scenario(
        "nothing is slow; tasks differ by up to 15 % either way",
        {
            **TEN_PLACES,
            "lab.maps": 12,
            "lab.map.ms": 3000,
            "lab.reduces": 2,
            "lab.reduce.ms": 2000,
            "lab.jitter": 0.3,
        },
        arms={name: ARMS[name] for name in ("none", "drover")},
        rounds=30,
        tasks=14,
    ),
    "word-count": Scenario(
        "words of generated text are counted, one node's processors throttled from outside",
        {**TEN_PLACES, "lab.reduces": 2},
        text_mb=12,
        throttled=(("nm2", 2.5),),
    ),
    "estimators": Scenario(
        "one node of four is ten times slower: which of Hadoop's estimators is the best",
        {**ONE_WAVE, "lab.slow.nodes": "nm2:10"},
        arms=ESTIMATORS,
        asked=True,
    ),
}

# The demo's two jobs, small enough for three rounds in all four arms within ten minutes: most of a small job's time is
# the start of its JVMs, so there are few.
DEMO = {
    "equal-tasks": Scenario(
        "6 equal maps of 1.2 s, one node of four ten times slower",
        {**TEN_PLACES, "lab.maps": 6, "lab.map.ms": 1200, "lab.slow.nodes": "nm2:10"},
    ),
    "word-count": replace(SCENARIOS["word-count"], settings={**TEN_PLACES, "lab.reduces": 1}, text_mb=4, text_files=6),
}
# One round of them within four minutes.
QUICK_DEMO = {**DEMO, "word-count": replace(DEMO["word-count"], text_mb=2, text_files=4)}
