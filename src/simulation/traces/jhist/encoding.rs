//! The two encodings of a job history. Either begins with a line that names it and a line with its Avro schema; then come the events: `Avro-Json` has one a line, `Avro-Binary`
//! one right after the other.

use super::super::lines::LINE_LIMIT;
use super::super::{BadTrace, Lines};
use super::schema;
use apache_avro::reader::datum::GenericDatumReader;
use apache_avro::types::Value as Avro;
use serde::de::IgnoredAny;
use serde_json::Value;
use std::io::{self, Read};

/// Branches of unions in Avro's JSON, beside the events themselves.
const NAMES: [&str; 8] = ["array", "boolean", "bytes", "double", "float", "int", "long", "string"];
const SPACE: &str = "org.apache.hadoop.mapreduce.jobhistory.";

/// Does with each event of a history, as plain JSON without Avro's unions, what `take` does. `false`: the last one was cut off, and left out.
///
/// # Errors
/// With the line or the event, whoever finds the fault.
pub(super) fn each(lines: &mut Lines<'_>, take: &mut dyn FnMut(Value) -> Result<(), String>) -> Result<bool, BadTrace> {
    let name = lines.next()?.ok_or_else(|| lines.whole_wrong("is empty".into()))?;
    let is_json = match name.trim_end() {
        "Avro-Json" => true,
        "Avro-Binary" => false,
        other => return Err(lines.wrong(format!("\"{other}\" is neither Avro-Json nor Avro-Binary"))),
    };
    let schema = lines.next()?.ok_or_else(|| lines.wrong("ends before its schema".into()))?;
    if is_json { json(lines, &schema, take) } else { binary(lines, &schema, take) }
}

fn no_schema(lines: &Lines<'_>, why: &str) -> BadTrace {
    lines.wrong(format!("is no schema of a job history: {why}"))
}

/// What JSON is wrong for, without the place that `serde_json` counts in its own text.
fn amiss(error: &serde_json::Error) -> String {
    let what = error.to_string();
    let what = what.split(" at line ").next().unwrap_or_default();
    format!("{what} (column {})", error.column())
}

fn json(
    lines: &mut Lines<'_>,
    schema: &str,
    take: &mut dyn FnMut(Value) -> Result<(), String>,
) -> Result<bool, BadTrace> {
    // The events tell their own shape; but of a file that was cut off here there are none, and nobody would know why.
    serde_json::from_str::<IgnoredAny>(schema).map_err(|error| no_schema(lines, &amiss(&error)))?;
    while let Some(text) = lines.next()? {
        // Avro's encoder begins a line of its own, beside Hadoop's.
        if text.trim().is_empty() {
            continue;
        }
        match serde_json::from_str(&text) {
            Ok(event) => take(unwrapped(event)).map_err(|what| lines.wrong(what))?,
            Err(error) if error.is_eof() && lines.is_at_end().unwrap_or(false) => return Ok(false),
            Err(error) => return Err(lines.wrong(format!("is no event: {}", amiss(&error)))),
        }
    }
    Ok(true)
}

fn unwrapped(value: Value) -> Value {
    let is_branch = |name: &str| NAMES.contains(&name) || name.starts_with(SPACE);
    match value {
        Value::Object(mut fields) => match fields.keys().next().filter(|name| fields.len() == 1 && is_branch(name)) {
            Some(name) => {
                let name = name.clone();
                fields.remove(&name).map_or(Value::Null, unwrapped)
            }
            None => Value::Object(fields.into_iter().map(|(name, value)| (name, unwrapped(value))).collect()),
        },
        Value::Array(items) => Value::Array(items.into_iter().map(unwrapped).collect()),
        plain => plain,
    }
}

fn binary(
    lines: &mut Lines<'_>,
    schema: &str,
    take: &mut dyn FnMut(Value) -> Result<(), String>,
) -> Result<bool, BadTrace> {
    let (schema, most) = schema::parse(schema).map_err(|why| no_schema(lines, &why))?;
    let reader = GenericDatumReader::builder(&schema).build().map_err(|error| no_schema(lines, &error.to_string()))?;
    // What a length in an event may have reserved ahead of what there is.
    apache_avro::util::max_allocation_bytes(LINE_LIMIT as usize * 4);
    for nth in 1_u64.. {
        let wrong = |lines: &Lines<'_>, what: String| lines.whole_wrong(format!("event {nth}: {what}"));
        if lines.is_at_end().map_err(|error| wrong(lines, format!("cannot be read on: {error}")))? {
            break;
        }
        let mut bytes = Watched { inner: lines.rest(), left: most, stopped: None };
        let read = reader.read_value(&mut bytes);
        match (bytes.stopped, read) {
            (Some(Stopped::Failed(error)), _) => return Err(wrong(lines, format!("cannot be read on: {error}"))),
            (Some(Stopped::TooLong), _) => return Err(wrong(lines, format!("is longer than {most} bytes"))),
            (Some(Stopped::Ended), _) => return Ok(false),
            (None, Err(error)) => return Err(wrong(lines, format!("is no event: {error}"))),
            (None, Ok(event)) => take(plain(event)).map_err(|what| wrong(lines, what))?,
        }
    }
    Ok(true)
}

/// Reads one event, and notes why there is no more of it.
struct Watched<R> {
    inner: R,
    /// How many bytes more it may have.
    left: u64,
    stopped: Option<Stopped>,
}

enum Stopped {
    Ended,
    TooLong,
    Failed(io::Error),
}

impl<R: Read> Read for Watched<R> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let most = usize::try_from(self.left).unwrap_or(usize::MAX).min(into.len());
        let stopped = match self.inner.read(&mut into[..most]) {
            Ok(0) if into.is_empty() => return Ok(0),
            Ok(0) if most == 0 => Stopped::TooLong,
            Ok(0) => Stopped::Ended,
            Ok(read) => {
                self.left -= read as u64;
                return Ok(read);
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => return Err(error),
            Err(error) => Stopped::Failed(error),
        };
        self.stopped = Some(stopped);
        // By an end the library reads on where a null may stand for what is not there, and for ever where that is much.
        Err(io::ErrorKind::Other.into())
    }
}

/// What Hadoop's schemas have; anything else is none of it, and not asked for.
fn plain(value: Avro) -> Value {
    match value {
        Avro::Union(_, inner) => plain(*inner),
        Avro::Record(fields) => Value::Object(fields.into_iter().map(|(name, value)| (name, plain(value))).collect()),
        Avro::Map(fields) => Value::Object(fields.into_iter().map(|(name, value)| (name, plain(value))).collect()),
        Avro::Array(items) => Value::Array(items.into_iter().map(plain).collect()),
        Avro::Enum(_, text) | Avro::String(text) => Value::String(text),
        Avro::Int(number) => number.into(),
        Avro::Long(number) => number.into(),
        Avro::Boolean(truth) => truth.into(),
        _ => Value::Null,
    }
}
