package io.drover.upstream;

import java.net.InetSocketAddress;
import java.net.URI;
import org.apache.hadoop.service.AbstractService;
import org.junit.runner.Description;
import org.junit.runner.JUnitCore;
import org.junit.runner.Request;
import org.junit.runner.Result;
import org.junit.runner.manipulation.Filter;
import org.junit.runner.notification.Failure;
import org.junit.runner.notification.RunListener;

/**
 * Runs one case of a JUnit 4 class: {@code Launcher CLASS CASE [HOST:PORT [METRICS]]}, where the
 * case is what its name begins with. With an address the pages of a ResourceManager are shown
 * there, and the case begins once somebody watches them; with the address of the service's metrics,
 * too, a lone master's job is the service's before its test goes on.
 */
public final class Launcher {
  private Launcher() {}

  public static void main(String[] words) throws Exception {
    if (words.length < 2 || words.length > 4) {
      System.err.println("usage: Launcher CLASS CASE [HOST:PORT [METRICS]]");
      System.exit(2);
    }
    FrontDoor door = words.length > 2 ? open(words) : null;
    Request request = Request.aClass(Class.forName(words[0])).filterWith(only(words[1]));
    JUnitCore junit = new JUnitCore();
    if (request.getRunner().testCount() == 1) {
      junit.addListener(new Leaver());
    }
    Result result = junit.run(request);
    for (Failure failure : result.getFailures()) {
      System.out.println(failure.getTestHeader() + ": " + failure.getTrace());
    }
    int ran = result.getRunCount();
    System.out.printf(
        "published: ran %d, failed %d, ignored %d, in %d ms%n",
        ran, result.getFailureCount(), result.getIgnoreCount(), result.getRunTime());
    if (door != null) {
      door.close();
    }
    System.out.flush();
    // The mini cluster leaves threads behind.
    System.exit(ran == 1 && result.wasSuccessful() ? 0 : 1);
  }

  /**
   * Ends the process once the only test has passed: nothing is asserted after it, and a mini
   * cluster takes a minute to put itself away.
   */
  private static final class Leaver extends RunListener {
    private boolean failed;

    @Override
    public void testFailure(Failure failure) {
      failed = true;
    }

    @Override
    public void testAssumptionFailure(Failure failure) {
      failed = true;
    }

    @Override
    public void testFinished(Description test) {
      if (!failed) {
        System.out.println("published: " + test.getMethodName() + " passed");
        System.out.flush();
        Runtime.getRuntime().halt(0);
      }
    }
  }

  private static FrontDoor open(String[] words) throws Exception {
    String address = words[2];
    Lease lease = words.length > 3 ? new Lease(URI.create(words[3])) : null;
    int colon = address.lastIndexOf(':');
    int port = Integer.parseInt(address.substring(colon + 1));
    FrontDoor door = new FrontDoor(new InetSocketAddress(address.substring(0, colon), port), lease);
    AbstractService.registerGlobalListener(door);
    door.awaitWatcher();
    return door;
  }

  private static Filter only(String beginning) {
    return new Filter() {
      @Override
      public boolean shouldRun(Description what) {
        return what.isTest()
            ? what.getMethodName().startsWith(beginning)
            : what.getChildren().stream().anyMatch(this::shouldRun);
      }

      @Override
      public String describe() {
        return "cases that begin with " + beginning;
      }
    };
  }
}
