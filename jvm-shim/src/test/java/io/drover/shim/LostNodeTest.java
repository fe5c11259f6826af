package io.drover.shim;

import static org.junit.Assert.assertEquals;

import java.util.List;
import org.apache.hadoop.mapreduce.v2.api.records.TaskAttemptState;
import org.apache.hadoop.mapreduce.v2.api.records.TaskState;
import org.apache.hadoop.mapreduce.v2.api.records.TaskType;
import org.apache.hadoop.mapreduce.v2.app.job.TaskAttempt;
import org.apache.hadoop.mapreduce.v2.app.job.event.JobUpdatedNodesEvent;
import org.apache.hadoop.yarn.api.records.NodeReport;
import org.apache.hadoop.yarn.api.records.NodeState;
import org.apache.hadoop.yarn.util.Records;
import org.junit.Test;

/**
 * What Hadoop does by itself where the ResourceManager calls a node lost: what docs/mechanisms.md
 * leaves to it.
 */
public class LostNodeTest extends LeasedJob {
  private void lose(TaskAttempt there) throws Exception {
    tellLost(there);
    am.drain();
  }

  private void tellLost(TaskAttempt there) {
    NodeReport report = Records.newRecord(NodeReport.class);
    report.setNodeId(there.getNodeId());
    report.setNodeState(NodeState.LOST);
    am.post(new JobUpdatedNodesEvent(am.job().getID(), List.of(report)));
  }

  @Test
  public void everyOutputOfALostNodeIsMadeAgainAtOnceAndNoOther() throws Exception {
    am.place(attempt -> attempt.getTaskId().getId() < 3 && attempt.getId() == 0 ? "lost" : "good");
    run();
    for (int map = 0; map < 4; map++) {
      finish(attempt(TaskType.MAP, map, 0));
      TaskState succeeded = TaskState.SUCCEEDED;
      int task = map;
      Am.await("success", () -> am.task(TaskType.MAP, task).getState() == succeeded);
    }
    lose(attempt(TaskType.MAP, 0, 0));
    for (int map = 0; map < 3; map++) {
      awaitStates(map, "KILLED@lost RUNNING@good");
    }
    assertEquals("SUCCEEDED@good", states(3));
    assertJobSucceeds();
  }

  @Test
  public void nothingIsMadeAgainOnceAllReducesHaveEnded() throws Exception {
    run();
    finish(attempt(TaskType.MAP, 0, 0));
    finish(attempt(TaskType.REDUCE, 0, 0));
    Am.await("the reduce", () -> am.task(TaskType.REDUCE, 0).getState() == TaskState.SUCCEEDED);
    // The job ends with its only reduce, and its dispatcher with it: nobody knows whether it hears
    // of it before.
    tellLost(attempt(TaskType.MAP, 0, 0));
    assertJobSucceeds();
    assertEquals(TaskAttemptState.SUCCEEDED, attempt(TaskType.MAP, 0, 0).getState());
    assertEquals(1, attempts(0));
  }
}
