package io.drover.lab;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertThrows;
import static org.junit.Assert.assertTrue;

import org.apache.hadoop.conf.Configuration;
import org.junit.Test;

public class SettingsTest {
  private static Settings of(String... pairs) {
    Configuration conf = new Configuration(false);
    for (int i = 0; i < pairs.length; i += 2) {
      conf.set(pairs[i], pairs[i + 1]);
    }
    return new Settings(conf);
  }

  @Test
  public void slownessMultipliesNodeAndAttempt() {
    Settings settings = of(Settings.SLOW_NODES, "nm2:10, nm3:4", Settings.SLOW_ATTEMPTS, "m_3_0:5");
    assertEquals(1, settings.slowness("nm1", "m_0_0", 0, 0), 0);
    assertEquals(10, settings.slowness("nm2", "m_0_0", 0, 0), 0);
    assertEquals(20, settings.slowness("nm3", "m_3_0", 0, 0), 0);
    assertEquals("a copy is not the attempt named", 1, settings.slowness("nm1", "m_3_1", 0, 0), 0);
  }

  @Test
  public void nodeTurnsSlowOnlyAfterItsMoment() {
    Settings settings =
        of(
            Settings.SLOW_NODES, "nm2:10",
            Settings.SLOW_AFTER_MS, "500",
            Settings.SUBMITTED_AT, "1000");
    assertEquals(1, settings.slowness("nm2", "m_0_0", 1499, 0), 0);
    assertEquals(10, settings.slowness("nm2", "m_0_0", 1500, 0), 0);
  }

  @Test
  public void nodeSlowsOnlyTheRestOfAnAttemptsWork() {
    Settings settings = of(Settings.SLOW_NODES, "nm2:10", Settings.SLOW_FROM_SHARE, "0.6");
    assertEquals(1, settings.slowness("nm2", "m_0_0", 0, 0.59), 0);
    assertEquals(10, settings.slowness("nm2", "m_0_0", 0, 0.6), 0);
    assertEquals("another node stays as it is", 1, settings.slowness("nm1", "m_0_0", 0, 0.9), 0);
  }

  @Test
  public void nodeIsSlowWhileItsFileIsThere() throws java.io.IOException {
    java.io.File file = java.io.File.createTempFile("slow", null);
    Settings settings = of(Settings.SLOW_NODES, "nm2:10", Settings.SLOW_FILE, file.getPath());
    assertEquals(10, settings.slowness("nm2", "m_0_0", 0, 0), 0);
    assertTrue(file.delete());
    assertEquals(1, settings.slowness("nm2", "m_0_0", 0, 0), 0);
  }

  @Test
  public void jitterRepeatsWithItsSeedAndStaysWithinItsBound() {
    Settings one = of(Settings.JITTER, "0.4", Settings.SEED, "7");
    Settings again = of(Settings.JITTER, "0.4", Settings.SEED, "7");
    Settings other = of(Settings.JITTER, "0.4", Settings.SEED, "8");
    boolean differs = false;
    for (int task = 0; task < 50; task++) {
      double jitter = one.jitterOf(true, task);
      assertEquals(jitter, again.jitterOf(true, task), 0);
      assertTrue("within 0.8 and 1.2: " + jitter, jitter >= 0.8 && jitter <= 1.2);
      differs |= jitter != other.jitterOf(true, task);
    }
    assertTrue("another seed, other times", differs);
  }

  @Test
  public void badValuesAreNamedAndExplained() {
    for (String[] bad :
        new String[][] {
          {Settings.SLOW_NODES, "nm2"},
          {Settings.SLOW_NODES, "nm2:0"},
          {Settings.SLOW_ATTEMPTS, "m_3:10"},
          {Settings.SIZES, "x_1:2"},
          {Settings.WORK, "dance"},
          {Settings.MAPS, "0"},
          {Settings.JITTER, "NaN"},
          {Settings.SLOW_FROM_SHARE, "1.5"},
        }) {
      Exception fault = assertThrows(IllegalArgumentException.class, () -> of(bad));
      assertTrue(fault.getMessage(), fault.getMessage().startsWith(bad[0] + "="));
    }
  }
}
