//! What a service has for itself while it runs: its recording, its ledger, its operators' holds.

use super::serve::ServeError;
use crate::config::Config;
use crate::lock::{self, Lock};
use drover_core::model::Mode;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// One that has just been told to end is given so long to do so: more than it needs ([`super::serve`]).
const PATIENCE: Duration = Duration::from_secs(5);

/// Takes what the configuration names, so that no other service writes there until this one has ended. What cannot be written is told of by whoever writes there, but for holds: nobody would
/// know before an emergency.
///
/// # Errors
/// Another service has one of them, or holds could not be kept in mode `act`.
pub fn take(config: &Config) -> Result<Vec<Lock>, ServeError> {
    let recording = config.record.dir.as_ref().map(|dir| (dir.join("recording.lock"), "record.dir"));
    let ledger = config.ledger.path.as_ref().map(|file| (beside(file), "ledger.path"));
    let mut locks = Vec::new();
    for (file, key) in recording.into_iter().chain(ledger) {
        locks.extend(free(&file, key)?.ok());
    }
    if let Some(dir) = &config.state.dir {
        match free(&dir.join("holds.lock"), "state.dir")? {
            Ok(lock) => locks.push(lock),
            Err(why) if config.top.mode == Mode::Act => return Err(ServeError::HoldsUnkept(dir.clone(), why)),
            Err(error) => {
                tracing::error!(dir = %dir.display(), %error, "holds cannot be kept: what is held is forgotten when the service starts again");
            }
        }
    }
    Ok(locks)
}

/// The lock, or why it cannot be made.
fn free(file: &Path, key: &'static str) -> Result<io::Result<Lock>, ServeError> {
    let made = file.parent().filter(|dir| !dir.as_os_str().is_empty()).map_or(Ok(()), std::fs::create_dir_all);
    match made.and_then(|()| lock::take(file, PATIENCE)) {
        Err(error) if error.kind() == io::ErrorKind::WouldBlock => Err(ServeError::Taken(key, file.to_owned())),
        taken => Ok(taken),
    }
}

fn beside(file: &Path) -> PathBuf {
    let mut name = file.as_os_str().to_owned();
    name.push(".lock");
    name.into()
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
        let error = free(&beside(Path::new(name)), "ledger.path").unwrap_err().to_string();
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
}
