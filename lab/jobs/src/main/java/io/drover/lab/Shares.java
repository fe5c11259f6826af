package io.drover.lab;

/** Which reduce gets which record: by turns, a reduce with more data having more of them. */
final class Shares {
  /** A reduce's size is rounded to a share in so many. */
  private static final int TURNS_A_UNIT = 10;

  private final int[] owner;
  private final double units;

  Shares(Settings settings) {
    int reduces = Math.max(1, settings.reduces);
    int[] turns = new int[reduces];
    int all = 0;
    for (int r = 0; r < reduces; r++) {
      turns[r] = (int) Math.max(1, Math.round(settings.size(false, r) * TURNS_A_UNIT));
      all += turns[r];
    }
    owner = new int[all];
    int next = 0;
    for (int r = 0; r < reduces; r++) {
      for (int t = 0; t < turns[r]; t++) {
        owner[next++] = r;
      }
    }
    units = (double) all / TURNS_A_UNIT;
  }

  /** The reduce of a record, given the record's number in the job. */
  int of(long record) {
    // A stride coprime to most lengths spreads each reduce's turns over the sequence.
    return owner[(int) (Math.floorMod(record * 7919, (long) owner.length))];
  }

  /** A reduce's work for one record, so that one of size 1 takes {@code lab.reduce.ms} in all. */
  double msARecord(Settings settings) {
    long all = 0;
    for (int m = 0; m < settings.maps; m++) {
      all += settings.recordsOf(m);
    }
    return settings.reduceMs * units / all;
  }
}
