package io.drover.lab;

import java.io.IOException;
import java.io.InputStream;
import java.io.PrintStream;
import java.security.MessageDigest;
import java.security.PrivilegedExceptionAction;
import java.util.Arrays;
import java.util.concurrent.Callable;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.mapreduce.Job;
import org.apache.hadoop.mapreduce.lib.output.FileOutputFormat;
import org.apache.hadoop.security.UserGroupInformation;

/** Submits a job as a user, follows it to its end, and prints lines that a program can read. */
final class Submission {
  private static final long POLL_MS = 250;
  private static final long TELL_MS = 2_000;

  private Submission() {}

  /** Runs the job in the name of {@code lab.user}; the answer is the exit status. */
  static int run(Configuration conf, PrintStream out, Callable<Job> prepare) throws Exception {
    UserGroupInformation login = UserGroupInformation.getLoginUser();
    String user = conf.get(Settings.USER, login.getShortUserName());
    UserGroupInformation as =
        user.equals(login.getShortUserName())
            ? login
            : UserGroupInformation.createProxyUser(user, login);
    return as.doAs((PrivilegedExceptionAction<Integer>) () -> follow(prepare.call(), as, out));
  }

  private static int follow(Job job, UserGroupInformation as, PrintStream out) throws Exception {
    job.submit();
    out.println("SUBMITTED " + job.getJobID());
    Thread killer = new Thread(() -> kill(job, as));
    Runtime.getRuntime().addShutdownHook(killer);
    long told = 0;
    while (!job.isComplete()) {
      long now = System.currentTimeMillis();
      if (now - told >= TELL_MS) {
        told = now;
        System.err.printf(
            "%s map %.0f %% reduce %.0f %%%n",
            job.getJobID(), 100 * job.mapProgress(), 100 * job.reduceProgress());
      }
      Thread.sleep(POLL_MS);
    }
    Runtime.getRuntime().removeShutdownHook(killer);
    boolean succeeded = job.isSuccessful();
    out.printf(
        "RESULT {\"job\":\"%s\",\"succeeded\":%s,\"seconds\":%.3f,\"digest\":\"%s\"}%n",
        job.getJobID(),
        succeeded,
        (job.getFinishTime() - job.getStartTime()) / 1000.0,
        succeeded ? digest(job) : "");
    return succeeded ? 0 : 1;
  }

  /** Leaving early leaves no job behind. */
  private static void kill(Job job, UserGroupInformation as) {
    try {
      as.doAs(
          (PrivilegedExceptionAction<Void>)
              () -> {
                job.killJob();
                return null;
              });
    } catch (IOException | InterruptedException | RuntimeException fault) {
      System.err.println("could not kill " + job.getJobID() + ": " + fault);
    }
  }

  /**
   * A digest of the output's bytes, its files in the order of their names; empty without output.
   */
  private static String digest(Job job) throws Exception {
    Path output = FileOutputFormat.getOutputPath(job);
    if (output == null) {
      return "";
    }
    FileSystem files = output.getFileSystem(job.getConfiguration());
    FileStatus[] parts =
        files.listStatus(output, path -> !path.getName().startsWith("_")); // _SUCCESS
    Arrays.sort(parts, (a, b) -> a.getPath().getName().compareTo(b.getPath().getName()));
    MessageDigest digest = MessageDigest.getInstance("SHA-256");
    byte[] buffer = new byte[1 << 16];
    for (FileStatus part : parts) {
      digest.update((part.getPath().getName() + "\n").getBytes("UTF-8"));
      try (InputStream in = files.open(part.getPath())) {
        for (int n = in.read(buffer); n > 0; n = in.read(buffer)) {
          digest.update(buffer, 0, n);
        }
      }
    }
    StringBuilder hex = new StringBuilder();
    for (byte one : digest.digest()) {
      hex.append(String.format("%02x", one));
    }
    return hex.toString();
  }
}
