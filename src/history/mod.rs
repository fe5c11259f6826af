//! Recordings of observations, and their replay through the engine.

pub mod format;
mod log;
mod read;
mod record;
mod replay;

#[cfg(test)]
mod tests;
#[cfg(test)]
mod words;

pub use log::LogEnd;
pub use read::{ReadError, files};
pub use record::Recorder;
pub use replay::{Options, Report, replay};
