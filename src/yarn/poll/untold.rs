//! What a ResourceManager that answers does not tell, as the log has it.

use super::super::error::{Error, Kind};
use super::super::schedule::Call;
use super::taken::TOLD_AGAIN;
use tokio::time::Instant;

/// Calls that fail, each with the outcome that was last logged, and when.
#[derive(Debug, Default)]
pub(super) struct Untold(Vec<(Call, &'static str, Instant)>);

impl Untold {
    /// Notes a call's failure; is it a new one, or another than before?
    pub(super) fn failed(&mut self, call: Call, error: &Error) -> bool {
        // A pause that it asks for is no trouble.
        if matches!(error.kind, Kind::TooManyRequests(_)) {
            return false;
        }
        let label = error.label();
        let known = self.0.iter().position(|(of, ..)| *of == call);
        if known.is_some_and(|at| self.0[at].1 == label || self.0[at].2.elapsed() <= TOLD_AGAIN) {
            return false;
        }
        self.0.retain(|(of, ..)| *of != call);
        self.0.push((call, label, Instant::now()));
        true
    }

    /// Notes that a call does not fail; did it before?
    pub(super) fn told(&mut self, call: Call) -> bool {
        let failed = self.0.len();
        self.0.retain(|(of, ..)| *of != call);
        self.0.len() < failed
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use url::Url;

    fn error(kind: Kind) -> Error {
        kind.at(&Url::parse("http://rm:8088/ws/v1/cluster/apps").unwrap())
    }

    #[tokio::test(start_paused = true)]
    async fn a_call_that_goes_on_failing_is_logged_once_and_again_where_it_fails_otherwise_or_after_it_was_told() {
        let (mut untold, login) = (Untold::default(), error(Kind::Html("Sign in".to_owned())));
        let forbidden = error(Kind::Forbidden("no".to_owned()));
        assert!(!untold.failed(Call::Apps, &error(Kind::TooManyRequests(None))), "no trouble");
        assert!(!untold.told(Call::Apps), "it never failed");
        assert_eq!([untold.failed(Call::Apps, &login), untold.failed(Call::Apps, &login)], [true, false]);
        assert!(untold.failed(Call::Queues, &login), "another one");
        assert!(!untold.failed(Call::Apps, &forbidden), "troubles that take turns");
        tokio::time::advance(TOLD_AGAIN * 2).await;
        assert_eq!([untold.failed(Call::Apps, &login), untold.failed(Call::Apps, &forbidden)], [false, true]);
        assert_eq!([untold.told(Call::Apps), untold.told(Call::Apps)], [true, false]);
        assert!(untold.failed(Call::Apps, &forbidden));
    }
}
