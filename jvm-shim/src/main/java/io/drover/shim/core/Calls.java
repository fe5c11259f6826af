package io.drover.shim.core;

import java.io.IOException;
import java.net.SocketTimeoutException;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Future;
import java.util.concurrent.SynchronousQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/**
 * Calls that may hang beyond all limits of their own, each on a thread that nobody waits for any
 * longer than a given time. An address at which one hangs is called no more until that has ended,
 * so there are no more such threads than addresses. For one thread's use.
 */
final class Calls {
  private static final long IDLE_S = 10;
  private static final long LOOK_NANOS = TimeUnit.MILLISECONDS.toNanos(Pause.SLICE_MS);

  private final ExecutorService threads =
      new ThreadPoolExecutor(
          0,
          Integer.MAX_VALUE,
          IDLE_S,
          TimeUnit.SECONDS,
          new SynchronousQueue<>(),
          run -> Helper.thread(run, "drover-call"));

  private final Map<String, Future<?>> newest = new HashMap<>();
  private final Runnable meanwhile;

  /** What is to be looked at while a call lasts. */
  Calls(Runnable meanwhile) {
    this.meanwhile = meanwhile;
  }

  /** Has {@code giveUp} run, on another thread, if the call takes longer; it may hang, too. */
  <T> T within(long ms, String address, Callable<T> call, Runnable giveUp) throws IOException {
    Future<?> last = newest.get(address);
    if (last != null && !last.isDone()) {
      throw new IOException("an earlier call to " + address + " still hangs");
    }
    Future<T> answer = submit(call);
    newest.put(address, answer);
    try {
      return await(answer, ms);
    } catch (TimeoutException e) {
      submit(
          () -> {
            giveUp.run();
            return null;
          });
      throw new SocketTimeoutException(
          "not answered by " + address + " after " + ms + " ms in all");
    } catch (ExecutionException e) {
      Throwable why = e.getCause();
      throw why instanceof IOException ? (IOException) why : new IOException(why);
    }
  }

  private <T> Future<T> submit(Callable<T> call) throws IOException {
    try {
      return threads.submit(call);
    } catch (OutOfMemoryError e) { // no thread is to be had now
      throw new IOException(e);
    }
  }

  /** To its end or for so long: an interruption is for what the caller does next. */
  private <T> T await(Future<T> answer, long ms) throws ExecutionException, TimeoutException {
    long endNanos = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(ms);
    boolean interrupted = false;
    try {
      while (true) {
        long leftNanos = endNanos - System.nanoTime();
        try {
          return answer.get(Math.min(leftNanos, LOOK_NANOS), TimeUnit.NANOSECONDS);
        } catch (InterruptedException e) {
          interrupted = true;
        } catch (TimeoutException e) {
          if (leftNanos <= LOOK_NANOS) {
            throw e;
          }
          meanwhile.run();
        }
      }
    } finally {
      if (interrupted) {
        Thread.currentThread().interrupt();
      }
    }
  }
}
