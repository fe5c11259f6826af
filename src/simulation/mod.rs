//! Simulations: scenario files, many runs side by side, what came of them. The cluster itself is `drover_core::sim`.

pub mod file;
mod grid;
pub mod reproduce;
pub mod stats;
pub mod summary;
pub mod traces;

pub use grid::{Grid, Played, Progress, play};
