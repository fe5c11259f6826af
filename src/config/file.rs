//! Reads a TOML file into keys, texts and lines; what the keys mean is judged elsewhere.

use super::layers::{Origin, Problem, Stated};
use crate::bounded;
use std::path::Path;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// Largest configuration file that is read.
const LIMIT: u64 = 1 << 20;

/// Every value the file states, and why it may be half written, where it looks so.
pub fn read(path: &Path) -> Result<(Vec<Stated>, Option<Problem>), Problem> {
    let at = |line, what: String| Problem { origin: Origin::File(path.to_owned(), line), key: None, what, fix: None };
    let text = bounded::text(path, LIMIT).map_err(|error| at(0, format!("cannot be read: {error}")))?;
    let line = |offset: usize| 1 + text.as_bytes()[..offset.min(text.len())].iter().filter(|b| **b == b'\n').count();
    let table = DeTable::parse(&text)
        .map_err(|error| at(error.span().map_or(0, |span| line(span.start)), error.message().to_owned()))?;
    let mut stated = Vec::new();
    flatten("", table.get_ref(), &mut |key, value: &Spanned<DeValue<'_>>| {
        let line = line(value.span().start);
        let text = scalar(value.get_ref()).map_err(|what| Problem { key: Some(key.clone()), ..at(line, what) })?;
        stated.push(Stated { key, text, origin: Origin::File(path.to_owned(), line) });
        Ok(())
    })?;
    let cut = (!text.ends_with('\n')).then(|| {
        let what = if text.is_empty() { "is empty" } else { "does not end with a line's end" };
        let fix = Some("write it to its end, a line's end included, before SIGHUP is sent".to_owned());
        Problem { fix, ..at(0, format!("{what}, as where it is half written")) }
    });
    Ok((stated, cut))
}

type Visit<'v> = &'v mut dyn FnMut(String, &Spanned<DeValue<'_>>) -> Result<(), Problem>;

/// Calls `visit` for everything below the table that is no table itself, with its full key.
fn flatten(prefix: &str, table: &DeTable<'_>, visit: Visit<'_>) -> Result<(), Problem> {
    for (name, value) in table {
        let key = if prefix.is_empty() { name.get_ref().to_string() } else { format!("{prefix}.{}", name.get_ref()) };
        match value.get_ref() {
            DeValue::Table(inner) => flatten(&key, inner, visit)?,
            _ => visit(key, value)?,
        }
    }
    Ok(())
}

fn scalar(value: &DeValue<'_>) -> Result<String, String> {
    Ok(match value {
        DeValue::String(text) => text.to_string(),
        DeValue::Integer(number) if number.radix() == 10 => number.as_str().replace('_', ""),
        DeValue::Integer(number) => {
            let digits = number.as_str().replace('_', "");
            let number = u64::from_str_radix(&digits, number.radix());
            number.map_err(|_| format!("\"{digits}\" is no whole number"))?.to_string()
        }
        DeValue::Float(number) => number.as_str().replace('_', ""),
        DeValue::Boolean(flag) => flag.to_string(),
        DeValue::Array(items) => {
            items.iter().map(|item| scalar(item.get_ref())).collect::<Result<Vec<_>, _>>()?.join(",")
        }
        other => return Err(format!("a {} is no setting's value", other.type_str())),
    })
}
