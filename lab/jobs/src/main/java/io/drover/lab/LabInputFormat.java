package io.drover.lab;

import java.io.DataInput;
import java.io.DataOutput;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.apache.hadoop.io.LongWritable;
import org.apache.hadoop.io.NullWritable;
import org.apache.hadoop.io.Writable;
import org.apache.hadoop.io.WritableUtils;
import org.apache.hadoop.mapreduce.InputFormat;
import org.apache.hadoop.mapreduce.InputSplit;
import org.apache.hadoop.mapreduce.JobContext;
import org.apache.hadoop.mapreduce.RecordReader;
import org.apache.hadoop.mapreduce.TaskAttemptContext;

/** Generates records: each map a run of numbers, its split's length and hosts as configured. */
public final class LabInputFormat extends InputFormat<LongWritable, NullWritable> {

  /** A run of record numbers. */
  public static final class Split extends InputSplit implements Writable {
    private long first;
    private int count;
    private long bytes;
    private String[] hosts = {};

    /** For Hadoop, which fills it in afterwards. */
    public Split() {}

    private Split(long first, int count, long bytes, String[] hosts) {
      this.first = first;
      this.count = count;
      this.bytes = bytes;
      this.hosts = hosts;
    }

    @Override
    public long getLength() {
      return bytes;
    }

    @Override
    public String[] getLocations() {
      return hosts.clone();
    }

    @Override
    public void write(DataOutput out) throws IOException {
      out.writeLong(first);
      out.writeInt(count);
      out.writeLong(bytes);
      WritableUtils.writeStringArray(out, hosts);
    }

    @Override
    public void readFields(DataInput in) throws IOException {
      first = in.readLong();
      count = in.readInt();
      bytes = in.readLong();
      hosts = WritableUtils.readStringArray(in);
    }
  }

  @Override
  public List<InputSplit> getSplits(JobContext context) {
    Settings settings = new Settings(context.getConfiguration());
    List<InputSplit> splits = new ArrayList<>();
    long first = 0;
    for (int map = 0; map < settings.maps; map++) {
      String[] all = settings.splitHosts;
      String[] hosts = all.length == 0 ? all : new String[] {all[map % all.length]};
      int count = settings.recordsOf(map);
      long bytes = Math.round(settings.splitBytes * settings.size(true, map));
      splits.add(new Split(first, count, bytes, hosts));
      first += count;
    }
    return splits;
  }

  @Override
  public RecordReader<LongWritable, NullWritable> createRecordReader(
      InputSplit split, TaskAttemptContext context) {
    return new Reader();
  }

  private static final class Reader extends RecordReader<LongWritable, NullWritable> {
    private final LongWritable key = new LongWritable();
    private Split split;
    private int read;

    @Override
    public void initialize(InputSplit given, TaskAttemptContext context) {
      split = (Split) given;
    }

    @Override
    public boolean nextKeyValue() {
      if (read == split.count) {
        return false;
      }
      key.set(split.first + read++);
      return true;
    }

    @Override
    public LongWritable getCurrentKey() {
      return key;
    }

    @Override
    public NullWritable getCurrentValue() {
      return NullWritable.get();
    }

    /** Of the records done: the one just handed out is still to be worked on. */
    @Override
    public float getProgress() {
      return (float) Math.max(0, read - 1) / split.count;
    }

    @Override
    public void close() {}
  }
}
