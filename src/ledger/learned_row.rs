//! The table of what was learned. It stands beside the others: it has no history, and is neither exported nor let go by age.

use crate::ledger::cell::Cell;
use crate::ledger::schema::{Column, Record, Table, cell, tables};
use drover_core::model::Time;
use rusqlite::types::Value;

tables! {
    /// What the engine had learned over jobs when it was last kept; the next start goes on from it. A newer row takes the place of the older. Not exported, and not let go by age: what is older than `ledger.max_age` at a start is left out there.
    LearnedRow = "learned", key "room, format" {
        /// When, the service's clock.
        at_ms: Time,
        /// `odds`, `calibration`, `priors`, `shuffles`, `breakers` or `node_rests`: how often tasks straggle, how good estimates were, how long tasks took, how reduces read, how each policy's copies fared, hosts where copies came to nothing.
        room: String,
        /// The form that it is kept in, which may change without the schema. A newer one's row is left as it is.
        format: u32,
        /// The version of Drover that kept it.
        drover: String,
        /// SHA-256 of `state`, hexadecimal.
        digest: String,
        /// JSON, for Drover alone; its parts may change.
        state: String,
    }
}
