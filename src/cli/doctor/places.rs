//! Where the service writes: may it, and is there room? Nothing is made to find out.

use super::Checks;
use crate::config::Config;
use crate::history::format::segments;
use crate::words;
use drover_core::model::Bytes;
use rustix::fs::{Access, access, statvfs};
use std::path::{Path, PathBuf};

const RECORDING: &str = "recording";

/// Could a recording be written?
pub fn recording(config: &Config, checks: &mut Checks) {
    let Some(dir) = config.record.dir.as_deref() else {
        return checks.skip(RECORDING, "record.dir is not set: nothing is recorded");
    };
    let size = |path: PathBuf| std::fs::metadata(path).map_or(0, |told| told.len());
    let taken = segments(dir).map_or(0, |all| all.into_iter().map(|(_, path)| size(path)).sum());
    if let Some(why) = unwritable(dir) {
        checks.fail(
            RECORDING,
            format!("record.dir, {}, cannot be written: {why}", dir.display()),
            "name a directory that the service's user may write to: it does not start otherwise. Run this as that user",
        );
    } else if let Some(short) = short(dir, config.record.max_bytes, Bytes(taken)) {
        checks.warn(RECORDING, short, "set record.max_bytes lower, free some, or name a directory on another disk");
    } else {
        checks.ok(RECORDING, format!("{} can be written", dir.display()));
    }
}

/// Why nothing could be kept in a directory, or in the one above it where it would have to be made.
pub fn unwritable(dir: &Path) -> Option<std::io::Error> {
    let there = nearest(dir)?;
    if !there.is_dir() {
        return Some(std::io::ErrorKind::NotADirectory.into());
    }
    access(there.as_path(), Access::WRITE_OK | Access::EXEC_OK).err().map(Into::into)
}

/// That a disk has less room than may come to lie there.
pub fn short(dir: &Path, most: Bytes, taken: Bytes) -> Option<String> {
    let disk = statvfs(nearest(dir)?.as_path()).ok()?;
    let free = disk.f_bavail.saturating_mul(disk.f_frsize);
    let more = most.0.saturating_sub(taken.0);
    let [has, may] = [free, more].map(|bytes| words::size(Bytes(bytes)));
    (free < more).then(|| format!("{} has {has} free, and {may} more may come to lie there", dir.display()))
}

/// It, or what there is of the directories above it.
fn nearest(dir: &Path) -> Option<PathBuf> {
    let named = |dir: &Path| if dir.as_os_str().is_empty() { PathBuf::from(".") } else { dir.to_owned() };
    dir.ancestors().map(named).find(|dir| dir.exists())
}

#[cfg(test)]
mod tests {
    use super::super::Verdict;
    use super::*;
    use crate::config::{Sources, load};

    fn said(set: &[String]) -> (Verdict, String) {
        let sources = Sources { file: None, set: set.to_vec() };
        let mut checks = Checks::default();
        recording(&load(&sources, std::iter::empty()).unwrap().config, &mut checks);
        (checks.0[0].verdict, checks.0[0].says.clone())
    }

    #[test]
    fn a_recording_that_serve_could_not_begin_is_a_failed_check_and_one_without_room_is_warned_of() {
        let dir = tempfile::tempdir().unwrap();
        let new = format!("record.dir={}", dir.path().join("new/one").display());
        assert_eq!(said(&[]).0, Verdict::Skip);
        assert_eq!(said(std::slice::from_ref(&new)).0, Verdict::Ok);
        assert!(!dir.path().join("new").exists());
        let (verdict, says) = said(&[new, "record.max_bytes=1000TiB".to_owned()]);
        assert!(verdict == Verdict::Warn && says.contains(" more may come to lie there"), "{says}");
        let file = dir.path().join("file");
        std::fs::write(&file, "").unwrap();
        let (verdict, says) = said(&[format!("record.dir={}", file.join("dir").display())]);
        assert!(verdict == Verdict::Fail && says.contains("cannot be written"), "{says}");
    }
}
