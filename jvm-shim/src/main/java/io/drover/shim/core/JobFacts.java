package io.drover.shim.core;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonGenerator;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.LongSupplier;
import java.util.function.ToLongFunction;
import org.apache.hadoop.mapreduce.v2.app.AppContext;
import org.apache.hadoop.mapreduce.v2.app.job.Job;

/** Writes requests: the job's rows and what frames them. */
final class JobFacts implements Facts {
  private final JsonFactory json = new JsonFactory();
  private final AppContext context;
  private final String version;
  private final String session;
  private final Hello hello;
  private final JobWatch watch;
  private final Samples samples;
  private final Starts starts;
  private final ToLongFunction<String> nativeCounts;
  private final LongSupplier monotonicMs;
  private final boolean ofMachine;
  private final long beganMs;

  JobFacts(
      AppContext context,
      String version,
      String session,
      Hello hello,
      JobWatch watch,
      Samples samples,
      Starts starts,
      ToLongFunction<String> nativeCounts,
      LongSupplier monotonicMs) {
    this.context = context;
    this.version = version;
    this.session = session;
    this.hello = hello;
    this.watch = watch;
    this.samples = samples;
    this.starts = starts;
    this.nativeCounts = nativeCounts;
    this.monotonicMs = monotonicMs;
    // By its name: no class of Hadoop's is asked for that is not needed.
    this.ofMachine =
        "org.apache.hadoop.yarn.util.SystemClock".equals(context.getClock().getClass().getName());
    this.beganMs = context.getClock().getTime();
  }

  /**
   * How long the shim has run. Beside a clock that a test moves no other tells by how much it was
   * set: such a clock runs as it is moved.
   */
  private long ranMs(long amMs) {
    return ofMachine ? monotonicMs.getAsLong() : Math.max(0, amMs - beganMs);
  }

  @Override
  public long sweep() {
    return timed(watch::sweep);
  }

  @Override
  public long sweepNeeds() {
    return timed(watch::sweepNeeds);
  }

  private static long timed(Runnable sweep) {
    long before = processorNanos();
    sweep.run();
    return processorNanos() - before;
  }

  /** Of this thread: on a busy machine most of the time that passes is not spent here. */
  private static long processorNanos() {
    ThreadMXBean threads = ManagementFactory.getThreadMXBean();
    return threads.isCurrentThreadCpuTimeSupported() && threads.isThreadCpuTimeEnabled()
        ? threads.getCurrentThreadCpuTime()
        : System.nanoTime();
  }

  @Override
  public RowLog log() {
    return watch.log();
  }

  @Override
  public void wantMisses(boolean wanted) {
    watch.wantMisses(wanted);
  }

  @Override
  public void wantStarts(boolean wanted) {
    starts.want(wanted);
  }

  @Override
  public Map<String, Long> dropped() {
    Map<String, Long> dropped = new TreeMap<>();
    put(dropped, "unknown_task", samples.unknownTasks());
    put(dropped, "bad_progress", samples.badProgress());
    put(dropped, "fetch_failures", samples.misses().dropped());
    return dropped;
  }

  private static void put(Map<String, Long> dropped, String reason, long count) {
    if (count > 0) {
      dropped.put(reason, count);
    }
  }

  @Override
  public byte[] encode(Envelope envelope) throws IOException {
    ByteArrayOutputStream body = new ByteArrayOutputStream(8192);
    try (JsonGenerator out = json.createGenerator(body)) {
      out.writeStartObject();
      writeFrame(out, envelope);
      if (envelope.hello) {
        hello.write(out);
      }
      writeRows(out, "hosts", HostRow.class, envelope.page);
      writeRows(out, "tasks", TaskRow.class, envelope.page);
      writeRows(out, "attempts", AttemptRow.class, envelope.page);
      writeCounts(out, envelope);
      out.writeEndObject();
    }
    return body.toByteArray();
  }

  private void writeFrame(JsonGenerator out, Envelope envelope) throws IOException {
    Job job = watch.job();
    out.writeNumberField("protocol", 1);
    out.writeStringField("shim", version);
    out.writeStringField("session", session);
    out.writeStringField("attempt", context.getApplicationAttemptId().toString());
    out.writeStringField("job", job.getID().toString());
    out.writeNumberField("seq", envelope.seq);
    out.writeObjectFieldStart("clock");
    long amMs = context.getClock().getTime();
    out.writeNumberField("am_ms", Math.max(0, amMs));
    out.writeNumberField("mono_ms", ranMs(amMs));
    out.writeEndObject();
    out.writeNumberField("epoch", envelope.epoch);
    out.writeNumberField("lease_ms", envelope.leaseMs);
    out.writeNumberField("base", envelope.page.base);
    out.writeNumberField("upto", envelope.page.upto);
    out.writeBooleanField("more", envelope.page.more);
    out.writeStringField("job_state", job.getState().name());
    out.writeNumberField("maps", job.getTotalMaps());
    out.writeNumberField("reduces", job.getTotalReduces());
  }

  private static void writeRows(
      JsonGenerator out, String name, Class<? extends Row> kind, RowLog.Page page)
      throws IOException {
    out.writeArrayFieldStart(name);
    for (Row row : page.rows) {
      if (kind.isInstance(row)) {
        row.write(out, page.whole);
      }
    }
    out.writeEndArray();
  }

  private void writeCounts(JsonGenerator out, Envelope envelope) throws IOException {
    Needs needs = watch.needs();
    out.writeObjectFieldStart("needs");
    out.writeNumberField("m", needs.maps);
    out.writeNumberField("r", needs.reduces);
    out.writeEndObject();
    out.writeObjectFieldStart("native");
    out.writeNumberField("launched", nativeCounts.applyAsLong("launched"));
    out.writeNumberField("held", nativeCounts.applyAsLong("held"));
    out.writeEndObject();
    out.writeObjectFieldStart("dropped");
    for (Map.Entry<String, Long> reason : envelope.dropped.entrySet()) {
      out.writeNumberField(reason.getKey(), reason.getValue());
    }
    out.writeEndObject();
    out.writeArrayFieldStart("acks");
    for (Ack ack : envelope.acks) {
      ack.write(out);
    }
    out.writeEndArray();
  }
}
