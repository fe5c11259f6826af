package io.drover.shim.core;

import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** One logger, one prefix. Callers log changes of state, never each repetition. */
final class Log {
  private static final Logger LOG = LoggerFactory.getLogger("io.drover.shim");

  private Log() {}

  static void info(String format, Object... values) {
    LOG.info("Drover: " + format, values);
  }

  static void warn(String format, Object... values) {
    LOG.warn("Drover: " + format, values);
  }
}
