//! Claims under examination. Exchanges never wait for the cluster: a claim is looked into beside them, and its standing is there for the next exchange.

use super::case::{Case, Standing};
use super::look::Look;
use super::metrics::Metrics;
use super::params::ProofParams;
use super::reply::{Refusal, Why};
use super::trust::{Claim, Finding, Vouch};
use crate::shown::printable;
use drover_core::model::AppId;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::sync::{Notify, Semaphore, SemaphorePermit};
use tokio::time::{Instant, sleep, sleep_until, timeout, timeout_at};

/// Looks at applications of which one took too long are a fourth of the others at most.
const LATE_SHARE: usize = 4;
/// The pauses between looks at an application, from the first to the longest …
const PAUSES: [Duration; 2] = [Duration::from_millis(250), Duration::from_secs(4)];
/// … which a new claim cuts short, but not to less than this: claims can be invented, each new look is a request.
const NEWS_AFTER: Duration = Duration::from_secs(1);

/// All claims under examination, a few for each application.
pub struct Proofs {
    vouch: Arc<dyn Vouch>,
    params: ProofParams,
    /// Looks at once: at applications that are listed, at those that nobody but their claims has told of, which may be invented, and at those of which a look took too long.
    slots: [Semaphore; 3],
    cases: Mutex<HashMap<AppId, Case>>,
    metrics: Metrics,
}

impl Proofs {
    /// No claims yet.
    pub fn new(vouch: Arc<dyn Vouch>, params: ProofParams, metrics: Metrics) -> Arc<Proofs> {
        let slots = [1, 1, LATE_SHARE].map(|share| Semaphore::new((params.at_once / share).max(1)));
        Arc::new(Proofs { vouch, params, slots, cases: Mutex::default(), metrics })
    }

    fn cases(&self) -> MutexGuard<'_, HashMap<AppId, Case>> {
        self.cases.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Where the claim stands; a new one is looked into from now on. Must be called within a tokio runtime.
    pub fn standing(self: &Arc<Self>, claim: &Claim) -> Result<Standing, Refusal> {
        let mut cases = self.cases();
        let app = claim.attempt.app;
        let until = Instant::now() + Duration::from_millis(self.params.expiry_ms);
        if let Some(case) = cases.get_mut(&app) {
            if let Some(known) = case.entry(claim) {
                if !matches!(known.standing, Standing::Fails(_)) {
                    known.until = until;
                }
                return Ok(known.standing.clone());
            }
            // However many claims keep it from a place: the looks that these give rise to are its own as well.
            if let Some(vouched) = case.bears_out(&*self.vouch, claim) {
                self.metrics.proof("held");
                return Ok(Standing::Holds(vouched));
            }
        }
        let full = cases.values().map(|case| case.entries.len()).sum::<usize>() >= self.params.pending;
        let rivals = cases.get_mut(&app).map(|case| &mut case.entries);
        if let Some(rivals) = rivals.filter(|rivals| rivals.len() >= self.params.per_application) {
            // Whoever floods an application with claims must not keep its true AM out: claims that were found wanting give way.
            let Some(weakest) = rivals.iter().position(|known| known.missed) else {
                return Err(
                    Refusal::new(Why::TooManySessions, "other claims to this job are being looked into").retry(1_000)
                );
            };
            rivals.swap_remove(weakest);
        } else if full && self.vouch.listed(app).is_none() {
            return Err(Refusal::new(Why::TooManySessions, "too many sessions wait for their proof to be checked"));
        }
        let case = cases.entry(app).or_insert_with(Case::new);
        case.add(claim, until);
        case.task.get_or_insert_with(|| tokio::spawn(examine(Arc::clone(self), app)).abort_handle());
        Ok(Standing::Checking)
    }

    /// Forgets a claim that has served its purpose.
    pub fn settle(&self, claim: &Claim) {
        let mut cases = self.cases();
        if let Some(case) = cases.get_mut(&claim.attempt.app) {
            case.entries.retain(|known| known.claim != *claim);
            if case.entries.is_empty() {
                cases.remove(&claim.attempt.app);
            }
        }
    }

    /// Drops claims nobody came back for, and refusals that have been held long enough.
    pub fn sweep(&self) {
        let now = Instant::now();
        self.cases().retain(|_, case| {
            case.entries.retain(|known| known.until > now);
            !case.entries.is_empty()
        });
    }

    /// How many claims are being looked into or held.
    pub fn count(&self) -> usize {
        self.cases().values().map(|case| case.entries.len()).sum()
    }

    /// The claims that are being looked into or held.
    pub fn claims_in_hand(&self) -> Vec<Claim> {
        self.cases().values().flat_map(|case| &case.entries).map(|entry| entry.claim.clone()).collect()
    }

    /// A place to look at an application.
    async fn slot(&self, app: AppId) -> SemaphorePermit<'_> {
        const LISTED_MEANWHILE: Duration = Duration::from_secs(1);
        loop {
            let [listed, others, late] = &self.slots;
            let slots = match () {
                () if self.is_late(app) => late,
                () if self.vouch.listed(app).is_some() => listed,
                () => others,
            };
            // They are never closed.
            if let Ok(Ok(slot)) = timeout(LISTED_MEANWHILE, slots.acquire()).await {
                return slot;
            }
        }
    }

    /// Does a look at the application hold its place for as long as it may? Masters that hang are not to keep all places from the others.
    fn is_late(&self, app: AppId) -> bool {
        self.cases().get(&app).is_some_and(|case| case.late)
    }

    /// Told of new claims to the application; `None` where none is to be looked into any more.
    fn next(&self, app: AppId) -> Option<Arc<Notify>> {
        let mut cases = self.cases();
        let case = cases.get_mut(&app)?;
        if case.open().is_empty() {
            case.task = None;
            return None;
        }
        Some(Arc::clone(&case.news))
    }

    /// One look at the application, for all claims to it. `pause`: there is none again sooner.
    async fn look(&self, app: AppId, pause: Duration) {
        let began = Instant::now();
        let until = began + Duration::from_millis(self.params.look_ms);
        let mut claims = self.cases().get(&app).map(Case::open).unwrap_or_default();
        let mut look = Look::at(&*self.vouch, app);
        // Those that a listing confirms do not wait for what others have asked about.
        claims.sort_by_key(|claim| look.listed(claim).is_none());
        let mut late = false;
        for claim in &claims {
            let found = timeout_at(until, look.finds(claim)).await;
            late |= found.is_err();
            let found = found.unwrap_or_else(|_| {
                Finding::NotYet(Refusal::new(Why::NotVouched, "the ResourceManager did not answer in time"))
            });
            self.record(claim, found, began, pause);
        }
        // Those that no place was left for have theirs here, too, though none of these should have needed it.
        if claims.len() >= self.params.per_application {
            late |= timeout_at(until, look.read_ahead()).await.is_err();
        }
        self.metrics.proof_seconds.observe(began.elapsed().as_secs_f64());
        if let Some(case) = self.cases().get_mut(&app) {
            case.late = late;
            case.show(look.shown(), began);
        }
    }

    /// Takes note of what a look that began then has found.
    fn record(&self, claim: &Claim, finding: Finding, began: Instant, pause: Duration) {
        let mut cases = self.cases();
        let Some(entry) = cases.get_mut(&claim.attempt.app).and_then(|case| case.entry(claim)) else { return };
        entry.missed = !matches!(finding, Finding::Holds(_));
        let patience = Duration::from_millis(self.params.patience_ms);
        let deadline = *entry.deadline.get_or_insert(began + patience);
        entry.standing = match finding {
            Finding::Holds(vouched) => {
                self.metrics.proof("held");
                Standing::Holds(vouched)
            }
            Finding::NotYet(_) if Instant::now() + pause <= deadline => return,
            Finding::NotYet(refusal) | Finding::Fails(refusal) => {
                entry.until = Instant::now() + Duration::from_millis(refusal.retry_ms.min(self.params.expiry_ms));
                let (error, attempt) = (refusal.why.label(), claim.attempt);
                self.metrics.proof(error);
                tracing::warn!(error, %attempt, session = %claim.session, user = %printable(&claim.user), "a shim's session is refused: {}", refusal.message);
                Standing::Fails(refusal)
            }
        };
    }
}

/// Looks at the application until each claim to it holds, fails, or has had its time.
async fn examine(proofs: Arc<Proofs>, app: AppId) {
    let [mut pause, longest] = PAUSES;
    while let Some(news) = proofs.next(app) {
        let slot = proofs.slot(app).await;
        let began = Instant::now();
        proofs.look(app, pause).await;
        drop(slot);
        let told = async {
            news.notified().await;
            sleep_until(began + NEWS_AFTER).await;
        };
        tokio::select! {
            () = told => {}
            () = sleep(pause) => {}
        }
        pause = (pause * 2).min(longest);
    }
}
