//! The file that keeps operators' holds for the next start.

use super::HOLDS_MAX;
use crate::dirs;
use drover_core::model::Hold;
use serde::{Deserialize, Serialize};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// Version of the format.
const FORMAT: u32 = 1;
/// Its name.
pub const FILE: &str = "holds.json";
/// Files that could not be read which are kept beside it.
const UNREAD_MAX: u32 = 20;

/// What the file says.
#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Kept {
    format: u32,
    holds: Vec<Hold>,
}

/// The holds that are kept there.
///
/// # Errors
/// In words, where they cannot be read.
pub fn read(path: &Path) -> Result<Vec<Hold>, String> {
    let text = match std::fs::read(path) {
        Ok(text) => text,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(error.to_string()),
    };
    /// What every format has.
    #[derive(Deserialize)]
    struct Head {
        format: u32,
    }
    let damaged = |error| format!("is damaged: {error}");
    // First: another format may look quite different.
    match serde_json::from_slice::<Head>(&text).map_err(damaged)?.format {
        FORMAT => {}
        other => {
            return Err(format!("has format {other}, of another version of Drover; this version reads {FORMAT}"));
        }
    }
    let kept: Kept = serde_json::from_slice(&text).map_err(damaged)?;
    // The whole cluster may be held beside as many as there may be.
    if kept.holds.len() > HOLDS_MAX + 1 {
        return Err(format!("has more than {HOLDS_MAX} holds"));
    }
    Ok(kept.holds)
}

/// Could holds be written there? Makes a file beside theirs, and takes it away.
pub fn probe(dir: &Path) -> io::Result<()> {
    dirs::make(dir)?;
    let new = dir.join(FILE).with_extension("json.probe");
    let mut file = std::fs::File::create(&new)?;
    file.write_all(b"{}")?;
    file.sync_all()?;
    std::fs::remove_file(new)
}

/// The name by which a file that cannot be read stays beside its own when another takes its place; `None` where too many do.
pub fn aside(path: &Path) -> Option<PathBuf> {
    let mut names = (1..=UNREAD_MAX).map(|nth| path.with_extension(format!("json.unread-{nth}")));
    names.find(|name| name.symlink_metadata().is_err())
}

/// Gives a file that cannot be read that name.
fn set_aside(path: &Path) -> io::Result<()> {
    let too_many = || io::Error::other("too many files that could not be read lie beside it; move them away");
    let free = aside(path).ok_or_else(too_many)?;
    tracing::warn!(path = %path.display(), to = %free.display(), "the holds that cannot be read are set aside");
    // Where there are no links, or none may be made of another's file, nothing lies there for a moment.
    std::fs::hard_link(path, &free).or_else(|_| std::fs::rename(path, free))
}

/// Writes the whole file or nothing of it, and has it on the disk when it comes back. What lies there and cannot be read is kept beside it.
pub fn write(path: &Path, holds: Vec<Hold>) -> io::Result<()> {
    let kept = Kept { format: FORMAT, holds };
    let unread = || path.is_file() && read(path).is_err();
    dirs::replace(path, &serde_json::to_vec_pretty(&kept)?, || if unread() { set_aside(path) } else { Ok(()) })
}
