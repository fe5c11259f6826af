package io.drover.shim.core;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertFalse;
import static org.junit.Assert.assertNotEquals;
import static org.junit.Assert.assertTrue;

import java.nio.charset.StandardCharsets;
import java.security.SecureRandom;
import org.junit.Test;

public class IdentityTest {
  /** Draws what it is told, so that the digests can be compared with another implementation's. */
  private static final class Fixed extends SecureRandom {
    private static final long serialVersionUID = 1;
    private byte next;

    @Override
    public void nextBytes(byte[] bytes) {
      next = 0;
      for (int i = 0; i < bytes.length; i++) {
        bytes[i] = next++;
      }
    }
  }

  private final byte[] body = "{}".getBytes(StandardCharsets.UTF_8);

  @Test
  public void proofAndMacAgreeWithAnotherImplementation() throws Exception {
    Identity identity = new Identity(new Fixed());
    assertEquals("000102030405060708090a0b0c0d0e0f", identity.session);
    assertEquals(
        "drover-proof v1 000102030405060708090a0b0c0d0e0f "
            + "630dcd2966c4336691125448bbb25b4ff412a49c732db2c8abc1b8581bd710dd",
        identity.proof());
    assertEquals(
        "86227fe96722a2247dcfee12c07d89c1b0567bbc9aa6a8d804838f66a3da843f", identity.mac(body));
  }

  @Test
  public void onlyTheRightMacVerifies() throws Exception {
    Identity identity = new Identity(new SecureRandom());
    String mac = identity.mac(body);
    assertTrue(identity.verifies(body, mac));
    assertTrue(identity.verifies(body, mac.toUpperCase(java.util.Locale.ROOT)));
    assertFalse(identity.verifies(body, null));
    assertFalse(identity.verifies(body, ""));
    assertFalse(identity.verifies(body, mac.substring(1)));
    assertFalse(identity.verifies("{ }".getBytes(StandardCharsets.UTF_8), mac));
    assertFalse(new Identity(new SecureRandom()).verifies(body, mac));
  }

  @Test
  public void eachSessionIsDrawnAnew() {
    SecureRandom random = new SecureRandom();
    assertNotEquals(new Identity(random).session, new Identity(random).session);
    assertNotEquals(new Identity(random).keyHex(), new Identity(random).keyHex());
  }
}
