//! Records what the engine is given and what it decides. The engine's thread only hands entries over; a thread of the recording writes
//! them. Where the disk is too slow, or has too little room for it, entries are lost and counted, and a new segment, which starts with the engine's state, closes the gap.

use super::format::{Entry, FORMAT, Header, Line};
use super::log::{Log, LogEnd};
use crate::telemetry::{BUILD, Metrics};
use drover_core::model::Time;
use serde::Serialize;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicIsize, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, TryRecvError, TrySendError, sync_channel};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// Entries that may wait for the disk.
const WAITING: usize = 1_024;
/// Rows in them that may: some 150 MB.
const ROWS_WAITING: isize = 500_000;

/// Until the state is asked for again that was too large: to write it out costs the engine time, and it becomes smaller only as jobs end.
const PAUSE: Duration = Duration::from_secs(600);

/// The engine's end of the recording.
pub struct Recorder<P> {
    sender: Option<SyncSender<Message<P>>>,
    shared: Arc<Shared>,
    run: String,
    lost: u64,
    /// Gives back what it lost since the newest segment.
    writer: Option<JoinHandle<u64>>,
    metrics: Arc<Metrics>,
}

struct Shared {
    wants_segment: AtomicBool,
    stopped: AtomicBool,
    /// Messages handed over and not yet dealt with.
    waiting: AtomicIsize,
    /// Rows in these.
    rows: AtomicIsize,
}

enum Message<P> {
    /// Header without its number, and the engine's state as JSON.
    Begin(Header, String),
    Entry(Box<Entry<P>>),
}

impl<P: Serialize + Send + 'static> Recorder<P> {
    /// Starts recording into `dir`.
    pub fn start(
        dir: &Path,
        max_bytes: u64,
        segment_bytes: u64,
        run: &str,
        metrics: Arc<Metrics>,
    ) -> Result<Recorder<P>, LogEnd> {
        Recorder::pausing(dir, max_bytes, segment_bytes, run, metrics, PAUSE)
    }

    fn pausing(
        dir: &Path,
        max_bytes: u64,
        segment_bytes: u64,
        run: &str,
        metrics: Arc<Metrics>,
        pause: Duration,
    ) -> Result<Recorder<P>, LogEnd> {
        let log = Log::open(dir, max_bytes, segment_bytes)?;
        let (sender, receiver) = sync_channel(WAITING);
        let shared = Arc::new(Shared {
            wants_segment: AtomicBool::new(true),
            stopped: AtomicBool::new(false),
            waiting: AtomicIsize::new(0),
            rows: AtomicIsize::new(0),
        });
        metrics.recording.set(1);
        let (state, counted) = (shared.clone(), metrics.clone());
        let write = move || {
            let mut writer =
                Writer { log, shared: &state, metrics: &counted, pause, lost: 0, asked: false, ask_from: None };
            let drained = AssertUnwindSafe(|| writer.drain(&receiver));
            if let Err(end) = catch_unwind(drained).unwrap_or(Err(LogEnd::Panicked)) {
                state.stopped.store(true, Ordering::Relaxed);
                counted.recording_stopped.with_label_values(&[end.label()]).inc();
                tracing::error!(error = %end, "the recording has stopped; the service goes on without it");
            }
            counted.recording.set(0);
            writer.lost
        };
        let writer = std::thread::Builder::new()
            .name("recording".into())
            .spawn(write)
            .map_err(|error| LogEnd::Unwritable(dir.to_owned(), error))?;
        Ok(Recorder { sender: Some(sender), shared, run: run.to_owned(), lost: 0, writer: Some(writer), metrics })
    }

    /// Must a segment begin before the next entry? After a loss only once the disk has caught up: the state costs the engine time to
    /// write out, and there is no room for it before.
    pub fn wants_segment(&self) -> bool {
        let shared = &*self.shared;
        let [waiting, rows] = [&shared.waiting, &shared.rows].map(|count| count.load(Ordering::Relaxed));
        let has_room = self.lost == 0 || (waiting < (WAITING / 2) as isize && rows < ROWS_WAITING / 2);
        has_room && shared.wants_segment.load(Ordering::Relaxed) && !shared.stopped.load(Ordering::Relaxed)
    }

    /// Begins a segment with the engine's state.
    pub fn begin(&mut self, at: Time, engine: String) {
        self.shared.wants_segment.store(false, Ordering::Relaxed);
        let header =
            Header { format: FORMAT, drover: BUILD.clone(), run: self.run.clone(), segment: 0, at, lost: self.lost };
        if self.hand_over(Message::Begin(header, engine)) {
            self.lost = 0;
        }
    }

    /// Records an entry; never waits.
    pub fn push(&mut self, entry: Entry<P>) {
        // However many one has, it is taken where it is alone.
        let waiting = self.shared.rows.load(Ordering::Relaxed);
        if self.lost > 0 || (waiting > 0 && waiting.saturating_add(rows(&entry)) > ROWS_WAITING) {
            self.miss();
        } else {
            let rows = rows(&entry);
            self.shared.rows.fetch_add(rows, Ordering::Relaxed);
            if !self.hand_over(Message::Entry(Box::new(entry))) {
                self.shared.rows.fetch_sub(rows, Ordering::Relaxed);
            }
        }
    }

    fn hand_over(&mut self, message: Message<P>) -> bool {
        match self.sender.as_ref().map(|sender| sender.try_send(message)) {
            Some(Ok(())) => {
                self.shared.waiting.fetch_add(1, Ordering::Relaxed);
                true
            }
            Some(Err(TrySendError::Full(_))) => {
                self.miss();
                false
            }
            Some(Err(TrySendError::Disconnected(_))) | None => false,
        }
    }

    fn miss(&mut self) {
        self.lost += 1;
        self.metrics.recording_lost.inc();
        self.shared.wants_segment.store(true, Ordering::Relaxed);
    }

    /// Waits until everything handed over so far has been written.
    #[cfg(test)]
    pub fn catch_up(&self) {
        while self.shared.waiting.load(Ordering::Relaxed) != 0 && !self.shared.stopped.load(Ordering::Relaxed) {
            std::thread::yield_now();
        }
    }

    /// Writes out what waits and ends. What was lost since the newest segment began no header tells any more.
    pub fn finish(&mut self) {
        self.sender = None;
        // That it panicked it has told itself.
        let of_disk = self.writer.take().and_then(|writer| writer.join().ok()).unwrap_or_default();
        let lost = std::mem::take(&mut self.lost) + of_disk;
        if lost > 0 {
            tracing::warn!(
                lost,
                "the recording lacks its last entries, which were lost; it does not tell of them itself"
            );
        }
    }
}

impl<P> Drop for Recorder<P> {
    fn drop(&mut self) {
        self.sender = None;
    }
}

/// The disk's end of it.
struct Writer<'a> {
    log: Log,
    shared: &'a Shared,
    metrics: &'a Metrics,
    pause: Duration,
    /// Entries that did not fit since the newest segment.
    lost: u64,
    /// The engine's state is asked for once a segment: what waits may be a thousand entries of the full one.
    asked: bool,
    /// Not before then, where it was too large.
    ask_from: Option<Instant>,
}

impl Writer<'_> {
    fn drain<P: Serialize>(&mut self, receiver: &Receiver<Message<P>>) -> Result<(), LogEnd> {
        loop {
            let message = match receiver.try_recv() {
                Ok(message) => message,
                Err(TryRecvError::Disconnected) => return self.log.flush(),
                Err(TryRecvError::Empty) => {
                    self.log.flush()?;
                    self.metrics.recording_bytes.set(i64::try_from(self.log.bytes()).unwrap_or(i64::MAX));
                    let Ok(message) = receiver.recv() else { return Ok(()) };
                    message
                }
            };
            match message {
                Message::Begin(header, engine) => self.begin(header, &engine)?,
                Message::Entry(entry) => {
                    self.shared.rows.fetch_sub(rows(&entry), Ordering::Relaxed);
                    self.write(line(&entry).as_bytes())?;
                }
            }
            self.shared.waiting.fetch_sub(1, Ordering::Relaxed);
        }
    }

    fn begin(&mut self, header: Header, engine: &str) -> Result<(), LogEnd> {
        let lost = header.lost + self.lost;
        let header = Line::<(), ()>::Segment(Header { segment: self.log.next(), lost, ..header });
        let fits = self.log.begin(format!("{}{{\"engine\":{engine}}}\n", line(&header)).as_bytes())?;
        self.asked = false;
        (self.lost, self.ask_from) = if fits { (0, None) } else { (lost, Some(Instant::now() + self.pause)) };
        if !fits {
            let (bytes, pause_s) = (engine.len(), self.pause.as_secs());
            tracing::error!(
                bytes,
                pause_s,
                "the engine's state does not fit four times into record.max_bytes: raise it; nothing is recorded until a later state is smaller"
            );
        }
        self.metrics.recording.set(fits.into());
        Ok(())
    }

    fn write(&mut self, entry: &[u8]) -> Result<(), LogEnd> {
        if !self.log.write(entry)? {
            if self.lost == 0 && self.ask_from.is_none() {
                let bytes = entry.len();
                tracing::warn!(bytes, "an entry does not fit into record.max_bytes: the recording has a gap");
                self.metrics.recording.set(0);
            }
            self.lost += 1;
            self.metrics.recording_lost.inc();
        }
        if self.log.wants_segment() && !self.asked && self.ask_from.is_none_or(|from| Instant::now() >= from) {
            self.asked = true;
            self.shared.wants_segment.store(true, Ordering::Relaxed);
        }
        Ok(())
    }
}

/// What an entry takes to hold.
fn rows<P>(entry: &Entry<P>) -> isize {
    let told = if let Line::Observe(seen) = entry { seen.fact.rows() } else { 1 };
    isize::try_from(told).unwrap_or(isize::MAX)
}

/// One line of JSON. Our own types always serialise; should one not, the reader names the line.
fn line<T: Serialize>(value: &T) -> String {
    serde_json::to_string(value).unwrap_or_else(|error| format!("\"unwritable: {error}\"")) + "\n"
}

#[cfg(test)]
mod tests;
