//! What the two threads of the ledger share: the one that hands rows over, and the writer's own.

use super::error::LedgerError;
use super::learned::Slot;
use super::metrics::Metrics;
use super::schema::Row;
use super::state::State;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::SyncSender;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

/// How the writer goes about it.
#[derive(Debug, Clone, Copy)]
pub struct Pace {
    /// Messages that may wait for the disk.
    pub waiting: usize,
    /// Rows that are committed together.
    pub group: usize,
    /// After a trouble, before it is tried again.
    pub retry: Duration,
    /// Between two looks at the file while nothing is written.
    pub look: Duration,
}

impl Default for Pace {
    fn default() -> Self {
        Pace { waiting: 4_096, group: 1_000, retry: Duration::from_secs(30), look: Duration::from_secs(5) }
    }
}

pub(super) enum Message {
    Rows(Vec<Row>),
    /// Says so once all before it has been dealt with.
    Heard(SyncSender<()>),
}

/// What the writer's thread shares.
pub(super) struct Shared {
    pub(super) state: Mutex<State>,
    pub(super) committed: AtomicU64,
    /// What was learned, to be kept.
    pub(super) learned: Slot,
    /// Nobody hands anything over any more.
    pub(super) ending: AtomicBool,
}

impl Shared {
    /// Nothing is kept yet.
    pub(super) fn new() -> Shared {
        Shared {
            state: Mutex::new(State::Opening),
            committed: AtomicU64::new(0),
            learned: Slot::default(),
            ending: AtomicBool::new(false),
        }
    }

    pub(super) fn is_ending(&self) -> bool {
        self.ending.load(Ordering::Acquire)
    }

    /// Says how it is now. Is that news?
    pub(super) fn be(&self, state: State) -> bool {
        let mut known = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let news = *known != state;
        *known = state;
        news
    }

    /// Nothing is kept, for that trouble.
    pub(super) fn fail(&self, error: &LedgerError, metrics: &Metrics) {
        metrics.errors.with_label_values(&[error.label()]).inc();
        metrics.active.set(0);
        if self.be(State::after(error)) {
            tracing::error!(%error, "the service goes on without its ledger");
        }
    }
}
