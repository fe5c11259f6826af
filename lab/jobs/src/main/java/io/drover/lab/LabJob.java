package io.drover.lab;

import java.io.IOException;
import java.io.PrintStream;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.conf.Configured;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.io.LongWritable;
import org.apache.hadoop.io.NullWritable;
import org.apache.hadoop.io.Text;
import org.apache.hadoop.mapreduce.Job;
import org.apache.hadoop.mapreduce.Mapper;
import org.apache.hadoop.mapreduce.Partitioner;
import org.apache.hadoop.mapreduce.Reducer;
import org.apache.hadoop.mapreduce.lib.output.FileOutputFormat;
import org.apache.hadoop.mapreduce.lib.output.NullOutputFormat;
import org.apache.hadoop.mapreduce.lib.output.TextOutputFormat;
import org.apache.hadoop.util.Tool;
import org.apache.hadoop.util.ToolRunner;

/**
 * A job of generated records whose maps and reduces take a chosen time, slower where {@link
 * Settings} says so. Its output depends on the records alone, so it is the same whatever was slow
 * and whichever attempt won.
 */
public final class LabJob extends Configured implements Tool {
  private final PrintStream out;

  LabJob(PrintStream out) {
    this.out = out;
  }

  /** One line of output for a record: its number and a mix of it. */
  private static Text line(long record) {
    return new Text(record + "\t" + Long.toHexString(record * 0x9E3779B97F4A7C15L));
  }

  /** Works on each record and passes it on. */
  public static final class Work extends Mapper<LongWritable, NullWritable, LongWritable, Text> {
    private Pace pace;
    private double msARecord;

    @Override
    protected void setup(Context context) {
      Settings settings = new Settings(context.getConfiguration());
      int task = context.getTaskAttemptID().getTaskID().getId();
      msARecord = settings.mapMs * settings.jitterOf(true, task) / settings.records;
      double wholeMs = msARecord * settings.recordsOf(task);
      pace = new Pace(settings, context.getTaskAttemptID(), wholeMs);
    }

    @Override
    protected void map(LongWritable record, NullWritable nothing, Context context)
        throws IOException, InterruptedException {
      pace.work(msARecord);
      context.write(record, line(record.get()));
    }
  }

  /** Sends each record to the reduce whose turn it is. */
  public static final class Turns extends Partitioner<LongWritable, Text>
      implements org.apache.hadoop.conf.Configurable {
    private Configuration conf;
    private Shares shares;

    @Override
    public void setConf(Configuration given) {
      conf = given;
      shares = new Shares(new Settings(given));
    }

    @Override
    public Configuration getConf() {
      return conf;
    }

    @Override
    public int getPartition(LongWritable record, Text line, int partitions) {
      return shares.of(record.get()) % partitions;
    }
  }

  /** Works on each record and writes its line. */
  public static final class Gather extends Reducer<LongWritable, Text, LongWritable, Text> {
    private Pace pace;
    private double msARecord;

    @Override
    protected void setup(Context context) {
      Settings settings = new Settings(context.getConfiguration());
      int task = context.getTaskAttemptID().getTaskID().getId();
      double jitter = settings.jitterOf(false, task);
      msARecord = new Shares(settings).msARecord(settings) * jitter;
      double wholeMs = settings.reduceMs * settings.size(false, task) * jitter;
      pace = new Pace(settings, context.getTaskAttemptID(), wholeMs);
    }

    @Override
    protected void reduce(LongWritable record, Iterable<Text> lines, Context context)
        throws IOException, InterruptedException {
      for (Text line : lines) {
        pace.work(msARecord);
        context.progress();
        context.write(record, line);
      }
    }
  }

  @Override
  public int run(String[] arguments) throws Exception {
    Configuration conf = getConf();
    Settings settings = new Settings(conf);
    return Submission.run(
        conf,
        out,
        () -> {
          conf.setLong(Settings.SUBMITTED_AT, System.currentTimeMillis());
          Job job = Job.getInstance(conf, conf.get(Settings.NAME, "lab job"));
          job.setJarByClass(LabJob.class);
          job.setInputFormatClass(LabInputFormat.class);
          job.setMapperClass(Work.class);
          job.setPartitionerClass(Turns.class);
          job.setReducerClass(Gather.class);
          job.setNumReduceTasks(settings.reduces);
          job.setOutputKeyClass(LongWritable.class);
          job.setOutputValueClass(Text.class);
          String output = conf.get(Settings.OUTPUT);
          if (output == null) {
            job.setOutputFormatClass(NullOutputFormat.class);
          } else {
            job.setOutputFormatClass(TextOutputFormat.class);
            FileOutputFormat.setOutputPath(job, new Path(output));
          }
          return job;
        });
  }

  /** Runs a job; every option is a property, as {@code -Dlab.maps=16}. */
  public static void main(String[] arguments) throws Exception {
    System.exit(ToolRunner.run(new Configuration(), new LabJob(System.out), arguments));
  }
}
