package io.drover.lab;

import java.io.BufferedReader;
import java.io.File;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.nio.charset.StandardCharsets;
import java.security.PrivilegedExceptionAction;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.ipc.RPC;
import org.apache.hadoop.mapred.JobConf;
import org.apache.hadoop.mapred.TaskAttemptID;
import org.apache.hadoop.mapred.TaskUmbilicalProtocol;
import org.apache.hadoop.mapred.ThinMap;
import org.apache.hadoop.mapreduce.security.TokenCache;
import org.apache.hadoop.mapreduce.security.token.JobTokenIdentifier;
import org.apache.hadoop.mapreduce.util.MRJobConfUtil;
import org.apache.hadoop.security.Credentials;
import org.apache.hadoop.security.SecurityUtil;
import org.apache.hadoop.security.UserGroupInformation;
import org.apache.hadoop.security.token.Token;

/**
 * Is the maps of whole jobs, in one JVM: each of their containers runs {@code lab/thin/bin/java},
 * which calls here, and ends when it is told to. What a map says to its master is what Hadoop's own
 * say; its work is to wait, for as long as {@link Settings} says, so that two cores are enough for
 * hundreds at once.
 */
public final class ThinTasks {
  private static final int WAITING_CALLS = 1_000;

  /** Exit statuses of {@code YarnChild} and of a task that its master does not know. */
  private static final int SUCCEEDED = 0;

  private static final int FAILED = 1;
  private static final int UNKNOWN = 66;

  private final Map<String, Master> masters = new ConcurrentHashMap<>();

  private ThinTasks() {}

  /** A job's settings, and the way to its master that the maps of one node share. */
  private static final class Master {
    final Settings settings;
    final long reportMs;
    final TaskUmbilicalProtocol umbilical;

    Master(String directory, String tokens, String host, String port, String job) throws Exception {
      JobConf conf = new JobConf(new Configuration());
      conf.addResource(new Path(directory, "job.xml"));
      settings = new Settings(conf);
      reportMs = MRJobConfUtil.getTaskProgressReportInterval(conf);
      InetSocketAddress address = new InetSocketAddress(host, Integer.parseInt(port));
      Credentials credentials = Credentials.readTokenStorageFile(new File(tokens), conf);
      Token<JobTokenIdentifier> token = TokenCache.getJobToken(credentials);
      SecurityUtil.setTokenService(token, address);
      UserGroupInformation owner = UserGroupInformation.createRemoteUser(job);
      owner.addToken(token);
      long version = TaskUmbilicalProtocol.versionID;
      PrivilegedExceptionAction<TaskUmbilicalProtocol> call =
          () -> RPC.getProxy(TaskUmbilicalProtocol.class, version, address, conf);
      umbilical = owner.doAs(call);
    }
  }

  private Master master(
      String node, String directory, String tokens, String host, String port, String job) {
    return masters.computeIfAbsent(
        node + " " + host + ":" + port + " " + job,
        key -> {
          try {
            return new Master(directory, tokens, host, port, job);
          } catch (Exception fault) {
            throw new IllegalStateException(key, fault);
          }
        });
  }

  /** One container, from its call to its end. */
  private void serve(Socket container) {
    try (Socket socket = container) {
      InputStream in = socket.getInputStream();
      BufferedReader lines = new BufferedReader(new InputStreamReader(in, StandardCharsets.UTF_8));
      String node = lines.readLine();
      if (node == null) {
        return; // somebody looked whether anybody is here
      }
      String directory = lines.readLine();
      String tokens = lines.readLine();
      String host = lines.readLine();
      String port = lines.readLine();
      TaskAttemptID first = TaskAttemptID.forName(lines.readLine());
      long jvm = Long.parseLong(lines.readLine());
      Master master = master(node, directory, tokens, host, port, first.getJobID().toString());
      int status = run(master, node, first, jvm, socket);
      socket.getOutputStream().write((status + "\n").getBytes(StandardCharsets.UTF_8));
    } catch (Exception fault) {
      System.err.println("a container's task failed: " + fault);
      fault.printStackTrace();
    }
  }

  /** The exit status; of a container that was killed nobody reads it. */
  private static int run(Master of, String node, TaskAttemptID first, long jvm, Socket container)
      throws IOException, InterruptedException {
    ThinMap map = ThinMap.begin(of.umbilical, first, jvm);
    if (map == null) {
      return SUCCEEDED;
    }
    Settings settings = of.settings;
    int task = map.id().getTaskID().getId();
    String attempt = "m_" + task + "_" + map.id().getId();
    double wholeMs = settings.mapMs * settings.jitterOf(true, task) * settings.size(true, task);
    double doneMs = 0;
    long began = System.nanoTime();
    while (doneMs < wholeMs) {
      double slow = settings.slowness(node, attempt, System.currentTimeMillis(), doneMs / wholeMs);
      long from = System.nanoTime();
      double leftMs = Math.ceil((wholeMs - doneMs) * slow);
      if (isGoneWithin(container, Math.max(1, (int) Math.min(of.reportMs, leftMs)))) {
        return FAILED;
      }
      doneMs += (System.nanoTime() - from) / 1e6 / slow;
      double share = Math.min(1, doneMs / wholeMs);
      if (!map.report(share, (System.nanoTime() - began) / 1_000_000)) {
        return UNKNOWN;
      }
    }
    map.done();
    return SUCCEEDED;
  }

  /** Waits; a container says nothing more, so its word would be that its socket has closed. */
  private static boolean isGoneWithin(Socket container, int ms) throws IOException {
    container.setSoTimeout(ms);
    try {
      return container.getInputStream().read() < 0;
    } catch (SocketTimeoutException asLongAsThat) {
      return false;
    }
  }

  /** Serves the containers that call at this port of loopback, until it is ended. */
  public static void main(String[] arguments) throws Exception {
    ThinTasks tasks = new ThinTasks();
    ExecutorService threads = Executors.newCachedThreadPool();
    InetAddress loopback = InetAddress.getByName("127.0.0.1");
    int port = Integer.parseInt(arguments[0]);
    try (ServerSocket calls = new ServerSocket(port, WAITING_CALLS, loopback)) {
      while (true) {
        Socket container = calls.accept();
        threads.execute(() -> tasks.serve(container));
      }
    }
  }
}
