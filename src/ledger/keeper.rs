//! The writer's own thread: groups of rows, the file that is looked after, troubles after which it is tried again.

use super::error::LedgerError;
use super::learned::Shelf;
use super::look::Stamp;
use super::metrics::Metrics;
use super::open::{PATIENCE, TRY};
use super::retain::Bounds;
use super::schema::Row;
use super::shared::{Message, Pace, Shared};
use super::state::State;
use super::store::{File, Store, Written};
use drover_core::model::{Millis, Time};
use std::mem::take;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender};
use std::time::Instant;

/// The writer's own.
pub(super) struct Keeper {
    path: PathBuf,
    bounds: Bounds,
    pace: Pace,
    clock: fn() -> Time,
    shared: Arc<Shared>,
    metrics: Metrics,
    store: Option<Store>,
    /// Not before; `None` while nothing is wrong, or the file is locked.
    retry_at: Option<Instant>,
    /// The file that this process has found whole, until it is damaged.
    whole: Option<File>,
    /// The file that was found damaged, as it was then.
    damaged: Option<(Stamp, Option<Stamp>)>,
    /// What the service's clock is ahead of the one that rows age by; `None` before the file was first opened.
    pause: Option<Millis>,
    /// Since when somebody else has the file locked, or since that was last told of.
    locked: Option<Instant>,
    /// Rows lost since it was last kept.
    lost: u64,
    /// What it has written of what was learned.
    shelf: Shelf,
    /// When that is tried again, after a trouble.
    shelf_at: Option<Instant>,
}

impl Keeper {
    /// Has kept nothing yet.
    pub(super) fn new(
        path: &Path,
        bounds: Bounds,
        pace: Pace,
        clock: fn() -> Time,
        shared: Arc<Shared>,
        metrics: Metrics,
    ) -> Keeper {
        Keeper {
            path: path.to_owned(),
            bounds,
            pace,
            clock,
            shared,
            metrics,
            store: None,
            retry_at: None,
            whole: None,
            damaged: None,
            pause: None,
            locked: None,
            lost: 0,
            shelf: Shelf::new(bounds),
            shelf_at: None,
        }
    }

    pub(super) fn run(mut self, receiver: &Receiver<Message>) {
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
            // At the end rows go before it.
            if !self.shared.is_ending() {
                self.keep_learned();
            }
            // Whoever waited may have gone meanwhile.
            waits.into_iter().for_each(|say: SyncSender<()>| _ = say.send(()));
        }
        self.keep_learned();
        self.metrics.active.set(0);
    }

    /// Keeps what was learned, where the file takes it; else it waits for the next look.
    fn keep_learned(&mut self) {
        // At the end there is no later try.
        let is_due = self.shared.is_ending() || self.shelf_at.is_none_or(|at| Instant::now() >= at);
        let Some(store) = self.store.as_mut().filter(|_| is_due) else { return };
        self.shelf_at = None;
        match self.shelf.keep(&self.shared.learned, store) {
            Ok(()) => self.weigh(),
            Err(LedgerError::Busy(..)) if self.shared.is_ending() => {
                tracing::error!(
                    "another process has the ledger's file locked at the end, and what was learned last is not kept"
                );
            }
            Err(LedgerError::Busy(..)) => {}
            Err(error @ (LedgerError::Damaged(..) | LedgerError::Deleted(_))) => self.fail(&error),
            Err(error) => {
                // A room may be too much where a group of rows is not.
                self.shelf_at = Some(Instant::now() + self.pace.retry);
                tracing::error!(%error, "what was learned is not kept now, and is tried again; rows are kept as before");
            }
        }
    }

    /// Keeps a group, or counts it as lost; without one, looks after the file. While somebody else has that locked the group waits, and the queue fills.
    fn keep(&mut self, group: &[Row]) {
        while !self.is_dealt_with(group) {
            if self.shared.is_ending() {
                (self.store, self.retry_at) = (None, Some(Instant::now() + self.pace.retry));
                tracing::error!(
                    rows = group.len(),
                    "another process has the ledger's file locked at the end, and rows are lost"
                );
                return self.lose(group.len() as u64, "unwritable");
            }
            std::thread::sleep(self.pace.retry.min(TRY));
        }
    }

    /// `false` where the file is locked.
    fn is_dealt_with(&mut self, group: &[Row]) -> bool {
        if let Some(Err(gone)) = self.store.as_ref().map(Store::check) {
            self.fail(&gone);
            self.retry_at = None;
        }
        if self.store.is_none() && self.retry_at.is_none_or(|at| Instant::now() >= at) {
            self.reopen();
        }
        let written = self.store.as_mut().map(|store| store.write(group));
        let written = written.and_then(|written| written.inspect_err(|error| self.fail(error)).ok());
        let Some(written) = written else {
            let is_locked = self.retry_at.is_none();
            if !is_locked {
                self.lose(group.len() as u64, "unwritable");
            }
            return !is_locked;
        };
        self.count(&written);
        let (clock, pause) = ((self.clock)(), self.pause.unwrap_or_default());
        let retained = self.store.as_ref().map(|store| store.retain(self.bounds, clock, pause, &self.metrics));
        // Of a file that is locked it lets go later.
        if let Some(Err(error)) = retained.filter(|done| !matches!(done, Err(LedgerError::Busy(..)))) {
            self.fail(&error);
        }
        true
    }

    fn count(&mut self, written: &Written) {
        self.locked = None;
        for (table, new) in &written.new {
            self.metrics.rows.with_label_values(&[table]).inc_by(*new);
        }
        self.shared.committed.fetch_add(written.new.values().sum(), Ordering::Release);
        self.lose(written.refused, "invalid");
        if self.shared.be(State::Keeping) {
            tracing::info!(path = %self.path.display(), "the ledger is not locked any more, and is kept again");
        }
        self.metrics.active.set(1);
        self.weigh();
    }

    fn weigh(&self) {
        let bytes = self.store.as_ref().map_or(0, |store| store.bytes().0);
        self.metrics.bytes.set(i64::try_from(bytes).unwrap_or(i64::MAX));
    }

    fn lose(&mut self, rows: u64, why: &str) {
        self.lost += rows;
        self.metrics.dropped.with_label_values(&[why]).inc_by(rows);
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
            let oldest = store.oldest()?;
            Ok((store, pause, oldest))
        });
        match opened {
            Ok((store, pause, oldest)) => {
                self.pause = Some(pause);
                if self.shared.be(State::Keeping) {
                    self.tell_of(&store, oldest);
                }
                (self.store, self.retry_at, self.damaged) = (Some(store), None, None);
                self.shelf.forget();
                self.weigh();
                self.metrics.active.set(1);
            }
            Err(error) => self.fail(&error),
        }
    }

    /// A ledger that is not where it was looks like a first start.
    fn tell_of(&mut self, store: &Store, oldest: Option<Time>) {
        let (path, lost) = (self.path.display(), take(&mut self.lost));
        if store.is_new {
            tracing::warn!(%path, lost, "keeping a new ledger, as there was none of that name: what an earlier one may have kept is not in it");
        } else {
            let since = oldest.and_then(|oldest| jiff::Timestamp::from_millisecond(i64::try_from(oldest.0).ok()?).ok());
            let since = since.map_or_else(|| "none are kept yet".to_owned(), |since| since.to_string());
            tracing::info!(%path, lost, rows_since = %since, "keeping a ledger");
        }
    }

    fn fail(&mut self, error: &LedgerError) {
        if matches!(error, LedgerError::Busy(..)) {
            self.retry_at = None;
            // For less it is no trouble.
            if self.locked.get_or_insert_with(Instant::now).elapsed() >= PATIENCE {
                self.locked = None;
                self.shared.fail(error, &self.metrics);
            }
            return;
        }
        self.shared.fail(error, &self.metrics);
        (self.store, self.retry_at) = (None, Some(Instant::now() + self.pace.retry));
        let is_damaged = matches!(error, LedgerError::Damaged(..) | LedgerError::OthersLog(_));
        self.damaged = Stamp::of(&self.path).filter(|_| is_damaged);
        self.whole = self.whole.filter(|_| !is_damaged);
    }
}
