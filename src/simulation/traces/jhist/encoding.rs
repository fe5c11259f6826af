//! The two encodings of a job history. Either begins with a line that names it and a line with its Avro schema; then come the events: `Avro-Json` has one a line, `Avro-Binary`
//! one right after the other.

use super::super::{BadTrace, Lines};
use apache_avro::Schema;
use apache_avro::reader::datum::GenericDatumReader;
use apache_avro::schema::Name;
use apache_avro::types::Value as Avro;
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
    let name = lines.next()?.unwrap_or_default();
    let schema = lines.next()?.ok_or_else(|| lines.wrong("ends before its schema".into()))?;
    match name.trim_end() {
        "Avro-Json" => json(lines, take),
        "Avro-Binary" => binary(lines, &schema, take),
        other => Err(lines.wrong(format!("\"{other}\" is neither Avro-Json nor Avro-Binary"))),
    }
}

fn json(lines: &mut Lines<'_>, take: &mut dyn FnMut(Value) -> Result<(), String>) -> Result<bool, BadTrace> {
    while let Some(text) = lines.next()? {
        // Avro's encoder begins a line of its own, beside Hadoop's.
        if text.trim().is_empty() {
            continue;
        }
        match serde_json::from_str(&text) {
            Ok(event) => take(unwrapped(event)).map_err(|what| lines.wrong(what))?,
            Err(error) if error.is_eof() && lines.is_at_end().unwrap_or(false) => return Ok(false),
            Err(error) => {
                let what = error.to_string();
                let what = what.split(" at line ").next().unwrap_or_default();
                return Err(lines.wrong(format!("is no event: {what} (column {})", error.column())));
            }
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
    let no_schema = |lines: &Lines<'_>, error| lines.wrong(format!("is no Avro schema: {error}"));
    let schema = Schema::parse_str(schema).map_err(|error| no_schema(lines, error))?;
    if contains_itself(&schema, &mut Vec::new()) {
        return Err(lines.wrong("is no schema of a job history: a type of it contains itself".into()));
    }
    let reader = GenericDatumReader::builder(&schema).build().map_err(|error| no_schema(lines, error))?;
    for nth in 1_u64.. {
        let wrong = |lines: &Lines<'_>, what: String| lines.whole_wrong(format!("event {nth}: {what}"));
        if lines.is_at_end().map_err(|error| wrong(lines, format!("cannot be read on: {error}")))? {
            break;
        }
        let mut bytes = Watched { inner: lines.rest(), ended: false, failed: None };
        let read = reader.read_value(&mut bytes);
        let Watched { ended, failed, .. } = bytes;
        // The library takes an end where a null or an empty text may stand for one.
        match (failed, ended, read) {
            (Some(error), ..) => return Err(wrong(lines, format!("cannot be read on: {error}"))),
            (None, true, _) => return Ok(false),
            (None, false, Err(error)) => return Err(wrong(lines, format!("is no event: {error}"))),
            (None, false, Ok(event)) => take(plain(event)).map_err(|what| wrong(lines, what))?,
        }
    }
    Ok(true)
}

/// Values of such a type may be deeper than there is room to follow; Hadoop's schemas have none.
fn contains_itself<'a>(schema: &'a Schema, open: &mut Vec<&'a Name>) -> bool {
    match schema {
        Schema::Record(record) => {
            open.push(&record.name);
            let does = record.fields.iter().any(|field| contains_itself(&field.schema, open));
            open.pop();
            does
        }
        Schema::Array(array) => contains_itself(&array.items, open),
        Schema::Map(map) => contains_itself(&map.types, open),
        Schema::Union(union) => union.variants().iter().any(|variant| contains_itself(variant, open)),
        Schema::Ref { name } => open.contains(&name),
        _ => false,
    }
}

/// Notes whether more was asked for than there is.
struct Watched<R> {
    inner: R,
    ended: bool,
    failed: Option<io::Error>,
}

impl<R: Read> Read for Watched<R> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        match self.inner.read(into) {
            Ok(read) => {
                self.ended |= read == 0 && !into.is_empty();
                Ok(read)
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => Err(error),
            Err(error) => {
                let kind = error.kind();
                self.failed = Some(error);
                Err(kind.into())
            }
        }
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
