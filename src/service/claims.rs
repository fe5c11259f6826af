//! What a service has for itself while it runs: its recording, its ledger, its operators' holds.

use super::error::ServeError;
use super::holds;
use crate::config::Config;
use crate::dirs;
use crate::ledger::beside;
use crate::lock::{self, Lock};
use drover_core::model::Mode;
use std::io;
use std::path::Path;
use std::time::{Duration, Instant};

/// One that has just been told to end is given so long to do so: more than it needs ([`super::serve`]).
const PATIENCE: Duration = Duration::from_secs(5);

/// Takes what the configuration names, so that no other service writes there until this one has ended. Where no lock can be made there is none, and a word about it.
///
/// # Errors
/// Another service has one of them, or holds could not be kept in mode `act`.
pub fn take(config: &Config) -> Result<Vec<Lock>, ServeError> {
    let recording = config.record.dir.as_ref().map(|dir| (dir.join("recording.lock"), "record.dir"));
    let ledger = config.ledger.path.as_ref().map(|file| (beside(file, ".lock"), "ledger.path"));
    let holds = config.state.dir.as_ref().map(|dir| (dir.join("holds.lock"), "state.dir"));
    let (mut locks, until) = (Vec::new(), Instant::now() + PATIENCE);
    for (file, key) in recording.into_iter().chain(ledger).chain(holds) {
        match free(&file, until) {
            Ok(lock) => locks.push(lock),
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Err(ServeError::Taken(key, file)),
            Err(error) => {
                tracing::warn!(key, file = %file.display(), %error, "no lock can be made: another Drover that writes there would not be noticed");
            }
        }
    }
    keepable(config)?;
    Ok(locks)
}

/// Could a hold be kept, where Drover acts and is to keep them? Nobody would know before an emergency.
///
/// # Errors
/// It could not.
pub fn keepable(config: &Config) -> Result<(), ServeError> {
    let Some(dir) = config.state.dir.as_ref().filter(|_| config.top.mode == Mode::Act) else { return Ok(()) };
    holds::probe(dir).map_err(|why| ServeError::HoldsUnkept(dir.clone(), why))
}

fn free(file: &Path, until: Instant) -> io::Result<Lock> {
    dirs::make_above(file)?;
    lock::take(file, until.saturating_duration_since(Instant::now()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::{Sources, load_named};

    fn config(set: &[String]) -> Config {
        load_named(&Sources { file: None, set: set.to_vec() }).unwrap().config
    }

    #[test]
    fn no_two_services_have_one_recording_ledger_or_book_of_holds() {
        let dir = tempfile::tempdir().unwrap();
        let of = |key: &str, name: &str| format!("{key}={}", dir.path().join(name).display());
        let all = [of("record.dir", "new/all"), of("ledger.path", "new/all/l.db"), of("state.dir", "new/all")];
        let first = take(&config(&all)).unwrap();
        assert_eq!(first.len(), 3, "they may lie in one directory");
        let (key, name) = all[1].split_once('=').unwrap();
        assert_eq!(
            free(&beside(Path::new(name), ".lock"), Instant::now()).unwrap_err().kind(),
            io::ErrorKind::WouldBlock
        );
        let error = ServeError::Taken("ledger.path", beside(Path::new(name), ".lock")).to_string();
        assert!(error.starts_with(key) && error.contains("another Drover"), "{error}");
        drop(first);
        assert_eq!(take(&config(&all)).unwrap().len(), 3);
    }

    #[test]
    fn holds_that_could_not_be_kept_keep_a_service_from_acting_and_from_nothing_else() {
        // Not even root makes a directory there.
        let set = |mode: &str| [format!("mode={mode}"), "state.dir=/proc/drover".to_owned()];
        let error = take(&config(&set("act"))).unwrap_err().to_string();
        assert!(error.contains("state.dir: /proc/drover") && error.contains("may write"), "{error}");
        assert!(take(&config(&set("advise"))).unwrap().is_empty());
    }

    #[test]
    fn a_directory_that_takes_no_more_keeps_a_service_from_acting_though_it_has_its_lock() {
        let dir = tempfile::tempdir().unwrap();
        let set = ["mode=act".to_owned(), format!("state.dir={}", dir.path().display())];
        drop(take(&config(&set)).unwrap());
        std::fs::create_dir(dir.path().join("holds.json.probe")).unwrap();
        assert!(take(&config(&set)).unwrap_err().to_string().contains("state.dir: "));
    }
}
