//! The ledger: kept by the service, or at least whole.

use super::Checks;
use crate::api::views::LedgerView;
use crate::config::Config;
use crate::ledger::{LedgerError, read};

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

/// Without a service: can the file be read?
pub fn file(config: &Config, checks: &mut Checks) {
    let Some(path) = &config.ledger.path else { return checks.skip(NAME, "ledger.path is not set: none is kept") };
    match read(path) {
        Ok(_) => checks.ok(NAME, format!("{} can be read", path.display())),
        Err(LedgerError::Missing(_)) => checks.skip(NAME, format!("{} is made by `drover serve`", path.display())),
        Err(error) => checks.warn(NAME, error.to_string(), "put right what is named before the service starts"),
    }
}

#[cfg(test)]
mod tests {
    use super::super::Verdict;
    use super::*;
    use crate::ledger::State;

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
