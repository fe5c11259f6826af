//! What a ResourceManager that answers does not tell, as the log has it.

use super::super::error::{Error, Kind};
use super::super::schedule::Call;
use super::taken::TOLD_AGAIN;
use tokio::time::Instant;

/// Calls that have failed.
#[derive(Debug, Default)]
pub(super) struct Untold(Vec<Trouble>);

#[derive(Debug)]
struct Trouble {
    call: Call,
    /// The outcome that was last logged of it; `None` where that was that it is told again.
    logged: Option<&'static str>,
    /// When that was.
    at: Instant,
}

impl Untold {
    /// Notes a call's failure; is it one to log, as it is not logged yet, and nothing else of this call was just now?
    pub(super) fn failed(&mut self, call: Call, error: &Error) -> bool {
        // A pause that it asks for is no trouble; and whether a connection that fails is one the listing of applications tells.
        if matches!(error.kind, Kind::TooManyRequests(_) | Kind::Unreachable(_)) {
            return false;
        }
        let label = Some(error.label());
        let Some(known) = self.0.iter_mut().find(|trouble| trouble.call == call) else {
            self.0.push(Trouble { call, logged: label, at: Instant::now() });
            return true;
        };
        known.logged != label && known.log(label)
    }

    /// Notes that a call does not fail; is that to be logged, as it did for longer than a moment?
    pub(super) fn told(&mut self, call: Call) -> bool {
        let known = self.0.iter_mut().find(|trouble| trouble.call == call);
        known.is_some_and(|known| known.logged.is_some() && known.log(None))
    }
}

impl Trouble {
    fn log(&mut self, what: Option<&'static str>) -> bool {
        let again = self.at.elapsed() > TOLD_AGAIN;
        if again {
            (self.logged, self.at) = (what, Instant::now());
        }
        again
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
        assert!(!untold.told(Call::Apps), "a gateway that fails every other time fills no log");
        tokio::time::advance(TOLD_AGAIN * 2).await;
        assert_eq!([untold.told(Call::Apps), untold.told(Call::Apps)], [true, false]);
        assert!(!untold.failed(Call::Apps, &forbidden));
        tokio::time::advance(TOLD_AGAIN * 2).await;
        assert!(untold.failed(Call::Apps, &forbidden));
    }
}
