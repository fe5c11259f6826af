//! What goes from the shims' desk to the engine.

use drover_core::model::{AckFact, Observation};
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
