package io.drover.shim;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertNull;
import static org.junit.Assert.assertTrue;

import java.util.List;
import java.util.concurrent.atomic.AtomicReference;
import org.apache.hadoop.mapreduce.v2.api.records.Phase;
import org.apache.hadoop.mapreduce.v2.api.records.TaskAttemptId;
import org.apache.hadoop.mapreduce.v2.api.records.TaskType;
import org.apache.hadoop.mapreduce.v2.app.job.event.TaskAttemptEventType;
import org.apache.hadoop.mapreduce.v2.app.job.event.TaskAttemptStatusUpdateEvent;
import org.apache.hadoop.mapreduce.v2.app.job.event.TaskAttemptStatusUpdateEvent.TaskAttemptStatus;
import org.apache.hadoop.yarn.util.SystemClock;
import org.junit.After;
import org.junit.Before;
import org.junit.Test;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** Reduces that could not fetch a map's output, as a service that asks for it hears of them. */
public class FetchFailureTest {
  private FakeService service;
  private Am am;

  @Before
  public void start() throws Exception {
    service = new FakeService();
    service.fetchFailures = true;
    am = new Am(2, 3, "misses", 1, SystemClock.getInstance());
    am.run(
        Am.conf(DroverSpeculator.class.getName(), "drover.service.urls", service.url()),
        true,
        true);
    service.awaitExchange();
    for (int map = 0; map < 2; map++) {
      var attempt = am.running(TaskType.MAP, map).get(0);
      am.update(attempt.getID(), 1f, Phase.MAP, null);
      am.signal(attempt, TaskAttemptEventType.TA_DONE);
    }
    am.drain();
  }

  @After
  public void stop() {
    am.stop();
    service.close();
  }

  static void miss(Am am, int reduce, int... maps) throws Exception {
    TaskAttemptId id = am.running(TaskType.REDUCE, reduce).get(0).getID();
    TaskAttemptStatus status = Am.status(id, 0.1f, Phase.SHUFFLE, null);
    status.fetchFailedMaps =
        java.util.Arrays.stream(maps)
            .mapToObj(map -> am.task(TaskType.MAP, map).getAttempts().keySet().iterator().next())
            .toList();
    am.post(new TaskAttemptStatusUpdateEvent(id, new AtomicReference<>(status)));
    am.drain();
  }

  /** The reduces that are known to have missed the first attempt's output, in order. */
  private List<Integer> missed(int map) {
    String field = service.field("m" + map + "/0", "miss");
    JsonNode miss = field == null ? null : JsonMapper.shared().readTree(field);
    return miss == null ? List.of() : miss.valueStream().map(one -> one.get(0).asInt()).toList();
  }

  @Test
  public void eachReduceThatMissedAnOutputIsToldOnceWithWhenItToldSoLast() throws Exception {
    miss(am, 0, 0, 1);
    miss(am, 2, 1);
    Am.await("both words", () -> missed(1).size() == 2);
    assertEquals(List.of(0), missed(0));
    assertEquals(List.of(0, 2), missed(1));
    String before = service.field("m0/0", "miss");
    Thread.sleep(5);
    miss(am, 0, 0);
    Am.await("the newer word", () -> !before.equals(service.field("m0/0", "miss")));
    assertEquals(List.of(0), missed(0));
    assertEquals(List.of(), service.faults);
  }

  @Test
  public void aServiceThatDoesNotAskIsToldNothing() throws Exception {
    service.fetchFailures = false;
    service.awaitExchange();
    miss(am, 0, 0);
    service.awaitExchange();
    assertNull(service.field("m0/0", "miss"));
    service.fetchFailures = true;
    service.awaitExchange();
    miss(am, 1, 0);
    Am.await("the next word", () -> !missed(0).isEmpty());
    assertEquals("what came before was not kept", List.of(1), missed(0));
  }

  @Test
  public void whatAServiceHasCeasedToAskForIsSentNoMore() throws Exception {
    miss(am, 0, 0);
    Am.await("the word", () -> !missed(0).isEmpty());
    service.fetchFailures = false;
    service.awaitExchange();
    int seen = service.requests.size();
    am.update(am.running(TaskType.REDUCE, 0).get(0).getID(), 0.2f, Phase.SHUFFLE, null);
    service.awaitExchange();
    var later = service.requests.subList(seen, service.requests.size());
    assertTrue(later.stream().noneMatch(request -> request.toString().contains("\"miss\"")));
  }
}
