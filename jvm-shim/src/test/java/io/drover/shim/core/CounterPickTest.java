package io.drover.shim.core;

import static org.junit.Assert.assertArrayEquals;
import static org.junit.Assert.assertEquals;

import org.apache.hadoop.mapreduce.Counters;
import org.apache.hadoop.mapreduce.FileSystemCounter;
import org.apache.hadoop.mapreduce.TaskCounter;
import org.apache.hadoop.mapreduce.lib.input.FileInputFormatCounter;
import org.apache.hadoop.mapreduce.lib.output.FileOutputFormatCounter;
import org.junit.Test;

public class CounterPickTest {
  private final Counters counters = new Counters();

  @Test
  public void readingCountersAddsNoneToTheJob() {
    counters.findCounter("own", "one").setValue(1);
    assertArrayEquals(AttemptRow.absent(), CounterPick.of(counters));
    assertEquals(1, counters.countCounters());
  }

  @Test
  public void anAttemptWithoutCountersHasNone() {
    assertArrayEquals(AttemptRow.absent(), CounterPick.of(counters));
  }

  @Test
  public void eachCounterHasItsPlace() {
    counters.findCounter(FileInputFormatCounter.BYTES_READ).setValue(1);
    counters.findCounter(TaskCounter.MAP_INPUT_RECORDS).setValue(2);
    counters.findCounter(FileOutputFormatCounter.BYTES_WRITTEN).setValue(3);
    counters.findCounter(TaskCounter.CPU_MILLISECONDS).setValue(4);
    counters.findCounter(TaskCounter.GC_TIME_MILLIS).setValue(5);
    counters.findCounter(TaskCounter.REDUCE_SHUFFLE_BYTES).setValue(6);
    counters.findCounter(TaskCounter.PHYSICAL_MEMORY_BYTES).setValue(7);
    assertArrayEquals(new long[] {1, 2, 3, 4, 5, 6, 7}, CounterPick.of(counters));
  }

  @Test
  public void spillsAreNeitherInputNorOutput() {
    counters.findCounter("hdfs", FileSystemCounter.BYTES_READ).setValue(100);
    counters.findCounter("s3a", FileSystemCounter.BYTES_READ).setValue(11);
    counters.findCounter("file", FileSystemCounter.BYTES_READ).setValue(5_000);
    counters.findCounter("file", FileSystemCounter.BYTES_WRITTEN).setValue(6_000);
    counters.findCounter(TaskCounter.MAP_OUTPUT_BYTES).setValue(70);
    long[] picked = CounterPick.of(counters);
    assertEquals(111, picked[0]);
    assertEquals(70, picked[2]);
  }
}
