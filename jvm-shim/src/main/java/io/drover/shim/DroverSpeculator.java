package io.drover.shim;

import java.lang.reflect.Constructor;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import java.util.function.ToLongFunction;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.mapreduce.v2.app.AppContext;
import org.apache.hadoop.mapreduce.v2.app.job.event.TaskAttemptStatusUpdateEvent.TaskAttemptStatus;
import org.apache.hadoop.mapreduce.v2.app.speculate.DefaultSpeculator;
import org.apache.hadoop.mapreduce.v2.app.speculate.Speculator;
import org.apache.hadoop.mapreduce.v2.app.speculate.SpeculatorEvent;
import org.apache.hadoop.service.AbstractService;
import org.apache.hadoop.yarn.event.EventHandler;
import org.slf4j.LoggerFactory;

/**
 * The class that Hadoop loads: Hadoop's own {@link DefaultSpeculator}, run exactly as the
 * ApplicationMaster would run it, with Drover listening behind it.
 *
 * <p>A class that cannot be loaded or that throws on the dispatcher thread ends the
 * ApplicationMaster. So this one links only to the JDK and to Hadoop; everything of Drover's own is
 * found by name, on a daemon thread, inside {@code catch Throwable}, and whatever goes wrong there
 * leaves Hadoop's speculator running alone.
 */
public final class DroverSpeculator extends AbstractService implements Speculator {
  private static final String NATIVE = "io.drover.shim.NativeSpeculator";
  private static final String CORE = "io.drover.shim.core.Core";

  private final Configuration conf;
  private final AppContext context;
  private final DefaultSpeculator hadoop;
  private volatile EventHandler<SpeculatorEvent> listener;
  private volatile Thread exchange;

  /** The constructor that MRAppMaster looks for. */
  public DroverSpeculator(Configuration conf, AppContext context) {
    super("DroverSpeculator");
    this.conf = conf;
    this.context = context;
    this.hadoop = hadoopSpeculator(conf, context);
  }

  /** The subclass can be held and counts; without it the plain one serves, and is never held. */
  private static DefaultSpeculator hadoopSpeculator(Configuration conf, AppContext context) {
    try {
      return (DefaultSpeculator)
          Class.forName(NATIVE, true, loader())
              .getConstructor(Configuration.class, AppContext.class)
              .newInstance(conf, context);
    } catch (Throwable e) {
      log("cannot hold Hadoop's speculator, which therefore launches always", e);
      return new DefaultSpeculator(conf, context);
    }
  }

  @Override
  protected void serviceInit(Configuration config) throws Exception {
    hadoop.init(config);
    super.serviceInit(config);
  }

  @Override
  protected void serviceStart() throws Exception {
    hadoop.start();
    startExchange();
    super.serviceStart();
  }

  @Override
  protected void serviceStop() throws Exception {
    Thread running = exchange;
    if (running != null) {
      running.interrupt(); // never joined: a job's end waits for nobody
    }
    hadoop.stop();
    super.serviceStop();
  }

  @Override
  public void handle(SpeculatorEvent event) {
    if (!(event instanceof Runnable)) { // such a one is Drover's, sent to get onto this thread
      hadoop.handle(event);
    }
    EventHandler<SpeculatorEvent> behind = listener;
    if (behind != null) {
      try {
        behind.handle(event);
      } catch (Throwable e) {
        stopListening(e);
      }
    }
  }

  private void stopListening(Throwable cause) {
    listener = null;
    handBack();
    log("stopped listening, Hadoop's speculator runs alone", cause);
    Thread running = exchange;
    if (running != null) {
      running.interrupt();
    }
  }

  /** From now on Hadoop's speculator asks nobody. */
  private void handBack() {
    Consumer<BooleanSupplier> holder = holder();
    if (holder != null) {
      holder.accept(null);
    }
  }

  /** NativeSpeculator is reached by name, and only as what it implements of the JDK. */
  @SuppressWarnings("unchecked")
  private Consumer<BooleanSupplier> holder() {
    return hadoop instanceof Consumer ? (Consumer<BooleanSupplier>) hadoop : null;
  }

  @Override
  public void handleAttempt(TaskAttemptStatus status) {
    hadoop.handleAttempt(status);
  }

  private void startExchange() {
    try {
      String reason = reasonToStayAlone();
      if (reason != null) {
        log(reason + ", Hadoop's speculator runs alone", null);
        return;
      }
      Thread thread = new Thread(this::runCore, "drover-exchange");
      thread.setDaemon(true);
      thread.setContextClassLoader(loader());
      exchange = thread;
      thread.start();
    } catch (Throwable e) {
      log("cannot start, Hadoop's speculator runs alone", e);
    }
  }

  private String reasonToStayAlone() {
    if (conf.getTrimmedStrings("drover.service.urls").length == 0) {
      return "drover.service.urls is not set";
    }
    return "off".equalsIgnoreCase(conf.getTrimmed("drover.mode")) ? "drover.mode is off" : null;
  }

  /** Only JDK and Hadoop types cross this line, so that a jar of mixed ages fails here, safely. */
  @SuppressWarnings("unchecked")
  private void runCore() {
    try {
      Constructor<?> constructor =
          Class.forName(CORE, true, loader())
              .getConstructor(
                  Configuration.class,
                  AppContext.class,
                  ToLongFunction.class,
                  Consumer.class,
                  BooleanSupplier.class);
      BooleanSupplier stopped = () -> isInState(STATE.STOPPED);
      ToLongFunction<String> counts =
          hadoop instanceof ToLongFunction
              ? (ToLongFunction<String>) hadoop
              : DroverSpeculator::unknown;
      Object core = constructor.newInstance(conf, context, counts, holder(), stopped);
      Runnable exchanges = (Runnable) core;
      listener = (EventHandler<SpeculatorEvent>) core;
      exchanges.run();
    } catch (Throwable e) {
      log("failed, Hadoop's speculator runs alone", e);
    } finally {
      listener = null;
      handBack();
    }
  }

  private static long unknown(String count) {
    return 0;
  }

  private static ClassLoader loader() {
    return DroverSpeculator.class.getClassLoader();
  }

  private static void log(String message, Throwable cause) {
    try {
      String why = cause == null ? "" : ": " + cause;
      LoggerFactory.getLogger(DroverSpeculator.class).info("Drover: {}{}", message, why);
    } catch (Throwable e) {
      System.err.println("Drover: " + message);
    }
  }
}
