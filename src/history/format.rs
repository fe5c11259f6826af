//! The recording's format: what a line can be, how segments are named. Described in `docs/recording.md`.

use drover_core::model::{Decision, Observation, Time};
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};

/// Version of the format; a reader refuses any other. A word that is new in its lines wants another number, too: an older build would call such a line damaged.
pub const FORMAT: u32 = 6;

/// First line of a segment.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Header {
    /// Version of the format.
    pub format: u32,
    /// Version of Drover that wrote it, with its revision where that is known.
    pub drover: String,
    /// The process that wrote it; another process is another engine.
    pub run: String,
    /// Number of the segment, from 1, counted over all runs in the directory.
    pub segment: u64,
    /// When it was begun, the service's clock.
    pub at: Time,
    /// Entries lost between the previous segment and this one.
    pub lost: u64,
}

/// One line. `E` is the engine's state, `P` its parameters.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Line<E, P> {
    /// A segment begins.
    Segment(Header),
    /// State of the engine at the segment's start.
    Engine(E),
    /// The engine got new parameters.
    Params(P),
    /// A fact was given to the engine.
    Observe(Observation),
    /// The engine was asked to decide at this instant.
    Decide(Time),
    /// It decided this.
    Decision(Box<Decision>),
}

/// A line that carries no state.
pub type Entry<P> = Line<(), P>;

/// The path of a segment.
pub fn path(dir: &Path, number: u64) -> PathBuf {
    dir.join(format!("drover-{number:08}.jsonl"))
}

/// The segments in a directory, oldest first.
pub fn segments(dir: &Path) -> std::io::Result<Vec<(u64, PathBuf)>> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(dir)? {
        let path = entry?.path();
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        let number = name.strip_prefix("drover-").and_then(|name| name.strip_suffix(".jsonl"));
        if let Some(number) = number.and_then(|digits| digits.parse().ok()) {
            found.push((number, path));
        }
    }
    found.sort_unstable();
    Ok(found)
}
