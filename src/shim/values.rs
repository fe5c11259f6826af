//! Values of a request that need more than serde's own types: integers and words that may be wrong at no cost to their row, names and secrets.

use drover_core::model::{AttemptState, Mode, Phase, TaskKind, TaskState};
use serde::Deserialize;
use serde::de::{self, Deserializer, Visitor};
use std::borrow::Cow;
use std::fmt;
use std::marker::PhantomData;

/// Largest integer that every JSON reader keeps exactly, 2^53 − 1.
pub const MAX_SAFE: u64 = (1 << 53) - 1;

/// An integer of a row. Negative, fractional and too large ones are kept as invalid, so that they cost no more than themselves.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Num(Option<u64>);

impl Num {
    /// The value, when it lies in 0–2^53 − 1.
    pub fn get(self) -> Option<u64> {
        self.0
    }

    /// The value, when it is an index of 32 bits.
    pub fn index(self) -> Option<u32> {
        self.0.and_then(|n| u32::try_from(n).ok())
    }
}

impl<'de> Deserialize<'de> for Num {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Num, D::Error> {
        struct Any;
        impl Visitor<'_> for Any {
            type Value = Num;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an integer")
            }
            fn visit_u64<E>(self, n: u64) -> Result<Num, E> {
                Ok(Num((n <= MAX_SAFE).then_some(n)))
            }
            fn visit_i64<E>(self, n: i64) -> Result<Num, E> {
                Ok(Num(u64::try_from(n).ok().filter(|n| *n <= MAX_SAFE)))
            }
            fn visit_f64<E>(self, n: f64) -> Result<Num, E> {
                let whole = n.fract() == 0.0 && (0.0..=MAX_SAFE as f64).contains(&n);
                Ok(Num(whole.then_some(n as u64)))
            }
        }
        from.deserialize_any(Any)
    }
}

/// A word of Hadoop's, or of the protocol's; `None` for one that is not known.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Word<T>(pub Option<T>);

/// A vocabulary.
pub trait Vocabulary: Sized {
    /// The meaning of a word.
    fn of(word: &str) -> Option<Self>;
}

impl Vocabulary for TaskKind {
    fn of(word: &str) -> Option<Self> {
        TaskKind::ALL.into_iter().find(|kind| word.chars().eq([kind.letter()]))
    }
}

impl Vocabulary for TaskState {
    fn of(word: &str) -> Option<Self> {
        TaskState::parse(word)
    }
}

impl Vocabulary for AttemptState {
    fn of(word: &str) -> Option<Self> {
        AttemptState::parse(word)
    }
}

impl Vocabulary for Phase {
    fn of(word: &str) -> Option<Self> {
        Phase::parse(word)
    }
}

impl Vocabulary for Mode {
    fn of(word: &str) -> Option<Self> {
        Mode::parse(word)
    }
}

impl<'de, T: Vocabulary> Deserialize<'de> for Word<T> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        struct Reader<T>(PhantomData<T>);
        impl<T: Vocabulary> Visitor<'_> for Reader<T> {
            type Value = Word<T>;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a word")
            }
            fn visit_str<E>(self, word: &str) -> Result<Word<T>, E> {
                Ok(Word(T::of(word)))
            }
        }
        from.deserialize_str(Reader(PhantomData))
    }
}

/// A session's name: drawn anew by each AM.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SessionId([u8; 16]);

/// A session's secret. It shows itself to no log.
#[derive(Clone)]
pub struct Key([u8; 32]);

impl Key {
    /// The key's bytes.
    pub fn bytes(&self) -> &[u8; 32] {
        &self.0
    }
}

impl From<[u8; 16]> for SessionId {
    fn from(bytes: [u8; 16]) -> SessionId {
        SessionId(bytes)
    }
}

impl From<[u8; 32]> for Key {
    fn from(bytes: [u8; 32]) -> Key {
        Key(bytes)
    }
}

impl fmt::Debug for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Key(redacted)")
    }
}

impl fmt::Display for SessionId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&hex::encode(self.0))
    }
}

impl fmt::Debug for SessionId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// Lower-case hex of exactly `N` bytes.
pub fn unhex<const N: usize>(text: &str) -> Option<[u8; N]> {
    let mut out = [0; N];
    let lower = !text.bytes().any(|b| b.is_ascii_uppercase());
    (lower && hex::decode_to_slice(text, &mut out).is_ok()).then_some(out)
}

fn from_hex<'de, D: Deserializer<'de>, const N: usize>(from: D, what: &str) -> Result<[u8; N], D::Error> {
    // What was read is not repeated in the error: it may be a key.
    let text = Cow::<str>::deserialize(from)?;
    unhex(&text).ok_or_else(|| de::Error::custom(format!("{what} must be {} lower-case hex digits", 2 * N)))
}

impl<'de> Deserialize<'de> for SessionId {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        from_hex(from, "session").map(SessionId)
    }
}

impl<'de> Deserialize<'de> for Key {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        from_hex(from, "hello.key").map(Key)
    }
}
