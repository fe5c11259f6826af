//! Recordings of observations, and their replay through the engine.

pub mod format;
mod log;
mod record;

pub use log::LogEnd;
pub use record::Recorder;
