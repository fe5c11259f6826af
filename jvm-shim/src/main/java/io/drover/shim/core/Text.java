package io.drover.shim.core;

import java.net.URL;

/** Strings from elsewhere, made fit for the wire and the log. */
final class Text {
  private static final int MAX_CHARS = 1024;
  private static final int MAX_LINE = 300;

  private Text() {}

  /** At most 1,024 UTF-16 units, never null, with half surrogate pairs replaced. */
  static String bounded(String text) {
    if (text == null) {
      return "";
    }
    String cut = text.length() <= MAX_CHARS ? text : text.substring(0, MAX_CHARS);
    for (int i = 0; i < cut.length(); i++) {
      if (Character.isSurrogate(cut.charAt(i))) {
        return withoutHalfPairs(cut);
      }
    }
    return cut;
  }

  /** As a part of a line of the log: whoever answers in a service's place chooses the words. */
  static String line(String text) {
    String cut = text.length() <= MAX_LINE ? text : text.substring(0, MAX_LINE);
    return cut.replaceAll("\\p{Cntrl}|[\u0080-\u009f\u2028-\u202e\u2066-\u2069]", "\uFFFD");
  }

  /** As the log may show it: what an address has before its host or behind its path is private. */
  static String address(URL url) {
    String port = url.getPort() < 0 ? "" : ":" + url.getPort();
    return line(url.getProtocol() + "://" + url.getHost() + port + url.getPath());
  }

  /** The same of what is no address: all up to its last @ may be a password. */
  static String address(String text) {
    String shown = text.replaceFirst("^([A-Za-z]*://)?.*@", "$1…@");
    return line(shown.replaceFirst("[?#].*", "?…"));
  }

  private static String withoutHalfPairs(String text) {
    StringBuilder whole = new StringBuilder(text.length());
    for (int i = 0; i < text.length(); i++) {
      char c = text.charAt(i);
      if (!Character.isSurrogate(c)) {
        whole.append(c);
      } else if (i + 1 < text.length() && Character.isSurrogatePair(c, text.charAt(i + 1))) {
        whole.append(c).append(text.charAt(++i));
      } else {
        whole.append('\uFFFD');
      }
    }
    return whole.toString();
  }

  static String hex(byte[] bytes) {
    StringBuilder hex = new StringBuilder(2 * bytes.length);
    for (byte b : bytes) {
      hex.append(Character.forDigit((b >> 4) & 15, 16)).append(Character.forDigit(b & 15, 16));
    }
    return hex.toString();
  }
}
