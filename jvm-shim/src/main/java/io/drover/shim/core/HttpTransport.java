package io.drover.shim.core;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.HttpURLConnection;
import java.net.Proxy;
import java.net.SocketTimeoutException;
import java.net.URL;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;

/**
 * HTTP by the JDK: no redirects, no proxy, bounded in time and size. The JDK's own limits are for
 * each silence of the other side and say nothing of writing, so another is for the whole.
 */
final class HttpTransport implements Transport {
  static final int MAX_ANSWER_BYTES = 1 << 20;

  private final int connectTimeoutMs;
  private final int readTimeoutMs;
  private final String agent;
  private final Calls calls;

  /** {@code meanwhile} is run each second while an answer is waited for. */
  HttpTransport(int connectTimeoutMs, int readTimeoutMs, String agent, Runnable meanwhile) {
    this.connectTimeoutMs = connectTimeoutMs;
    this.readTimeoutMs = readTimeoutMs;
    this.agent = agent;
    calls = new Calls(meanwhile);
  }

  @Override
  public Answer post(URL url, byte[] body, String mac) throws IOException {
    HttpURLConnection connection = (HttpURLConnection) url.openConnection(Proxy.NO_PROXY);
    connection.setInstanceFollowRedirects(false);
    connection.setConnectTimeout(connectTimeoutMs);
    connection.setReadTimeout(readTimeoutMs);
    connection.setUseCaches(false);
    connection.setDoOutput(true);
    // Else the JDK sends a request again by itself whose connection ends without an answer, and the
    // service may have it already. The price: it keeps the words of a 401.
    connection.setFixedLengthStreamingMode(body.length);
    connection.setRequestMethod("POST");
    connection.setRequestProperty("Content-Type", "application/json");
    connection.setRequestProperty("Accept", "application/json");
    connection.setRequestProperty("User-Agent", agent);
    connection.setRequestProperty("X-Drover-Mac", mac);
    AtomicBoolean stood = new AtomicBoolean();
    AtomicBoolean late = new AtomicBoolean();
    try {
      return calls.within(
          connectTimeoutMs + 2L * readTimeoutMs,
          url.getAuthority(),
          () -> answer(connection, body, stood, late),
          () -> {
            late.set(true);
            connection.disconnect();
          });
    } catch (SocketTimeoutException e) {
      throw stood.get() ? new TimedOut(e.getMessage()) : e;
    }
  }

  private Answer answer(
      HttpURLConnection connection, byte[] body, AtomicBoolean stood, AtomicBoolean late)
      throws IOException {
    boolean whole = false;
    try {
      connection.connect();
      stood.set(true);
      refuse(late);
      try (OutputStream out = connection.getOutputStream()) {
        out.write(body);
      }
      refuse(late);
      int status = connection.getResponseCode();
      InputStream in = status < 400 ? connection.getInputStream() : connection.getErrorStream();
      byte[] answer = in == null ? new byte[0] : read(in);
      whole = true;
      return new Answer(status, connection.getHeaderField("X-Drover-Mac"), answer);
    } finally {
      if (!whole) {
        connection.disconnect();
      }
    }
  }

  /** The JDK takes no notice of a write that fails, and would connect again to read an answer. */
  private static void refuse(AtomicBoolean late) throws IOException {
    if (late.get()) {
      throw new IOException("given up");
    }
  }

  /** A read timeout bounds each silence; this bounds their sum, and the size. */
  private byte[] read(InputStream in) throws IOException {
    long deadline = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(readTimeoutMs);
    ByteArrayOutputStream body = new ByteArrayOutputStream();
    byte[] buffer = new byte[8192];
    try (InputStream bytes = in) {
      for (int n = bytes.read(buffer); n >= 0; n = bytes.read(buffer)) {
        body.write(buffer, 0, n);
        if (body.size() > MAX_ANSWER_BYTES) {
          throw new IOException("answer of more than " + MAX_ANSWER_BYTES + " bytes");
        }
        if (System.nanoTime() - deadline > 0) {
          throw new SocketTimeoutException("answer not complete after " + readTimeoutMs + " ms");
        }
      }
    }
    return body.toByteArray();
  }
}
