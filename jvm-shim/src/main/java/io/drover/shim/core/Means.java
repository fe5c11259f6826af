package io.drover.shim.core;

import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.Map;
import java.util.Set;
import java.util.function.Consumer;
import java.util.function.IntSupplier;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.mapreduce.v2.api.records.TaskId;
import org.apache.hadoop.mapreduce.v2.app.AppContext;
import org.apache.hadoop.mapreduce.v2.app.job.Job;
import org.apache.hadoop.mapreduce.v2.app.job.impl.TaskAttemptImpl;
import org.apache.hadoop.yarn.event.Event;

/** All that can be done to a job, by type of action, and what that must hear of. */
final class Means {
  private final Map<String, Act> acts = new LinkedHashMap<>();
  private final Mover mover;

  /** Null where this AM shows no blacklist. */
  private final Avoider avoider;

  Means(
      Configuration conf,
      AppContext context,
      Job job,
      Lease lease,
      Ledger ledger,
      Headroom headroom,
      Copies copies,
      Consumer<Event<?>> dispatcher) {
    Blacklist blacklist = Blacklist.of(context, conf);
    IntSupplier nodes = blacklist == null ? () -> Integer.MAX_VALUE : blacklist::nodes;
    mover = new Mover(headroom, copies, nodes, lease, ledger::answer);
    acts.put(Action.DUPLICATE, new Duplicator(headroom, copies));
    acts.put(Action.RESTART, new Restarter(headroom, copies, mover));
    if (Rerunner.canServe(job)) {
      acts.put(Action.RERUN, new Rerunner(job));
    }
    avoider =
        blacklist == null
            ? null
            : new Avoider(
                blacklist,
                lease,
                headroom::starves,
                System::nanoTime,
                dispatcher,
                ledger::answer,
                job.getID(),
                conf);
    if (avoider != null) {
      acts.put(Action.AVOID, avoider);
    }
  }

  /** What {@code hello.can} says. */
  Set<String> can() {
    Set<String> can = new LinkedHashSet<>(acts.keySet());
    if (new HadoopInside().asksForRacks(TaskAttemptImpl.class)) {
      can.add(Action.PREFER);
    }
    return can;
  }

  /** How actions of a type are carried out, or null. */
  Act of(String type) {
    return acts.get(type);
  }

  /** An attempt of the task has asked for a container, or was given one and has not started. */
  void needChanged(TaskId task) {
    mover.needChanged(task);
  }

  /** Time has passed; from any thread. */
  void look() {
    if (avoider != null) {
      avoider.look();
    }
  }

  /** Whether there is anything left to look at. */
  boolean busy() {
    return avoider != null && avoider.busy();
  }

  /** Nothing more is to come. */
  void end() {
    if (avoider != null) {
      avoider.liftAll();
    }
  }
}
