package io.drover.shim.core;

import java.util.Locale;
import org.apache.hadoop.mapreduce.Counter;
import org.apache.hadoop.mapreduce.CounterGroup;
import org.apache.hadoop.mapreduce.Counters;
import org.apache.hadoop.mapreduce.FileSystemCounter;
import org.apache.hadoop.mapreduce.TaskCounter;
import org.apache.hadoop.mapreduce.lib.input.FileInputFormatCounter;
import org.apache.hadoop.mapreduce.lib.output.FileOutputFormatCounter;

/**
 * Picks the few counters that are sent. Groups are iterated, never asked by name: a look-up would
 * add missing counters to the job's own.
 */
final class CounterPick {
  /** Names on the wire, in the order of the values. */
  static final String[] NAMES = {"in", "rec", "out", "cpu", "gc", "shuf", "mem"};

  private static final int IN = 0;
  private static final int RECORDS = 1;
  private static final int OUT = 2;
  private static final int CPU = 3;
  private static final int GC = 4;
  private static final int SHUFFLED = 5;
  private static final int MEMORY = 6;

  private static final String TASK = TaskCounter.class.getName();
  private static final String INPUT = FileInputFormatCounter.class.getName();
  private static final String OUTPUT = FileOutputFormatCounter.class.getName();
  private static final String FILES = FileSystemCounter.class.getName();

  private CounterPick() {}

  /** Values in the order of {@link #NAMES}; -1 where the attempt has no such counter. */
  static long[] of(Counters counters) {
    long[] picked = AttemptRow.absent();
    long mapOutput = -1;
    long[] files = {-1, -1};
    for (CounterGroup group : counters) {
      String name = group.getName();
      if (name.equals(TASK)) {
        mapOutput = pickTask(group, picked);
      } else if (name.equals(INPUT)) {
        picked[IN] = sum(group, "BYTES_READ");
      } else if (name.equals(OUTPUT)) {
        picked[OUT] = sum(group, "BYTES_WRITTEN");
      } else if (name.equals(FILES)) {
        pickFiles(group, files);
      }
    }
    // Formats that count no bytes themselves: what distant file systems counted, then the spill.
    picked[IN] = picked[IN] > 0 ? picked[IN] : Math.max(picked[IN], files[0]);
    picked[OUT] = picked[OUT] > 0 ? picked[OUT] : Math.max(picked[OUT], files[1]);
    picked[OUT] = picked[OUT] > 0 ? picked[OUT] : Math.max(picked[OUT], mapOutput);
    return picked;
  }

  private static long pickTask(CounterGroup group, long[] picked) {
    long mapOutput = -1;
    for (Counter counter : group) {
      long value = counter.getValue();
      switch (counter.getName()) {
        case "MAP_INPUT_RECORDS":
        case "REDUCE_INPUT_RECORDS":
          picked[RECORDS] = value;
          break;
        case "MAP_OUTPUT_BYTES":
          mapOutput = value;
          break;
        case "CPU_MILLISECONDS":
          picked[CPU] = value;
          break;
        case "GC_TIME_MILLIS":
          picked[GC] = value;
          break;
        case "REDUCE_SHUFFLE_BYTES":
          picked[SHUFFLED] = value;
          break;
        case "PHYSICAL_MEMORY_BYTES":
          picked[MEMORY] = value;
          break;
        default:
      }
    }
    return mapOutput;
  }

  /** The local file system holds spills and merges, which are neither input nor output. */
  private static void pickFiles(CounterGroup group, long[] files) {
    for (Counter counter : group) {
      String name = counter.getName().toUpperCase(Locale.ROOT);
      int side = name.endsWith("_BYTES_READ") ? 0 : name.endsWith("_BYTES_WRITTEN") ? 1 : -1;
      if (side >= 0 && !name.startsWith("FILE_")) {
        files[side] = Math.max(files[side], 0) + counter.getValue();
      }
    }
  }

  private static long sum(CounterGroup group, String name) {
    long sum = -1;
    for (Counter counter : group) {
      if (counter.getName().equals(name)) {
        sum = Math.max(sum, 0) + counter.getValue();
      }
    }
    return sum;
  }
}
