//! The ledger: what was decided, done and measured, in one SQLite file that outlasts the service.

mod cell;
pub mod docs;
mod draw;
mod error;
pub mod export;
mod feed;
mod file;
#[cfg(test)]
pub mod fixture;
mod keeper;
mod learned;
mod learned_row;
mod look;
mod metrics;
mod open;
pub mod report;
mod resume;
mod retain;
mod schema;
mod shared;
mod state;
mod steps;
mod store;
pub mod tables;
#[cfg(test)]
mod tests;
mod under;
mod wording;
mod write;

pub use error::LedgerError;
pub use feed::Feed;
pub use file::{beside, size};
pub use learned::{Found, learned};
pub use metrics::Metrics;
pub use open::read;
pub use resume::{Left, LeftJob, Settled, Unanswered, left};
pub use retain::Bounds;
pub use schema::{Column, Kind, Record, Row, Table};
pub use shared::Pace;
pub use state::{Access, State};
pub use under::Under;
pub use write::Ledger;
