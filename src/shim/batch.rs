//! What goes from the shims' desk to the engine.

use drover_core::model::Observation;
use tokio::sync::oneshot;

/// The facts of one exchange.
#[derive(Debug)]
pub struct Batch {
    /// In the order in which they were told.
    pub facts: Vec<Observation>,
    /// Is to be told once a pass has taken them in; whoever waits for it may have gone.
    pub decided: Option<oneshot::Sender<()>>,
}

impl IntoIterator for Batch {
    type Item = Observation;
    type IntoIter = std::vec::IntoIter<Observation>;

    fn into_iter(self) -> Self::IntoIter {
        self.facts.into_iter()
    }
}
