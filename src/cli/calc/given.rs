//! Numbers from the command line, each within its range or refused with it.

use crate::config::value::{Kind, Value};
use drover_core::model::Bytes;
use std::ops::{Bound, RangeBounds};

/// Longest time in seconds: thirty years.
const SECONDS_MAX: f64 = 1e9;

fn number(text: &str, range: impl RangeBounds<f64>, allowed: &str) -> Result<f64, String> {
    let number: f64 = text.trim().parse().map_err(|_| format!("this is no number; allowed: {allowed}"))?;
    // NaN is in no range.
    if range.contains(&number) { Ok(number) } else { Err(format!("out of range; allowed: {allowed}")) }
}

fn whole(text: &str, range: impl RangeBounds<u32>, allowed: &str) -> Result<u32, String> {
    let number: u32 = text.trim().parse().map_err(|_| format!("out of range; allowed: {allowed}"))?;
    if range.contains(&number) { Ok(number) } else { Err(format!("out of range; allowed: {allowed}")) }
}

/// A probability that is compared exactly, so its decimal must survive floating point.
fn exact(text: &str, range: impl RangeBounds<f64>, allowed: &str) -> Result<f64, String> {
    const DIGITS: usize = 15;
    let value = number(text, range, allowed)?;
    let mantissa = text.split(['e', 'E']).next().unwrap_or_default();
    let digits: String = mantissa.chars().filter(char::is_ascii_digit).collect();
    let significant = digits.trim_matches('0').len();
    if significant > DIGITS { Err(format!("more than {DIGITS} digits; allowed: {allowed}")) } else { Ok(value) }
}

pub fn progress(text: &str) -> Result<f64, String> {
    number(text, (Bound::Excluded(0.0), Bound::Included(1.0)), "above 0, at most 1")
}

/// A time that has passed; to the millisecond.
pub fn seconds(text: &str) -> Result<f64, String> {
    number(text, 0.001..=SECONDS_MAX, "seconds, from 0.001 to 1000000000")
}

/// A time that may be none.
pub fn seconds_or_none(text: &str) -> Result<f64, String> {
    number(text, 0.0..=SECONDS_MAX, "seconds, from 0 to 1000000000")
}

/// How many: at least one.
pub fn count(text: &str) -> Result<u32, String> {
    whole(text, 1.., "a whole number from 1 to 4294967295")
}

/// How many: perhaps none.
pub fn count_or_none(text: &str) -> Result<u32, String> {
    whole(text, 0.., "a whole number from 0 to 4294967295")
}

/// Bytes, with a unit or without.
pub fn bytes(text: &str) -> Result<Bytes, String> {
    const ALLOWED: &str = "bytes, from 1 to 1000000000000000000, or a size such as 64MiB";
    const MAX: u64 = 1_000_000_000_000_000_000;
    let plain = |bytes| if (1..=MAX).contains(&bytes) { Ok(Bytes(bytes)) } else { Err("out of range".to_owned()) };
    let with_unit = || match Kind::Size(1, MAX).parse(text)? {
        Value::Size(bytes) => Ok(bytes),
        _ => Err("this is no size".to_owned()),
    };
    let bytes = text.trim().parse().map_or_else(|_| with_unit(), plain);
    bytes.map_err(|why| format!("{why}; allowed: {ALLOWED}"))
}

/// A task's probability of straggling.
pub fn probability(text: &str) -> Result<f64, String> {
    exact(text, 0.0..=1.0, "from 0 to 1, of at most 15 digits")
}

/// A task's probability of straggling that clones can help.
pub fn probability_below_1(text: &str) -> Result<f64, String> {
    exact(text, 0.0..1.0, "from 0 to below 1, of at most 15 digits")
}

/// A risk to stay within.
pub fn risk(text: &str) -> Result<f64, String> {
    exact(text, (Bound::Excluded(0.0), Bound::Excluded(1.0)), "above 0, below 1, of at most 15 digits")
}

/// A share.
pub fn share(text: &str) -> Result<f64, String> {
    number(text, 0.0..=1.0, "from 0 to 1")
}

/// A factor.
pub fn factor(text: &str) -> Result<f64, String> {
    number(text, 0.0..=1e6, "from 0 to 1000000")
}

/// An amount of data, or a rate, in a unit of the user's choice.
pub fn amount(text: &str) -> Result<f64, String> {
    number(text, 1e-6..=1e18, "from 0.000001 to 1000000000000000000")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_is_in_its_range_or_the_range_is_told() {
        assert_eq!(
            (progress("1"), seconds("0.001"), share("0"), risk("0.05")),
            (Ok(1.0), Ok(0.001), Ok(0.0), Ok(0.05))
        );
        for text in ["0", "1.1", "-0.5", "nan", "inf", "", "x"] {
            assert!(progress(text).unwrap_err().ends_with("allowed: above 0, at most 1"), "{text}");
            assert!(risk(text).unwrap_err().contains("allowed: above 0, below 1"), "{text}");
        }
        assert!(probability_below_1("1").is_err() && probability("1").is_ok() && risk("1").is_err());
        for text in ["0", "-1", "1.5", "4294967296"] {
            assert_eq!(count(text), Err("out of range; allowed: a whole number from 1 to 4294967295".into()), "{text}");
        }
    }

    #[test]
    fn a_probability_that_floating_point_would_change_is_refused() {
        assert_eq!(probability("0.000000123456789012345"), Ok(0.000_000_123_456_789_012_345));
        assert_eq!(probability("1e-20"), Ok(1e-20));
        assert!(probability("0.1000000000000000001").unwrap_err().contains("of at most 15 digits"));
    }

    #[test]
    fn bytes_may_have_a_unit() {
        assert_eq!((bytes("128"), bytes("64MiB")), (Ok(Bytes(128)), Ok(Bytes(64 << 20))));
        for text in ["0", "-5", "1.5", "", "64 parsecs", "2000000000000000000"] {
            assert!(bytes(text).unwrap_err().contains("allowed: bytes, from 1 to"), "{text}");
        }
    }
}
