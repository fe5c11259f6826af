//! Which of two services is the younger: shims obey the one with the higher epoch.

use crate::dirs;
use drover_core::model::Time;
use std::io;
use std::path::Path;

/// The file in `state.dir` that keeps it, a number.
const FILE: &str = "epoch";

/// The epoch of a service that starts now: its start, Unix milliseconds, and above those of all that started on this directory before, whatever the clock said then.
pub fn next(dir: Option<&Path>, now: Time) -> u64 {
    let Some(path) = dir.map(|dir| dir.join(FILE)) else { return now.0 };
    let last = match std::fs::read_to_string(&path) {
        Ok(text) => text.trim().parse::<i64>().map(i64::unsigned_abs).map_err(io::Error::other),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(0),
        Err(error) => Err(error),
    };
    let unsure = |error: &io::Error, what| tracing::warn!(path = %path.display(), %error, "the epoch of {what}: should this machine's clock be set back, a service started then acts on nothing that shims have known this one in");
    let last = last.unwrap_or_else(|error| {
        unsure(&error, "the last start cannot be read");
        0
    });
    let epoch = now.0.max(last.saturating_add(1));
    if last > now.0 {
        tracing::warn!(
            epoch,
            "this machine's clock stands before the last start, or did then; shims obey this service all the same"
        );
    }
    if let Err(error) = dirs::replace(&path, format!("{epoch}\n").as_bytes(), || Ok(())) {
        unsure(&error, "this start cannot be kept");
    }
    epoch
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_start_outranks_those_before_it_on_its_directory_though_the_clock_was_ahead_then() {
        let dir = tempfile::tempdir().unwrap();
        let at = |now| next(Some(&dir.path().join("state")), Time(now));
        assert_eq!([1_000, 5_000, 2_000, 5_001, 9_000].map(at), [1_000, 5_000, 5_001, 5_002, 9_000]);
        assert_eq!(next(None, Time(7)), 7);
    }

    #[test]
    fn what_is_no_epoch_or_cannot_be_kept_keeps_no_service_from_starting() {
        let dir = tempfile::tempdir().unwrap();
        for no_epoch in ["soon", "", "18446744073709551615"] {
            std::fs::write(dir.path().join(FILE), no_epoch).unwrap();
            assert_eq!(next(Some(dir.path()), Time(7)), 7, "{no_epoch}");
        }
        assert_eq!(std::fs::read_to_string(dir.path().join(FILE)).unwrap(), "7\n");
        assert_eq!(next(Some(&dir.path().join(FILE)), Time(9)), 9, "a file in the directory's place");
    }
}
