package io.drover.shim.core;

import java.io.IOException;
import java.io.InputStream;
import java.security.GeneralSecurityException;
import java.security.SecureRandom;
import java.util.Collection;
import java.util.Collections;
import java.util.Properties;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import java.util.function.ToLongFunction;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.mapreduce.v2.api.records.JobState;
import org.apache.hadoop.mapreduce.v2.app.AppContext;
import org.apache.hadoop.mapreduce.v2.app.job.Job;
import org.apache.hadoop.mapreduce.v2.app.job.event.JobDiagnosticsUpdateEvent;
import org.apache.hadoop.mapreduce.v2.app.speculate.Speculator;
import org.apache.hadoop.mapreduce.v2.app.speculate.SpeculatorEvent;
import org.apache.hadoop.yarn.event.Event;
import org.apache.hadoop.yarn.event.EventHandler;

/**
 * What the bootstrap loads by name: listens on the dispatcher thread, exchanges on its own.
 *
 * <p>{@link #run} ends when the thread is interrupted, after one last exchange that nobody waits
 * for.
 */
public final class Core implements EventHandler<SpeculatorEvent>, Runnable {
  private static final long JOB_POLL_MS = 50;
  private static final long LAST_WORDS_MS = 3_000;
  private static final long LIFT_AGAIN_MS = 500;

  private final Configuration conf;
  private final AppContext context;
  private final ToLongFunction<String> nativeCounts;
  private final Consumer<BooleanSupplier> holder;
  private final BooleanSupplier stopped;
  private final Copies copies = new Copies();
  private final long startNanos = System.nanoTime();
  private volatile Samples samples;
  private volatile Means means;
  private volatile Starts starts;

  /**
   * Called by name; {@code nativeCounts} are those of Hadoop's speculator; {@code holder} has it
   * ask before each launch whether it is held, and is null where it cannot be; {@code stopped} is
   * whether the AM is about to end.
   */
  public Core(
      Configuration conf,
      AppContext context,
      ToLongFunction<String> nativeCounts,
      Consumer<BooleanSupplier> holder,
      BooleanSupplier stopped) {
    this.conf = conf;
    this.context = context;
    this.nativeCounts = nativeCounts;
    this.holder = holder;
    this.stopped = stopped;
  }

  /** Copies and returns: this is the AM's dispatcher thread. */
  @Override
  public void handle(SpeculatorEvent event) {
    Means known = means;
    if (known != null) {
      known.look();
    }
    Samples into = samples;
    if (event instanceof OnDispatcher) {
      ((OnDispatcher) event).run();
    } else if (event.getType() == Speculator.EventType.TASK_CONTAINER_NEED_UPDATE) {
      if (known != null) {
        known.needChanged(event.getTaskID());
      }
    } else if (into != null && event.getType() == Speculator.EventType.ATTEMPT_STATUS_UPDATE) {
      into.add(event.getReportedStatus(), event.getTimestamp());
    } else if (event.getType() == Speculator.EventType.ATTEMPT_START) {
      Starts counted = starts;
      if (counted != null) {
        counted.launched(event.getReportedStatus().id);
      }
    }
  }

  @Override
  public void run() {
    try {
      Settings settings = new Settings(conf);
      if (settings.urls.isEmpty()) {
        Log.warn("drover.service.urls names no usable address; Hadoop's speculator runs alone");
        return;
      }
      exchange(settings, initialisedJob());
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    } catch (IOException | GeneralSecurityException e) {
      throw new IllegalStateException(e);
    }
  }

  /** In the AM a job appears before services start, in uber mode without any event. */
  private Job initialisedJob() throws InterruptedException {
    while (true) {
      for (Job job : context.getAllJobs().values()) {
        if (job.getState() != JobState.NEW) {
          return job;
        }
      }
      Thread.sleep(JOB_POLL_MS);
    }
  }

  /**
   * Hadoop starts a job when it has started all of the AM's services. Before, there is no blacklist
   * to be seen, and what the job can have done to it would be told as less than it is.
   */
  private static void awaitStart(Job job) throws InterruptedException {
    while (job.getState() == JobState.INITED) {
      Thread.sleep(JOB_POLL_MS);
    }
  }

  private void exchange(Settings settings, Job job)
      throws InterruptedException, IOException, GeneralSecurityException {
    Samples into = new Samples(job.getTotalMaps(), job.getTotalReduces());
    samples = into;
    SecureRandom secure = new SecureRandom();
    Identity identity = new Identity(secure);
    post(new JobDiagnosticsUpdateEvent(job.getID(), identity.proof()));
    awaitStart(job);

    String version = version();
    boolean able = holder != null && Executor.canAct(job);
    Consumer<Runnable> dispatcher =
        what -> post(new OnDispatcher(job.getID(), context.getClock().getTime(), what));
    Starts begun = new Starts(job, dispatcher);
    starts = begun;
    JobWatch watch = new JobWatch(job, conf, into);
    Lease lease = new Lease(System::nanoTime, able && settings.acts());
    Ledger ledger = new Ledger(System::nanoTime);
    Headroom headroom = new Headroom(conf, nativeCounts, watch::needs, copies);
    Means all = new Means(conf, context, job, lease, ledger, headroom, copies, this::post);
    means = all;
    Collection<String> can = able ? all.can() : Collections.emptySet();
    Hello hello = new Hello(conf, job, identity.keyHex(), settings.mode, can);
    JobFacts facts =
        new JobFacts(
            context,
            version,
            identity.session,
            hello,
            watch,
            into,
            begun,
            nativeCounts,
            this::sinceStartMs);
    Transport transport =
        new HttpTransport(
            settings.connectTimeoutMs, settings.readTimeoutMs, "drover-shim/" + version, all::look);
    Executor executor =
        new Executor(lease, new Grounds(job, lease, System::nanoTime), headroom, all);
    Actions actions =
        new Actions(ledger, executor, dispatcher, new Racks(HadoopInside::rack, System::nanoTime));
    if (holder != null) {
      holder.accept(lease);
    }
    Random random = new Random(secure.nextLong());
    Pause pause =
        new Pause(
            () -> job.getCompletedMaps() + job.getCompletedReduces() + begun.count(),
            Thread::sleep,
            all::look);
    loop(
        new Exchange(
            settings, identity, facts, transport, System::nanoTime, random, lease, actions),
        lease,
        pause);
  }

  private void loop(Exchange exchange, Lease lease, Pause pause)
      throws IOException, GeneralSecurityException {
    try {
      for (long waitMs = exchange.step(); waitMs != Exchange.STOP; waitMs = exchange.step()) {
        means.look();
        pause.pause(waitMs, exchange.newsMs());
      }
      Log.info("the service wants no more exchanges; Hadoop's speculator owns the job");
    } catch (InterruptedException e) {
      lastWords(exchange);
    } finally {
      lease.end();
      means.end();
      liftAgain();
    }
  }

  /** The newest state, page by page, for so long at most. */
  private void lastWords(Exchange exchange) throws IOException, GeneralSecurityException {
    long until = sinceStartMs() + LAST_WORDS_MS;
    exchange.lookAgain();
    long waitMs = exchange.step();
    while (exchange.hasMore() && sinceStartMs() + waitMs < until) {
      try {
        Thread.sleep(waitMs);
      } catch (InterruptedException e) {
        // it has been told to end already
      }
      waitMs = exchange.step();
    }
  }

  /** Until it is sure that no host is avoided any more, or nobody is left to hear. */
  private void liftAgain() {
    while (means.busy() && !stopped.getAsBoolean()) {
      try {
        Thread.sleep(LIFT_AGAIN_MS);
      } catch (InterruptedException e) {
        // only to end the exchange, or because the AM ends, which is asked for next
      }
      means.look();
    }
  }

  /** Any thread may post to the AM's dispatcher; 2.x gives its handler as a raw type. */
  @SuppressWarnings({"unchecked", "rawtypes"})
  private void post(Event<?> event) {
    EventHandler dispatcher = context.getEventHandler();
    dispatcher.handle(event);
  }

  private long sinceStartMs() {
    return TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - startNanos);
  }

  private static String version() throws IOException {
    try (InputStream in = Core.class.getResourceAsStream("/io/drover/shim/build.properties")) {
      Properties build = new Properties();
      if (in != null) {
        build.load(in);
      }
      return build.getProperty("version", "unknown");
    }
  }
}
