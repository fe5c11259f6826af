//! The one writer. The engine's thread only hands rows over and never waits; a thread of the ledger commits them in groups. Where the disk is too slow rows are lost and
//! counted; where it fails the service goes on without the ledger, which is tried again from time to time.

use super::error::LedgerError;
use super::look::Stamp;
use super::metrics::Metrics;
use super::retain::Bounds;
use super::schema::Row;
use super::state::State;
use super::store::{File, Store};
use drover_core::model::{Bytes, Millis, Time};
use std::mem::take;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, TrySendError, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

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

enum Message {
    Rows(Vec<Row>),
    /// Says so once all before it has been dealt with.
    Heard(SyncSender<()>),
}

/// What the writer's thread shares.
struct Shared {
    state: Mutex<State>,
    committed: AtomicU64,
}

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
        let shared = Arc::new(Shared { state: Mutex::new(State::Opening), committed: AtomicU64::new(0) });
        let (path, told) = (path.to_owned(), metrics.clone());
        let keeper = Keeper {
            path,
            bounds,
            pace,
            clock,
            shared: shared.clone(),
            metrics: told,
            store: None,
            retry_at: None,
            whole: None,
            damaged: None,
            pause: None,
            lost: 0,
        };
        let writer = std::thread::Builder::new().name("ledger".into()).spawn(move || keeper.run(&receiver))?;
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
                self.metrics.dropped.with_label_values(&["queue_full"]).inc_by(count);
                if self.losing == 0 && matches!(why, TrySendError::Full(_)) {
                    tracing::warn!("the ledger's disk is too slow, and rows are lost until it keeps up");
                }
                self.losing += count;
            }
        }
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
        self.sender = None;
        if let Some(Err(_)) = self.writer.take().map(JoinHandle::join) {
            tracing::error!("the ledger's thread panicked");
        }
    }
}

impl Drop for Ledger {
    fn drop(&mut self) {
        self.sender = None;
    }
}

/// The writer's own.
struct Keeper {
    path: PathBuf,
    bounds: Bounds,
    pace: Pace,
    clock: fn() -> Time,
    shared: Arc<Shared>,
    metrics: Metrics,
    store: Option<Store>,
    /// Not before; `None` while nothing is wrong.
    retry_at: Option<Instant>,
    /// The file that this process has found whole, until it is damaged.
    whole: Option<File>,
    /// The file that was found damaged, as it was then.
    damaged: Option<Stamp>,
    /// What the service's clock is ahead of the one that rows age by; `None` before the file was first opened.
    pause: Option<Millis>,
    /// Rows lost since it was last kept.
    lost: u64,
}

impl Keeper {
    fn run(mut self, receiver: &Receiver<Message>) {
        self.reopen();
        loop {
            let first = match receiver.recv_timeout(self.pace.look) {
                Ok(message) => Some(message),
                Err(RecvTimeoutError::Timeout) => None,
                Err(RecvTimeoutError::Disconnected) => break,
            };
            let (mut group, mut waits) = (Vec::new(), Vec::new());
            let more = std::iter::from_fn(|| receiver.try_recv().ok());
            for message in first.into_iter().chain(more) {
                match message {
                    Message::Rows(rows) => {
                        self.metrics.queue.dec();
                        group.extend(rows);
                    }
                    Message::Heard(say) => waits.push(say),
                }
                if group.len() >= self.pace.group || !waits.is_empty() {
                    break;
                }
            }
            self.keep(&group);
            // Whoever waited may have gone meanwhile.
            waits.into_iter().for_each(|say: SyncSender<()>| _ = say.send(()));
        }
        self.metrics.active.set(0);
    }

    /// Keeps a group, or counts it as lost; without one, looks after the file.
    fn keep(&mut self, group: &[Row]) {
        if let Some(Err(gone)) = self.store.as_ref().map(Store::check) {
            self.fail(&gone);
            self.retry_at = None;
        }
        if self.store.is_none() && self.retry_at.is_none_or(|at| Instant::now() >= at) {
            self.reopen();
        }
        let Some(store) = &mut self.store else { return self.lose(group) };
        match store.write(group) {
            Ok(()) => self.count(group),
            Err(error) => {
                self.fail(&error);
                return self.lose(group);
            }
        }
        let Some(store) = &self.store else { return };
        if let Err(error) = store.retain(self.bounds, (self.clock)() - self.pause.unwrap_or_default(), &self.metrics) {
            self.fail(&error);
        }
    }

    fn count(&self, group: &[Row]) {
        for row in group {
            self.metrics.rows.with_label_values(&[row.table.name]).inc();
        }
        self.shared.committed.fetch_add(group.len() as u64, Ordering::Release);
        self.weigh();
    }

    fn weigh(&self) {
        let bytes = self.store.as_ref().map_or(0, |store| store.bytes().0);
        self.metrics.bytes.set(i64::try_from(bytes).unwrap_or(i64::MAX));
    }

    fn lose(&mut self, group: &[Row]) {
        self.lost += group.len() as u64;
        self.metrics.dropped.with_label_values(&["unwritable"]).inc_by(group.len() as u64);
    }

    fn reopen(&mut self) {
        if self.damaged.is_some() && self.damaged == Stamp::of(&self.path) {
            // It is as it was, and takes long to read.
            self.retry_at = Some(Instant::now() + self.pace.retry);
            return;
        }
        let opened = Store::open(&self.path, &mut self.whole).and_then(|store| {
            // Once: rows of this process show how its own clock stands and no other.
            let pause = self.pause.map_or_else(|| store.pause((self.clock)()), Ok)?;
            Ok((store, pause))
        });
        match opened {
            Ok((store, pause)) => {
                self.pause = Some(pause);
                if self.be(State::Keeping) {
                    tracing::info!(path = %self.path.display(), lost = take(&mut self.lost), "keeping a ledger");
                }
                (self.store, self.retry_at, self.damaged) = (Some(store), None, None);
                self.weigh();
                self.metrics.active.set(1);
            }
            Err(error) => self.fail(&error),
        }
    }

    fn fail(&mut self, error: &LedgerError) {
        self.metrics.errors.with_label_values(&[error.label()]).inc();
        self.metrics.active.set(0);
        if self.be(State::after(error)) {
            tracing::error!(%error, "the service goes on without its ledger");
        }
        (self.store, self.retry_at) = (None, Some(Instant::now() + self.pace.retry));
        let is_damaged = matches!(error, LedgerError::Damaged(..));
        self.damaged = Stamp::of(&self.path).filter(|_| is_damaged);
        self.whole = self.whole.filter(|_| !is_damaged);
    }

    /// Says how it is now. Is that news?
    fn be(&self, state: State) -> bool {
        let mut known = self.shared.state.lock().unwrap_or_else(PoisonError::into_inner);
        let news = *known != state;
        *known = state;
        news
    }
}
