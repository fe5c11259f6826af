//! Drover's pure engine: facts in, decisions out. It does no I/O, reads no clock and draws no randomness of its own; everything arrives as an argument.

#![deny(clippy::print_stdout, clippy::print_stderr, clippy::dbg_macro)]

pub mod engine;
pub mod estimate;
pub mod govern;
pub mod model;
pub mod policy;
pub mod sim;
