package io.drover.shim;

import java.lang.reflect.Field;
import java.lang.reflect.Method;
import java.util.Set;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.mapreduce.v2.app.AppContext;
import org.apache.hadoop.mapreduce.v2.app.rm.ContainerFailedEvent;
import org.apache.hadoop.mapreduce.v2.app.rm.RMCommunicator;
import org.apache.hadoop.mapreduce.v2.app.rm.RMContainerRequestor;

/** Hadoop's own code that keeps an AM's blacklist, without a ResourceManager to tell. */
public final class AmBlacklist extends RMContainerRequestor {
  AmBlacklist(AppContext context) {
    super(null, context);
  }

  AmBlacklist with(Configuration conf) {
    init(conf);
    return this;
  }

  @Override
  protected void heartbeat() {
    throw new UnsupportedOperationException("there is no ResourceManager");
  }

  /** As Hadoop's allocator takes it. */
  synchronized void failed(ContainerFailedEvent event) {
    containerFailedOnHost(event.getContMgrAddress().split(":")[0]);
  }

  /** So many attempts fail on a host; as many as three list it. */
  synchronized void fail(String host, int times) {
    for (int i = 0; i < times; i++) {
      containerFailedOnHost(host);
    }
  }

  boolean keepsOff(String host) {
    return isNodeBlacklisted(host);
  }

  /** The ResourceManager has told how many nodes it knows. */
  void nodes(int count) throws ReflectiveOperationException {
    field("clusterNmCount").setInt(this, count);
    computeIgnoreBlacklisting();
    field("lastClusterNmCount").setInt(this, count);
  }

  boolean tellsRemoved(String host) {
    try {
      return ((Set<?>) field("blacklistRemovals").get(this)).contains(host);
    } catch (ReflectiveOperationException e) {
      throw new AssertionError(e);
    }
  }

  /** A heartbeat that had begun before has ended: what was to be told is forgotten. */
  void beat() throws ReflectiveOperationException {
    ((Set<?>) field("blacklistRemovals").get(this)).clear();
    Method callbacks = RMCommunicator.class.getDeclaredMethod("executeHeartbeatCallbacks");
    callbacks.setAccessible(true);
    callbacks.invoke(this);
  }

  private static Field field(String name) throws ReflectiveOperationException {
    Field field = RMContainerRequestor.class.getDeclaredField(name);
    field.setAccessible(true);
    return field;
  }
}
