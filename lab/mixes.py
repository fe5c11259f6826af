"""The jobs that are played on the real cluster and simulated, to see how far the one lies from the other."""

from lab.scenarios import MAPS, SCENARIOS, TEN_PLACES, Scenario

WORDS = SCENARIOS["word-count"]
MIXES = {
    "one-task": Scenario("one map", {**MAPS, "lab.maps": 1}),
    "one-slow-node": SCENARIOS["one-slow-node"],
    "two-slow-nodes": SCENARIOS["two-slow-nodes"],
    "forty-tasks": Scenario(
        "four waves of maps, one node of four five times slower",
        {**MAPS, "lab.maps": 40, "lab.map.ms": 3000, "lab.slow.nodes": "nm2:5"},
    ),
    "with-reduces": Scenario(
        "maps and reduces, one node of four eight times slower",
        {**MAPS, "lab.maps": 8, "lab.reduces": 2, "lab.reduce.ms": 4000, "lab.slow.nodes": "nm2:8"},
    ),
    # What a start takes of a throttled node, and what of the machine beside, no other mix of sleeping tasks tells.
    "throttled": Scenario(
        "maps that sleep, one node's processors throttled from outside",
        {**MAPS, "lab.maps": 10},
        throttled=(("nm2", 2.5),),
    ),
    "words": Scenario(
        "words of generated text are counted", {**TEN_PLACES, "lab.reduces": 2}, text_mb=24, text_files=10
    ),
    "word-count": WORDS,
}
