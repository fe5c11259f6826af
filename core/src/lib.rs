//! Drover's pure engine: facts in, decisions out. It does no I/O, reads no clock and draws no randomness of its own; everything arrives as an argument.

pub mod estimate;
pub mod model;
