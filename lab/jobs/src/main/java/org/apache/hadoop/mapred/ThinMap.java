package org.apache.hadoop.mapred;

import java.io.IOException;
import org.apache.hadoop.mapreduce.FileSystemCounter;
import org.apache.hadoop.mapreduce.TaskCounter;

/**
 * What a map's process says to its ApplicationMaster, in the order in which {@code YarnChild} and
 * {@code Task} say it. In Hadoop's package, as what is said there is known in it alone.
 */
public final class ThinMap {
  private static final long WAIT_MS = 500;
  private static final long INPUT_BYTES = 1 << 20;
  private static final long RECORDS = 10_000;
  private static final long RESIDENT_BYTES = 96L << 20;

  private final TaskUmbilicalProtocol master;
  private final TaskAttemptID id;

  private ThinMap(TaskUmbilicalProtocol master, TaskAttemptID id) {
    this.master = master;
    this.id = id;
  }

  /** The map that the master has for a JVM, or null where that is to end. */
  public static ThinMap begin(TaskUmbilicalProtocol master, TaskAttemptID first, long jvm)
      throws IOException, InterruptedException {
    JvmContext context = new JvmContext(new JVMId(first.getJobID(), true, jvm), "-1000");
    JvmTask given = master.getTask(context);
    while (given == null) {
      Thread.sleep(WAIT_MS);
      given = master.getTask(context);
    }
    return given.shouldDie() ? null : new ThinMap(master, given.getTask().getTaskID());
  }

  /** Which attempt it is. */
  public TaskAttemptID id() {
    return id;
  }

  /** Tells how far it is; false where the master knows nothing of it. */
  public boolean report(double progress, long ranMs) throws IOException, InterruptedException {
    TaskStatus status =
        new MapTaskStatus(
            id,
            (float) progress,
            0,
            TaskStatus.State.RUNNING,
            "",
            "map",
            "",
            TaskStatus.Phase.MAP,
            counted(progress, ranMs));
    return master.statusUpdate(id, status).getTaskFound();
  }

  /** Tells that it has succeeded. */
  public void done() throws IOException {
    master.done(id);
  }

  /** The counters of a map of a job without reduces, of about as many as a real one has. */
  private static Counters counted(double progress, long ranMs) {
    Counters counters = new Counters();
    long records = Math.round(RECORDS * progress);
    counters.findCounter("file", FileSystemCounter.BYTES_READ).setValue(0);
    counters.findCounter("file", FileSystemCounter.BYTES_WRITTEN).setValue(300_000);
    counters
        .findCounter("hdfs", FileSystemCounter.BYTES_READ)
        .setValue(Math.round(INPUT_BYTES * progress));
    counters.findCounter("hdfs", FileSystemCounter.READ_OPS).setValue(3);
    counters.findCounter(TaskCounter.MAP_INPUT_RECORDS).setValue(records);
    counters.findCounter(TaskCounter.MAP_OUTPUT_RECORDS).setValue(records);
    counters.findCounter(TaskCounter.SPLIT_RAW_BYTES).setValue(120);
    counters.findCounter(TaskCounter.SPILLED_RECORDS).setValue(0);
    counters.findCounter(TaskCounter.FAILED_SHUFFLE).setValue(0);
    counters.findCounter(TaskCounter.MERGED_MAP_OUTPUTS).setValue(0);
    counters.findCounter(TaskCounter.GC_TIME_MILLIS).setValue(ranMs / 50);
    counters.findCounter(TaskCounter.CPU_MILLISECONDS).setValue(ranMs);
    counters.findCounter(TaskCounter.PHYSICAL_MEMORY_BYTES).setValue(RESIDENT_BYTES);
    counters.findCounter(TaskCounter.VIRTUAL_MEMORY_BYTES).setValue(20 * RESIDENT_BYTES);
    counters.findCounter(TaskCounter.COMMITTED_HEAP_BYTES).setValue(RESIDENT_BYTES);
    return counters;
  }
}
