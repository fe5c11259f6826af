package io.drover.shim;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertFalse;
import static org.junit.Assert.assertNotEquals;
import static org.junit.Assert.assertNull;
import static org.junit.Assert.assertTrue;

import java.nio.file.Files;
import java.security.MessageDigest;
import java.util.HexFormat;
import java.util.List;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.mapreduce.Counters;
import org.apache.hadoop.mapreduce.TaskCounter;
import org.apache.hadoop.mapreduce.lib.input.FileInputFormatCounter;
import org.apache.hadoop.mapreduce.v2.api.records.Phase;
import org.apache.hadoop.mapreduce.v2.api.records.TaskAttemptState;
import org.apache.hadoop.mapreduce.v2.api.records.TaskState;
import org.apache.hadoop.mapreduce.v2.api.records.TaskType;
import org.apache.hadoop.mapreduce.v2.app.job.Task;
import org.apache.hadoop.mapreduce.v2.app.job.TaskAttempt;
import org.apache.hadoop.mapreduce.v2.app.job.event.TaskAttemptEventType;
import org.apache.hadoop.mapreduce.v2.app.speculate.DefaultSpeculator;
import org.apache.hadoop.yarn.util.SystemClock;
import org.junit.After;
import org.junit.Before;
import org.junit.Test;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** What a service knows of a job in Hadoop's AM harness, after applying what the shim sent. */
public class JobFactsTest {
  private FakeService service;
  private Am am;

  @Before
  public void start() throws Exception {
    service = new FakeService();
  }

  @After
  public void stop() {
    if (am != null) {
      am.stop();
    }
    service.close();
  }

  private Configuration conf(String... pairs) {
    Configuration conf = Am.conf(DroverSpeculator.class.getName(), pairs);
    conf.set("drover.service.urls", service.url());
    return conf;
  }

  private Am run(int maps, int reduces, int amAttempt) throws Exception {
    am = new Am(maps, reduces, "facts", amAttempt, SystemClock.getInstance());
    return am.run(conf(), true, true);
  }

  private TaskAttempt only(TaskType type, int index) {
    List<TaskAttempt> running = am.running(type, index);
    assertEquals(1, running.size());
    return running.get(0);
  }

  private void finish(TaskAttempt attempt) throws Exception {
    am.update(attempt.getID(), 1f, Phase.MAP, null);
    am.signal(attempt, TaskAttemptEventType.TA_DONE);
    am.drain();
  }

  /** Every state that the service knows is the AM's own. */
  private void assertAgrees() {
    assertEquals(List.of(), service.faults);
    for (Task task : am.job().getTasks().values()) {
      String id = (task.getType() == TaskType.MAP ? "m" : "r") + task.getID().getId() + "/";
      assertEquals(id, task.getState().name(), service.field(id, "s"));
      for (TaskAttempt attempt : task.getAttempts().values()) {
        String row = id + attempt.getID().getId();
        assertEquals(row, attempt.getState().name(), service.field(row, "s"));
        assertEquals(row, known(attempt.getLaunchTime()), service.field(row, "at"));
        assertEquals(row, known(attempt.getFinishTime()), service.field(row, "fin"));
      }
    }
  }

  private static String known(long ms) {
    return ms == 0 ? null : Long.toString(ms);
  }

  @Test
  public void lengthAndHostsOfAMapsSplitArrive() throws Exception {
    am = new Am(2, 0, "splits", 1, SystemClock.getInstance());
    am.run(Am.conf(DefaultSpeculator.class.getName()), true, true);
    Task map = am.task(TaskType.MAP, 1);
    MoveTest.setSplitHosts(map, "near", "far");
    MoveTest.setSplit(map, "inputDataLength", 134_217_728L);
    DroverSpeculator shim = new DroverSpeculator(conf(), am.getContext());
    shim.init(conf());
    shim.start();
    try {
      Am.await("the job's rows", () -> service.field("m1/", "hosts") != null);
      assertEquals("134217728", service.field("m1/", "bytes"));
      JsonNode hosts = JsonMapper.shared().readTree(service.field("m1/", "hosts"));
      assertEquals(2, hosts.size());
      assertTrue(service.host(hosts.get(0).asInt()).startsWith("near"));
      assertTrue(service.host(hosts.get(1).asInt()).startsWith("far"));
    } finally {
      shim.stop();
    }
  }

  @Test
  public void progressPhaseAndCountersArriveFromUpdates() throws Exception {
    run(2, 1, 1);
    Counters counters = new Counters();
    counters.findCounter(TaskCounter.MAP_INPUT_RECORDS).setValue(1_000);
    counters.findCounter(TaskCounter.CPU_MILLISECONDS).setValue(2_100);
    counters.findCounter(FileInputFormatCounter.BYTES_READ).setValue(33_554_432);
    am.update(only(TaskType.MAP, 0).getID(), 0.25f, Phase.MAP, counters);
    am.update(only(TaskType.REDUCE, 0).getID(), 0.1f, Phase.SHUFFLE, null);
    am.drain();
    service.awaitExchange();
    assertEquals("0.25", service.field("m0/0", "p"));
    assertEquals("MAP", service.field("m0/0", "ph"));
    assertEquals("1", service.field("m0/0", "c"));
    String counted = service.field("m0/0", "ctr");
    assertTrue(counted, counted.contains("\"in\":33554432"));
    assertTrue(counted, counted.contains("\"rec\":1000"));
    assertTrue(counted, counted.contains("\"cpu\":2100"));
    assertEquals("SHUFFLE", service.field("r0/0", "ph"));
    assertEquals("localhost", service.host(0).substring(0, 9));
    assertAgrees();
  }

  @Test
  public void killedAndFailedAttemptsAreSeenWithTheProgressTheyHad() throws Exception {
    run(3, 1, 1);
    TaskAttempt killed = only(TaskType.MAP, 0);
    TaskAttempt failed = only(TaskType.MAP, 1);
    am.update(killed.getID(), 0.4f, Phase.MAP, null);
    am.update(failed.getID(), 0.6f, Phase.MAP, null);
    am.drain();
    service.awaitExchange();
    am.signal(killed, TaskAttemptEventType.TA_KILL);
    am.signal(failed, TaskAttemptEventType.TA_FAILMSG);
    Am.await(
        "replacements",
        () ->
            am.running(TaskType.MAP, 0).size() == 1
                && am.running(TaskType.MAP, 1).size() == 1
                && killed.getState() == TaskAttemptState.KILLED
                && failed.getState() == TaskAttemptState.FAILED);
    service.awaitExchange();
    assertEquals("KILLED", service.field("m0/0", "s"));
    assertEquals("0.4", service.field("m0/0", "p"));
    assertEquals("FAILED", service.field("m1/0", "s"));
    assertEquals("0.6", service.field("m1/0", "p"));
    assertEquals("RUNNING", service.field("m0/1", "s"));
    assertAgrees();
  }

  @Test
  public void aMapWhoseOutputIsLostIsSeenToRunAgain() throws Exception {
    run(2, 1, 1);
    TaskAttempt first = only(TaskType.MAP, 0);
    finish(first);
    Am.await("success", () -> am.task(TaskType.MAP, 0).getState() == TaskState.SUCCEEDED);
    service.awaitExchange();
    assertEquals("SUCCEEDED", service.field("m0/", "s"));
    am.signal(first, TaskAttemptEventType.TA_KILL);
    Am.await("the second run", () -> am.running(TaskType.MAP, 0).size() == 1);
    service.awaitExchange();
    assertEquals("RUNNING", service.field("m0/", "s"));
    assertEquals("KILLED", service.field("m0/0", "s"));
    assertAgrees();
  }

  @Test
  public void copiesAreCountedAndLabelled() throws Exception {
    run(2, 0, 1);
    am.post(
        new org.apache.hadoop.mapreduce.v2.app.job.event.TaskEvent(
            am.task(TaskType.MAP, 1).getID(),
            org.apache.hadoop.mapreduce.v2.app.job.event.TaskEventType.T_ADD_SPEC_ATTEMPT));
    Am.await("the copy", () -> am.running(TaskType.MAP, 1).size() == 2);
    service.awaitExchange();
    assertEquals("false", service.field("m1/0", "spec"));
    assertEquals("true", service.field("m1/1", "spec"));
    // Not Hadoop's own doing, so its speculator has launched none.
    assertEquals(0, service.last().path("native").path("launched").asInt());
  }

  @Test
  public void theLastWordIsTheJobsEnd() throws Exception {
    run(3, 0, 1);
    service.awaitExchange();
    for (int i = 0; i < 3; i++) {
      finish(only(TaskType.MAP, i));
    }
    Am.await(
        "the end of the job",
        () -> service.last().path("job_state").asString().equals("SUCCEEDED"));
    assertAgrees();
  }

  @Test
  public void theProofStandsInTheJobsDiagnostics() throws Exception {
    run(1, 0, 1);
    service.awaitExchange();
    JsonNode request = service.requests.get(0);
    byte[] key = HexFormat.of().parseHex(request.path("hello").path("key").asString());
    byte[] hash = MessageDigest.getInstance("SHA-256").digest(key);
    String session = request.path("session").asString();
    String proof = "drover-proof v1 " + session + " " + HexFormat.of().formatHex(hash);
    assertEquals(List.of(proof), am.job().getDiagnostics());
  }

  @Test
  public void helloIsSaidOnceAndTellsOnlyWhatIsListed() throws Exception {
    am = new Am(1, 0, "facts", 1, SystemClock.getInstance());
    am.run(conf("secret.password", "hunter2", "drover.mode", "advise"), true, true);
    service.awaitExchange();
    JsonNode hello = service.requests.get(0).path("hello");
    assertEquals("advise", hello.path("mode").asString());
    assertEquals("true", hello.path("settings").path("mapreduce.map.speculative").asString());
    assertFalse(service.requests.get(0).toString().contains("hunter2"));
    assertFalse(service.last().has("hello"));
  }

  @Test
  public void theCommittersFactoryIsThatOfTheOutputsSchemeWhereNoneIsSetForAll() throws Exception {
    am = new Am(1, 1, "facts", 1, SystemClock.getInstance());
    String out = "file://" + Files.createTempDirectory("facts").resolve("out");
    String factory = "org.apache.hadoop.mapreduce.lib.output.FileOutputCommitterFactory";
    Configuration conf = conf("mapreduce.output.fileoutputformat.outputdir", out);
    conf.set("mapreduce.outputcommitter.factory.class", "");
    conf.set("mapreduce.outputcommitter.factory.scheme.file", factory);
    am.run(conf, true, true);
    service.awaitExchange();
    JsonNode settings = service.requests.get(0).path("hello").path("settings");
    assertEquals(factory, settings.path("mapreduce.outputcommitter.factory.class").asString());
  }

  @Test
  public void theNodeLabelsThatTheJobAsksForAreToldByKind() throws Exception {
    am = new Am(1, 1, "facts", 1, SystemClock.getInstance());
    Configuration conf = conf("mapreduce.map.node-label-expression", "gpu");
    conf.set("mapreduce.reduce.node-label-expression", "ssd");
    am.run(conf, true, true);
    service.awaitExchange();
    JsonNode settings = service.requests.get(0).path("hello").path("settings");
    assertEquals("gpu", settings.path("mapreduce.map.node-label-expression").asString());
    assertEquals("ssd", settings.path("mapreduce.reduce.node-label-expression").asString());
    assertFalse(settings.has("mapreduce.job.node-label-expression"));
  }

  @Test
  public void aSetSizeIsToldAsItIsWhateverTheHeapAsksFor() throws Exception {
    am = new Am(1, 1, "facts", 1, SystemClock.getInstance());
    Configuration conf = conf("mapreduce.reduce.java.opts", "-Xmx1024m");
    conf.set("mapreduce.reduce.memory.mb", "512");
    am.run(conf, true, true);
    service.awaitExchange();
    JsonNode settings = service.requests.get(0).path("hello").path("settings");
    assertEquals("512", settings.path("mapreduce.reduce.memory.mb").asString());
  }

  @Test
  public void aContainerOfNoSetSizeIsAsLargeAsItsHeapAsksForAndItsJavaOptionsStayHere()
      throws Exception {
    am = new Am(1, 1, "facts", 1, SystemClock.getInstance());
    Configuration conf = conf("mapreduce.map.java.opts", "-Dpassword=hunter2 -Xmx1024m");
    conf.set("mapreduce.map.memory.mb", "-1");
    conf.set("mapreduce.reduce.java.opts", "-Xmx512m");
    conf.set("mapreduce.reduce.memory.mb", "0");
    conf.set("mapreduce.reduce.resource.memory-mb", "2Gi");
    am.run(conf, true, true);
    service.awaitExchange();
    JsonNode settings = service.requests.get(0).path("hello").path("settings");
    assertEquals("1280", settings.path("mapreduce.map.memory.mb").asString());
    assertEquals("640", settings.path("mapreduce.reduce.memory.mb").asString());
    assertEquals("2Gi", settings.path("mapreduce.reduce.resource.memory-mb").asString());
    assertFalse(service.requests.get(0).toString().contains("hunter2"));
  }

  @Test
  public void aSecondAttemptOfTheAmIsAnotherSession() throws Exception {
    run(1, 0, 1);
    service.awaitExchange();
    String first = service.last().path("session").asString();
    am.stop();
    run(1, 0, 2);
    service.awaitExchange();
    JsonNode second = service.last();
    assertNotEquals(first, second.path("session").asString());
    assertTrue(second.path("attempt").asString().endsWith("_000002"));
    assertEquals("RUNNING", service.field("m0/1000", "s"));
  }

  @Test
  public void aClockThatATestMovesIsNeverTakenToHaveBeenSet() throws Exception {
    Am.TestClock clock = new Am.TestClock();
    am = new Am(1, 0, "facts", 1, clock);
    am.run(conf(), true, true);
    service.awaitExchange();
    long apart = apart();
    clock.advance(60_000);
    service.awaitExchange();
    assertEquals(1_000_060_000L, service.last().path("clock").path("am_ms").asLong());
    assertEquals(apart, apart());
  }

  /** By how much the AM's time of day is ahead of its other clock. */
  private long apart() {
    JsonNode clock = service.last().path("clock");
    return clock.path("am_ms").asLong() - clock.path("mono_ms").asLong();
  }

  @Test
  public void reducesAreSeenWhenOnlyMapsMaySpeculate() throws Exception {
    am = new Am(1, 1, "facts", 1, SystemClock.getInstance());
    am.run(conf(), true, false);
    am.update(only(TaskType.REDUCE, 0).getID(), 0.7f, Phase.REDUCE, null);
    am.drain();
    service.awaitExchange();
    assertTrue(am.events.stream().anyMatch(event -> event.startsWith("ATTEMPT_START")));
    assertEquals("0.7", service.field("r0/0", "p"));
    assertEquals("RUNNING", service.field("r0/", "s"));
    assertAgrees();
  }

  @Test
  public void anUberJobIsSeenWithoutAnyEvent() throws Exception {
    am = new Am(1, 0, "facts", 1, SystemClock.getInstance());
    am.run(conf("mapreduce.job.ubertask.enable", "true"), true, true);
    assertTrue(am.job().isUber());
    service.awaitExchange();
    assertTrue(service.requests.get(0).path("hello").path("uber").asBoolean());
    assertEquals("RUNNING", service.field("m0/0", "s"));
    assertEquals("0", service.field("m0/0", "c"));
    finish(only(TaskType.MAP, 0));
    Am.await(
        "the end of the job",
        () -> service.last().path("job_state").asString().equals("SUCCEEDED"));
    assertAgrees();
  }

  @Test
  public void anAttemptWithoutAContainerIsANeedAndAReducesFromSlowStartOn() throws Exception {
    am = new Am(2, 1, "facts", 1, SystemClock.getInstance());
    am.holdContainers(TaskType.REDUCE);
    am.run(conf("mapreduce.job.reduce.slowstart.completedmaps", "0.5"), true, true);
    service.awaitExchange();
    assertEquals("{\"m\":0,\"r\":0}", service.last().path("needs").toString());
    assertEquals("STARTING", service.field("r0/0", "s"));
    assertNull(service.field("r0/0", "node"));
    finish(only(TaskType.MAP, 0));
    Am.await("its need", () -> service.last().path("needs").path("r").asInt() == 1);
  }
}
