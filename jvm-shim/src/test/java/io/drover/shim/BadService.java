package io.drover.shim;

import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;

/** Something at the service's address that is not a Drover service, or not a well one. */
final class BadService implements AutoCloseable {
  enum Kind {
    DOWN,
    NEVER_ANSWERS,
    CLOSES_AT_ONCE,
    SAYS_GARBAGE,
    SAYS_HTML,
    ANSWERS_WITHOUT_END,
    REDIRECTS,
    FAILS,
    UNSIGNED
  }

  private static final String UNSIGNED =
      "{\"protocol\":1,\"seq\":1,\"epoch\":9,\"incarnation\":\"x\",\"accepted\":true,\"ack\":0,"
          + "\"snapshot\":false,\"next_exchange_ms\":100,\"launcher\":\"drover\","
          + "\"lease_ms\":60000,\"actions\":[{\"id\":\"a\",\"type\":\"duplicate\"}]}";

  private final Kind kind;
  private final ServerSocket socket;
  private final List<Socket> open = new CopyOnWriteArrayList<>();
  private final AtomicInteger calls = new AtomicInteger();

  BadService(Kind kind) throws IOException {
    this.kind = kind;
    socket = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
    if (kind == Kind.DOWN) {
      socket.close();
      return;
    }
    Thread thread = new Thread(this::serve, "bad-service");
    thread.setDaemon(true);
    thread.start();
  }

  String url() {
    return "http://localhost:" + socket.getLocalPort();
  }

  int calls() {
    return calls.get();
  }

  private void serve() {
    while (!socket.isClosed()) {
      try {
        Socket call = socket.accept();
        open.add(call);
        calls.incrementAndGet();
        answer(call);
      } catch (IOException e) {
        // the caller has left, or the test has ended
      }
    }
  }

  private void answer(Socket call) throws IOException {
    if (kind == Kind.NEVER_ANSWERS) {
      return;
    }
    InputStream in = call.getInputStream();
    in.read(new byte[64 * 1024]);
    switch (kind) {
      case SAYS_GARBAGE -> send(call, "\u0000\u0001 this is not HTTP\r\n\r\n");
      case SAYS_HTML -> send(call, page("200 OK", "", "<html>Log in</html>"));
      case REDIRECTS -> send(call, page("302 Found", "Location: http://localhost:1/\r\n", ""));
      case FAILS -> send(call, page("500 Oops", "", "java.lang.NullPointerException"));
      case UNSIGNED -> send(call, page("200 OK", "", UNSIGNED));
      case ANSWERS_WITHOUT_END -> {
        send(call, "HTTP/1.1 200 OK\r\n\r\n");
        for (int i = 0; i < 64; i++) {
          send(call, " ".repeat(32 * 1024));
        }
      }
      default -> {}
    }
    call.close();
  }

  private static String page(String status, String headers, String body) {
    return "HTTP/1.1 "
        + status
        + "\r\n"
        + headers
        + "Connection: close\r\nContent-Length: "
        + body.length()
        + "\r\n\r\n"
        + body;
  }

  private static void send(Socket call, String text) throws IOException {
    call.getOutputStream().write(text.getBytes(StandardCharsets.ISO_8859_1));
  }

  @Override
  public void close() throws IOException {
    socket.close();
    for (Socket call : open) {
      call.close();
    }
  }
}
