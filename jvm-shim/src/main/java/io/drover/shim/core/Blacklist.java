package io.drover.shim.core;

import java.lang.reflect.Field;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.atomic.AtomicBoolean;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.mapreduce.MRJobConfig;
import org.apache.hadoop.mapreduce.v2.app.AppContext;
import org.apache.hadoop.mapreduce.v2.app.rm.RMHeartbeatHandler;

/**
 * The AM's own list of hosts that the ResourceManager is to give the job no container on. Hadoop
 * adds to it by itself what fails too often ({@code RMContainerRequestor}) and takes nothing off
 * it, so a host is taken off by reflection: from sets that Hadoop made for several threads.
 */
final class Blacklist {
  /**
   * A job that bears more failures on a host than these wants no host listed, and to list one would
   * take as many events of the AM's.
   */
  private static final int MOST_FAILURES = 20;

  /** Of so many nodes one may be listed. */
  private static final int SHARE = 3;

  private final Object requestor;
  private final RMHeartbeatHandler heartbeats;
  private final Set<Object> listed;
  private final Set<Object> removals;
  private final Map<Object, Integer> failures;
  private final AtomicBoolean ignored;
  private final Field nodes;
  private final int limitPercent;

  /** {@code requestor} has the fields of Hadoop's. */
  Blacklist(Object requestor, int limitPercent) throws ReflectiveOperationException {
    this.requestor = requestor;
    this.limitPercent = limitPercent;
    heartbeats = (RMHeartbeatHandler) requestor;
    listed = set(requestor, "blacklistedNodes");
    removals = set(requestor, "blacklistRemovals");
    failures = counts(requestor, "nodeFailures");
    ignored =
        (AtomicBoolean) Hidden.field(requestor.getClass(), "ignoreBlacklisting").get(requestor);
    nodes = Hidden.field(requestor.getClass(), "clusterNmCount");
    nodes.getInt(requestor);
  }

  /** After how many failures on a host Hadoop lists it. */
  static int failures(Configuration conf) {
    return Math.max(1, conf.getInt(MRJobConfig.MAX_TASK_FAILURES_PER_TRACKER, 3));
  }

  /** That of an AM; null where the job does without, or this Hadoop does not show it. */
  static Blacklist of(AppContext context, Configuration conf) {
    try {
      boolean enabled = conf.getBoolean(MRJobConfig.MR_AM_JOB_NODE_BLACKLISTING_ENABLE, true);
      if (!enabled || failures(conf) > MOST_FAILURES) {
        return null;
      }
      Object master = Hidden.field(context.getClass(), "this$0").get(context);
      Object router = Hidden.field(master.getClass(), "containerAllocator").get(master);
      Object allocator = Hidden.field(router.getClass(), "containerAllocator").get(router);
      int percent =
          conf.getInt(
              MRJobConfig.MR_AM_IGNORE_BLACKLISTING_BLACKLISTED_NODE_PERECENT,
              MRJobConfig.DEFAULT_MR_AM_IGNORE_BLACKLISTING_BLACKLISTED_NODE_PERCENT);
      return new Blacklist(allocator, percent);
    } catch (Throwable e) {
      Log.info("this Hadoop does not show its blacklist: {}", e.toString());
      return null;
    }
  }

  // Reflection does not say of what the set is; only names of hosts are put in and asked for.
  @SuppressWarnings("unchecked")
  private static Set<Object> set(Object of, String name) throws ReflectiveOperationException {
    return (Set<Object>) Hidden.field(of.getClass(), name).get(of);
  }

  // Likewise, by host.
  @SuppressWarnings("unchecked")
  private static Map<Object, Integer> counts(Object of, String name)
      throws ReflectiveOperationException {
    return (Map<Object, Integer>) Hidden.field(of.getClass(), name).get(of);
  }

  boolean has(String host) {
    return listed.contains(host);
  }

  /**
   * Whether so many more would be at most a third of the nodes, whatever the job allows, and fewer
   * than those from which on Hadoop drops the whole list. By Hadoop's own reckoning, its own hosts
   * included.
   */
  boolean bears(int more) throws IllegalAccessException {
    int known = nodes.getInt(requestor);
    int then = listed.size() + more;
    boolean few = known > 0 && SHARE * then <= known;
    return few && (limitPercent < 0 || (int) ((float) then / known * 100) < limitPercent);
  }

  /** How many nodes the cluster has, as the AM knows; as many as can be where it does not. */
  int nodes() {
    try {
      int known = nodes.getInt(requestor);
      return known > 0 ? known : Integer.MAX_VALUE;
    } catch (IllegalAccessException e) {
      return Integer.MAX_VALUE;
    }
  }

  /** Whether Hadoop has dropped the list, for being too long. */
  boolean isDropped() {
    return ignored.get();
  }

  /**
   * Nothing is left of a host that was taken off, so that it can be listed again: of one that the
   * ResourceManager is told to list and to take off at once it forgets the first.
   */
  void forget(String host) {
    listed.remove(host);
    removals.remove(host);
  }

  /**
   * How many failures Hadoop has counted on a host that is not listed; only where Hadoop counts, or
   * after a heartbeat.
   */
  int failuresOn(String host) {
    return failures.getOrDefault(host, 0);
  }

  /** Has Hadoop count on from so many; as {@link #failuresOn}. */
  void countOn(String host, int from) {
    if (from > 0) {
      failures.put(host, from);
    } else {
      failures.remove(host);
    }
  }

  /**
   * Has something done once the heartbeat to the ResourceManager that is under way, or else the
   * next, has ended: on Hadoop's thread, before another begins, and while Hadoop changes nothing.
   */
  void afterHeartbeat(Runnable what) {
    heartbeats.runOnNextHeartbeat(
        () -> {
          try {
            synchronized (requestor) { // as Hadoop does
              what.run();
            }
          } catch (Throwable e) { // would end that thread, and with it the job
            Log.warn("cannot look at the AM's blacklist: {}", e.toString());
          }
        });
  }

  /**
   * Takes a host off; told to the ResourceManager with the next heartbeat. One that is under way
   * forgets it at its end.
   */
  void lift(String host) {
    listed.remove(host);
    removals.add(host);
  }
}
