package io.drover.lab;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.Paths;
import java.util.List;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.util.ToolRunner;

/**
 * Submits a {@link LabJob} for each line of its input, all from one JVM. A line names a file with
 * the job's arguments, one a line; what the job's own client would print goes to a file beside it
 * that ends in {@code .log}, and after it {@code ENDED} and the exit status. At the end of its
 * input, it leaves, and no job behind.
 */
public final class Client {
  private Client() {}

  private static void submit(Path file) {
    String name = file.getFileName().toString().replaceFirst("\\.[^.]*$", "");
    try (PrintStream out =
        new PrintStream(Files.newOutputStream(file.resolveSibling(name + ".log")), true, "UTF-8")) {
      int status = 1;
      try {
        List<String> arguments = Files.readAllLines(file);
        LabJob job = new LabJob(out);
        status = ToolRunner.run(new Configuration(), job, arguments.toArray(new String[0]));
      } catch (Exception fault) {
        fault.printStackTrace(out);
      }
      out.println("ENDED " + status);
    } catch (IOException fault) {
      System.err.println(file + ": " + fault);
    }
  }

  /** Reads lines from standard input until it ends. */
  public static void main(String[] arguments) throws Exception {
    BufferedReader lines =
        new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
    for (String line = lines.readLine(); line != null; line = lines.readLine()) {
      Path file = Paths.get(line);
      new Thread(() -> submit(file), line).start();
    }
    System.exit(0);
  }
}
