package io.drover.lab;

import java.io.File;
import java.util.HashMap;
import java.util.Map;
import org.apache.hadoop.conf.Configuration;

/**
 * A lab job's own configuration ({@code lab.*}), read once and checked.
 *
 * <p>Tasks and attempts are named as in Hadoop's ids without their leading zeros: {@code m_3} is
 * the fourth map, {@code m_3_0} its first attempt, {@code r_0} the first reduce.
 */
final class Settings {
  static final String MAPS = "lab.maps";
  static final String REDUCES = "lab.reduces";
  static final String MAP_MS = "lab.map.ms";
  static final String REDUCE_MS = "lab.reduce.ms";
  static final String RECORDS = "lab.records";
  static final String JITTER = "lab.jitter";
  static final String SEED = "lab.seed";
  static final String WORK = "lab.work";
  static final String LOOPS = "lab.cpu.loops.per.ms";
  static final String SLOW_NODES = "lab.slow.nodes";
  static final String SLOW_ATTEMPTS = "lab.slow.attempts";
  static final String SLOW_AFTER_MS = "lab.slow.after.ms";

  /** A slow node slows an attempt only once this share of its work is done, 0 to 1. */
  static final String SLOW_FROM_SHARE = "lab.slow.from.share";

  /** Slow nodes are slow for as long as this file is there, where one is named. */
  static final String SLOW_FILE = "lab.slow.file";

  static final String SIZES = "lab.sizes";
  static final String SPLIT_BYTES = "lab.split.bytes";
  static final String SPLIT_HOSTS = "lab.split.hosts";
  static final String OUTPUT = "lab.output";
  static final String USER = "lab.user";
  static final String NAME = "lab.name";

  /** When the job was submitted, wall-clock milliseconds; set by the driver. */
  static final String SUBMITTED_AT = "lab.submitted.at";

  final int maps;
  final int reduces;
  final double mapMs;
  final double reduceMs;
  final int records;
  final double jitter;
  final long seed;
  final boolean burnsCpu;
  final long loopsPerMs;
  final Map<String, Double> slowNodes;
  final Map<String, Double> slowAttempts;
  final long slowFromMs;
  final double slowFromShare;
  final File slowFile;
  final Map<String, Double> sizes;
  final long splitBytes;
  final String[] splitHosts;

  Settings(Configuration conf) {
    maps = (int) within(conf.getLong(MAPS, 16), MAPS, 1, 100_000);
    reduces = (int) within(conf.getLong(REDUCES, 0), REDUCES, 0, 10_000);
    mapMs = within(conf.getDouble(MAP_MS, 4000), MAP_MS, 0, 86_400_000);
    reduceMs = within(conf.getDouble(REDUCE_MS, 4000), REDUCE_MS, 0, 86_400_000);
    records = (int) within(conf.getLong(RECORDS, 100), RECORDS, 1, 10_000_000);
    jitter = within(conf.getDouble(JITTER, 0), JITTER, 0, 1);
    seed = conf.getLong(SEED, 1);
    String work = conf.getTrimmed(WORK, "sleep");
    if (!work.equals("sleep") && !work.equals("cpu")) {
      throw new IllegalArgumentException(WORK + "=" + work + ": sleep or cpu");
    }
    burnsCpu = work.equals("cpu");
    loopsPerMs = (long) within(conf.getLong(LOOPS, 100_000), LOOPS, 1, 1_000_000_000);
    slowNodes = factors(conf, SLOW_NODES, "nm[0-9]+", "nm2:10");
    slowAttempts = factors(conf, SLOW_ATTEMPTS, "[mr]_[0-9]+_[0-9]+", "m_3_0:10");
    slowFromMs =
        conf.getLong(SUBMITTED_AT, 0)
            + (long) within(conf.getLong(SLOW_AFTER_MS, 0), SLOW_AFTER_MS, 0, 86_400_000);
    slowFromShare = within(conf.getDouble(SLOW_FROM_SHARE, 0), SLOW_FROM_SHARE, 0, 1);
    String file = conf.getTrimmed(SLOW_FILE);
    slowFile = file == null ? null : new File(file);
    sizes = factors(conf, SIZES, "[mr]_[0-9]+", "m_5:5");
    splitBytes =
        (long) within(conf.getLong(SPLIT_BYTES, 1 << 20), SPLIT_BYTES, 1, Long.MAX_VALUE / 1e6);
    splitHosts = conf.getTrimmedStrings(SPLIT_HOSTS);
  }

  /** How much data a task has, in units of an ordinary one's. */
  double size(boolean map, int task) {
    return sizes.getOrDefault((map ? "m_" : "r_") + task, 1.0);
  }

  /** Records of a map's split. */
  int recordsOf(int map) {
    return (int) Math.max(1, Math.round(records * size(true, map)));
  }

  /**
   * How many times slower work is on this node, for this attempt, at this moment and share of it.
   */
  double slowness(String node, String attempt, long nowMs, double doneShare) {
    boolean slow = nowMs >= slowFromMs && doneShare >= slowFromShare && !cured();
    double byNode = slow ? slowNodes.getOrDefault(node, 1.0) : 1;
    return byNode * slowAttempts.getOrDefault(attempt, 1.0);
  }

  private boolean cured() {
    return slowFile != null && !slowFile.exists();
  }

  /** A task's own share of jitter, around 1: the same on every run with the same seed. */
  double jitterOf(boolean map, int task) {
    long mixed = seed * 0x9E3779B97F4A7C15L + (map ? 0 : 1_000_003) + task;
    return 1 + jitter * (new java.util.Random(mixed).nextDouble() - 0.5);
  }

  private static Map<String, Double> factors(
      Configuration conf, String key, String name, String example) {
    Map<String, Double> found = new HashMap<>();
    for (String word : conf.getTrimmedStrings(key)) {
      if (!word.matches(name + ":[0-9.]+")) {
        throw new IllegalArgumentException(key + "=" + word + ": a list such as " + example);
      }
      int colon = word.indexOf(':');
      double factor = within(Double.parseDouble(word.substring(colon + 1)), key, 0.001, 10_000);
      found.put(word.substring(0, colon), factor);
    }
    return found;
  }

  private static double within(double value, String key, double least, double most) {
    if (!(value >= least && value <= most)) {
      throw new IllegalArgumentException(key + "=" + value + ": between " + least + " and " + most);
    }
    return value;
  }
}
