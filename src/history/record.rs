//! Records what the engine is given and what it decides. The engine's thread only hands entries over; a thread of the recording writes
//! them. Where the disk is too slow entries are lost and counted, and a new segment, which starts with the engine's state, closes the gap.

use super::format::{Entry, FORMAT, Header, Line};
use super::log::{Log, LogEnd};
use crate::telemetry::{Metrics, VERSION};
use drover_core::model::Time;
use serde::Serialize;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicIsize, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, TryRecvError, TrySendError, sync_channel};
use std::thread::JoinHandle;

/// Entries that may wait for the disk.
const WAITING: usize = 1_024;

/// The engine's end of the recording.
pub struct Recorder<P> {
    sender: Option<SyncSender<Message<P>>>,
    shared: Arc<Shared>,
    run: String,
    lost: u64,
    writer: Option<JoinHandle<()>>,
    metrics: Arc<Metrics>,
}

struct Shared {
    wants_segment: AtomicBool,
    stopped: AtomicBool,
    /// Messages handed over and not yet dealt with.
    waiting: AtomicIsize,
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
        let log = Log::open(dir, max_bytes, segment_bytes)?;
        let (sender, receiver) = sync_channel(WAITING);
        let shared = Arc::new(Shared {
            wants_segment: AtomicBool::new(true),
            stopped: AtomicBool::new(false),
            waiting: AtomicIsize::new(0),
        });
        metrics.recording.set(1);
        let (state, counted) = (shared.clone(), metrics.clone());
        let write = move || {
            let drained = AssertUnwindSafe(|| drain(log, &receiver, &state, &counted));
            if let Err(end) = catch_unwind(drained).unwrap_or(Err(LogEnd::Panicked)) {
                state.stopped.store(true, Ordering::Relaxed);
                counted.recording_stopped.with_label_values(&[end.label()]).inc();
                tracing::error!(error = %end, "the recording has stopped; the service goes on without it");
            }
            counted.recording.set(0);
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
        let has_room = self.lost == 0 || shared.waiting.load(Ordering::Relaxed) < (WAITING / 2) as isize;
        has_room && shared.wants_segment.load(Ordering::Relaxed) && !shared.stopped.load(Ordering::Relaxed)
    }

    /// Begins a segment with the engine's state.
    pub fn begin(&mut self, at: Time, engine: String) {
        self.shared.wants_segment.store(false, Ordering::Relaxed);
        let header = Header {
            format: FORMAT,
            drover: VERSION.to_owned(),
            run: self.run.clone(),
            segment: 0,
            at,
            lost: self.lost,
        };
        if self.hand_over(Message::Begin(header, engine)) {
            self.lost = 0;
        }
    }

    /// Records an entry; never waits.
    pub fn push(&mut self, entry: Entry<P>) {
        if self.lost > 0 {
            self.miss();
        } else {
            self.hand_over(Message::Entry(Box::new(entry)));
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

    /// Writes out what waits and ends.
    pub fn finish(&mut self) {
        self.sender = None;
        // That it panicked it has told itself.
        let _ = self.writer.take().map(JoinHandle::join);
    }
}

impl<P> Drop for Recorder<P> {
    fn drop(&mut self) {
        self.sender = None;
    }
}

fn drain<P: Serialize>(
    mut log: Log,
    receiver: &Receiver<Message<P>>,
    shared: &Shared,
    metrics: &Metrics,
) -> Result<(), LogEnd> {
    // The engine's state is asked for once a segment: what waits may be a thousand entries of the full one.
    let mut asked = false;
    loop {
        let message = match receiver.try_recv() {
            Ok(message) => message,
            Err(TryRecvError::Disconnected) => return log.flush(),
            Err(TryRecvError::Empty) => {
                log.flush()?;
                metrics.recording_bytes.set(i64::try_from(log.bytes()).unwrap_or(i64::MAX));
                let Ok(message) = receiver.recv() else { return Ok(()) };
                message
            }
        };
        match message {
            Message::Begin(header, engine) => {
                let header = Line::<(), ()>::Segment(Header { segment: log.next(), ..header });
                log.begin(format!("{}{{\"engine\":{engine}}}\n", line(&header)).as_bytes())?;
                asked = false;
            }
            Message::Entry(entry) => {
                log.write(line(&entry).as_bytes())?;
                if log.wants_segment() && !asked {
                    asked = true;
                    shared.wants_segment.store(true, Ordering::Relaxed);
                }
            }
        }
        shared.waiting.fetch_sub(1, Ordering::Relaxed);
    }
}

/// One line of JSON. Our own types always serialise; should one not, the reader names the line.
fn line<T: Serialize>(value: &T) -> String {
    serde_json::to_string(value).unwrap_or_else(|error| format!("\"unwritable: {error}\"")) + "\n"
}

#[cfg(test)]
mod tests {
    use super::super::format::segments;
    use super::*;
    use std::sync::Mutex;

    fn recorder(dir: &Path, segment_bytes: u64) -> Recorder<()> {
        let metrics = Arc::new(Metrics::new(&prometheus::Registry::new()).unwrap());
        Recorder::start(dir, 1 << 20, segment_bytes, "r1", metrics).unwrap()
    }

    #[test]
    fn a_full_segment_asks_for_the_next_which_starts_with_the_state() {
        let dir = tempfile::tempdir().unwrap();
        let mut recorder = recorder(dir.path(), 200);
        for n in 0..100 {
            if recorder.wants_segment() {
                recorder.begin(Time(n), "{}".into());
            }
            recorder.push(Line::Decide(Time(n)));
            recorder.catch_up();
        }
        recorder.finish();
        let files = segments(dir.path()).unwrap();
        assert!(files.len() >= 2);
        for (number, path) in files {
            let text = std::fs::read_to_string(path).unwrap();
            let mut lines = text.lines().map(|line| serde_json::from_str::<Line<serde_json::Value, ()>>(line).unwrap());
            let Some(Line::Segment(header)) = lines.next() else { panic!("no header") };
            assert_eq!((header.segment, header.lost), (number, 0));
            assert!(matches!(lines.next(), Some(Line::Engine(_))));
        }
    }

    #[test]
    fn a_gap_is_counted_and_nothing_is_recorded_until_a_new_segment_closes_it() {
        let dir = tempfile::tempdir().unwrap();
        let mut recorder = recorder(dir.path(), 1 << 19);
        recorder.begin(Time(1), "{}".into());
        recorder.push(Line::Decide(Time(1)));
        recorder.miss();
        recorder.push(Line::Decide(Time(2)));
        assert!(recorder.wants_segment());
        recorder.begin(Time(3), "{}".into());
        recorder.push(Line::Decide(Time(3)));
        recorder.finish();
        let files = segments(dir.path()).unwrap();
        let second = std::fs::read_to_string(&files[1].1).unwrap();
        assert!(second.contains("\"lost\":2") && second.ends_with("{\"decide\":3}\n"), "{second}");
        assert_eq!(recorder.metrics.recording_lost.get(), 2);
    }

    /// Writing it out waits for a lock: a disk that blocks.
    #[derive(Clone)]
    struct Blocked(Arc<Mutex<()>>);

    impl Serialize for Blocked {
        fn serialize<S: serde::Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
            drop(self.0.lock());
            to.serialize_unit()
        }
    }

    #[test]
    fn while_the_disk_blocks_the_engines_state_is_not_asked_for_again_and_again() {
        let dir = tempfile::tempdir().unwrap();
        let metrics = Arc::new(Metrics::new(&prometheus::Registry::new()).unwrap());
        let mut recorder: Recorder<Blocked> = Recorder::start(dir.path(), 1 << 20, 1 << 19, "r1", metrics).unwrap();
        let disk = Arc::new(Mutex::new(()));
        let held = disk.lock().unwrap();
        let (mut states, entries) = (0, 3 * WAITING as u64);
        for n in 0..entries {
            if recorder.wants_segment() {
                recorder.begin(Time(n), "{}".into());
                states += 1;
            }
            recorder.push(Line::Params(Blocked(disk.clone())));
        }
        assert_eq!(states, 1);
        drop(held);
        recorder.catch_up();
        assert!(recorder.wants_segment(), "the gap is closed once the disk has caught up");
        recorder.begin(Time(entries), "{}".into());
        recorder.push(Line::Decide(Time(entries)));
        assert_eq!(recorder.lost, 0);
        recorder.finish();
        assert_eq!(segments(dir.path()).unwrap().len(), 2);
    }

    /// Writing it out begins a segment where one is asked for: an engine that hears of it at once, and whose state waits behind what it has said before.
    struct Hears(Arc<Shared>, Arc<AtomicIsize>);

    impl Serialize for Hears {
        fn serialize<S: serde::Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
            if self.0.wants_segment.swap(false, Ordering::Relaxed) {
                self.1.fetch_add(1, Ordering::Relaxed);
            }
            to.serialize_unit()
        }
    }

    #[test]
    fn while_what_waits_of_a_full_segment_is_written_the_engines_state_is_asked_for_once() {
        let dir = tempfile::tempdir().unwrap();
        let metrics = Arc::new(Metrics::new(&prometheus::Registry::new()).unwrap());
        let mut recorder: Recorder<Hears> = Recorder::start(dir.path(), 1 << 20, 200, "r1", metrics).unwrap();
        let states = Arc::new(AtomicIsize::new(0));
        recorder.begin(Time(1), "{}".into());
        for _ in 0..100 {
            recorder.push(Line::Params(Hears(recorder.shared.clone(), states.clone())));
        }
        recorder.finish();
        assert_eq!(states.load(Ordering::Relaxed), 1);
    }

    /// Writing it out is beyond it.
    struct Broken;

    impl Serialize for Broken {
        fn serialize<S: serde::Serializer>(&self, _: S) -> Result<S::Ok, S::Error> {
            panic!("meant to")
        }
    }

    #[test]
    fn a_panic_of_the_writer_is_told_as_a_recording_that_has_stopped() {
        let dir = tempfile::tempdir().unwrap();
        let metrics = Arc::new(Metrics::new(&prometheus::Registry::new()).unwrap());
        let mut recorder: Recorder<Broken> = Recorder::start(dir.path(), 1 << 20, 1 << 19, "r1", metrics).unwrap();
        recorder.begin(Time(1), "{}".into());
        recorder.push(Line::Params(Broken));
        recorder.finish();
        assert_eq!(recorder.metrics.recording_stopped.with_label_values(&["panicked"]).get(), 1);
        assert_eq!(recorder.metrics.recording.get(), 0);
        assert!(!recorder.wants_segment(), "the engine writes out no more states for it");
    }

    #[test]
    fn a_recording_that_stops_does_not_stop_the_engine() {
        let dir = tempfile::tempdir().unwrap();
        let mut recorder = recorder(dir.path(), 1 << 19);
        recorder.begin(Time(1), " ".repeat(1 << 20));
        while !recorder.shared.stopped.load(Ordering::Relaxed) {
            std::thread::yield_now();
        }
        for n in 0..3_000 {
            recorder.push(Line::Decide(Time(n)));
        }
        assert!(!recorder.wants_segment());
        recorder.finish();
        assert_eq!(recorder.metrics.recording_stopped.with_label_values(&["too_small"]).get(), 1);
        assert_eq!(recorder.metrics.recording.get(), 0);
    }
}
