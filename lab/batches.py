"""What `./dev bench live` runs: batches of jobs on one cluster, the same jobs in every arm."""

import json
import math
from dataclasses import dataclass, field, replace
from typing import Callable

from lab import draws
from lab.arms import ARMS, Arm
from lab.scenarios import DEFAULT, INTERVALS, NODE_MB, ONE_WAVE, SHORT, TEN_PLACES


@dataclass(frozen=True)
class Planned:
    """One job of a batch: its settings, and when it is submitted."""

    name: str
    kind: str  # what is judged apart
    tasks: int
    settings: dict
    wave: int = 0  # a wave begins when all jobs of the one before have ended
    at: float = 0.0  # seconds after its wave's beginning
    loses: tuple = ()  # a node that is lost while it runs, and how many maps must have succeeded first


@dataclass(frozen=True)
class Batch:
    """The jobs of a round, its arms, and how often they are played unless said otherwise."""

    about: str
    jobs: Callable[[int], list] = field(repr=False)  # of a round; the names are the same in each
    arms: dict
    rounds: int
    minutes: int  # about so long it takes on two processors, all rounds
    interval: str = SHORT
    service: dict = field(default_factory=dict)  # Drover's settings besides the mode
    node_mb: int = NODE_MB
    verdicts: bool = False  # Drover is asked for its verdicts while jobs run
    cluster: tuple = ()  # what is set for its cluster, KEY=VALUE
    anew: bool = False  # Drover's service begins anew for each wave: no job's slow node is known from another's
    stretch: float = 1.0  # jobs arrive over so many times as long as drawn

    def stretched(self, by: float) -> "Batch":
        """The same jobs, which arrive over so many times as long: where starts of JVMs take more of the processors."""

        def later(number: int) -> list:
            return [replace(one, at=round(one.at * by, 2)) for one in self.jobs(number)]

        return replace(self, jobs=later, stretch=self.stretch * by, minutes=math.ceil(self.minutes * by))

    def settings(self, planned: Planned, arm: str, interval: str) -> dict:
        """What a job of it is submitted with in an arm."""
        chosen = self.arms[arm]
        own = planned.settings
        if arm == NO_STRAGGLERS:
            own = {key: value for key, value in own.items() if not key.startswith("lab.slow.")}
        return {**own, **INTERVALS[interval], **chosen.settings}

    def toml(self) -> str:
        """The service's settings as lines of its file."""
        return "\n".join(f"{key} = {json.dumps(value)}" for key, value in self.service.items())


# As `none`, and nothing is slow: what the jobs take without stragglers.
NO_STRAGGLERS = "no-stragglers"

# Dolly: jobs of one to four maps of 20 s, at most twelve containers beside the masters' however much is cloned.
PLACES, STRAGGLES, TIMES, EPSILON = 12, 0.15, (3, 8), 0.05
DOLLY_SIZES = (4, 3, 2, 2, 1, 1)
DOLLY_MAPS = {"lab.map.ms": 20_000, "mapreduce.map.memory.mb": 128, "yarn.app.mapreduce.am.resource.mb": 256}
DOLLY_SERVICE = {
    # Clones as Dolly's where they are admitted, and else what Drover does anyway: its default policy.
    "policy": "drover",
    # p is what is known to be drawn here. As shipped it is unknown, and nothing cloned, until 100 tasks have shown it,
    # more than a batch has.
    "dolly.prior": STRAGGLES,
    # Sixteen of the cluster's 32 places of 128 MiB, for the twelve that a group's clones take at most; as shipped it is
    # one place in twenty.
    "dolly.beta": 0.5,
    # Not set, as they do not bind: dolly.tau (.8 of the memory; twelve containers and three masters take .56),
    # govern.cluster_floor (ten copies; eight at most beside first attempts), act.waiting_copies (eight, the same).
}


def unlucky(slow: str) -> dict:
    """The setting for slow attempts; none where luck has none, as an empty list is not said on a command line."""
    return {"lab.slow.attempts": slow} if slow else {}


def places_of(tasks: int) -> int:
    """Containers that the tasks of a job hold when it is cloned."""
    return tasks * draws.copies_of_each(tasks, STRAGGLES, EPSILON)


def dolly(number: int) -> list:
    found = []
    for wave, sizes in enumerate(draws.packed(list(DOLLY_SIZES), places_of, PLACES)):
        for tasks in sizes:
            nth = 1 + sum(one.tasks == tasks for one in found)
            name = f"{tasks}-tasks-{nth}"
            slow = draws.slow_attempts(draws.chance("dolly", number, name), tasks, STRAGGLES, TIMES)
            settings = {**DOLLY_MAPS, "lab.maps": tasks, **unlucky(slow)}
            found.append(Planned(name, "small-jobs", tasks, settings, wave))
    return found


def in_turn(rows: list) -> list:
    """Jobs one after the other."""
    return [
        Planned(f"{kind}-{nth}", kind, tasks, settings, wave=nth) for nth, (kind, tasks, settings) in enumerate(rows)
    ]


# Of a job on each node, by round. What a job takes on two processors is mostly the start of its JVMs where its maps are
# short, whatever is done about slow ones: so these work for ten and eight seconds.
MANTRI_SIZES = ((24, 40), (40, 28), (32, 36), (28, 32))
# Eighteen maps run at once, and are done after some seventeen seconds; those of the second wave have begun their work.
TURNS_AFTER_MS = 25_000


def mantri(number: int) -> list:
    """More tasks than places, so that some wait when the first are seen to be slow."""
    slow_node, turns_slow = MANTRI_SIZES[number % len(MANTRI_SIZES)]
    whole = {**ONE_WAVE, "lab.slow.nodes": "nm2:10"}
    slow = {**whole, "lab.map.ms": 10_000, "lab.maps": slow_node}
    turns = {**whole, "lab.map.ms": 8000, "lab.maps": turns_slow, "lab.slow.after.ms": TURNS_AFTER_MS}
    return in_turn([("slow-node", slow_node, slow), ("turns-slow", turns_slow, turns)])


def data(_number: int) -> list:
    whole = {**TEN_PLACES, "lab.map.ms": 4000, "lab.sizes": "m_5:5"}
    return in_turn([("more-data", tasks, {**whole, "lab.maps": tasks}) for tasks in (8, 10, 12)])


def healthy(number: int) -> list:
    """Twelve maps in ten places, and two reduces; tasks differ by up to 15 % either way, otherwise in each job."""
    whole = {**TEN_PLACES, "lab.maps": 12, "lab.map.ms": 6000, "lab.reduces": 2, "lab.reduce.ms": 3000}
    jittered = {**whole, "lab.jitter": 0.3}
    return in_turn([("healthy", 14, {**jittered, "lab.seed": 100 * number + nth + 1}) for nth in range(4)])


MIX_WITHIN_S, MIX_SLOW_SHARE = 175, 0.05
MIX_MAPS = {"mapreduce.map.memory.mb": 128, "yarn.app.mapreduce.am.resource.mb": 256, "lab.slow.nodes": "nm2:3"}


def mix(number: int) -> list:
    sizes = draws.mixed(number)
    times = draws.arrivals(draws.chance("arrivals", number), len(sizes), MIX_WITHIN_S)
    found = []
    for nth, ((tasks, map_ms), at) in enumerate(zip(sizes, times)):
        slow = draws.slow_attempts(draws.chance("mix", number, nth), tasks, MIX_SLOW_SHARE, TIMES)
        settings = {**MIX_MAPS, "lab.maps": tasks, "lab.map.ms": map_ms, **unlucky(slow)}
        found.append(Planned(f"job-{nth}", "mix", tasks, settings, at=at))
    return found


# Ten maps, three of them on the node that is lost, and one with six times the data, which alone still runs then: so no
# reduce has begun, and none is given a place there.
LOST = "nm2"
LOST_MAPS = {
    **TEN_PLACES,
    "lab.maps": 10,
    "lab.map.ms": 2500,
    "lab.sizes": "m_9:6",
    "lab.split.hosts": "nm2,nm2,nm2,nm3,nm3,nm3,nm4,nm4,nm1,nm4",
    "lab.reduce.ms": 2000,
    "mapreduce.job.reduce.slowstart.completedmaps": 1.0,
    # As shipped a reduce tries for three minutes (180000) before it says that a connection was refused.
    "mapreduce.reduce.shuffle.connect.timeout": 2000,
}


def lost_node(_number: int) -> list:
    """Of two reduces Hadoop needs each one's word and another one; of four their first words are enough for it."""
    rows = [("two-reduces", 2), ("four-reduces", 4)]
    return [
        Planned(kind, kind, 10 + reduces, {**LOST_MAPS, "lab.reduces": reduces}, wave=nth, loses=(LOST, 9))
        for nth, (kind, reduces) in enumerate(rows)
    ]


LIVE = {
    "dolly": Batch(
        "jobs of one to four maps of 20 s, each attempt slow with probability .15 by 3 to 8 times, on whatever node",
        dolly,
        arms={**ARMS, NO_STRAGGLERS: Arm(ARMS["none"].settings)},
        rounds=3,
        minutes=34,
        # Clones need no reports: Hadoop's own is wholly as it is shipped.
        interval=DEFAULT,
        service=DOLLY_SERVICE,
    ),
    "mantri": Batch(
        "jobs of 24 to 40 maps, one node of four ten times slower, or turning so in the middle of the job",
        mantri,
        arms=ARMS,
        rounds=3,
        minutes=38,
        # Restarts are only done where they are asked for, and are half of the policy; and what is restarted makes room
        # on the slow node, which the job's other tasks are to keep off.
        service={"policy": "mantri", "act.restart": True, "act.avoid": True, "blacklist.beside": True},
        # The node that turns slow is the one that the job before has shown to be.
        anew=True,
    ),
    "data": Batch("one task of 8 to 12 has five times the data", data, ARMS, rounds=3, minutes=22, verdicts=True),
    "healthy": Batch("nothing is slow", healthy, ARMS, rounds=4, minutes=35),
    "mix": Batch(
        "60 jobs of 1 to 7 maps that come as SWIM's do, one node three times slower and one attempt in twenty 3 to 8",
        mix,
        ARMS,
        rounds=3,
        minutes=39,
        # Jobs share the processors, and not the memory: none waits for its master.
        node_mb=2048,
        # Each NodeManager looks through all processes of the machine every three seconds, of which there are hundreds.
        cluster=("yarn.nodemanager.container-monitor.enabled=false",),
    ),
    "lost-node": Batch(
        "a node's NodeManager is killed when its maps have succeeded and before any reduce begins",
        lost_node,
        arms=ARMS,
        rounds=5,
        minutes=38,
        service={"act.rerun": True},
        # As shipped, and not the lab's ten seconds: Hadoop's own answer to the loss within it is its reduces' words.
        cluster=("yarn.nm.liveness-monitor.expiry-interval-ms=600000",),
    ),
}
