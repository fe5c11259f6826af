"""The ways of running one job that the demo and the benches compare."""

from dataclasses import dataclass, field

NATIVE = "org.apache.hadoop.mapreduce.v2.app.speculate"
ESTIMATOR = "yarn.app.mapreduce.am.job.task.estimator.class"
RETRY = "mapreduce.job.speculative.retry-after-speculate"


def tuned(estimator: str) -> dict:
    """Hadoop's own speculator, ready for the next copy after one second instead of fifteen."""
    return {RETRY: 1000, ESTIMATOR: f"{NATIVE}.{estimator}"}


@dataclass(frozen=True)
class Arm:
    """Who starts copies: settings of the job, whether the shim is in its ApplicationMaster and the service acts, and by
    which policy if not by its default."""

    settings: dict = field(default_factory=dict)
    drover: bool = False
    policy: str = ""


ARMS = {
    "none": Arm({"mapreduce.map.speculative": "false", "mapreduce.reduce.speculative": "false"}),
    "native": Arm(),
    # Of Hadoop's estimators the one with the shortest jobs: `./dev bench act --only estimators`.
    "native-tuned": Arm(tuned("LegacyTaskRuntimeEstimator")),
    "drover": Arm(drover=True),
}
ESTIMATORS = {
    "legacy": Arm(tuned("LegacyTaskRuntimeEstimator")),
    "simple-exponential": Arm(tuned("SimpleExponentialTaskRuntimeEstimator")),
    "smoothed": Arm(tuned("ExponentiallySmoothedTaskRuntimeEstimator")),
}
# Drover acting, by each of the policies that might be its default.
POLICIES = {name: Arm(drover=True, policy=name) for name in ("late", "mantri", "drover")}
