//! Authentication of bodies: lower-case hex of HMAC-SHA256(session key, body) in `X-Drover-Mac`.

use super::values::{Key, unhex};
use hmac::{Hmac, KeyInit, Mac};
use sha2::{Digest, Sha256};

/// The header that carries the code.
pub const HEADER: &str = "x-drover-mac";

/// What the shim publishes of its key.
pub type KeyHash = [u8; 32];

fn code(key: &Key, body: &[u8]) -> Option<Hmac<Sha256>> {
    // HMAC takes keys of any length, so this never is `None`.
    let mut mac = <Hmac<Sha256> as KeyInit>::new_from_slice(key.bytes()).ok()?;
    mac.update(body);
    Some(mac)
}

/// The code of a body.
pub fn sign(key: &Key, body: &[u8]) -> String {
    code(key, body).map(|mac| hex::encode(mac.finalize().into_bytes())).unwrap_or_default()
}

/// Is this the code of that body? The time taken does not tell how nearly it is.
pub fn verify(key: &Key, body: &[u8], claimed: &str) -> bool {
    let claimed = unhex::<32>(claimed);
    claimed.zip(code(key, body)).is_some_and(|(claimed, mac)| mac.verify_slice(&claimed).is_ok())
}

/// SHA-256 of the key.
pub fn hash(key: &Key) -> KeyHash {
    Sha256::digest(key.bytes()).into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_code_made_by_another_implementation_is_believed_and_a_changed_one_is_not() {
        let key = Key::from([0xaa; 32]);
        let body = [0xdd; 50];
        // From Python's hmac module.
        let code = "cdcb1220d1ecccea91e53aba3092f962e549fe6ce9ed7fdc43191fbde45c30b0";
        assert_eq!(sign(&key, &body), code);
        assert!(verify(&key, &body, code));
        for wrong in [&code[1..], "", &code.to_uppercase(), &sign(&key, &body[1..]), &sign(&Key::from([1; 32]), &body)]
        {
            assert!(!verify(&key, &body, wrong), "{wrong}");
        }
    }

    #[test]
    fn a_key_shows_itself_to_no_log() {
        assert_eq!(format!("{:?}", Key::from([7; 32])), "Key(redacted)");
    }
}
