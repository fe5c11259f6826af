package io.drover.shim.core;

import static org.junit.Assert.assertEquals;

import java.util.ArrayList;
import java.util.List;
import org.apache.hadoop.conf.Configuration;
import org.junit.Test;

public class SettingsTest {
  private static Configuration conf(String... pairs) {
    Configuration conf = new Configuration(false);
    for (int i = 0; i < pairs.length; i += 2) {
      conf.set(pairs[i], pairs[i + 1]);
    }
    return conf;
  }

  @Test
  public void addressesThatCannotBeUsedAreLeftOut() {
    Settings settings =
        new Settings(
            conf(
                "drover.service.urls",
                "http://a:1/, ftp://b, nonsense, https://c:2/base, http://u:p@d, http://, http://a?b, http://a#b"));
    assertEquals(2, settings.urls.size());
    assertEquals("http://a:1/shim/v1/exchange", settings.urls.get(0).toString());
    assertEquals("https://c:2/base/shim/v1/exchange", settings.urls.get(1).toString());
  }

  @Test
  public void anUnknownModeIsTakenAsTheCautiousOne() {
    assertEquals("act", new Settings(conf()).mode);
    assertEquals("advise", new Settings(conf("drover.mode", "Advise")).mode);
    assertEquals("advise", new Settings(conf("drover.mode", "aktiv")).mode);
  }

  @Test
  public void plainHttpFromTheNetworkActsOnlyWhereTheJobInsists() {
    String urls =
        "http://a:1,https://a:1,http://localhost:1,http://127.0.0.2:1,http://[::1]:1,"
            + "http://127.0.0.1.evil:1";
    assertEquals("[advise, act, act, act, act, advise]", modes(urls, "act", "false"));
    assertEquals("[act, act, act, act, act, act]", modes(urls, "act", "true"));
    assertEquals("[off, off, off, off, off, off]", modes(urls, "off", "true"));
    String key = "drover.service.urls";
    assertEquals("act", new Settings(conf(key, "https://a:1,http://127.0.0.1:1")).mode);
    assertEquals("advise", new Settings(conf(key, "https://a:1,http://b:1")).mode);
  }

  private static String modes(String urls, String mode, String insists) {
    List<String> modes = new ArrayList<>();
    for (String url : urls.split(",")) {
      Configuration conf = conf("drover.mode", mode, "drover.act.plain-http", insists);
      conf.set("drover.service.urls", url);
      modes.add(new Settings(conf).mode);
    }
    return modes.toString();
  }

  @Test
  public void badNumbersBecomeDefaults() {
    assertEquals(2_000, new Settings(conf()).connectTimeoutMs);
    String key = "drover.exchange.connect-timeout-ms";
    assertEquals(300, new Settings(conf(key, " 300 ")).connectTimeoutMs);
    assertEquals(2_000, new Settings(conf(key, "0")).connectTimeoutMs);
    assertEquals(2_000, new Settings(conf(key, "9999999")).connectTimeoutMs);
    assertEquals(2_000, new Settings(conf(key, "2s")).connectTimeoutMs);
  }

  @Test
  public void anAnswerThatTheServiceMayHoldIsAwaited() {
    String key = "drover.exchange.read-timeout-ms";
    assertEquals(1_000, new Settings(conf(key, "1000")).readTimeoutMs);
    assertEquals(5_000, new Settings(conf(key, "999")).readTimeoutMs);
  }

  @Test
  public void theServicesPaceIsKeptWithinBounds() {
    Settings settings = new Settings(conf("drover.exchange.min-interval-ms", "500"));
    assertEquals(500, settings.pace(0));
    assertEquals(1_234, settings.pace(1_234));
    assertEquals(60_000, settings.pace(Long.MAX_VALUE));
  }

  @Test
  public void noPaceIsSetThatALeaseOfTenSecondsWouldNotOutlast() {
    String key = "drover.exchange.min-interval-ms";
    assertEquals(2_500, new Settings(conf(key, "2500")).minIntervalMs);
    assertEquals(100, new Settings(conf(key, "2501")).minIntervalMs);
  }
}
