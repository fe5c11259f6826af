package io.drover.shim;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertNotSame;
import static org.junit.Assert.assertNull;
import static org.junit.Assert.assertTrue;

import java.io.File;
import java.lang.reflect.Field;
import java.net.URL;
import java.util.Arrays;
import java.util.List;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.mapreduce.v2.api.records.Phase;
import org.apache.hadoop.mapreduce.v2.api.records.TaskState;
import org.apache.hadoop.mapreduce.v2.api.records.TaskType;
import org.apache.hadoop.mapreduce.v2.app.job.TaskAttempt;
import org.apache.hadoop.mapreduce.v2.app.job.event.TaskAttemptEventType;
import org.apache.hadoop.util.ApplicationClassLoader;
import org.apache.hadoop.yarn.util.SystemClock;
import org.junit.Rule;
import org.junit.Test;
import org.junit.rules.TemporaryFolder;

/**
 * The built jar, whole and damaged, in Hadoop's AM harness and behind Hadoop's own job class loader
 * ({@code mapreduce.job.classloader=true}): the job must succeed with Hadoop's speculator fed.
 */
public class BootstrapIT {
  private static final String CORE = "io/drover/shim/core/";

  @Rule public final TemporaryFolder folder = new TemporaryFolder();

  /** Whom Hadoop's speculator asked before launching when the newest job was done. */
  private Object owner;

  private final File whole = new File(System.getProperty("drover.shim.jar"));

  /** What a job saw of the shim. */
  private enum Shim {
    SPEAKS,
    STAYS_SILENT
  }

  private void assertJobSucceeds(Shim expected, File... classPath) throws Exception {
    try (FakeService service = new FakeService()) {
      Am.Action word = () -> Am.await("a word of the shim", () -> !service.requests.isEmpty());
      boolean speaks = expected == Shim.SPEAKS;
      Object listener = assertJobSucceeds(service.url(), speaks ? word : () -> {}, classPath);
      assertEquals(List.of(), service.faults);
      if (!speaks) {
        assertNull(listener);
        assertEquals(0, service.calls());
      }
    }
  }

  private void assertJobSucceeds(String urls, File classPath) throws Exception {
    assertJobSucceeds(urls, () -> {}, classPath);
  }

  /** Returns what the bootstrap passes events to when the job is done. */
  private Object assertJobSucceeds(String urls, Am.Action beforeItsEnd, File... classPath)
      throws Exception {
    URL[] jars = Arrays.stream(classPath).map(BootstrapIT::url).toArray(URL[]::new);
    try (ApplicationClassLoader loader = new ApplicationClassLoader(jars, new WithoutShim(), null);
        Am am = new Am(2, 1, "bootstrap", 1, SystemClock.getInstance())) {
      Configuration conf = Am.conf("io.drover.shim.DroverSpeculator", "drover.service.urls", urls);
      conf.setClass(
          "yarn.app.mapreduce.am.job.task.estimator.class",
          RecordingEstimator.class,
          org.apache.hadoop.mapreduce.v2.app.speculate.TaskRuntimeEstimator.class);
      conf.setClassLoader(loader);
      am.run(conf, true, true);
      assertNotSame(DroverSpeculator.class, am.speculator().getClass());
      assertEquals(loader, am.speculator().getClass().getClassLoader());
      finish(am, TaskType.MAP, 2);
      beforeItsEnd.run();
      finish(am, TaskType.REDUCE, 1);
      assertEquals(3, count("enroll"));
      assertTrue(count("update") >= 6);
      Object hadoop = field(am.speculator(), "hadoop");
      boolean canBeHeld = hadoop.getClass().getSimpleName().equals("NativeSpeculator");
      owner = canBeHeld ? field(hadoop, "owner") : null;
      return field(am.speculator(), "listener");
    }
  }

  private static Object field(Object of, String name) throws Exception {
    Field field = of.getClass().getDeclaredField(name);
    field.setAccessible(true);
    return field.get(of);
  }

  /** The tests' class path without the shim's own classes, which must come from the jar. */
  private static final class WithoutShim extends ClassLoader {
    WithoutShim() {
      super(BootstrapIT.class.getClassLoader());
    }

    @Override
    protected Class<?> loadClass(String name, boolean resolve) throws ClassNotFoundException {
      if (startsWithAny(
          name,
          "io.drover.shim.core.",
          "io.drover.shim.DroverSpeculator",
          "io.drover.shim.NativeSpeculator")) {
        throw new ClassNotFoundException(name);
      }
      return super.loadClass(name, resolve);
    }
  }

  private static long count(String kind) {
    return RecordingEstimator.told.stream().filter(line -> line.startsWith(kind)).count();
  }

  private static URL url(File file) {
    try {
      return file.toURI().toURL();
    } catch (java.net.MalformedURLException e) {
      throw new IllegalArgumentException(e);
    }
  }

  private static void finish(Am am, TaskType type, int tasks) throws Exception {
    for (int i = 0; i < tasks; i++) {
      TaskAttempt attempt = am.running(type, i).get(0);
      for (float progress = 0.25f; progress <= 1f; progress += 0.25f) {
        am.update(attempt.getID(), progress, Phase.MAP, null);
        Thread.sleep(20);
      }
      int task = i;
      am.signal(attempt, TaskAttemptEventType.TA_DONE);
      Am.await("success", () -> am.task(type, task).getState() == TaskState.SUCCEEDED);
    }
  }

  private File without(String... prefixes) throws Exception {
    return Jars.copy(whole, folder.newFile(), name -> !startsWithAny(name, prefixes));
  }

  private static boolean startsWithAny(String name, String... prefixes) {
    return Arrays.stream(prefixes).anyMatch(name::startsWith);
  }

  /** The jar with a core of the test's own making. */
  private File withCore(String body) throws Exception {
    File damaged = without(CORE + "Core");
    File other = Jars.compile(folder.newFolder(), "io.drover.shim.core.Core", body, whole);
    return Jars.merge(damaged, other, folder.newFile());
  }

  @Test
  public void theWholeJarSpeaks() throws Exception {
    assertJobSucceeds(Shim.SPEAKS, whole);
  }

  @Test
  public void nothingButTheBootstrapIsEnoughForTheJob() throws Exception {
    assertJobSucceeds(
        Shim.STAYS_SILENT, without(CORE, "io/drover/shim/relocated", "io/drover/shim/Native"));
  }

  @Test
  public void withoutTheCoreHadoopRunsAlone() throws Exception {
    assertJobSucceeds(Shim.STAYS_SILENT, without(CORE));
  }

  @Test
  public void withoutAnyOneClassOfTheCoreTheJobSucceeds() throws Exception {
    String[] names = {
      "Settings",
      "Log",
      "Samples",
      "Sample",
      "JobWatch",
      "HttpTransport",
      "AnswerParser",
      "Reply",
      "Lease",
      "Ledger",
      "Actions",
      "Duplicator",
      "Copies",
      "OnDispatcher",
      "Ack"
    };
    for (String name : names) {
      File damaged = without(CORE + name + ".class");
      assertEquals(Jars.names(whole).size() - 1, Jars.names(damaged).size());
      try (FakeService service = new FakeService()) {
        assertJobSucceeds(service.url(), damaged);
      }
    }
  }

  @Test
  public void withoutTheRelocatedJsonHadoopRunsAlone() throws Exception {
    assertJobSucceeds(Shim.STAYS_SILENT, without("io/drover/shim/relocated"));
  }

  @Test
  public void withoutTheCountingSpeculatorThePlainOneServes() throws Exception {
    assertJobSucceeds(Shim.SPEAKS, without("io/drover/shim/NativeSpeculator"));
  }

  @Test
  public void anOlderCoreWithAnotherConstructorIsLeftAlone() throws Exception {
    assertJobSucceeds(
        Shim.STAYS_SILENT,
        withCore("public final class Core implements Runnable { public void run() {} }"));
  }

  @Test
  public void anOlderCoreThatDoesNotListenIsLeftAlone() throws Exception {
    assertJobSucceeds(Shim.STAYS_SILENT, withCore(core("implements Runnable", "", "", "")));
  }

  @Test
  public void aCoreWhoseConstructorThrowsIsLeftAlone() throws Exception {
    assertJobSucceeds(
        Shim.STAYS_SILENT, withCore(core(LISTENING, "throw new StackOverflowError();", "", "")));
  }

  @Test
  public void aCoreThatCannotBeInitialisedIsLeftAlone() throws Exception {
    String core = core(LISTENING, "", "", "");
    String broken = "static final int N = Integer.parseInt(\"x\");";
    assertJobSucceeds(Shim.STAYS_SILENT, withCore(core.replaceFirst("\\{", "{ " + broken)));
  }

  @Test
  public void aCoreWhoseConstructorHangsDelaysNobody() throws Exception {
    String forever = "try { Thread.sleep(100000000L); } catch (InterruptedException e) { }";
    assertJobSucceeds(Shim.STAYS_SILENT, withCore(core(LISTENING, forever, "", "")));
  }

  @Test
  public void aCoreThatThrowsOnEveryEventIsLeftAlone() throws Exception {
    String forever = "try { Thread.sleep(100000000L); } catch (InterruptedException e) { }";
    assertJobSucceeds(
        Shim.STAYS_SILENT,
        withCore(core(LISTENING, "", "throw new NoSuchMethodError(\"gone\");", forever)));
  }

  @Test
  public void aCoreWhoseThreadDiesIsLeftAlone() throws Exception {
    assertJobSucceeds(
        Shim.STAYS_SILENT, withCore(core(LISTENING, "", "", "throw new OutOfMemoryError();")));
  }

  @Test
  public void aCoreThatDiesWhileItOwnsTheJobHandsItBack() throws Exception {
    String forever = "try { Thread.sleep(100000000L); } catch (InterruptedException e) { }";
    String own = "h.accept(() -> true);";
    for (File jar :
        List.of(
            withCore(core(LISTENING, own, "", "throw new OutOfMemoryError();")),
            withCore(core(LISTENING, own, "throw new NoSuchMethodError(\"gone\");", forever)))) {
      assertJobSucceeds(Shim.STAYS_SILENT, jar);
      assertNull("who is asked before a launch", owner);
    }
  }

  @Test
  public void anotherJsonLibraryInFrontIsNotOurs() throws Exception {
    String broken =
        "public class JsonFactory { static { if (true) throw new LinkageError(\"foreign\"); } }";
    File foreign = folder.newFile();
    File made =
        Jars.compile(folder.newFolder(), "com.fasterxml.jackson.core.JsonFactory", broken, whole);
    Jars.merge(made, made, foreign);
    assertJobSucceeds(Shim.SPEAKS, foreign, whole);
  }

  @Test
  public void everyKindOfBadServiceLeavesTheJobAlone() throws Exception {
    for (BadService.Kind kind : BadService.Kind.values()) {
      try (BadService service = new BadService(kind)) {
        Am.Action call = () -> Am.await("a call to " + kind, () -> service.calls() > 0);
        boolean callable = kind != BadService.Kind.DOWN;
        assertJobSucceeds(service.url(), callable ? call : () -> {}, whole);
      }
    }
  }

  @Test
  public void badSettingsLeaveTheJobAlone() throws Exception {
    assertJobSucceeds("not a url, ftp://x", whole);
  }

  private static final String LISTENING =
      "implements Runnable, org.apache.hadoop.yarn.event.EventHandler<"
          + "org.apache.hadoop.mapreduce.v2.app.speculate.SpeculatorEvent>";

  private static String core(String types, String constructor, String handle, String run) {
    return "public final class Core "
        + types
        + " { public Core(org.apache.hadoop.conf.Configuration c,"
        + " org.apache.hadoop.mapreduce.v2.app.AppContext a,"
        + " java.util.function.ToLongFunction<String> n,"
        + " java.util.function.Consumer<java.util.function.BooleanSupplier> h,"
        + " java.util.function.BooleanSupplier s) { "
        + constructor
        + " } public void handle(org.apache.hadoop.mapreduce.v2.app.speculate.SpeculatorEvent e) { "
        + handle
        + " } public void run() { "
        + run
        + " } }";
  }
}
