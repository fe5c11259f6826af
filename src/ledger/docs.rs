//! The schema's part of `docs/ledger.md`, written from the declaration.

use super::learned_row;
use super::schema::{Column, Table};
use super::tables::TABLES;
use std::fmt::Write;

/// Every table with its columns.
pub fn markdown() -> String {
    TABLES.iter().chain(learned_row::TABLES).map(|table| section(table)).collect::<Vec<_>>().join("\n")
}

fn section(table: &Table) -> String {
    let mut out = format!(
        "### `{}`\n{} One row for each {}.\n\n| column | type | |\n|---|---|---|\n",
        table.name,
        prose(table.doc),
        table.key.replace(", ", " and ").replace('_', " ")
    );
    for Column { name, kind, optional, doc } in table.columns {
        let kind = kind.sql().to_lowercase();
        let absent = if *optional { ", may be absent" } else { "" };
        let _ = writeln!(out, "| `{name}` | {kind}{absent} | {} |", prose(doc).replace('|', "\\|"));
    }
    out
}

/// A comment as one line.
fn prose(doc: &str) -> String {
    doc.lines().map(str::trim).collect::<Vec<_>>().join(" ").trim().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_committed_schema_is_the_declared_one() {
        let committed =
            std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/docs/ledger.md")).unwrap_or_default();
        let end = "put the text of `drover config docs --ledger` at the end of docs/ledger.md";
        assert!(committed.ends_with(&markdown()), "{end}");
    }
}
