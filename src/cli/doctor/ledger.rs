//! The ledger: kept by the service, or at least whole.

use super::{Checks, places};
use crate::api::views::LedgerView;
use crate::config::Config;
use crate::ledger::{LedgerError, read, size};
use rustix::fs::{Access, access};

const NAME: &str = "ledger";

/// What the service says of its own.
pub fn running(ledger: &LedgerView, checks: &mut Checks) {
    match (&ledger.trouble, ledger.state.as_str()) {
        (Some(trouble), _) => checks.warn(
            NAME,
            format!("the service goes on without it: {trouble}"),
            "put right what is named; the service tries again every half a minute",
        ),
        (None, "keeping") => checks.ok(NAME, "the service keeps it"),
        (None, "opening") => checks.ok(NAME, "the service looks through it before it writes to it"),
        (None, _) => {
            checks.skip(NAME, "the service keeps none: set ledger.path to have `drover report` say what copies came to")
        }
    }
}

/// Without a service: can the file be read, and written?
pub fn file(config: &Config, checks: &mut Checks) {
    let Some(path) = &config.ledger.path else { return checks.skip(NAME, "ledger.path is not set: none is kept") };
    let mut is_new = false;
    match read(path) {
        Ok(_) => {}
        Err(LedgerError::Missing(_)) => is_new = true,
        Err(LedgerError::Older(path, has, known)) => checks.warn(
            NAME,
            format!(
                "{} has version {has} of its schema: `drover serve` takes it to {known}, after which an older Drover cannot use it any more",
                path.display()
            ),
            "copy it first, with its log of that name that ends in -wal: going back wants that copy",
        ),
        Err(error) => return checks.warn(NAME, error.to_string(), "put right what is named before the service starts"),
    }
    let dir = path.parent().unwrap_or(path);
    let file = access(path.as_path(), Access::WRITE_OK).err().filter(|_| !is_new).map(Into::into);
    if let Some(why) = places::unwritable(dir).or(file) {
        checks.warn(
            NAME,
            format!("{} cannot be written: {why}; the service would go on without it", path.display()),
            "give the service's user the right to the file and its directory, or name another by ledger.path. Run this as that user",
        );
    } else if let Some(short) = places::short(dir, config.ledger.max_bytes, size(path)) {
        checks.warn(NAME, short, "set ledger.max_bytes lower, free some, or name a file on another disk");
    } else if is_new {
        checks.skip(NAME, format!("{} is made by `drover serve`", path.display()));
    } else {
        checks.ok(NAME, format!("{} can be read and written", path.display()));
    }
}

#[cfg(test)]
mod tests {
    use super::super::Verdict;
    use super::*;
    use crate::config::{Sources, load};
    use crate::ledger::{State, fixture};

    #[test]
    fn a_ledger_that_could_not_be_written_is_warned_of_before_the_service_starts() {
        let dir = tempfile::tempdir().unwrap();
        let said = |path: std::path::PathBuf, more: &[&str]| {
            let set = [format!("ledger.path={}", path.display())];
            let set = set.into_iter().chain(more.iter().map(ToString::to_string)).collect();
            let mut checks = Checks::default();
            file(&load(&Sources { file: None, set }, std::iter::empty()).unwrap().config, &mut checks);
            (checks.0[0].verdict, checks.0[0].says.clone())
        };
        assert_eq!(said(dir.path().join("l.db"), &[]).0, Verdict::Skip);
        let (verdict, says) = said(dir.path().join("l.db"), &["ledger.max_bytes=1000TiB"]);
        assert!(verdict == Verdict::Warn && says.contains(" more may come to lie there"), "{says}");
        std::fs::write(dir.path().join("file"), "").unwrap();
        let (verdict, says) = said(dir.path().join("file/dir/l.db"), &[]);
        assert!(verdict == Verdict::Warn && says.contains("Not a directory"), "{says}");
    }

    #[test]
    fn of_an_older_ledger_is_told_that_the_service_takes_it_on_for_good_and_the_rest_is_looked_at_all_the_same() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("l.db");
        fixture::older(&path);
        let said = |more: &[&str]| {
            let set = [format!("ledger.path={}", path.display())];
            let set = set.into_iter().chain(more.iter().map(ToString::to_string)).collect();
            let mut checks = Checks::default();
            file(&load(&Sources { file: None, set }, std::iter::empty()).unwrap().config, &mut checks);
            let [older, rest] = checks.0.try_into().unwrap();
            assert!(older.says.contains("cannot use it any more") && older.fix.unwrap().starts_with("copy it first"));
            (older.verdict, rest.verdict)
        };
        assert_eq!(said(&[]), (Verdict::Warn, Verdict::Ok));
        assert_eq!(said(&["ledger.max_bytes=1000TiB"]), (Verdict::Warn, Verdict::Warn));
    }

    #[test]
    fn a_ledger_that_cannot_be_kept_is_warned_of_with_what_to_do() {
        let said = |state| {
            let mut checks = Checks::default();
            running(&LedgerView::of(&state, None), &mut checks);
            (checks.0[0].verdict, checks.0[0].says.clone())
        };
        let failing = State::after(&LedgerError::Full("/l.db".into()));
        let (verdict, says) = said(failing);
        assert!(verdict == Verdict::Warn && says.contains("/l.db") && says.contains("free some"), "{says}");
        assert_eq!(
            [State::Keeping, State::Opening, State::Off].map(|state| said(state).0),
            [Verdict::Ok, Verdict::Ok, Verdict::Skip]
        );
    }
}
