import unittest

from lab import build, stage
from lab.e2e import OnCluster, unreachable


class OutOfReach(OnCluster):
    options = {"node_mb": stage.options("").node_mb, "set": [unreachable.EXPIRY]}

    @classmethod
    def setUpClass(cls):
        build.drover()
        build.shim()
        super().setUpClass()

    def test_what_cannot_be_made_again_yet_is_as_soon_as_the_end_of_its_container_is_not_waited_for(self):
        unreachable.Unreachable(self, untold=True).play().judge(self)


if __name__ == "__main__":
    unittest.main()
