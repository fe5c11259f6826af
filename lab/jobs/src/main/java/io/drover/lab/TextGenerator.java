package io.drover.lab;

import java.io.BufferedOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.util.Random;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.conf.Configured;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.util.Tool;
import org.apache.hadoop.util.ToolRunner;

/** Writes files of words whose frequencies fall off as in real text; the same for the same seed. */
public final class TextGenerator extends Configured implements Tool {
  static final String FILES = "lab.text.files";
  static final String BYTES = "lab.text.bytes";
  private static final int VOCABULARY = 20_000;
  private static final int WORDS_A_LINE = 12;

  @Override
  public int run(String[] arguments) throws Exception {
    Configuration conf = getConf();
    Path directory = new Path(WordCount.required(conf, Settings.OUTPUT));
    FileSystem files = directory.getFileSystem(conf);
    long seed = conf.getLong(Settings.SEED, 1);
    for (int i = 0; i < conf.getInt(FILES, 8); i++) {
      Path file = new Path(directory, String.format("text-%05d", i));
      try (OutputStream out = new BufferedOutputStream(files.create(file, true))) {
        write(out, conf.getLong(BYTES, 1 << 20), new Random(seed * 31 + i));
      }
    }
    return 0;
  }

  static void write(OutputStream out, long bytes, Random random) throws IOException {
    long written = 0;
    for (int i = 1; written < bytes; i++) {
      // Log-uniform ranks: the word of rank k comes up about in proportion to 1/k (Zipf's law).
      int rank = (int) Math.exp(random.nextDouble() * Math.log(VOCABULARY));
      String word = Integer.toString(rank * 7919 + 46_656, 36);
      byte[] text =
          (word + (i % WORDS_A_LINE == 0 ? "\n" : " ")).getBytes(StandardCharsets.US_ASCII);
      out.write(text);
      written += text.length;
    }
  }

  /** Writes {@code lab.text.files} files of {@code lab.text.bytes} into {@code -Dlab.output}. */
  public static void main(String[] arguments) throws Exception {
    System.exit(ToolRunner.run(new Configuration(), new TextGenerator(), arguments));
  }
}
