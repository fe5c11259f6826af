package io.drover.shim.core;

import java.net.URL;
import java.util.ArrayList;
import java.util.List;

/** Addresses that were called in vain since one last answered, each with its own reason. */
final class Failures {
  private static final int MOST_TOLD = 8;

  private final List<String> told = new ArrayList<>();
  private int count;

  void add(URL address, String why) {
    count++;
    if (told.size() < MOST_TOLD) {
      String line = String.valueOf(why).split("\\R", 2)[0];
      told.add(Text.address(address) + " (" + Text.line(line) + ")");
    }
  }

  int count() {
    return count;
  }

  void clear() {
    told.clear();
    count = 0;
  }

  @Override
  public String toString() {
    String all = String.join(", ", told);
    return count > told.size() ? all + " and " + (count - told.size()) + " more" : all;
  }
}
