package io.drover.shim.core;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertFalse;
import static org.junit.Assert.assertTrue;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonGenerator;
import java.io.IOException;
import java.io.StringWriter;
import org.apache.hadoop.mapreduce.v2.api.records.Phase;
import org.apache.hadoop.mapreduce.v2.api.records.TaskAttemptState;
import org.junit.Test;

public class RowTest {
  private final RowLog log = new RowLog();
  private final AttemptRow row = new AttemptRow(true, 7, 0);

  private static String json(Row row, long base) throws IOException {
    StringWriter text = new StringWriter();
    try (JsonGenerator json = new JsonFactory().createGenerator(text)) {
      row.write(json, base);
    }
    return text.toString();
  }

  private static Sample sample(float progress, long count) {
    return new Sample(progress, Phase.MAP, 1_000 + count, 0, 0, count);
  }

  @Test
  public void onlyTheGroupsThatChangedAreSent() throws IOException {
    row.observeState(TaskAttemptState.RUNNING, 500, 0, log);
    row.observePlace(3, false, log);
    long base = log.version();
    assertEquals(
        "{\"k\":\"m\",\"i\":7,\"n\":0,\"s\":\"RUNNING\",\"at\":500,\"node\":3,\"spec\":false}",
        json(row, 0));
    row.observeSample(sample(0.25f, 1), log);
    assertEquals(
        "{\"k\":\"m\",\"i\":7,\"n\":0,\"p\":0.25,\"u\":1001,\"c\":1,\"ph\":\"MAP\"}",
        json(row, base));
  }

  @Test
  public void anUnchangedAttemptCostsNothing() {
    row.observeState(TaskAttemptState.RUNNING, 500, 0, log);
    row.observePlace(3, true, log);
    row.observeSample(sample(0.5f, 1), log);
    long[] counters = AttemptRow.absent();
    counters[0] = 5;
    row.observeCounters(counters, log);
    long version = log.version();
    row.observeState(TaskAttemptState.RUNNING, 500, 0, log);
    row.observePlace(3, true, log);
    assertFalse(row.observeSample(sample(0.5f, 1), log));
    row.observeCounters(counters.clone(), log);
    assertEquals(version, log.version());
  }

  @Test
  public void countersAreSentOneByOne() throws IOException {
    row.observeState(TaskAttemptState.RUNNING, 500, 0, log);
    long[] counters = AttemptRow.absent();
    counters[0] = 10;
    counters[3] = 20;
    row.observeCounters(counters, log);
    long base = log.version();
    counters[3] = 21;
    row.observeCounters(counters, log);
    assertTrue(json(row, 0).endsWith("\"ctr\":{\"in\":10,\"cpu\":21}}"));
    assertEquals("{\"k\":\"m\",\"i\":7,\"n\":0,\"ctr\":{\"cpu\":21}}", json(row, base));
  }

  @Test
  public void ofManyReducesThatMissedAnOutputTheNewestAreTold() throws IOException {
    for (int reduce = 0; reduce < AttemptRow.MAX_MISSES; reduce++) {
      row.observeMiss(reduce, 100 + reduce, log);
    }
    row.observeMiss(0, 200, log);
    row.observeMiss(9, 300, log);
    String rest = ",[2,102],[3,103],[4,104],[5,105],[6,106],[7,107]]}";
    assertEquals("{\"k\":\"m\",\"i\":7,\"n\":0,\"miss\":[[0,200],[9,300]" + rest, json(row, 0));
    row.forgetMisses();
    assertEquals("{\"k\":\"m\",\"i\":7,\"n\":0}", json(row, 0));
  }

  @Test
  public void hadoopsProgressOfAKilledAttemptIsNotBelieved() throws IOException {
    row.observeState(TaskAttemptState.RUNNING, 500, 0, log);
    row.observeSample(sample(0.4f, 1), log);
    row.observeState(TaskAttemptState.KILLED, 500, 900, log);
    assertTrue(json(row, 0).contains("\"p\":0.4,"));
  }

  @Test
  public void aSucceededAttemptIsComplete() throws IOException {
    row.observeState(TaskAttemptState.RUNNING, 500, 0, log);
    row.observeSample(sample(0.97f, 1), log);
    long base = log.version();
    row.observeState(TaskAttemptState.SUCCEEDED, 500, 900, log);
    assertTrue(json(row, base).contains("\"p\":1.0,"));
  }

  @Test
  public void aKilledAttemptIsWatchedUntilItsFinishIsKnown() {
    row.observeState(TaskAttemptState.KILLED, 500, 0, log);
    assertFalse(row.settled());
    row.observeState(TaskAttemptState.KILLED, 500, 900, log);
    assertTrue(row.settled());
    AttemptRow neverLaunched = new AttemptRow(true, 7, 1);
    neverLaunched.observeState(TaskAttemptState.KILLED, 0, 0, log);
    assertTrue(neverLaunched.settled());
  }

  @Test
  public void aProgressThatIsNoNumberIsLeftOut() throws IOException {
    row.observePolled(Float.NaN, Phase.MAP, 0, 0, log);
    assertFalse(json(row, 0).contains("\"p\""));
    long version = log.version();
    row.observePolled(Float.NaN, Phase.MAP, 0, 0, log);
    assertEquals(version, log.version());
  }

  @Test
  public void hostsAreVersionedBeforeTheRowsThatNameThem() {
    Hosts hosts = new Hosts(log);
    row.observePlace(hosts.index("n1", "/r1"), false, log);
    RowLog.Page first = log.after(0, 0, 1, 1_000);
    assertEquals(HostRow.class, first.rows.get(0).getClass());
    assertEquals(0, hosts.index("n1", null));
    assertEquals(1, hosts.index("n2", "/r1"));
    assertEquals(0, hosts.index("n1", "/r1"));
  }

  @Test
  public void textFromAJobIsMadeFitForTheWire() {
    assertEquals("", Text.bounded(null));
    assertEquals(1024, Text.bounded("x".repeat(5_000)).length());
    assertEquals("a\uFFFDb", Text.bounded("a\uD83Db"));
    assertEquals("\uD83D\uDE00", Text.bounded("\uD83D\uDE00"));
    assertEquals("\uFFFD", Text.bounded("x".repeat(1023) + "\uD83D\uDE00").substring(1023));
  }
}
