//! The Avro schema of a history, of whoever wrote the file: what by it would take more memory or stack than there is, is refused before anything is decoded.

use super::super::lines::LINE_LIMIT;
use apache_avro::Schema;
use apache_avro::schema::Name;
use serde_json::Value;
use std::collections::HashMap;

/// The longest schema, bytes. Hadoop's have less than 30,000.
const LONGEST: usize = 1 << 20;
/// How deep values may lie in each other. Those of Hadoop's are ten deep.
const DEEPEST: usize = 64;
/// What one event may take, bytes of memory, and what a value does at most, beside its text.
const ROOM: u64 = 4 << 30;
const VALUE: u64 = 128;

/// The schema, and how many bytes an event by it may have at most.
pub(super) fn parse(text: &str) -> Result<(Schema, u64), String> {
    if text.len() > LONGEST {
        return Err(format!("it is longer than {LONGEST} bytes"));
    }
    let mut json: Value = serde_json::from_str(text).map_err(|error| error.to_string())?;
    without_defaults(&mut json);
    let schema = Schema::parse(&json).map_err(|error| error.to_string())?;
    let cost = Costs::default().of(&schema, None)?;
    Ok((schema, (ROOM / cost.memory).min(LINE_LIMIT)))
}

/// What a field has where it is not written is not asked for, and the library would try each, whatever that takes.
fn without_defaults(json: &mut Value) {
    match json {
        Value::Object(fields) => {
            fields.remove("default");
            fields.values_mut().for_each(without_defaults);
        }
        Value::Array(items) => items.iter_mut().for_each(without_defaults),
        _ => {}
    }
}

/// What one byte of an event may cost, and how deep values lie in such a value.
#[derive(Debug, Clone, Copy, Default)]
struct Cost {
    /// The memory of all values from this one to one that holds no other. As each of the latter takes a byte, that times the bytes is what an event takes at most.
    memory: u64,
    depth: usize,
}

impl Cost {
    fn beside(self, memory: usize) -> Cost {
        Cost { memory: self.memory.saturating_add(VALUE).saturating_add(memory as u64), depth: self.depth + 1 }
    }

    fn or(self, other: Cost) -> Cost {
        Cost { memory: self.memory.max(other.memory), depth: self.depth.max(other.depth) }
    }
}

/// Costs of types with names, once these have been told to their end.
#[derive(Default)]
struct Costs(HashMap<Name, Cost>);

impl Costs {
    fn of(&mut self, schema: &Schema, space: Option<&str>) -> Result<Cost, String> {
        let cost = match schema {
            Schema::Boolean
            | Schema::Int
            | Schema::Long
            | Schema::Float
            | Schema::Double
            | Schema::Bytes
            | Schema::String => Cost::default().beside(0),
            Schema::Array(array) => self.of(&array.items, space)?.beside(0),
            // Beside the key.
            Schema::Map(map) => self.of(&map.types, space)?.beside(VALUE as usize),
            // The branch takes a byte, so a null there does, too.
            Schema::Union(union) => {
                let others = union.variants().iter().filter(|variant| !matches!(variant, Schema::Null));
                let costs: Vec<Cost> = others.map(|variant| self.of(variant, space)).collect::<Result<_, _>>()?;
                costs.into_iter().fold(Cost::default(), Cost::or).beside(0)
            }
            Schema::Enum(of) => {
                let cost = Cost::default().beside(of.symbols.iter().map(String::len).max().unwrap_or(0));
                self.0.insert(of.name.fully_qualified_name(space).into_owned(), cost);
                cost
            }
            Schema::Record(record) => {
                let name = record.name.fully_qualified_name(space).into_owned();
                let mut most = None;
                for field in &record.fields {
                    let cost = self.of(&field.schema, name.namespace())?.beside(field.name.len());
                    most = Some(most.map_or(cost, |most| cost.or(most)));
                }
                let cost = most.ok_or_else(|| format!("{name} has no fields"))?.beside(0);
                self.0.insert(name, cost);
                cost
            }
            Schema::Ref { name } => {
                let name = name.fully_qualified_name(space);
                // One that is not told to its end yet is within itself: values of it may be of any depth.
                *self.0.get(&name).ok_or_else(|| format!("{name} contains itself"))?
            }
            // Of a size that the schema sets, or of none: no byte of an event stands for it.
            other => return Err(format!("a type of it is none that Hadoop's have: {}", kind(other))),
        };
        if cost.depth > DEEPEST {
            return Err(format!("values of it lie more than {DEEPEST} deep in each other"));
        }
        Ok(cost)
    }
}

fn kind(schema: &Schema) -> &'static str {
    match schema {
        Schema::Null => "a null that is not in a union",
        Schema::Fixed(_) => "fixed",
        _ => "a logical type",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(text: &str) -> String {
        parse(text).unwrap_err()
    }

    /// A record of one that holds another, and so on, each as often as `times` has it.
    fn chain(length: usize, times: usize) -> String {
        let record = |nth: usize| {
            let of = |field| {
                let inner = if nth == 0 { "\"boolean\"".into() } else { format!("\"R{}\"", nth - 1) };
                format!(r#"{{"name":"f{field}","type":{inner}}}"#)
            };
            let fields: Vec<String> = (0..times).map(of).collect();
            format!(r#"{{"type":"record","name":"R{nth}","fields":[{}]}}"#, fields.join(","))
        };
        format!("[{}]", (0..length).map(record).collect::<Vec<_>>().join(","))
    }

    #[test]
    fn a_type_whose_size_no_event_bears_out_is_refused() {
        let large = r#"{"type":"fixed","name":"F","size":4611686018427387904}"#;
        assert_eq!(refused(large), "a type of it is none that Hadoop's have: fixed");
        let nulls = r#"{"type":"array","items":"null"}"#;
        assert_eq!(refused(nulls), "a type of it is none that Hadoop's have: a null that is not in a union");
        assert_eq!(refused(r#"{"type":"array","items":{"type":"record","name":"E","fields":[]}}"#), "E has no fields");
        let day = r#"{"type":"int","logicalType":"date"}"#;
        assert_eq!(refused(day), "a type of it is none that Hadoop's have: a logical type");
    }

    #[test]
    fn a_long_chain_of_types_is_refused_and_a_schema_too_long_is_not_even_parsed() {
        assert!(refused(&chain(5_000, 1)).starts_with("values of it lie more than 64 deep"));
        assert_eq!(refused(&" ".repeat(LONGEST + 1)), format!("it is longer than {LONGEST} bytes"));
    }

    #[test]
    fn the_more_memory_a_byte_may_cost_the_fewer_an_event_may_have() {
        let most = |text: &str| parse(text).unwrap().1;
        assert_eq!(most("\"long\""), LINE_LIMIT);
        let deep = most(&chain(20, 2));
        assert!((100_000..1_000_000).contains(&deep), "{deep}");
        let name = "n".repeat(100_000);
        let long = most(&format!(r#"{{"type":"record","name":"R","fields":[{{"name":"{name}","type":"int"}}]}}"#));
        assert!(long < 50_000, "{long}");
    }

    #[test]
    fn defaults_are_not_tried_which_would_take_twice_as_long_for_each_further_type() {
        let text = chain(28, 2).replace("\"}", "\",\"default\":{}}");
        assert!(text.contains("default"));
        // Each of the 2^28 would be tried, else.
        assert!(parse(&text).is_ok());
    }
}
