//! What the service itself says to the engine about the whole cluster: holds, rivals.

use drover_core::model::{Channel, Fact, Observation, Source, Time};
use tokio::sync::{Mutex, mpsc};

/// Says facts of the service's own, one after the other.
pub struct Own {
    epoch: u64,
    out: mpsc::Sender<Observation>,
    /// Sequence of the next one; held while it is on its way, so that none overtakes another.
    next: Mutex<u64>,
}

/// The engine has stopped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stopped;

impl Own {
    /// The voice of the service of that epoch; `first` is the sequence of its first fact.
    pub fn new(epoch: u64, first: u64, out: mpsc::Sender<Observation>) -> Own {
        Own { epoch, out, next: Mutex::new(first) }
    }

    /// The fact as it is told to an engine.
    pub fn stamped(epoch: u64, seq: u64, now: Time, fact: Fact) -> Observation {
        let source = Source { channel: Channel::Own, app: None, principal: None, incarnation: epoch };
        Observation { source, seq, at: now, received: now, fact }
    }

    /// Tells the engine.
    ///
    /// # Errors
    /// When it has stopped.
    pub async fn say(&self, now: Time, fact: Fact) -> Result<(), Stopped> {
        let mut next = self.next.lock().await;
        self.out.send(Own::stamped(self.epoch, *next, now, fact)).await.map_err(|_| Stopped)?;
        *next += 1;
        Ok(())
    }
}
