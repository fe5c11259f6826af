//! Simulations: scenario files, many runs side by side, what came of them. The cluster itself is `drover_core::sim`.

pub mod against;
pub mod file;
mod grid;
pub mod holdout;
pub mod idle;
mod measures;
pub mod report;
pub mod reproduce;
mod strict;
pub mod summary;
pub mod tables;
pub mod told;
pub mod traces;
pub mod watched;

#[cfg(test)]
pub use grid::Silent;
pub use grid::{Grid, Played, Progress, Results, play};
