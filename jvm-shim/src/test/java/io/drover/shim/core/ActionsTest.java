package io.drover.shim.core;

import static org.junit.Assert.assertEquals;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.Test;

public class ActionsTest {
  private final List<Long> deadlines = new ArrayList<>();
  private final Actions actions =
      new Actions(
          new Ledger(() -> 0),
          (action, epoch, deadlineNanos) -> {
            deadlines.add(deadlineNanos);
            return new Ack(action.id, Ack.APPLIED);
          },
          Runnable::run,
          new Racks(host -> null, () -> 0));

  private static Action avoid(String id, long deadlineMs) {
    Action.Draft draft = new Action.Draft();
    draft.id = id;
    draft.type = Action.AVOID;
    draft.forMs = 1;
    draft.deadlineMs = deadlineMs;
    return new Action(draft);
  }

  @Test
  public void anActionLastsForFiveMinutesAtMostHoweverLateItsDeadline() {
    long sentNanos = TimeUnit.DAYS.toNanos(1);
    List<Action> received =
        List.of(avoid("a", 299_999), avoid("b", 3_600_000), avoid("c", AnswerParser.MAX_COUNT));
    actions.receive(received, 1, sentNanos);
    List<Long> lastMs =
        deadlines.stream().map(end -> TimeUnit.NANOSECONDS.toMillis(end - sentNanos)).toList();
    assertEquals(List.of(299_999L, 300_000L, 300_000L), lastMs);
  }
}
