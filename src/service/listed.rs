//! The applications that the ResourceManager last listed as running: what they are vouched for by, without a question for each.

use crate::shim::{AppLife, AppVouch};
use crate::yarn::facts::cluster::AppSeen;
use drover_core::model::AppId;
use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::time::Instant;

/// An older listing vouches for nothing.
const GOOD_FOR: Duration = Duration::from_secs(30);

/// The last listing, where there was one.
#[derive(Default)]
pub struct Listed(Mutex<Option<(Instant, HashMap<AppId, AppVouch>)>>);

impl Listed {
    /// A listing has come. What does not tell an owner and the master's run is not in it.
    pub fn take(&self, apps: &[AppSeen]) {
        let word = |seen: &AppSeen| {
            let (user, queue) = (seen.fact.user.clone(), Some(seen.fact.queue.clone()));
            let queue = queue.filter(|queue| !queue.is_empty());
            let word = AppVouch { user, queue, life: AppLife::Running, attempt: seen.attempt? };
            (!word.user.is_empty()).then_some((seen.fact.app, word))
        };
        *self.last() = Some((Instant::now(), apps.iter().filter_map(word).collect()));
    }

    /// An application has ended, whatever the last listing said.
    pub fn forget(&self, app: AppId) {
        if let Some((_, words)) = self.last().as_mut() {
            words.remove(&app);
        }
    }

    /// What the listing says of an application, unless it is too old.
    pub fn word(&self, app: AppId) -> Option<AppVouch> {
        let last = self.last();
        let (at, words) = last.as_ref()?;
        words.get(&app).filter(|_| at.elapsed() < GOOD_FOR).cloned()
    }

    fn last(&self) -> MutexGuard<'_, Option<(Instant, HashMap<AppId, AppVouch>)>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use drover_core::model::{AppFact, Resources, Time};

    fn seen() -> Vec<AppSeen> {
        let one = |seq: u32, user: &str, attempt| {
            let (user, queue, allocated) = (user.to_owned(), "root.etl".to_owned(), Resources::default());
            let name = "a".to_owned();
            let fact =
                AppFact { app: app(seq), user, queue, name, started: Time(0), containers: 1, allocated, label: None };
            AppSeen { fact, attempt, rm_now: None }
        };
        vec![one(1, "ann", Some(2)), one(2, "ann", None), one(3, "", Some(1))]
    }

    fn app(seq: u32) -> AppId {
        AppId { cluster: 7, seq }
    }

    #[tokio::test(start_paused = true)]
    async fn a_listing_vouches_for_what_it_tells_whole_and_for_half_a_minute() {
        let listed = Listed::default();
        assert_eq!(listed.word(app(1)), None);
        listed.take(&seen());
        let (user, queue) = ("ann".to_owned(), Some("root.etl".to_owned()));
        assert_eq!(listed.word(app(1)), Some(AppVouch { user, queue, life: AppLife::Running, attempt: 2 }));
        assert_eq!([2, 3, 4].map(|seq| listed.word(app(seq))), [None, None, None]);
        tokio::time::advance(GOOD_FOR).await;
        assert_eq!(listed.word(app(1)), None);
    }

    #[tokio::test]
    async fn what_has_ended_since_is_not_vouched_for() {
        let listed = Listed::default();
        listed.take(&seen());
        listed.forget(app(1));
        assert_eq!(listed.word(app(1)), None);
    }
}
