//! The ledger: what was decided, done and measured, in one SQLite file that outlasts the service.

mod cell;
mod metrics;
mod open;
mod retain;
mod schema;
mod state;
mod store;
pub mod tables;
#[cfg(test)]
mod tests;
mod write;

pub use metrics::Metrics;
pub use open::{LedgerError, read};
pub use retain::Bounds;
pub use schema::{Column, Kind, Record, Row, Table};
pub use state::State;
pub use write::{Ledger, Pace};
