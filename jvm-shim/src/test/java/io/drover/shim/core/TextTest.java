package io.drover.shim.core;

import static org.junit.Assert.assertEquals;

import java.net.URL;
import org.junit.Test;

public class TextTest {
  @Test
  public void noAddressInTheLogTellsAPassword() throws Exception {
    assertEquals("http://a:1/x", Text.address(new URL("http://u:p@a:1/x?token=s")));
    assertEquals("http://…@a:1", Text.address("http://u:p@q@a:1"));
    assertEquals("…@a:1", Text.address("u:p@a:1"));
    assertEquals("http://a:1/x?…", Text.address("http://a:1/x?token=s"));
    assertEquals("a:1", Text.address("a:1"));
  }
}
