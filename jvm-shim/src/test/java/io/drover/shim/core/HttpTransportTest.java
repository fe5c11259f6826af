package io.drover.shim.core;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertFalse;
import static org.junit.Assert.assertNull;
import static org.junit.Assert.assertThrows;
import static org.junit.Assert.assertTrue;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.net.HttpURLConnection;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Proxy;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.net.URL;
import java.net.URLConnection;
import java.net.URLStreamHandler;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.After;
import org.junit.Before;
import org.junit.Test;

public class HttpTransportTest {
  private static final byte[] BODY = "{}".getBytes(StandardCharsets.UTF_8);

  // However busy the machine is; what is to be given up is given up by one in a hurry.
  private final HttpTransport transport = new HttpTransport(30_000, 30_000, "test", () -> {});
  private final HttpTransport hasty = new HttpTransport(30_000, 3_000, "test", () -> {});
  private final AtomicInteger followed = new AtomicInteger();
  private HttpServer server;

  @Before
  public void start() throws IOException {
    server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
    server.start();
  }

  @After
  public void stop() {
    server.stop(0);
  }

  private interface Script {
    void answer(HttpExchange exchange) throws IOException;
  }

  private URL serve(String path, Script script) throws IOException {
    server.createContext(
        path,
        exchange -> {
          exchange.getRequestBody().readAllBytes();
          script.answer(exchange);
          exchange.close();
        });
    return new URL("http://localhost:" + server.getAddress().getPort() + path);
  }

  private static void send(HttpExchange exchange, int status, byte[] body) throws IOException {
    exchange.sendResponseHeaders(status, body.length == 0 ? -1 : body.length);
    exchange.getResponseBody().write(body);
  }

  @Test
  public void statusMacAndBodyArriveAsTheyCame() throws IOException {
    URL url =
        serve(
            "/ok",
            exchange -> {
              assertEquals("m", exchange.getRequestHeaders().getFirst("X-Drover-Mac"));
              exchange.getResponseHeaders().set("X-Drover-Mac", "abc");
              send(exchange, 202, BODY);
            });
    Transport.Answer answer = transport.post(url, BODY, "m");
    assertEquals(202, answer.status);
    assertEquals("abc", answer.mac);
    assertEquals("{}", new String(answer.body, StandardCharsets.UTF_8));
  }

  @Test
  public void refusalsAreReadButFor401AndEmptyOnesAreEmpty() throws IOException {
    for (int status : new int[] {400, 401, 403, 404, 409, 410, 413, 426, 429, 500, 503}) {
      URL full = serve("/f" + status, exchange -> send(exchange, status, BODY));
      Transport.Answer answer = transport.post(full, BODY, "m");
      assertEquals(status, answer.status);
      assertEquals("status " + status, status == 401 ? 0 : 2, answer.body.length);
      URL empty = serve("/e" + status, exchange -> send(exchange, status, new byte[0]));
      assertEquals(0, transport.post(empty, BODY, "m").body.length);
    }
  }

  @Test
  public void redirectsAreNotFollowed() throws IOException {
    URL other = serve("/other", exchange -> followed.incrementAndGet());
    for (int status : new int[] {301, 302, 303, 307, 308}) {
      URL url =
          serve(
              "/r" + status,
              exchange -> {
                exchange.getResponseHeaders().set("Location", other.toString());
                send(exchange, status, new byte[0]);
              });
      assertEquals(status, transport.post(url, BODY, "m").status);
    }
    assertEquals(0, followed.get());
  }

  @Test
  public void anAnswerWithoutEndIsCutOff() throws IOException {
    URL url =
        serve(
            "/big",
            exchange -> {
              exchange.sendResponseHeaders(200, 0);
              byte[] block = new byte[64 * 1024];
              for (int i = 0; i < 40; i++) {
                exchange.getResponseBody().write(block);
              }
            });
    IOException e = assertThrows(IOException.class, () -> transport.post(url, BODY, "m"));
    assertTrue(e.getMessage(), e.getMessage().contains("bytes"));
  }

  @Test
  public void aServerThatNeverAnswersIsLeft() throws IOException {
    try (ServerSocket silent = new ServerSocket(0, 5, InetAddress.getLoopbackAddress())) {
      URL url = new URL("http://localhost:" + silent.getLocalPort() + "/x");
      assertThrows(Transport.TimedOut.class, () -> hasty.post(url, BODY, "m"));
    }
  }

  @Test
  public void aServerThatDripsItsAnswerIsLeft() throws Exception {
    try (ServerSocket dripping = new ServerSocket(0, 5, InetAddress.getLoopbackAddress())) {
      Thread server =
          new Thread(
              () -> {
                try (Socket socket = dripping.accept()) {
                  socket.getOutputStream().write("HTTP/1.1 200 OK\r\n\r\n".getBytes("US-ASCII"));
                  for (int i = 0; i < 200; i++) {
                    socket.getOutputStream().write(' ');
                    Thread.sleep(100);
                  }
                } catch (Exception e) {
                  // the client has left
                }
              });
      server.setDaemon(true);
      server.start();
      URL url = new URL("http://localhost:" + dripping.getLocalPort() + "/x");
      IOException e = assertThrows(Transport.TimedOut.class, () -> hasty.post(url, BODY, "m"));
      assertTrue(e.getMessage(), e.getMessage().contains("not complete"));
    }
  }

  private final AtomicInteger looks = new AtomicInteger();

  /** Its limit for a whole call is 3 s. */
  private final HttpTransport bounded =
      new HttpTransport(1_000, 1_000, "test", looks::incrementAndGet);

  private static void assertMessage(String part, IOException e) {
    assertTrue(e.toString(), String.valueOf(e.getMessage()).contains(part));
  }

  @Test(timeout = 60_000)
  public void aRequestThatNobodyReadsIsLeftAndItsThreadComesFree() throws Exception {
    byte[] beyondAllBuffers = new byte[16 << 20]; // loopback was seen to take 900 KB unread
    try (ServerSocket frozen = new ServerSocket(0, 5, InetAddress.getLoopbackAddress())) {
      URL url = new URL("http://localhost:" + frozen.getLocalPort() + "/x");
      assertMessage(
          "in all",
          assertThrows(Transport.TimedOut.class, () -> bounded.post(url, beyondAllBuffers, "")));
      IOException next = assertThrows(IOException.class, () -> bounded.post(url, BODY, "m"));
      while (next.getMessage().contains("still hangs")) {
        Thread.sleep(10);
        next = assertThrows(IOException.class, () -> bounded.post(url, BODY, "m"));
      }
      assertTrue(next.toString(), next instanceof SocketTimeoutException);
    }
  }

  @Test(timeout = 60_000)
  public void aServerThatDripsTheHeadOfItsAnswerIsLeft() throws Exception {
    try (ServerSocket dripping = new ServerSocket(0, 5, InetAddress.getLoopbackAddress())) {
      Thread server =
          new Thread(
              () -> {
                try (Socket socket = dripping.accept()) {
                  socket.getOutputStream().write("HTTP/1.1 200 OK\r\nX-A: ".getBytes("US-ASCII"));
                  while (true) {
                    socket.getOutputStream().write('a');
                    Thread.sleep(100);
                  }
                } catch (Exception e) {
                  // the client has left
                }
              });
      server.setDaemon(true);
      server.start();
      URL url = new URL("http://localhost:" + dripping.getLocalPort() + "/x");
      // By its own limit for silence where the machine stalls; else by that for the whole call.
      assertThrows(Transport.TimedOut.class, () -> bounded.post(url, BODY, "m"));
      server.join();
    }
  }

  /** An address at which a call hangs whatever is done about it, as a name server's may. */
  private static URL hanging(CountDownLatch until) throws IOException {
    URLStreamHandler handler =
        new URLStreamHandler() {
          @Override
          protected URLConnection openConnection(URL url) {
            throw new UnsupportedOperationException();
          }

          @Override
          protected URLConnection openConnection(URL url, Proxy proxy) {
            return new HttpURLConnection(url) {
              @Override
              public void connect() throws IOException {
                while (until.getCount() > 0) {
                  try {
                    until.await();
                  } catch (InterruptedException e) {
                    // it hangs
                  }
                }
                throw new IOException("connected");
              }

              @Override
              public void disconnect() {}

              @Override
              public boolean usingProxy() {
                return false;
              }
            };
          }
        };
    return new URL(null, "http://hangs:1/x", handler);
  }

  @Test(timeout = 60_000)
  public void anAddressAtWhichACallHangsIsCalledAgainOnlyOnceThatHasEnded() throws Exception {
    CountDownLatch until = new CountDownLatch(1);
    URL hangs = hanging(until);
    IOException first = assertThrows(IOException.class, () -> bounded.post(hangs, BODY, "m"));
    assertMessage("in all", first);
    assertFalse("no connection stood", first instanceof Transport.TimedOut);
    assertTrue("hosts to be let in again are looked at meanwhile", looks.get() > 0);
    for (int i = 0; i < 100; i++) {
      assertMessage(
          "still hangs", assertThrows(IOException.class, () -> bounded.post(hangs, BODY, "m")));
    }
    URL other = serve("/other", exchange -> send(exchange, 200, BODY));
    assertEquals(200, bounded.post(other, BODY, "m").status);
    until.countDown();
    IOException next = assertThrows(IOException.class, () -> bounded.post(hangs, BODY, "m"));
    while (next.getMessage().contains("still hangs")) {
      Thread.sleep(10);
      next = assertThrows(IOException.class, () -> bounded.post(hangs, BODY, "m"));
    }
    assertMessage("connected", next);
  }

  @Test
  public void anInterruptionIsKeptForLaterAndEndsNoCall() throws IOException {
    URL url = serve("/interrupted", exchange -> send(exchange, 200, BODY));
    Thread.currentThread().interrupt();
    assertEquals(200, transport.post(url, BODY, "m").status);
    assertTrue(Thread.interrupted());
  }

  @Test
  public void aTruncatedAnswerIsAnErrorOrShort() throws Exception {
    try (ServerSocket cutting = new ServerSocket(0, 5, InetAddress.getLoopbackAddress())) {
      Thread server =
          new Thread(
              () -> {
                try (Socket socket = cutting.accept()) {
                  socket
                      .getOutputStream()
                      .write(
                          "HTTP/1.1 200 OK\r\nContent-Length: 50\r\n\r\n{\"pro"
                              .getBytes("US-ASCII"));
                } catch (IOException e) {
                  // the client has left
                }
              });
      server.setDaemon(true);
      server.start();
      URL url = new URL("http://localhost:" + cutting.getLocalPort() + "/x");
      try {
        Transport.Answer answer = transport.post(url, BODY, "m");
        assertNull(answer.mac);
        assertThrows(IOException.class, () -> new AnswerParser().reply(answer.body));
      } catch (IOException e) {
        assertTrue(e.toString(), e.getMessage() != null);
      }
    }
  }

  @Test
  public void nobodyThereIsAnError() throws IOException {
    int port;
    try (ServerSocket gone = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      port = gone.getLocalPort();
    }
    URL url = new URL("http://localhost:" + port + "/x");
    assertThrows(IOException.class, () -> transport.post(url, BODY, "m"));
  }

  /**
   * Answers each request on the connection it comes by, but for those it ends without an answer.
   */
  private static final class Keeping implements AutoCloseable {
    final List<String> bodies = new CopyOnWriteArrayList<>();
    final CountDownLatch closed = new CountDownLatch(1);
    private final ServerSocket listening = new ServerSocket(0, 5, InetAddress.getLoopbackAddress());
    private final String unanswered;
    private final String lastOfConnection;

    Keeping(String unanswered, String lastOfConnection) throws IOException {
      this.unanswered = unanswered;
      this.lastOfConnection = lastOfConnection;
      Thread thread = new Thread(this::serve);
      thread.setDaemon(true);
      thread.start();
    }

    URL url() throws IOException {
      return new URL("http://localhost:" + listening.getLocalPort() + "/x");
    }

    private void serve() {
      while (!listening.isClosed()) {
        try (Socket socket = listening.accept()) {
          while (answer(socket)) {
            // the next request of the same connection
          }
        } catch (IOException e) {
          // the client or the test has left
        }
        closed.countDown();
      }
    }

    private boolean answer(Socket socket) throws IOException {
      StringBuilder head = new StringBuilder();
      while (head.indexOf("\r\n\r\n") < 0) {
        int next = socket.getInputStream().read();
        if (next < 0) {
          return false;
        }
        head.append((char) next);
      }
      String length = head.toString().replaceAll("(?s).*Content-Length: (\\d+).*", "$1");
      byte[] sent = socket.getInputStream().readNBytes(Integer.parseInt(length));
      String body = new String(sent, StandardCharsets.UTF_8);
      bodies.add(body);
      if (body.equals(unanswered)) {
        return false;
      }
      String answer = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}";
      socket.getOutputStream().write(answer.getBytes(StandardCharsets.US_ASCII));
      return !body.equals(lastOfConnection);
    }

    @Override
    public void close() throws IOException {
      listening.close();
    }
  }

  private int post(Keeping server, String body) throws IOException {
    return transport.post(server.url(), body.getBytes(StandardCharsets.UTF_8), "m").status;
  }

  @Test
  public void aRequestWhoseConnectionEndsWithoutAnAnswerIsNeverSentAgain() throws Exception {
    try (Keeping server = new Keeping("2", "none")) {
      assertEquals(200, post(server, "1"));
      assertThrows(IOException.class, () -> post(server, "2"));
      assertEquals(200, post(server, "3"));
      assertEquals(List.of("1", "2", "3"), server.bodies);
    }
  }

  @Test
  public void aConnectionThatWasClosedWhileItWasIdleCostsNoRequest() throws Exception {
    try (Keeping server = new Keeping("none", "1")) {
      assertEquals(200, post(server, "1"));
      server.closed.await();
      assertEquals(200, post(server, "2"));
      assertEquals(List.of("1", "2"), server.bodies);
    }
  }
}
