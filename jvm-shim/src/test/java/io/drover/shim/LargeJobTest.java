package io.drover.shim;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertTrue;

import java.util.stream.IntStream;
import org.apache.hadoop.mapreduce.v2.api.records.JobState;
import org.apache.hadoop.mapreduce.v2.api.records.Phase;
import org.apache.hadoop.mapreduce.v2.api.records.TaskType;
import org.apache.hadoop.mapreduce.v2.app.job.Task;
import org.apache.hadoop.yarn.util.SystemClock;
import org.junit.Test;
import tools.jackson.databind.JsonNode;

/** A job of 20,000 tasks that all run at once, in Hadoop's own AM. */
public class LargeJobTest extends LeasedJob {
  private static final int MAPS = 20_000;
  private static final int NODES = 8;
  private static final int MAX_ROWS = 2_000;

  @Test
  public void everyTaskIsToldInPiecesTheLastOneIsCopiedAndTheJobSucceeds() throws Exception {
    am = new Am(MAPS, 0, "large", 1, SystemClock.getInstance());
    am.place(attempt -> "node-" + attempt.getTaskId().getId() % NODES);
    run();
    String last = "m" + (MAPS - 1) + "/0";
    Am.await("word of the last attempt", () -> "RUNNING".equals(service.field(last, "s")));
    for (JsonNode request : service.requests) {
      int rows = request.path("tasks").size() + request.path("attempts").size();
      assertTrue(rows + " rows at once", rows <= MAX_ROWS);
    }
    assertEquals("applied [1]", outcome(map(MAPS - 1)));
    for (Task task : am.job().getTasks(TaskType.MAP).values()) {
      finish(task.getAttempts().values().iterator().next());
    }
    Am.await("the job's success", () -> am.job().getState() == JobState.SUCCEEDED);
  }

  @Test
  public void aServiceThatBeginsAnewIsToldTheStateOfEveryRunningAttemptHoweverManyPagesItTakes()
      throws Exception {
    int maps = 500;
    am = new Am(maps, 0, "pages", 1, SystemClock.getInstance());
    run("drover.exchange.max-rows", "50");
    Am.await("word of all", () -> known(maps, "RUNNING"));
    for (Task task : am.job().getTasks(TaskType.MAP).values()) {
      am.update(task.getAttempts().values().iterator().next().getID(), 0.1f, Phase.MAP, null);
    }
    am.drain();
    Am.await("word of progress", () -> service.field("m" + (maps - 1) + "/0", "p") != null);
    service.forgets = true;
    Am.await("that it has begun anew", () -> !service.forgets);
    Am.await("word of all again", () -> known(maps, "RUNNING"));
  }

  private boolean known(int maps, String state) {
    return IntStream.range(0, maps)
        .allMatch(map -> state.equals(service.field("m" + map + "/0", "s")));
  }
}
