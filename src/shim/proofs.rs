//! Claims under examination. Exchanges never wait for the cluster: a claim is looked into beside them, and its standing is there for the next exchange.

use super::metrics::Metrics;
use super::params::ProofParams;
use super::reply::{Refusal, Why};
use super::trust::{Claim, Finding, Vouch, Vouched, check};
use crate::shown::printable;
use drover_core::model::AppId;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::sync::{Semaphore, SemaphorePermit};
use tokio::task::AbortHandle;
use tokio::time::Instant;

/// Looks at applications of which one took too long are a fourth of the others at most.
const LATE_SHARE: usize = 4;

/// Where a claim stands.
#[derive(Debug, Clone, PartialEq)]
pub enum Standing {
    /// It is being looked into.
    Checking,
    /// It holds.
    Holds(Vouched),
    /// It does not.
    Fails(Refusal),
}

/// All claims under examination, a few for each application.
pub struct Proofs {
    vouch: Arc<dyn Vouch>,
    params: ProofParams,
    /// Looks at once: at applications that are listed, at those that nobody but their claims has told of, which may be invented, and at those of which a look took too long.
    slots: [Semaphore; 3],
    claims: Mutex<HashMap<AppId, Vec<Entry>>>,
    metrics: Metrics,
}

struct Entry {
    claim: Claim,
    standing: Standing,
    /// A look has found the claim wanting; more can still come.
    missed: bool,
    /// The last look took too long.
    late: bool,
    /// When the entry is dropped, settled or not.
    until: Instant,
    task: AbortHandle,
}

impl Drop for Entry {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl Proofs {
    /// No claims yet.
    pub fn new(vouch: Arc<dyn Vouch>, params: ProofParams, metrics: Metrics) -> Arc<Proofs> {
        let slots = [1, 1, LATE_SHARE].map(|share| Semaphore::new((params.at_once / share).max(1)));
        Arc::new(Proofs { vouch, params, slots, claims: Mutex::default(), metrics })
    }

    fn claims(&self) -> MutexGuard<'_, HashMap<AppId, Vec<Entry>>> {
        self.claims.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Where the claim stands; a new one is looked into from now on. Must be called within a tokio runtime.
    pub fn standing(self: &Arc<Self>, claim: &Claim) -> Result<Standing, Refusal> {
        let mut claims = self.claims();
        let until = Instant::now() + Duration::from_millis(self.params.expiry_ms);
        let known = claims.get_mut(&claim.attempt.app).and_then(|rivals| rivals.iter_mut().find(|k| k.claim == *claim));
        if let Some(known) = known {
            if !matches!(known.standing, Standing::Fails(_)) {
                known.until = until;
            }
            return Ok(known.standing.clone());
        }
        let full = claims.values().map(Vec::len).sum::<usize>() >= self.params.pending;
        let rivals = claims.entry(claim.attempt.app).or_default();
        if rivals.len() >= self.params.per_application {
            // Whoever floods an application with claims must not keep its true AM out: claims that were found wanting give way.
            let Some(weakest) = rivals.iter().position(|known| known.missed) else {
                return Err(
                    Refusal::new(Why::TooManySessions, "other claims to this job are being looked into").retry(1_000)
                );
            };
            rivals.swap_remove(weakest);
        } else if full && self.vouch.listed(claim.attempt.app).is_none() {
            if rivals.is_empty() {
                claims.remove(&claim.attempt.app);
            }
            return Err(Refusal::new(Why::TooManySessions, "too many sessions wait for their proof to be checked"));
        }
        let task = tokio::spawn(examine(Arc::clone(self), claim.clone())).abort_handle();
        rivals.push(Entry {
            claim: claim.clone(),
            standing: Standing::Checking,
            missed: false,
            late: false,
            until,
            task,
        });
        Ok(Standing::Checking)
    }

    /// Forgets a claim that has served its purpose.
    pub fn settle(&self, claim: &Claim) {
        let mut claims = self.claims();
        if let Some(rivals) = claims.get_mut(&claim.attempt.app) {
            rivals.retain(|known| known.claim != *claim);
            if rivals.is_empty() {
                claims.remove(&claim.attempt.app);
            }
        }
    }

    /// Drops claims nobody came back for, and refusals that have been held long enough.
    pub fn sweep(&self) {
        let now = Instant::now();
        self.claims().retain(|_, rivals| {
            rivals.retain(|known| known.until > now);
            !rivals.is_empty()
        });
    }

    /// How many claims are being looked into or held.
    pub fn count(&self) -> usize {
        self.claims().values().map(Vec::len).sum()
    }

    /// The claims that are being looked into or held.
    pub fn claims_in_hand(&self) -> Vec<Claim> {
        self.claims().values().flatten().map(|entry| entry.claim.clone()).collect()
    }

    /// A place to look at a claim.
    async fn slot(&self, claim: &Claim) -> SemaphorePermit<'_> {
        const LISTED_MEANWHILE: Duration = Duration::from_secs(1);
        loop {
            let [listed, others, late] = &self.slots;
            let app = claim.attempt.app;
            let slots = match () {
                () if self.is_late(app) => late,
                () if self.vouch.listed(app).is_some() => listed,
                () => others,
            };
            // They are never closed.
            if let Ok(Ok(slot)) = tokio::time::timeout(LISTED_MEANWHILE, slots.acquire()).await {
                return slot;
            }
        }
    }

    /// Does a look at the application hold its place for as long as it may? Masters that hang are not to keep all places from the others.
    fn is_late(&self, app: AppId) -> bool {
        self.claims().get(&app).is_some_and(|rivals| rivals.iter().any(|known| known.late))
    }

    fn note_late(&self, claim: &Claim, late: bool) {
        if let Some(rivals) = self.claims().get_mut(&claim.attempt.app) {
            rivals.iter_mut().filter(|known| known.claim == *claim).for_each(|known| known.late = late);
        }
    }

    fn record(&self, claim: &Claim, standing: Option<Standing>) {
        let mut claims = self.claims();
        let rivals = claims.get_mut(&claim.attempt.app);
        let Some(entry) = rivals.and_then(|rivals| rivals.iter_mut().find(|known| known.claim == *claim)) else {
            return;
        };
        entry.missed = !matches!(standing, Some(Standing::Holds(_)));
        if let Some(standing) = standing {
            if let Standing::Fails(refusal) = &standing {
                entry.until = Instant::now() + Duration::from_millis(refusal.retry_ms.min(self.params.expiry_ms));
            }
            self.metrics.proof(match &standing {
                Standing::Fails(refusal) => refusal.why.label(),
                _ => "held",
            });
            if let Standing::Fails(refusal) = &standing {
                let (error, attempt) = (refusal.why.label(), claim.attempt);
                tracing::warn!(error, %attempt, session = %claim.session, user = %printable(&claim.user), "a shim's session is refused: {}", refusal.message);
            }
            entry.standing = standing;
        }
    }
}

/// Looks until the claim holds, fails, or has had its time; that time runs from its first look, so a queue before it costs it nothing.
async fn examine(proofs: Arc<Proofs>, claim: Claim) {
    let mut deadline = None;
    let mut pause = Duration::from_millis(250);
    loop {
        let slot = proofs.slot(&claim).await;
        let began = Instant::now();
        let deadline = *deadline.get_or_insert(began + Duration::from_millis(proofs.params.patience_ms));
        let limit = Duration::from_millis(proofs.params.look_ms);
        let look = tokio::time::timeout(limit, check(&*proofs.vouch, &claim)).await;
        proofs.note_late(&claim, look.is_err());
        let finding = look.unwrap_or_else(|_| {
            Finding::NotYet(Refusal::new(Why::NotVouched, "the ResourceManager did not answer in time"))
        });
        drop(slot);
        proofs.metrics.proof_seconds.observe(began.elapsed().as_secs_f64());
        match finding {
            Finding::Holds(vouched) => return proofs.record(&claim, Some(Standing::Holds(vouched))),
            Finding::Fails(refusal) => return proofs.record(&claim, Some(Standing::Fails(refusal))),
            Finding::NotYet(refusal) if Instant::now() + pause > deadline => {
                return proofs.record(&claim, Some(Standing::Fails(refusal)));
            }
            Finding::NotYet(_) => proofs.record(&claim, None),
        }
        tokio::time::sleep(pause).await;
        pause = (pause * 2).min(Duration::from_secs(4));
    }
}
