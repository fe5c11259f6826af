package io.drover.shim.core;

/** Threads beside the exchange's. */
final class Helper {
  private Helper() {}

  /**
   * One that keeps nobody from ending. Whatever ends it is its own: Hadoop's handler ends the AM.
   */
  static Thread thread(Runnable run, String name) {
    Thread thread = new Thread(run, name);
    thread.setDaemon(true);
    thread.setUncaughtExceptionHandler(
        (of, why) -> Log.info("{} has ended: {}", name, why.toString()));
    return thread;
  }
}
