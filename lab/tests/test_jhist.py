import json
import tempfile
import unittest
from pathlib import Path

from lab import jhist

OF = "org.apache.hadoop.mapreduce.jobhistory"


def line(kind: str, record: str, **event) -> str:
    return json.dumps({"type": kind, "event": {f"{OF}.{record}": event}})


def started(attempt: str, at: int) -> str:
    where = {"trackerName": "nm1", "taskid": attempt[:2]}
    return line("MAP_ATTEMPT_STARTED", "TaskAttemptStarted", attemptId=attempt, startTime=at, **where)


class History(unittest.TestCase):
    def read(self, *lines: str) -> dict:
        with tempfile.TemporaryDirectory() as directory:
            file = Path(directory) / "job.jhist"
            file.write_text("\n".join(["Avro-Json", "{}", *lines]) + "\n")
            return {one.id: one for one in jhist.attempts(file)}

    def test_each_attempt_that_was_launched_has_its_node_times_and_end(self):
        found = self.read(
            started("t1_0", 1000),
            started("t1_1", 2000),
            started("t2_0", -1),
            line("MAP_ATTEMPT_KILLED", "TaskAttemptUnsuccessfulCompletion", attemptId="t1_0", finishTime=4000).replace(
                "4000", '4000, "status": "KILLED"'
            ),
            line("MAP_ATTEMPT_FINISHED", "MapAttemptFinished", attemptId="t1_1", finishTime=3000),
        )
        self.assertEqual(
            [(one.id, one.task, one.node, one.state, one.seconds) for one in found.values()],
            [("t1_0", "t1", "nm1", "KILLED", 3), ("t1_1", "t1", "nm1", "SUCCEEDED", 1)],
        )

    def test_an_attempt_without_an_end_was_killed_as_its_job_ended(self):
        found = self.read(started("t1_0", 1000), line("JOB_FINISHED", "JobFinished", finishTime=9000))
        self.assertEqual((found["t1_0"].state, found["t1_0"].finish_ms), ("KILLED", 9000))


if __name__ == "__main__":
    unittest.main()
