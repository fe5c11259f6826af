package io.drover.shim;

import static java.nio.charset.StandardCharsets.UTF_8;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicInteger;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.ObjectMapper;

/**
 * The service's side of the protocol, just far enough: believes, applies and acknowledges, and
 * leases and sends actions as a test tells it to.
 */
public final class FakeService implements AutoCloseable {
  private static final ObjectMapper JSON = new ObjectMapper();

  private final HttpServer server;
  private final Map<String, byte[]> keys = new ConcurrentHashMap<>();

  private final AtomicInteger calls = new AtomicInteger();

  /** Requests, as they came. */
  public final List<JsonNode> requests = new CopyOnWriteArrayList<>();

  /** What was wrong with them: schema, MAC, sequence. */
  public final List<String> faults = new CopyOnWriteArrayList<>();

  /** Newest rows by kind, index and number: what a service knows after applying the deltas. */
  private final Map<String, Map<String, JsonNode>> rows = new TreeMap<>();

  private final Map<Integer, String> hosts = new TreeMap<>();

  /** Epoch of all answers from now on. */
  public volatile long epoch = 1;

  /** Length of the lease in every answer; 0 leaves the launching to Hadoop. */
  public volatile long leaseMs;

  /** Whether answers ask which reduces could not fetch an output. */
  public volatile boolean fetchFailures;

  /** Pace in every answer. */
  public volatile long nextMs = 100;

  /** How soon news may come; 0 for never sooner. */
  public volatile long newsMs;

  /** Whether a task that has begun is news. */
  public volatile boolean newsOfStarts;

  /** Pace in the newest answer that is out. */
  public volatile long toldMs;

  /** Knows nothing any more, once, and asks for all there is. */
  public volatile boolean forgets;

  /** Takes requests and does not answer them. */
  public volatile boolean silent;

  /** Wants no more exchanges. */
  public volatile boolean over;

  private final Map<String, String> actions = new ConcurrentHashMap<>();
  private final Map<String, JsonNode> outcomes = new ConcurrentHashMap<>();

  public FakeService() throws IOException {
    server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
    server.setExecutor(
        Executors.newCachedThreadPool(
            run -> {
              Thread thread = new Thread(run, "fake-service");
              thread.setDaemon(true);
              return thread;
            }));
    server.createContext("/shim/v1/exchange", this::exchange);
    server.start();
  }

  public String url() {
    return "http://localhost:" + server.getAddress().getPort();
  }

  /** Requests that have arrived, answered or not. */
  public int calls() {
    return calls.get();
  }

  private void exchange(HttpExchange exchange) throws IOException {
    calls.incrementAndGet();
    byte[] body = exchange.getRequestBody().readAllBytes();
    String text = new String(body, UTF_8);
    String fault = Schema.faults("request", text);
    if (!fault.isEmpty()) {
      faults.add(fault);
    }
    JsonNode request = JSON.readTree(text);
    String session = request.path("session").asString();
    if (request.has("hello")) {
      String key = request.path("hello").path("key").asString();
      keys.put(session, HexFormat.of().parseHex(key));
    }
    byte[] key = keys.get(session);
    if (!mac(key, body).equals(exchange.getRequestHeaders().getFirst("X-Drover-Mac"))) {
      faults.add("wrong MAC on request " + request.path("seq"));
    }
    apply(request);
    if (silent) {
      requests.add(request);
      exchange.close();
      return;
    }
    if (over) {
      byte[] gone = "{\"error\":\"gone\",\"message\":\"\",\"retry_ms\":0}".getBytes(UTF_8);
      exchange.sendResponseHeaders(410, gone.length);
      exchange.getResponseBody().write(gone);
      exchange.close();
      return;
    }
    long pace = nextMs;
    String reply = reply(request, pace);
    String odd = Schema.faults("reply", reply);
    if (!odd.isEmpty()) {
      faults.add("the test's own: " + odd);
    }
    byte[] answer = reply.getBytes(UTF_8);
    exchange.getResponseHeaders().set("X-Drover-Mac", mac(key, answer));
    exchange.sendResponseHeaders(200, answer.length);
    exchange.getResponseBody().write(answer);
    exchange.close();
    requests.add(request);
    toldMs = pace;
  }

  private String reply(JsonNode request, long pace) {
    long lease = leaseMs;
    return "{\"protocol\":1,\"seq\":%d,\"epoch\":%d,\"incarnation\":\"fake\",\"accepted\":true,"
            .formatted(request.path("seq").asLong(), epoch)
        + "\"ack\":%d,\"snapshot\":%b,".formatted(request.path("upto").asLong(), forgotten())
        + (fetchFailures ? "\"fetch_failures\":true," : "")
        + (newsMs > 0 ? "\"news_exchange_ms\":%d,".formatted(newsMs) : "")
        + (newsOfStarts ? "\"news_of_starts\":true," : "")
        + "\"next_exchange_ms\":%d,\"launcher\":\"%s\",\"lease_ms\":%d,\"actions\":[%s]}"
            .formatted(
                pace, lease > 0 ? "drover" : "native", lease, String.join(",", actions.values()));
  }

  /** Sends an action, given without its id, with every answer until it is acknowledged. */
  public void act(String id, String action) {
    outcomes.remove(id);
    actions.put(id, ("{'id':'" + id + "'," + action + "}").replace('\'', '"'));
  }

  /** Waits for the answer to an action; its outcome and the attempts it names. */
  public String outcome(String id) throws InterruptedException {
    Am.await("an answer to " + id, () -> outcomes.containsKey(id));
    return knownOutcome(id);
  }

  /** The newest answer to an action, or nothing. */
  public String knownOutcome(String id) {
    JsonNode ack = outcomes.get(id);
    return ack == null
        ? ""
        : (ack.path("outcome").asString() + " " + ack.path("attempts").toString()).trim();
  }

  /** Waits until the shim holds, or does not hold, a lease. */
  public void awaitLease(boolean held) throws InterruptedException {
    int seen = requests.size() + 1;
    Am.await(
        "lease " + held,
        () -> requests.size() > seen && held == (last().path("lease_ms").asLong() > 0));
  }

  private static String mac(byte[] key, byte[] body) {
    try {
      Mac mac = Mac.getInstance("HmacSHA256");
      mac.init(new SecretKeySpec(key, "HmacSHA256"));
      return HexFormat.of().formatHex(mac.doFinal(body));
    } catch (java.security.GeneralSecurityException e) {
      throw new IllegalStateException(e);
    }
  }

  private synchronized boolean forgotten() {
    boolean now = forgets;
    if (now) {
      forgets = false;
      rows.clear();
    }
    return now;
  }

  private synchronized void apply(JsonNode request) {
    for (JsonNode ack : request.path("acks")) {
      outcomes.put(ack.path("id").asString(), ack);
      actions.remove(ack.path("id").asString());
    }
    for (JsonNode host : request.path("hosts")) {
      hosts.put(host.get(0).asInt(), host.get(1).asString() + host.get(2).asString());
    }
    for (String kind : List.of("tasks", "attempts")) {
      for (JsonNode row : request.path(kind)) {
        String id = row.path("k").asString() + row.path("i") + "/" + row.path("n").asString("");
        Map<String, JsonNode> known = rows.computeIfAbsent(id, any -> new TreeMap<>());
        row.properties().forEach(field -> known.put(field.getKey(), field.getValue()));
      }
    }
  }

  /** Newest value of a field of a row such as {@code m0/} (task) or {@code m0/1} (attempt). */
  public synchronized String field(String row, String field) {
    JsonNode value = rows.getOrDefault(row, Map.of()).get(field);
    return value == null ? null : value.asString(value.toString());
  }

  public synchronized String host(int index) {
    return hosts.get(index);
  }

  /** The newest request; without any field when none has come. */
  public JsonNode last() {
    return requests.isEmpty() ? JSON.missingNode() : requests.get(requests.size() - 1);
  }

  /**
   * Waits for another full look at the job, and until the shim has taken an answer of from now on:
   * the first may be under way, and the second is taken before the third request is sent.
   */
  public void awaitExchange() throws InterruptedException {
    int more = requests.size() + 3;
    Am.await("three more exchanges", () -> requests.size() >= more);
  }

  @Override
  public void close() {
    server.stop(0);
  }
}
