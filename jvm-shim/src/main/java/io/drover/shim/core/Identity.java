package io.drover.shim.core;

import java.security.GeneralSecurityException;
import java.security.MessageDigest;
import java.security.SecureRandom;
import java.util.Locale;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;

/** A session and its key, drawn anew by each AM attempt. */
final class Identity {
  final String session;
  private final byte[] key;

  Identity(SecureRandom random) {
    byte[] id = new byte[16];
    key = new byte[32];
    random.nextBytes(id);
    random.nextBytes(key);
    session = Text.hex(id);
  }

  String keyHex() {
    return Text.hex(key);
  }

  /** The line that only this AM can show: it names the session and holds the key's hash. */
  String proof() throws GeneralSecurityException {
    byte[] hash = MessageDigest.getInstance("SHA-256").digest(key);
    return "drover-proof v1 " + session + " " + Text.hex(hash);
  }

  String mac(byte[] body) throws GeneralSecurityException {
    Mac mac = Mac.getInstance("HmacSHA256");
    mac.init(new SecretKeySpec(key, "HmacSHA256"));
    return Text.hex(mac.doFinal(body));
  }

  /** Compares in constant time. */
  boolean verifies(byte[] body, String claimed) throws GeneralSecurityException {
    if (claimed == null) {
      return false;
    }
    byte[] expected = mac(body).getBytes(java.nio.charset.StandardCharsets.US_ASCII);
    byte[] given =
        claimed
            .trim()
            .toLowerCase(Locale.ROOT)
            .getBytes(java.nio.charset.StandardCharsets.US_ASCII);
    return MessageDigest.isEqual(expected, given);
  }
}
