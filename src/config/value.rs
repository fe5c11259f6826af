//! Kinds of settings: how each is read from text, what it allows, how it is shown.

use crate::shown::without_user;
use drover_core::model::{Bytes, Millis, Mode};
use jiff::SignedDuration;
use std::net::SocketAddr;
use url::Url;

/// What a setting holds and the values it allows, bounds included.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Kind {
    /// Free text.
    Text,
    /// Several names, separated by commas.
    Words,
    /// A path.
    Path,
    /// One `http` or `https` address.
    Url,
    /// Several of them.
    Urls,
    /// An IP address and a port.
    Address,
    /// `true` or `false`.
    Flag,
    /// A whole number.
    Whole(u64, u64),
    /// A number.
    Real(f64, f64),
    /// A length of time, bounds in milliseconds.
    Span(u64, u64),
    /// A number of bytes.
    Size(u64, u64),
    /// One of a few words.
    Choice(&'static [&'static str]),
    /// A mode.
    Mode,
    /// A mode for each name: the setting's key, a dot and the name, which is one of these; any where there are none.
    Modes(&'static [&'static str]),
}

/// A setting's value.
#[derive(Debug, Clone, PartialEq)]
pub enum Value {
    /// Not set.
    Unset,
    /// Text, path or word.
    Text(String),
    /// Names.
    Words(Vec<String>),
    /// Addresses of servers.
    Urls(Vec<Url>),
    /// An address to listen on.
    Address(SocketAddr),
    /// Yes or no.
    Flag(bool),
    /// A whole number.
    Whole(u64),
    /// A number.
    Real(f64),
    /// A length of time.
    Span(Millis),
    /// A number of bytes.
    Size(Bytes),
    /// A mode.
    Mode(Mode),
}

const DAY_MS: u64 = 86_400_000;
/// Units of time, largest first.
const SPANS: [(&str, u64); 5] = [("d", DAY_MS), ("h", 3_600_000), ("m", 60_000), ("s", 1_000), ("ms", 1)];
/// Units of bytes, largest first; the decimal ones are read, never shown.
const SIZES: [(&str, u64); 8] = [
    ("TiB", 1 << 40),
    ("GiB", 1 << 30),
    ("MiB", 1 << 20),
    ("KiB", 1 << 10),
    ("GB", 1_000_000_000),
    ("MB", 1_000_000),
    ("kB", 1_000),
    ("B", 1),
];

impl Kind {
    /// The value that `text` stands for, or why it stands for none. Empty text is `Unset`.
    pub fn parse(&self, text: &str) -> Result<Value, String> {
        let text = text.trim();
        if text.is_empty() {
            return Ok(Value::Unset);
        }
        match *self {
            Kind::Text | Kind::Path => Ok(Value::Text(text.to_owned())),
            Kind::Words => Ok(Value::Words(text.split(',').map(|one| one.trim().to_owned()).collect())),
            Kind::Url => server(text).map(|url| Value::Urls(vec![url])),
            // A password may hold the comma.
            Kind::Urls if text.contains('@') => server(text).map(|url| Value::Urls(vec![url])),
            Kind::Urls => text.split(',').map(|one| server(one.trim())).collect::<Result<_, _>>().map(Value::Urls),
            Kind::Address => text.parse().map(Value::Address).map_err(|_| format!("\"{text}\" is no address")),
            Kind::Flag => text.parse().map(Value::Flag).map_err(|_| format!("\"{text}\" is neither true nor false")),
            Kind::Whole(min, max) => {
                let number = text.parse().map_err(|_| format!("\"{text}\" is no whole number"))?;
                within(number, min, max, text).map(Value::Whole)
            }
            Kind::Real(min, max) => {
                let number: f64 = text.parse().map_err(|_| format!("\"{text}\" is no number"))?;
                within(number, min, max, text).map(Value::Real)
            }
            Kind::Span(min, max) => within(span(text)?, min, max, text).map(|ms| Value::Span(Millis(ms))),
            Kind::Size(min, max) => within(size(text)?, min, max, text).map(|n| Value::Size(Bytes(n))),
            Kind::Choice(words) if words.contains(&text) => Ok(Value::Text(text.to_owned())),
            Kind::Choice(words) => Err(unknown_word(text, words)),
            Kind::Mode | Kind::Modes(_) => {
                Mode::parse(text).map(Value::Mode).ok_or_else(|| unknown_word(text, &Mode::ALL.map(Mode::label)))
            }
        }
    }

    /// What is wrong with the name that a setting by name is stated for.
    pub fn misnamed(&self, name: &str) -> Option<String> {
        match *self {
            Kind::Modes(names) if !names.is_empty() && !names.contains(&name) => Some(unknown_word(name, names)),
            _ => None,
        }
    }

    /// What is allowed, for a person.
    pub fn allowed(&self) -> String {
        match *self {
            Kind::Text => "text".into(),
            Kind::Words => "names, separated by commas".into(),
            Kind::Path => "a path".into(),
            Kind::Url => "an http or https address".into(),
            Kind::Urls => "http or https addresses, separated by commas".into(),
            Kind::Address => "IP address and port, such as 127.0.0.1:7070".into(),
            Kind::Flag => "true or false".into(),
            Kind::Whole(min, max) => format!("a whole number from {min} to {max}"),
            Kind::Real(min, max) => format!("a number from {min} to {max}"),
            Kind::Span(min, max) => format!("a time from {} to {}", show_span(min), show_span(max)),
            Kind::Size(min, max) => format!("a size from {} to {}", show_size(min), show_size(max)),
            Kind::Choice(words) => words.join(", "),
            Kind::Mode => Mode::ALL.map(Mode::label).join(", "),
            Kind::Modes(names) => {
                let names = if names.is_empty() { "name".to_owned() } else { format!("of {}", names.join(", ")) };
                format!("for each {names}: {}", Kind::Mode.allowed())
            }
        }
    }
}

impl std::fmt::Display for Value {
    /// The text that reads back as the same value.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Value::Unset => Ok(()),
            Value::Text(text) => f.write_str(text),
            Value::Words(words) => f.write_str(&words.join(",")),
            Value::Urls(urls) => f.write_str(&urls.iter().map(Url::as_str).collect::<Vec<_>>().join(",")),
            Value::Address(address) => address.fmt(f),
            Value::Flag(flag) => flag.fmt(f),
            Value::Whole(number) => number.fmt(f),
            Value::Real(number) => number.fmt(f),
            Value::Span(Millis(ms)) => f.write_str(&show_span(*ms)),
            Value::Size(Bytes(bytes)) => f.write_str(&show_size(*bytes)),
            Value::Mode(mode) => f.write_str(mode.label()),
        }
    }
}

fn within<T: PartialOrd>(value: T, min: T, max: T, text: &str) -> Result<T, String> {
    // Written so that NaN, which compares with nothing, is refused too.
    if value >= min && value <= max { Ok(value) } else { Err(format!("{text} is out of range")) }
}

fn server(text: &str) -> Result<Url, String> {
    if text.contains('@') {
        return Err(format!("\"{}\" holds a user's name, and Drover sends nobody's", without_user(text)));
    }
    let url = Url::parse(text).map_err(|error| format!("\"{text}\" is no address of a server ({error})"))?;
    match url.scheme() {
        "http" | "https" if url.has_host() => Ok(url),
        _ => Err(format!("\"{text}\" does not start with http:// or https://")),
    }
}

/// A length of time in milliseconds, as settings have it.
pub fn span(text: &str) -> Result<u64, String> {
    if text.bytes().all(|b| b.is_ascii_digit() || b == b'.') && text != "0" {
        return Err(format!("{text} has no unit; write {text}ms, {text}s, {text}m or {text}h"));
    }
    if let Some(days) = text.strip_suffix('d').and_then(|n| n.trim().parse::<u64>().ok()) {
        return days.checked_mul(DAY_MS).ok_or_else(|| format!("{text} is out of range"));
    }
    let length: SignedDuration = if text == "0" { Ok(SignedDuration::ZERO) } else { text.parse() }
        .map_err(|_| format!("\"{text}\" is no length of time; units are ms, s, m, h and d"))?;
    u64::try_from(length.as_millis()).map_err(|_| format!("{text} is out of range"))
}

fn size(text: &str) -> Result<u64, String> {
    let digits = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    let (number, unit) = (text[..digits].trim(), text[digits..].trim());
    let scale = match SIZES.iter().find(|(name, _)| name.eq_ignore_ascii_case(unit)) {
        Some((_, scale)) => *scale,
        None if unit.is_empty() => return Err(format!("{text} has no unit; write {text}B, {text}KiB or {text}MiB")),
        None => return Err(format!("\"{unit}\" is no unit of size; units are B, KiB, MiB, GiB and TiB")),
    };
    let number: f64 = number.parse().map_err(|_| format!("\"{text}\" is no size"))?;
    Ok((number * scale as f64).round() as u64)
}

fn unknown_word(text: &str, words: &[&str]) -> String {
    match nearest(text, words.iter().copied()) {
        Some(word) => format!("\"{text}\" is unknown; did you mean {word}?"),
        None => format!("\"{text}\" is unknown"),
    }
}

/// The candidate most like `text`, when one is alike at all.
pub fn nearest<'a>(text: &str, candidates: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let alike = |candidate: &&str| strsim::jaro_winkler(text, candidate);
    candidates.max_by(|a, b| alike(a).total_cmp(&alike(b))).filter(|best| alike(best) > 0.75)
}

/// A length of time in the largest unit that tells it exactly.
pub fn show_span(ms: u64) -> String {
    exactly(ms, &SPANS)
}

/// A number of bytes in the largest binary unit that tells it exactly.
pub fn show_size(bytes: u64) -> String {
    exactly(bytes, &[SIZES[0], SIZES[1], SIZES[2], SIZES[3], SIZES[7]])
}

fn exactly(number: u64, units: &[(&str, u64)]) -> String {
    let fits = |(_, scale): &&(&str, u64)| number >= *scale && number.is_multiple_of(*scale);
    match units.iter().find(fits) {
        Some((unit, scale)) => format!("{}{unit}", number / scale),
        None => format!("{number}{}", units[units.len() - 1].0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_shown_as_text_that_reads_back_as_the_same_value() {
        let span = Kind::Span(0, 10 * DAY_MS);
        for text in ["500ms", "10s", "5m", "90s", "2d", "0"] {
            let value = span.parse(text).unwrap();
            assert_eq!(span.parse(&value.to_string()), Ok(value), "{text}");
        }
        assert_eq!(span.parse("1h30m"), Ok(Value::Span(Millis(5_400_000))));
        let size = Kind::Size(0, 1 << 40);
        assert_eq!(size.parse("4MiB"), Ok(Value::Size(Bytes(4 << 20))));
        assert_eq!(size.parse("1.5 KiB").unwrap().to_string(), "1536B");
    }

    #[test]
    fn a_value_out_of_range_or_without_its_unit_is_refused() {
        let span = Kind::Span(100, 60_000);
        for (text, why) in
            [("50ms", "out of range"), ("2m", "out of range"), ("10", "no unit"), ("10 parsecs", "units")]
        {
            assert!(span.parse(text).unwrap_err().contains(why), "{text}");
        }
        for text in ["NaN", "inf", "-0.1", "1.1", "x"] {
            assert!(Kind::Real(0.0, 1.0).parse(text).is_err(), "{text}");
        }
        for text in ["10", "10 MB!", "MiB", "-1B"] {
            assert!(Kind::Size(0, 1 << 30).parse(text).is_err(), "{text}");
        }
        assert!(Kind::Urls.parse("rm:8088").is_err() && Kind::Urls.parse("file:///etc").is_err());
        assert!(Kind::Choice(&["late", "none"]).parse("lates").unwrap_err().contains("did you mean late?"));
    }
}
