//! The claims to one application. One look at it serves them all, and what it shows those that come soon after.

use super::look::Shown;
use super::reply::Refusal;
use super::trust::{Claim, Vouch, Vouched};
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::Notify;
use tokio::task::AbortHandle;
use tokio::time::Instant;

/// So long counts what a look has shown, as does what the ResourceManager has listed.
const SHOWN_FOR: Duration = Duration::from_secs(30);

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

/// All claims to one application, and who looks into them.
pub struct Case {
    /// The claims.
    pub entries: Vec<Entry>,
    /// The last look took too long.
    pub late: bool,
    /// Told of each new claim.
    pub news: Arc<Notify>,
    /// Looks at the application while a claim is being looked into.
    pub task: Option<AbortHandle>,
    shown: Option<(Shown, Instant)>,
}

/// A claim, and where it stands.
pub struct Entry {
    /// The claim.
    pub claim: Claim,
    /// Where it stands.
    pub standing: Standing,
    /// A look has found the claim wanting; more can still come.
    pub missed: bool,
    /// When its proof has to have appeared: its time runs from its first look, so a queue before it costs it nothing.
    pub deadline: Option<Instant>,
    /// When the entry is dropped, settled or not.
    pub until: Instant,
}

impl Case {
    /// No claims yet.
    pub fn new() -> Case {
        Case { entries: Vec::new(), late: false, news: Arc::default(), task: None, shown: None }
    }

    /// What is known of a claim.
    pub fn entry(&mut self, claim: &Claim) -> Option<&mut Entry> {
        self.entries.iter_mut().find(|known| known.claim == *claim)
    }

    /// Takes in a claim that is to be looked into.
    pub fn add(&mut self, claim: &Claim, until: Instant) {
        self.entries.push(Entry {
            claim: claim.clone(),
            standing: Standing::Checking,
            missed: false,
            deadline: None,
            until,
        });
        self.news.notify_one();
    }

    /// Claims that are being looked into.
    pub fn open(&self) -> Vec<Claim> {
        let open = self.entries.iter().filter(|entry| entry.standing == Standing::Checking);
        open.map(|entry| entry.claim.clone()).collect()
    }

    /// Takes note of what a look has shown; one that could see nothing takes nothing back.
    pub fn show(&mut self, shown: Option<Shown>, at: Instant) {
        if let Some(shown) = shown {
            self.shown = Some((shown, at));
        }
    }

    /// Who is vouched for, where a look of late has shown the claim's proof already.
    pub fn bears_out(&self, vouch: &dyn Vouch, claim: &Claim) -> Option<Vouched> {
        let (shown, at) = self.shown.as_ref()?;
        if at.elapsed() > SHOWN_FOR { None } else { shown.bears_out(vouch, claim) }
    }
}

impl Drop for Case {
    fn drop(&mut self) {
        if let Some(task) = &self.task {
            task.abort();
        }
    }
}
