//! The one writer. The engine's thread only hands rows over and never waits; a thread of the ledger commits them in groups. Where the disk is too slow rows are lost and
//! counted; where it fails the service goes on without the ledger, which is tried again from time to time.

use super::error::LedgerError;
use super::keeper::Keeper;
use super::metrics::Metrics;
use super::retain::Bounds;
use super::schema::Row;
use super::shared::{Message, Pace, Shared};
use super::state::State;
use super::tables::JobRow;
use drover_core::engine::Learned;
use drover_core::model::{Bytes, Time};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::atomic::Ordering;
use std::sync::mpsc::{SyncSender, TrySendError, sync_channel};
use std::sync::{Arc, PoisonError};
use std::thread::JoinHandle;

/// The ledger, to be handed rows.
pub struct Ledger {
    sender: Option<SyncSender<Message>>,
    shared: Arc<Shared>,
    metrics: Metrics,
    /// Rows lost in a row for want of room.
    losing: u64,
    writer: Option<JoinHandle<()>>,
}

impl Ledger {
    /// Begins to keep what it is given, once its thread has looked through what is there. A file that cannot be used is told of, and tried again.
    ///
    /// # Errors
    /// When the system starts no thread.
    pub fn start(
        path: &Path,
        bounds: Bounds,
        pace: Pace,
        clock: fn() -> Time,
        metrics: Metrics,
    ) -> std::io::Result<Ledger> {
        let (sender, receiver) = sync_channel(pace.waiting);
        let shared = Arc::new(Shared::new());
        let keeper = Keeper::new(path, bounds, pace, clock, shared.clone(), metrics.clone());
        let (path, state, told) = (path.to_owned(), shared.clone(), metrics.clone());
        let write = move || {
            if catch_unwind(AssertUnwindSafe(move || keeper.run(&receiver))).is_err() {
                state.fail(&LedgerError::Panicked(path), &told);
                told.queue.set(0);
            }
        };
        let writer = std::thread::Builder::new().name("ledger".into()).spawn(write)?;
        Ok(Ledger { sender: Some(sender), shared, metrics, losing: 0, writer: Some(writer) })
    }

    /// Hands rows over; never waits.
    pub fn push(&mut self, rows: Vec<Row>) {
        let count = rows.len() as u64;
        let Some(sender) = self.sender.as_ref().filter(|_| count > 0) else { return };
        // Counted first: the writer may be done with it before this thread goes on.
        self.metrics.queue.inc();
        match sender.try_send(Message::Rows(rows)) {
            Ok(()) if self.losing > 0 => {
                tracing::warn!(lost = self.losing, "the ledger keeps up again");
                self.losing = 0;
            }
            Ok(()) => {}
            Err(why) => {
                self.metrics.queue.dec();
                let is_full = matches!(why, TrySendError::Full(_));
                let reason = if is_full { "queue_full" } else { "unwritable" };
                self.metrics.dropped.with_label_values(&[reason]).inc_by(count);
                if self.losing == 0 && is_full {
                    tracing::warn!(
                        "rows of the ledger are lost until it keeps up: its disk was slower than they came, or another process had the file locked"
                    );
                }
                self.losing += count;
            }
        }
    }

    /// Hands over what was learned at that time, in the place of what waits of that room; never waits, but for who takes what waits out at the same time.
    pub fn keep(&self, at: Time, learned: Learned) {
        self.shared.learned.put(at, learned);
    }

    /// Counts a job that has ended; `held_out` where it was drawn to a side of the hold-out.
    pub fn job_ended(&self, row: &JobRow, held_out: Option<bool>) {
        self.metrics.job_ended(row, held_out);
    }

    /// Rows that are on the disk, of those handed over since the start.
    pub fn committed(&self) -> u64 {
        self.shared.committed.load(Ordering::Acquire)
    }

    /// How it is.
    pub fn state(&self) -> State {
        self.shared.state.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Tells how it is and what space it takes, wherever it is asked: a disk that hangs keeps nobody waiting.
    pub fn watch(&self) -> impl Fn() -> (State, Bytes) + Send + Sync + use<> {
        let (shared, bytes) = (self.shared.clone(), self.metrics.bytes.clone());
        move || {
            let state = shared.state.lock().unwrap_or_else(PoisonError::into_inner).clone();
            (state, Bytes(u64::try_from(bytes.get()).unwrap_or_default()))
        }
    }

    /// Waits until all that was handed over has been dealt with.
    pub fn catch_up(&self) {
        let (say, hear) = sync_channel(1);
        if self.sender.as_ref().is_some_and(|sender| sender.send(Message::Heard(say)).is_ok()) {
            // It fails where the writer has ended, and then nothing waits.
            let _ = hear.recv();
        }
    }

    /// Writes out what waits, and ends.
    pub fn finish(&mut self) {
        self.hand_no_more();
        // That it panicked it has told itself.
        let _ = self.writer.take().map(JoinHandle::join);
    }

    fn hand_no_more(&mut self) {
        self.shared.ending.store(true, Ordering::Release);
        self.sender = None;
    }
}

impl Drop for Ledger {
    fn drop(&mut self) {
        self.hand_no_more();
    }
}
