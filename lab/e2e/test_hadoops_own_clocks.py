"""Hadoop's own speculation tests that have no cluster, as published, pass with Drover's speculator in Hadoop's place.

Some cases run at once: most of their time they wait for a clock.
"""

from lab import published
from lab.e2e import own_tests


class Clocks(own_tests.Published):
    at_once = published.LONE


def a_test(case: str, mode: str):
    def test(self):
        self.passes(case, mode)

    return test


for _mode in own_tests.MODES:
    for _case in published.LONE:
        setattr(Clocks, f"test_{_case.replace('-', '_')}_passes_in_{_mode}_mode", a_test(_case, _mode))
