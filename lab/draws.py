"""What the live benches draw in advance: which attempts are slow, which jobs run side by side, and when jobs arrive.

Everything is drawn from a fixed seed, so that each arm of a round meets the same luck, and every start of a bench the
same jobs.
"""

import math
import random

SEED = 20261125
# A task's attempts for which luck is drawn: more than any arm gives it.
ATTEMPTS = 8

# SWIM's FB-2010 sample (SWIMProjectUCB/SWIM, workloadSuite, FB-2010_samples_24_times_1hr_0.tsv), with splits of 128 MB:
# of its 24,442 jobs 65 % have one map, 70 % at most four, 74 % at most ten, 77 % at most twenty, 89 % at most 150.
# What the lab cannot run stands among the large ones: 48 of 60 jobs have one map, 54 in all at most two, 57 at most
# three, and the largest seven. That is a smaller mean than SWIM's by far: each job costs a master, 2.2 s of a
# processor, each map a JVM, 1.1 s, and what two processors cannot start while it arrives is no load but a queue.
MIX_SIZES = (1,) * 48 + (2,) * 6 + (3,) * 3 + (4,) * 2 + (7,)
MIX_TASK_MS = (3000, 6000)


def chance(*place) -> random.Random:
    """Random numbers that belong to one place of a bench, the same in every process."""
    return random.Random(" ".join(map(str, (SEED, *place))))


def slow_attempts(draw: random.Random, tasks: int, share: float, times: tuple) -> str:
    """`lab.slow.attempts` of a job's maps: each attempt slow with that probability, by a factor between two bounds."""
    found = []
    for task in range(tasks):
        for attempt in range(ATTEMPTS):
            # Both are always drawn, so that one attempt's luck moves no other's.
            slow, factor = draw.random() < share, draw.uniform(*times)
            if slow:
                found.append(f"m_{task}_{attempt}:{factor:.1f}")
    return ",".join(found)


def copies_of_each(tasks: int, share: float, epsilon: float) -> int:
    """The least number c of attempts of each task so that a job of so many straggles with a probability below epsilon,
    1 − (1 − p^c)^n (Dolly, NSDI'13, §3.1)."""
    if not 0 < share < 1:
        raise ValueError(f"{share}: a probability between 0 and 1")
    copies = 1
    while -math.expm1(tasks * math.log1p(-(share**copies))) >= epsilon:
        copies += 1
    return copies


def packed(sizes: list, needs, places: int) -> list:
    """Jobs of so many tasks in groups that run side by side, the largest first: each goes to the first group in which
    what they need in all stays within so many places. Answers the sizes of each group."""
    groups = []
    for size in sorted(sizes, reverse=True):
        if needs(size) > places:
            raise ValueError(f"a job of {size} tasks needs {needs(size)} of {places} places")
        room = (group for group in groups if sum(map(needs, group)) + needs(size) <= places)
        group = next(room, None)
        if group is None:
            groups.append([size])
        else:
            group.append(size)
    return groups


def arrivals(draw: random.Random, count: int, within_s: float) -> list:
    """When so many jobs arrive, the first at once, the last after `within_s`: exponential gaps between them, stretched
    to fit. SWIM's own come in bursts (coefficient of variation 6.7), which two processors could not take."""
    gaps = [draw.expovariate(1) for _ in range(count - 1)]
    stretch, at = within_s / sum(gaps), [0.0]
    for gap in gaps:
        at.append(at[-1] + gap * stretch)
    return [round(one, 2) for one in at]


def mixed(number: int) -> list:
    """The sizes of a mix's jobs in the order of their arrival, and the milliseconds of their maps."""
    draw, sizes = chance("mix", number), list(MIX_SIZES)
    draw.shuffle(sizes)
    return [(size, round(draw.uniform(*MIX_TASK_MS))) for size in sizes]
