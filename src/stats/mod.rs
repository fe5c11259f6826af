//! Numbers with their intervals, and comparisons of jobs: what simulations and the ledger's reports both reckon with.

pub mod bins;
mod interval;
pub mod trial;

pub use interval::{Interval, quantile};
