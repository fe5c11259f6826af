package io.drover.lab;

import static org.junit.Assert.assertEquals;

import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.mapreduce.InputSplit;
import org.apache.hadoop.mapreduce.Job;
import org.junit.Test;

public class SharesTest {
  @Test
  public void aReduceWithMoreDataGetsMoreRecordsAndTakesLonger() {
    Configuration conf = new Configuration(false);
    conf.set(Settings.REDUCES, "4");
    conf.set(Settings.MAPS, "10");
    conf.set(Settings.SIZES, "r_2:3");
    conf.set(Settings.REDUCE_MS, "1000");
    Settings settings = new Settings(conf);
    Shares shares = new Shares(settings);
    int[] got = new int[4];
    for (long record = 0; record < 1000; record++) {
      got[shares.of(record)]++;
    }
    double ms = shares.msARecord(settings);
    for (int reduce = 0; reduce < 4; reduce++) {
      assertEquals(reduce == 2 ? 3000 : 1000, got[reduce] * ms, 60);
    }
  }

  @Test
  public void aMapWithMoreDataHasALongerSplitAndNoRecordIsMissed() throws Exception {
    Configuration conf = new Configuration(false);
    conf.set(Settings.MAPS, "3");
    conf.set(Settings.SIZES, "m_1:5");
    conf.set(Settings.SPLIT_BYTES, "1000");
    conf.set(Settings.SPLIT_HOSTS, "nm1,nm2");
    long[] bytes = {1000, 5000, 1000};
    String[] hosts = {"nm1", "nm2", "nm1"};
    int map = 0;
    for (InputSplit split : new LabInputFormat().getSplits(Job.getInstance(conf))) {
      assertEquals(bytes[map], split.getLength());
      assertEquals(hosts[map], split.getLocations()[0]);
      map++;
    }
    assertEquals(3, map);
  }
}
