package io.drover.shim.core;

import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonToken;
import java.io.IOException;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;

/**
 * Reads the list of actions of an answer. One that has an id is always returned, so that it can be
 * answered; an answer with an action that has none is refused.
 */
final class ActionReader {
  static final int MAX_ACTIONS = 1000;
  static final int MAX_COPIES = 8;
  private static final int MAX_LIVE = 16;
  private static final int MAX_RESTARTS = 16;
  private static final int MAX_MOVES = 8;
  private static final int MAX_HOSTS = 64;
  private static final long MAX_FOR_MS = 3_600_000;
  private static final int MAX_OUTPUTS = 1000;
  private static final int MAX_TEXT = 1024;
  private static final long MAX_INDEX = 4_294_967_295L;

  private final JsonParser json;
  private final Action.Draft draft = new Action.Draft();

  private ActionReader(JsonParser json) {
    this.json = json;
  }

  /** The parser stands on the list's first token, and afterwards on its last. */
  static List<Action> list(JsonParser json) throws IOException {
    if (json.currentToken() != JsonToken.START_ARRAY) {
      throw new IOException("actions is not a list");
    }
    List<Action> actions = new ArrayList<>();
    while (json.nextToken() == JsonToken.START_OBJECT) {
      if (actions.size() >= MAX_ACTIONS) {
        throw new IOException("more than " + MAX_ACTIONS + " actions");
      }
      actions.add(new ActionReader(json).action());
    }
    if (json.currentToken() != JsonToken.END_ARRAY) {
      throw new IOException("an action is not an object");
    }
    return actions;
  }

  private Action action() throws IOException {
    while (json.nextToken() == JsonToken.FIELD_NAME) {
      String name = json.currentName();
      json.nextToken();
      field(name);
    }
    if (draft.id == null || draft.id.length() > MAX_TEXT) {
      throw new IOException("an action without a usable id");
    }
    return new Action(draft);
  }

  private void field(String name) throws IOException {
    switch (name) {
      case "id":
        draft.id = text();
        break;
      case "type":
        draft.type = text();
        break;
      case "k":
        draft.kind = text();
        break;
      case "deadline_ms":
        draft.deadlineMs = number(0, AnswerParser.MAX_COUNT);
        break;
      case "i":
        draft.task = number(0, MAX_INDEX);
        break;
      case "copies":
        draft.copies = number(1, MAX_COPIES);
        break;
      case "live":
        draft.live = number(1, MAX_LIVE);
        break;
      case "n":
        draft.attempt = number(0, MAX_INDEX);
        break;
      case "restarts":
        draft.restarts = number(0, MAX_RESTARTS);
        break;
      case "below":
        draft.below = share();
        break;
      case "for_ms":
        draft.forMs = number(1, MAX_FOR_MS);
        break;
      case "moves":
        draft.moves = number(0, MAX_MOVES);
        break;
      case "avoid":
        List<String> avoid = hosts();
        draft.avoid = avoid == null ? null : new HashSet<>(avoid);
        break;
      case "prefer":
        draft.prefer = hosts();
        break;
      case "outputs":
        draft.outputs = outputs();
        break;
      default:
        json.skipChildren();
    }
  }

  private String text() throws IOException {
    if (json.currentToken() == JsonToken.VALUE_STRING) {
      return json.getText();
    }
    json.skipChildren();
    return null;
  }

  /** -1 for anything but a whole number within the limits. */
  private long number(long least, long most) throws IOException {
    boolean whole = json.currentToken() == JsonToken.VALUE_NUMBER_INT;
    if (whole && json.getNumberType() != JsonParser.NumberType.BIG_INTEGER) {
      long value = json.getLongValue();
      return value >= least && value <= most ? value : -1;
    }
    json.skipChildren();
    return -1;
  }

  /** -1 for anything but a number from 0 to 1. */
  private double share() throws IOException {
    if (json.currentToken() != null && json.currentToken().isNumeric()) {
      double value = json.getDoubleValue();
      return value >= 0 && value <= 1 ? value : -1;
    }
    json.skipChildren();
    return -1;
  }

  /** Null for anything but a list of usable names. */
  private List<String> hosts() throws IOException {
    if (json.currentToken() != JsonToken.START_ARRAY) {
      json.skipChildren();
      return null;
    }
    List<String> hosts = new ArrayList<>();
    boolean usable = true;
    for (int read = 0; json.nextToken() != JsonToken.END_ARRAY; read++) {
      String host = text();
      usable &= isName(host) && read < MAX_HOSTS;
      if (usable) {
        hosts.add(host);
      }
    }
    return usable ? hosts : null;
  }

  /**
   * The ResourceManager refuses each request of an AM that would keep off "*", which is any host;
   * what begins with a slash is a rack, and what has a colon a host with its port.
   */
  private static boolean isName(String host) {
    return host != null
        && host.length() <= MAX_TEXT
        && !host.equals("*")
        && !host.startsWith("/")
        && host.indexOf(':') < 0;
  }

  /** Null for anything but a list of pairs of indices that is not empty. */
  private List<long[]> outputs() throws IOException {
    if (json.currentToken() != JsonToken.START_ARRAY) {
      json.skipChildren();
      return null;
    }
    List<long[]> outputs = new ArrayList<>();
    boolean usable = true;
    while (json.nextToken() != JsonToken.END_ARRAY) {
      long[] output = pair();
      usable &= output != null && outputs.size() < MAX_OUTPUTS;
      if (usable) {
        outputs.add(output);
      }
    }
    return usable && !outputs.isEmpty() ? outputs : null;
  }

  private long[] pair() throws IOException {
    if (json.currentToken() != JsonToken.START_ARRAY) {
      json.skipChildren();
      return null;
    }
    long[] pair = {-1, -1};
    int read = 0;
    for (; json.nextToken() != JsonToken.END_ARRAY; read++) {
      long value = number(0, MAX_INDEX);
      if (read < pair.length) {
        pair[read] = value;
      }
    }
    return read == pair.length && pair[0] >= 0 && pair[1] >= 0 ? pair : null;
  }
}
