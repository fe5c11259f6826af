//! Keys that no setting has, keys that have two values, and modes that do not hold where they are stated.

use super::layers::{Entries, Entry, Origin, Problem, find, is_mode};
use super::setting::Setting;
use super::settings::SETTINGS;
use super::value::{Kind, Value, nearest};

/// Of two statements side by side nobody can tell which is meant: the last may be the bolder.
pub fn twice(key: String, (value, origin): (Value, Origin), before: &Entry) -> Problem {
    let there = match &before.origin {
        Origin::File(..) => format!("in {}", before.origin),
        _ => "before it".to_owned(),
    };
    let what = format!("is stated as \"{value}\", and as \"{}\" {there}", before.value);
    Problem { origin, key: Some(key), what, fix: Some("state it once".into()) }
}

/// Modes of the file that do not hold: whoever writes one there to make Drover more careful would not learn that nothing has changed.
pub fn outranked(file: &Entries, all: &Entries) -> Vec<Problem> {
    let above = |(key, entry): (&String, &Entry)| {
        let holds = all.get(key).filter(|holds| is_mode(key) && holds.value != entry.value)?;
        matches!(entry.origin, Origin::File(..)).then(|| Problem {
            origin: entry.origin.clone(),
            key: Some(key.clone()),
            what: format!("\"{}\" does not hold: \"{}\" does, by {}", entry.value, holds.value, holds.origin),
            fix: Some("change it there, for which a service must start anew".into()),
        })
    };
    file.iter().filter_map(above).collect()
}

/// A setting by name without the name.
fn unnamed(key: &str, origin: &Origin) -> Option<Problem> {
    let is_meant = |setting: &&Setting| {
        let rest = key.strip_prefix(&setting.key()).filter(|_| matches!(setting.kind, Kind::Modes(_)));
        rest.is_some_and(|rest| rest.strip_prefix('.').unwrap_or(rest).trim().is_empty())
    };
    let setting = SETTINGS.iter().find(is_meant)?;
    let (key, name) = (setting.key(), setting.name);
    let fix = match origin {
        Origin::File(..) => format!("write {name}.NAME = \"off\" below [{}]", setting.group),
        Origin::Environment(_) => "write NAME=off".to_owned(),
        _ => format!("write {key}.NAME=off"),
    };
    Some(Problem { origin: origin.clone(), key: Some(key), what: format!("names no {name}"), fix: Some(fix) })
}

/// A key that no setting has.
pub fn unknown(key: String, origin: Origin) -> Problem {
    unnamed(&key, &origin).unwrap_or_else(|| {
        let fix = below(&key, &origin).unwrap_or_else(|| alike(&key));
        Problem { origin, key: Some(key), what: "is no setting".into(), fix: Some(fix) }
    })
}

/// Below a heading of TOML all keys are that table's, up to the next heading.
fn below(key: &str, origin: &Origin) -> Option<String> {
    let (table, whole) = key.split_once('.').filter(|(_, whole)| find(whole).is_some())?;
    let told = || format!("`{whole}` stands below [{table}]; put it above the first heading in brackets");
    matches!(origin, Origin::File(..)).then(told)
}

fn alike(key: &str) -> String {
    let whole = |setting: &Setting| match setting.kind {
        Kind::Modes(_) => format!("{}.NAME", setting.key()),
        _ => setting.key(),
    };
    let known: Vec<String> = SETTINGS.iter().map(whole).collect();
    let near = nearest(key, known.iter().map(String::as_str));
    near.map_or("`drover config show` lists all settings".into(), |near| format!("did you mean {near}?"))
}
