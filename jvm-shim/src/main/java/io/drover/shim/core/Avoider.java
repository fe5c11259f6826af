package io.drover.shim.core;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import java.util.function.LongSupplier;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.mapreduce.v2.api.records.JobId;
import org.apache.hadoop.mapreduce.v2.api.records.TaskAttemptId;
import org.apache.hadoop.mapreduce.v2.api.records.TaskType;
import org.apache.hadoop.mapreduce.v2.app.job.Task;
import org.apache.hadoop.mapreduce.v2.app.rm.ContainerFailedEvent;
import org.apache.hadoop.mapreduce.v2.util.MRBuilderUtils;
import org.apache.hadoop.yarn.event.Event;

/**
 * Keeps the job's new containers off hosts for a time. A host is put on the AM's own list by the
 * events by which Hadoop puts one there, and taken off when its time or the lease is over. Any
 * thread may look at the time.
 */
final class Avoider implements Act {
  /** So long a job may be without containers before its hosts are let in again. */
  private static final long STARVED_NANOS = TimeUnit.SECONDS.toNanos(60);

  /** Any but 0: only the host counts. */
  private static final String PORT = ":1";

  /** A host that Drover had listed. */
  private static final class Listing {
    /** Failures by which it is listed that Hadoop has not counted yet. */
    int uncounted;

    /** What Hadoop had counted there by itself, which it forgets as it lists a host. */
    Integer own;

    /** It is to be off the list, and that is yet to be made sure of. */
    boolean lifted;

    /** It was on the list as it was lifted, and nothing of Drover's was left to count. */
    boolean settled;
  }

  /** A failure for Hadoop to count, which asks it for its host as it does so. */
  private final class Failure extends ContainerFailedEvent {
    private final String host;

    Failure(String host) {
      super(nobody, host + PORT);
      this.host = host;
    }

    @Override
    public String getContMgrAddress() {
      try {
        counted(host);
      } catch (Throwable e) { // would end the job
        Log.warn("cannot tell what Hadoop has counted on {}: {}", host, e.toString());
      }
      return super.getContMgrAddress();
    }
  }

  private final Blacklist blacklist;
  private final BooleanSupplier leased;
  private final BooleanSupplier starves;
  private final LongSupplier nanos;
  private final Consumer<Event<?>> dispatcher;
  private final Consumer<Ack> answers;
  private final TaskAttemptId nobody;
  private final int failures;

  private final Map<String, Listing> listings = new HashMap<>();

  /** Whether the end of a heartbeat is awaited, to make sure of what was lifted. */
  private boolean awaitsHeartbeat;

  /** Since when the job is seen to wait while nothing of it runs; null when it does not. */
  private Long starvedNanos;

  private String action;
  private long endNanos;

  /** Whether there is anything to look at. */
  private volatile boolean busy;

  Avoider(
      Blacklist blacklist,
      BooleanSupplier leased,
      BooleanSupplier starves,
      LongSupplier nanos,
      Consumer<Event<?>> dispatcher,
      Consumer<Ack> answers,
      JobId job,
      Configuration conf) {
    this.blacklist = blacklist;
    this.leased = leased;
    this.starves = starves;
    this.nanos = nanos;
    this.dispatcher = dispatcher;
    this.answers = answers;
    // Of the attempt that failed Hadoop asks nothing here; a checkpointing policy would forget its
    // checkpoint, which one that never was has not.
    nobody =
        MRBuilderUtils.newTaskAttemptId(
            MRBuilderUtils.newTaskId(job, Integer.MAX_VALUE, TaskType.MAP), Integer.MAX_VALUE);
    failures = Blacklist.failures(conf);
  }

  @Override
  public boolean isAboutATask() {
    return false;
  }

  @Override
  public synchronized String refusal(Action asked, Task none) {
    try {
      int more = 0;
      for (String host : asked.avoid) {
        more += blacklist.has(host) ? 0 : 1;
      }
      int fewer = 0;
      for (Map.Entry<String, Listing> known : listings.entrySet()) {
        if (asked.avoid.contains(known.getKey())) {
          continue;
        }
        boolean has = blacklist.has(known.getKey());
        fewer += has && !known.getValue().lifted ? 1 : 0;
        // Lifted before Hadoop has counted: on the list for a moment yet.
        more += !has && known.getValue().uncounted > 0 ? 1 : 0;
      }
      boolean bears = blacklist.bears(more - fewer) && !(blacklist.isDropped() && more > 0);
      return asked.avoid.isEmpty() || bears ? null : Ack.TOO_MANY_NODES;
    } catch (IllegalAccessException e) {
      return Ack.FAILED;
    }
  }

  @Override
  public synchronized Ack carryOut(Action asked, Task none) {
    action = asked.id;
    busy = true;
    endNanos = nanos.getAsLong() + TimeUnit.MILLISECONDS.toNanos(asked.forMs);
    for (String host : avoided()) {
      if (!asked.avoid.contains(host)) {
        lift(host);
      }
    }
    for (String host : asked.avoid) {
      Listing known = listings.get(host);
      if (known == null ? !blacklist.has(host) : known.lifted) {
        list(host);
      }
    }
    Log.info("new containers keep off {} for {} ms, for {}", avoided(), asked.forMs, asked.id);
    return new Ack(asked.id, Ack.APPLIED);
  }

  /** Hosts that are avoided; a list of the caller's own. */
  private List<String> avoided() {
    List<String> avoided = new ArrayList<>();
    listings.forEach(
        (host, listing) -> {
          if (!listing.lifted) {
            avoided.add(host);
          }
        });
    return avoided;
  }

  private void list(String host) {
    blacklist.forget(host);
    Listing listing = listings.computeIfAbsent(host, any -> new Listing());
    listing.lifted = false;
    starvedNanos = null;
    // Those that wait to be counted are as good as new ones.
    while (listing.uncounted < failures) {
      dispatcher.accept(new Failure(host));
      listing.uncounted++;
    }
  }

  /** Hadoop is about to count a failure; on its thread, and while no heartbeat is under way. */
  private synchronized void counted(String host) {
    Listing listing = listings.get(host);
    if (listing == null) {
      return;
    }
    if (listing.own == null && blacklist.has(host)) {
      listings.remove(host); // listed by Hadoop itself meanwhile, and its own to keep
      return;
    }
    if (listing.own == null) {
      listing.own = blacklist.failuresOn(host);
    }
    listing.uncounted--;
  }

  /** Whether hosts are avoided, or their lift is to be made sure of. */
  boolean busy() {
    return busy;
  }

  /** Lifts what is over. */
  void look() {
    if (busy) {
      // Whoever carries an action out holds the lease's monitor and waits for this one's, so the
      // lease is asked first.
      look(leased.getAsBoolean());
    }
  }

  private synchronized void look(boolean held) {
    long now = nanos.getAsLong();
    boolean avoids = !avoided().isEmpty();
    boolean starved = hasStarved(now, avoids);
    if (avoids && (blacklist.isDropped() || starved)) {
      liftAll();
      answers.accept(new Ack(action, Ack.TOO_MANY_NODES));
    } else if (avoids && !held && now - endNanos < 0) {
      liftAll();
      answers.accept(new Ack(action, Ack.NOT_LEASED));
    } else if (now - endNanos >= 0) {
      liftAll();
    }
    makeSure();
    busy = !listings.isEmpty();
  }

  /** The nodes that the job may use at all may be few of those that the list is measured by. */
  private boolean hasStarved(long now, boolean avoids) {
    if (!avoids || !starves.getAsBoolean()) {
      starvedNanos = null;
      return false;
    }
    starvedNanos = starvedNanos == null ? (Long) now : starvedNanos;
    return now - starvedNanos >= STARVED_NANOS;
  }

  /** Lifts everything, for good. */
  synchronized void liftAll() {
    avoided().forEach(this::lift);
  }

  private void lift(String host) {
    Listing listing = listings.get(host);
    listing.lifted = true;
    listing.settled = listing.uncounted == 0 && blacklist.has(host);
    blacklist.lift(host);
    makeSure();
    Log.info("new containers may go to {} again", host);
  }

  /**
   * What is lifted while a heartbeat is under way is forgotten with it, however long that takes, so
   * it is lifted again after its end.
   */
  private void makeSure() {
    if (!awaitsHeartbeat && listings.values().stream().anyMatch(listing -> listing.lifted)) {
      blacklist.afterHeartbeat(this::settle);
      awaitsHeartbeat = true;
    }
  }

  /** Only what has not been counted yet could list a host once more: that is looked at again. */
  private synchronized void settle() {
    awaitsHeartbeat = false;
    listings.entrySet().removeIf(entry -> settles(entry.getKey(), entry.getValue()));
  }

  /**
   * What Hadoop has counted by itself since a lift. If it has listed the host the ResourceManager,
   * which was told both, lets it in all the same, and the next failure is to list it there, too.
   */
  private int since(String host) {
    return blacklist.has(host) ? failures - 1 : blacklist.failuresOn(host);
  }

  private boolean settles(String host, Listing listing) {
    if (!listing.lifted || listing.uncounted > 0) {
      return false;
    }
    int since = listing.settled ? since(host) : 0;
    blacklist.lift(host);
    if (listing.own != null) {
      blacklist.countOn(host, listing.own + since);
    }
    return true;
  }
}
