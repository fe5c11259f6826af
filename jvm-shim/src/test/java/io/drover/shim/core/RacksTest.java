package io.drover.shim.core;

import static org.junit.Assert.assertEquals;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.Test;

/** Racks of hosts, where asking for one takes its time. */
public class RacksTest {
  private final List<String> asked = new ArrayList<>();
  private long nanos;
  private long takesMs;

  private final Racks racks =
      new Racks(
          host -> {
            asked.add(host);
            nanos += takesMs * 1_000_000;
            if (host.startsWith("bad")) {
              throw new IllegalStateException("no such host");
            }
            return "/" + host;
          },
          () -> nanos);

  @Test
  public void eachHostIsAskedForOnceAndOnlyAsManyAsThereAreCopies() {
    racks.begin();
    assertEquals(Map.of("a", "/a"), racks.of(List.of("a", "bad", "c"), 2));
    assertEquals(Map.of("a", "/a"), racks.of(List.of("a", "bad"), 8));
    assertEquals(Map.of(), racks.of(List.of(), 8));
    assertEquals(List.of("a", "bad"), asked);
  }

  @Test
  public void aNameServerThatIsSlowHoldsAnAnswerUpOnce() {
    takesMs = 700;
    racks.begin();
    assertEquals(Map.of("a", "/a"), racks.of(List.of("a", "b", "c"), 3));
    assertEquals(Map.of("a", "/a"), racks.of(List.of("b", "a"), 2));
    assertEquals(List.of("a"), asked);
    racks.begin();
    assertEquals(Map.of("a", "/a", "b", "/b"), racks.of(List.of("b", "a"), 2));
  }
}
