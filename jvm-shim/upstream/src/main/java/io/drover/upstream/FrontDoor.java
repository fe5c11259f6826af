package io.drover.upstream;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import org.apache.hadoop.mapreduce.v2.app.MRAppMaster;
import org.apache.hadoop.service.Service;
import org.apache.hadoop.service.ServiceStateChangeListener;
import org.apache.hadoop.yarn.server.MiniYARNCluster;

/**
 * A ResourceManager's address from the first moment on: before the test there is an empty cluster,
 * then whatever the test has started in this JVM, be it a lone ApplicationMaster or a mini cluster.
 */
final class FrontDoor implements ServiceStateChangeListener {
  private static final int WATCHER_LIMIT_S = 120;
  private static final Duration LIMIT = Duration.ofSeconds(20);
  private static final Answer NONE = new Answer(404, "text/plain", null, "no such page".getBytes());

  private final HttpServer server;
  private final ExecutorService threads = Executors.newFixedThreadPool(8);
  private final CountDownLatch watched = new CountDownLatch(1);
  private final HttpClient client = HttpClient.newBuilder().connectTimeout(LIMIT).build();
  private final LoneMaster lone = new LoneMaster();
  private final Lease lease;
  private volatile URI mini;

  /** What to answer; {@code location} is null unless it is a redirect. */
  record Answer(int status, String type, String location, byte[] body) {}

  /** With a lease to wait for, or null. */
  FrontDoor(InetSocketAddress address, Lease lease) throws IOException {
    this.lease = lease;
    server = HttpServer.create(address, 50);
    server.createContext("/", this::serve);
    server.setExecutor(threads);
    server.start();
  }

  void close() {
    server.stop(0);
    threads.shutdownNow();
  }

  /** Waits until the running applications have been asked for. */
  void awaitWatcher() throws InterruptedException {
    if (!watched.await(WATCHER_LIMIT_S, TimeUnit.SECONDS)) {
      throw new IllegalStateException("nobody asked for the applications");
    }
  }

  /** Hadoop tells every change of a service in this JVM here, on the thread that made it. */
  @Override
  public void stateChanged(Service service) {
    Service.STATE state = service.getServiceState();
    if (service instanceof MRAppMaster master) {
      lone(master, state);
    } else if (service instanceof MiniYARNCluster cluster) {
      mini = state == Service.STATE.STARTED ? MiniPages.start(cluster.getResourceManager()) : null;
    }
  }

  private void lone(MRAppMaster master, Service.STATE state) {
    try {
      if (state == Service.STATE.INITED) {
        lone.show(master.getContext());
        if (lease != null) {
          Lease.prepare(master);
        }
      } else if (state == Service.STATE.STARTED && lease != null) {
        lease.await();
      } else if (state == Service.STATE.STOPPED) {
        lone.show(null);
      }
    } catch (IOException | InterruptedException e) {
      System.out.println("published: not as it should be before the test: " + e);
    }
  }

  private void serve(HttpExchange exchange) throws IOException {
    try (exchange) {
      URI asked = exchange.getRequestURI();
      Answer answer;
      try {
        answer = answer(asked);
      } catch (InterruptedException closing) {
        return;
      }
      exchange.getResponseHeaders().set("Content-Type", answer.type);
      if (answer.location != null) {
        exchange.getResponseHeaders().set("Location", answer.location);
      }
      exchange.sendResponseHeaders(
          answer.status, answer.body.length == 0 ? -1 : answer.body.length);
      exchange.getResponseBody().write(answer.body);
      if (asked.getPath().equals("/ws/v1/cluster/apps")) {
        watched.countDown();
      }
    }
  }

  private Answer answer(URI asked) throws IOException, InterruptedException {
    URI cluster = mini;
    if (cluster != null) {
      return forward(cluster.resolve(asked.toString()));
    }
    byte[] told = lone.page(asked.getPath());
    return told == null ? NONE : new Answer(200, "application/json", null, told);
  }

  private Answer forward(URI page) throws IOException, InterruptedException {
    HttpRequest request =
        HttpRequest.newBuilder(page).timeout(LIMIT).header("Accept", "application/json").build();
    HttpResponse<byte[]> answer = client.send(request, HttpResponse.BodyHandlers.ofByteArray());
    return new Answer(
        answer.statusCode(),
        answer.headers().firstValue("Content-Type").orElse("text/plain"),
        answer.headers().firstValue("Location").orElse(null),
        answer.body());
  }
}
