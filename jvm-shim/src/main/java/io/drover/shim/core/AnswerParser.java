package io.drover.shim.core;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonToken;
import com.fasterxml.jackson.core.StreamReadConstraints;
import java.io.IOException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** Reads answers strictly in what is known and leniently in what is not: new fields are skipped. */
final class AnswerParser {
  static final long MAX_COUNT = 9_007_199_254_740_991L;

  private static final String NEWS = "news_exchange_ms";
  private static final String STARTS = "news_of_starts";
  private static final String FETCH_FAILURES = "fetch_failures";

  private final JsonFactory factory =
      JsonFactory.builder()
          .streamReadConstraints(
              StreamReadConstraints.builder()
                  .maxNestingDepth(32)
                  .maxStringLength(64 * 1024)
                  .maxNumberLength(32)
                  .build())
          .build();

  Reply reply(byte[] body) throws IOException {
    List<Action> actions = new ArrayList<>();
    Map<String, Object> fields = fields(body, actions);
    if (count(fields, "protocol", 1, 1) != 1) {
      throw new IOException("protocol is not 1");
    }
    String launcher = text(fields, "launcher");
    if (!launcher.equals("native") && !launcher.equals("drover")) {
      throw new IOException("launcher is neither native nor drover");
    }
    if (!fields.containsKey("actions")) {
      throw new IOException("actions is missing");
    }
    text(fields, "incarnation");
    long leaseMs = count(fields, "lease_ms", 0, MAX_COUNT);
    return new Reply(
        count(fields, "seq", 0, MAX_COUNT),
        count(fields, "epoch", 0, MAX_COUNT),
        flag(fields, "accepted"),
        count(fields, "ack", 0, MAX_COUNT),
        flag(fields, "snapshot"),
        count(fields, "next_exchange_ms", 0, MAX_COUNT),
        fields.containsKey(NEWS) ? count(fields, NEWS, 0, MAX_COUNT) : 0,
        fields.containsKey(STARTS) && flag(fields, STARTS),
        launcher.equals("drover") ? leaseMs : 0,
        fields.containsKey(FETCH_FAILURES) && flag(fields, FETCH_FAILURES),
        actions);
  }

  Refusal refusal(byte[] body) throws IOException {
    Map<String, Object> fields = fields(body, new ArrayList<>());
    long ack = fields.containsKey("ack") ? count(fields, "ack", 0, MAX_COUNT) : -1;
    Object message = fields.get("message");
    return new Refusal(
        Text.line(text(fields, "error")),
        message instanceof String ? Text.line((String) message) : "",
        count(fields, "retry_ms", 0, MAX_COUNT),
        ack);
  }

  /** The scalar fields of one JSON object that must be all of the body. */
  private Map<String, Object> fields(byte[] body, List<Action> actions) throws IOException {
    Map<String, Object> fields = new HashMap<>();
    try (JsonParser json = factory.createParser(body)) {
      json.enable(JsonParser.Feature.STRICT_DUPLICATE_DETECTION);
      if (json.nextToken() != JsonToken.START_OBJECT) {
        throw new IOException("not a JSON object");
      }
      while (json.nextToken() == JsonToken.FIELD_NAME) {
        String name = json.currentName();
        json.nextToken();
        if (name.equals("actions")) {
          actions.addAll(ActionReader.list(json));
          fields.put(name, Boolean.TRUE);
        } else {
          readField(json, name, fields);
        }
      }
      if (json.nextToken() != null) {
        throw new IOException("more than one JSON value");
      }
    }
    return fields;
  }

  private static void readField(JsonParser json, String name, Map<String, Object> fields)
      throws IOException {
    switch (json.currentToken()) {
      case VALUE_NUMBER_INT:
        if (json.getNumberType() != JsonParser.NumberType.BIG_INTEGER) {
          fields.put(
              name, json.getLongValue()); // else it is of a field that is not known, or missed
        }
        break;
      case VALUE_TRUE:
      case VALUE_FALSE:
        fields.put(name, json.getBooleanValue());
        break;
      case VALUE_STRING:
        fields.put(name, json.getText());
        break;
      default:
        json.skipChildren();
    }
  }

  private static long count(Map<String, Object> fields, String name, long least, long most)
      throws IOException {
    Object value = fields.get(name);
    if (value instanceof Long && (Long) value >= least && (Long) value <= most) {
      return (Long) value;
    }
    throw new IOException(name + " is missing or out of range");
  }

  private static boolean flag(Map<String, Object> fields, String name) throws IOException {
    Object value = fields.get(name);
    if (value instanceof Boolean) {
      return (Boolean) value;
    }
    throw new IOException(name + " is missing or not a boolean");
  }

  private static String text(Map<String, Object> fields, String name) throws IOException {
    Object value = fields.get(name);
    if (value instanceof String) {
      return (String) value;
    }
    throw new IOException(name + " is missing or not a string");
  }
}
