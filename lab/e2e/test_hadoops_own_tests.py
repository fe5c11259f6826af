"""Hadoop's own speculation test on a cluster, as published, passes with Drover's speculator in Hadoop's place. It needs
the processors to itself."""

from lab.e2e import own_tests


class MiniCluster(own_tests.Published):
    def test_the_mini_cluster_passes_in_native_mode(self):
        self.passes("mini-cluster", "native")

    def test_the_mini_cluster_passes_in_act_mode(self):
        self.passes("mini-cluster", "act")
