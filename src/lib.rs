//! The Drover service: everything that touches the world, around the pure engine in `drover-core`.

pub mod api;
mod bounded;
pub mod cli;
pub mod clock;
pub mod config;
mod dirs;
mod guard;
mod heavy;
pub mod history;
pub mod ledger;
mod lock;
pub mod service;
pub mod shim;
mod shown;
pub mod simulation;
mod span;
pub mod stats;
pub mod telemetry;
mod words;
pub mod yarn;
