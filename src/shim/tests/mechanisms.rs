//! The table of the papers' mechanisms is what the code announces.

use super::super::can::{WORDS, able};
use drover_core::model::Capabilities;
use drover_core::policy::dolly::{Admission, Reads};
use std::collections::{BTreeMap, BTreeSet};

/// Where each mechanism of the table is carried out, by what must be possible for it; those that need nothing come under `–`.
fn table() -> BTreeMap<String, BTreeSet<String>> {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/docs/mechanisms.md");
    let text = std::fs::read_to_string(path).unwrap();
    let mut rows: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    // The first table; what a later one has of each Hadoop is tried on real clusters.
    let first = text.lines().skip_while(|line| !line.starts_with('|')).take_while(|line| line.starts_with('|'));
    for row in first.filter(|line| line.starts_with("| ")).skip(1) {
        let cells: Vec<&str> = row.trim_matches('|').split(" | ").map(str::trim).collect();
        let [_, _, needs, place, why] = cells[..] else { panic!("not five columns: {row}") };
        assert!(["live", "advice", "simulator"].contains(&place), "{row}");
        assert!(why.len() > 10, "no reason: {row}");
        rows.entry(needs.trim_matches('`').into()).or_default().insert(place.into());
    }
    rows
}

/// What some capabilities are, by their names.
fn names(can: Capabilities) -> BTreeMap<String, bool> {
    serde_json::from_value(serde_json::to_value(can).unwrap()).unwrap()
}

#[test]
fn a_mechanism_stands_as_live_where_a_shim_can_carry_it_out_and_nowhere_else() {
    let table = table();
    for (name, live) in names(able(WORDS.into_iter())) {
        let places = table.get(&name).unwrap_or_else(|| panic!("docs/mechanisms.md lacks `{name}`"));
        assert_eq!(places.contains("live"), live, "{name}");
        assert!(places.len() == 1, "{name} stands in two places");
    }
    let known = names(Capabilities::NONE);
    let unknown: Vec<_> = table.keys().filter(|name| *name != "–" && !known.contains_key(*name)).collect();
    assert!(unknown.is_empty(), "no capabilities: {unknown:?}");
}

#[test]
fn each_way_in_which_clones_are_admitted_and_read_stands_in_the_table() {
    let text = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/docs/mechanisms.md")).unwrap();
    let rows: String = text.lines().filter(|line| line.starts_with("| Dolly")).collect();
    for label in Admission::ALL.map(Admission::label).into_iter().chain(Reads::ALL.map(Reads::label)) {
        assert!(rows.contains(&format!("`{label}`")), "{label}");
    }
}

#[test]
fn every_word_of_what_a_shim_can_makes_something_possible_and_stands_in_the_protocol() {
    let protocol = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/docs/protocol/README.md")).unwrap();
    for word in WORDS {
        assert_ne!(able([word].into_iter()), Capabilities::NONE, "{word}");
        assert!(protocol.contains(&format!("\n`{word}` asks ")), "{word} is not documented");
    }
}
