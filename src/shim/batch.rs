//! What goes from the shims' desk to the engine.

use drover_core::model::{AckFact, Observation};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use tokio::sync::oneshot;

/// The facts of one exchange.
#[derive(Debug, Default)]
pub struct Batch {
    /// In the order in which they were told.
    pub facts: Vec<Observation>,
    /// Answers to what earlier processes of the service asked for: none is a fact to this one's engine, which never decided on it.
    pub late: Vec<Late>,
    /// Is to be told once a pass has taken them in; whoever waits for it may have gone.
    pub decided: Option<oneshot::Sender<()>>,
    /// Their share of what waits for the engine.
    pub waits: Option<Waits>,
}

/// Rows that wait for the engine: of one batch, for as long as it does, and of all.
#[derive(Debug)]
pub struct Waits {
    rows: usize,
    all: Arc<AtomicUsize>,
}

impl Waits {
    /// Rows that may wait in all: some 150 MB.
    pub const MAX: usize = 500_000;

    /// Counts so many among all.
    pub fn among(all: &Arc<AtomicUsize>, rows: usize) -> Waits {
        all.fetch_add(rows, Ordering::Relaxed);
        Waits { rows, all: all.clone() }
    }
}

impl Drop for Waits {
    fn drop(&mut self) {
        self.all.fetch_sub(self.rows, Ordering::Relaxed);
    }
}

/// An answer to an action of an earlier process of the service.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Late {
    /// That process.
    pub incarnation: String,
    /// Its decision, and the answer.
    pub ack: AckFact,
}

impl IntoIterator for Batch {
    type Item = Observation;
    type IntoIter = std::vec::IntoIter<Observation>;

    fn into_iter(self) -> Self::IntoIter {
        self.facts.into_iter()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_wait_for_the_engine_until_it_takes_their_batch_or_lets_go_of_it() {
        let all = Arc::default();
        let of = |rows| Batch { waits: Some(Waits::among(&all, rows)), ..Batch::default() };
        let (taken, dropped) = (of(7), of(3));
        assert_eq!(all.load(Ordering::Relaxed), 10);
        assert_eq!(taken.into_iter().count(), 0);
        assert_eq!(all.load(Ordering::Relaxed), 3);
        drop(dropped);
        assert_eq!(all.load(Ordering::Relaxed), 0);
    }
}
