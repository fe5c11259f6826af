package io.drover.shim.core;

import com.fasterxml.jackson.core.JsonGenerator;
import java.io.IOException;

/** One entry of the session's table of hosts. */
final class HostRow extends Row {
  final int index;
  final String name;

  /** Empty until an attempt has run there, for asking may start a script; told when it is sent. */
  String rack = "";

  HostRow(int index, String name) {
    this.index = index;
    this.name = Text.bounded(name);
  }

  @Override
  int bytes() {
    return 24 + 3 * (name.length() + rack.length());
  }

  @Override
  void write(JsonGenerator json, long base) throws IOException {
    json.writeStartArray();
    json.writeNumber(index);
    json.writeString(name);
    json.writeString(rack);
    json.writeEndArray();
  }
}
