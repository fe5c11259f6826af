package io.drover.shim.core;

import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonToken;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/**
 * Reads the list of actions of an answer. One that has an id is always returned, so that it can be
 * answered; an answer with an action that has none is refused.
 */
final class ActionReader {
  static final String DUPLICATE = "duplicate";
  static final int MAX_ACTIONS = 1000;
  static final int MAX_COPIES = 8;
  private static final int MAX_LIVE = 16;
  private static final int MAX_MOVES = 8;
  private static final int MAX_HOSTS = 64;
  private static final int MAX_TEXT = 1024;
  private static final long MAX_INDEX = 4_294_967_295L;

  private final JsonParser json;
  private String id;
  private String type;
  private String kind;
  private long deadlineMs;
  private long task;
  private long copies;
  private long live;
  private long moves;
  private Set<String> avoid;

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
    deadlineMs = -1;
    task = -1;
    avoid = Collections.emptySet();
    while (json.nextToken() == JsonToken.FIELD_NAME) {
      String name = json.currentName();
      json.nextToken();
      field(name);
    }
    if (id == null || id.length() > MAX_TEXT) {
      throw new IOException("an action without a usable id");
    }
    return new Action(
        id,
        fault(),
        deadlineMs,
        "m".equals(kind),
        task,
        (int) copies,
        (int) live,
        avoid,
        (int) moves);
  }

  private void field(String name) throws IOException {
    switch (name) {
      case "id":
        id = text();
        break;
      case "type":
        type = text();
        break;
      case "k":
        kind = text();
        break;
      case "deadline_ms":
        deadlineMs = number(0, AnswerParser.MAX_COUNT);
        break;
      case "i":
        task = number(0, MAX_INDEX);
        break;
      case "copies":
        copies = number(1, MAX_COPIES);
        break;
      case "live":
        live = number(1, MAX_LIVE);
        break;
      case "moves":
        moves = number(0, MAX_MOVES);
        break;
      case "avoid":
        avoid = hosts();
        break;
      default:
        json.skipChildren();
    }
  }

  private String fault() {
    if (type == null) {
      return Ack.MALFORMED;
    }
    if (!type.equals(DUPLICATE)) {
      return Ack.UNSUPPORTED;
    }
    boolean named = ("m".equals(kind) || "r".equals(kind)) && task >= 0;
    boolean counted = copies > 0 && live > 0 && moves >= 0;
    return named && counted && deadlineMs >= 0 && avoid != null ? null : Ack.MALFORMED;
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

  /** Null for anything but a list of usable names. */
  private Set<String> hosts() throws IOException {
    if (json.currentToken() != JsonToken.START_ARRAY) {
      json.skipChildren();
      return null;
    }
    Set<String> hosts = new HashSet<>();
    boolean usable = true;
    for (int read = 0; json.nextToken() != JsonToken.END_ARRAY; read++) {
      String host = text();
      usable &= host != null && host.length() <= MAX_TEXT && read < MAX_HOSTS;
      if (usable) {
        hosts.add(host);
      }
    }
    return usable ? hosts : null;
  }
}
