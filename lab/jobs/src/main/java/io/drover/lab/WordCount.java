package io.drover.lab;

import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.conf.Configured;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.io.IntWritable;
import org.apache.hadoop.io.Text;
import org.apache.hadoop.mapreduce.Job;
import org.apache.hadoop.mapreduce.lib.input.FileInputFormat;
import org.apache.hadoop.mapreduce.lib.map.TokenCounterMapper;
import org.apache.hadoop.mapreduce.lib.output.FileOutputFormat;
import org.apache.hadoop.mapreduce.lib.reduce.IntSumReducer;
import org.apache.hadoop.util.Tool;
import org.apache.hadoop.util.ToolRunner;

/**
 * Counts words with Hadoop's own mapper and reducer, no combiner: real reading, sorting, shuffle.
 */
public final class WordCount extends Configured implements Tool {
  static final String INPUT = "lab.input";

  @Override
  public int run(String[] arguments) throws Exception {
    Configuration conf = getConf();
    String input = required(conf, INPUT);
    String output = required(conf, Settings.OUTPUT);
    return Submission.run(
        conf,
        System.out,
        () -> {
          Job job = Job.getInstance(conf, conf.get(Settings.NAME, "word count"));
          job.setJarByClass(WordCount.class);
          job.setMapperClass(TokenCounterMapper.class);
          job.setReducerClass(IntSumReducer.class);
          job.setNumReduceTasks(conf.getInt(Settings.REDUCES, 2));
          job.setOutputKeyClass(Text.class);
          job.setOutputValueClass(IntWritable.class);
          FileInputFormat.addInputPath(job, new Path(input));
          FileOutputFormat.setOutputPath(job, new Path(output));
          return job;
        });
  }

  static String required(Configuration conf, String key) {
    String value = conf.getTrimmed(key, "");
    if (value.isEmpty()) {
      throw new IllegalArgumentException("-D" + key + "=PATH is needed");
    }
    return value;
  }

  /** Counts the words under {@code -Dlab.input} into {@code -Dlab.output}. */
  public static void main(String[] arguments) throws Exception {
    System.exit(ToolRunner.run(new Configuration(), new WordCount(), arguments));
  }
}
