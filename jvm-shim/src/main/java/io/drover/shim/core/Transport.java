package io.drover.shim.core;

import java.io.IOException;
import java.net.SocketTimeoutException;
import java.net.URL;

/** Carries one request to one service. */
interface Transport {
  /**
   * Sends once and waits, within the transport's own limits of time and size. Nothing is sent
   * again: each request has a number of its own. Of a 401 the body may be missing.
   */
  Answer post(URL url, byte[] body, String mac) throws IOException;

  /** The connection stood, and no whole answer came in time. */
  final class TimedOut extends SocketTimeoutException {
    private static final long serialVersionUID = 1L;

    TimedOut(String why) {
      super(why);
    }
  }

  /** What came back, as it came. */
  final class Answer {
    final int status;
    final String mac;
    final byte[] body;

    Answer(int status, String mac, byte[] body) {
      this.status = status;
      this.mac = mac;
      this.body = body;
    }
  }
}
