use super::*;
use crate::history::format::segments;
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

#[test]
fn what_waits_for_a_disk_that_blocks_is_bounded_by_what_it_takes_to_hold() {
    use drover_core::model::{Channel, Fact, JobId, Observation, Source, TaskFact, TaskKind};
    let job: JobId = "job_1_0001".parse().unwrap();
    let listing = || {
        let task = TaskFact::of(job.task(TaskKind::Map, 0));
        let fact = Fact::Tasks { job, complete: true, tasks: vec![task; ROWS_WAITING as usize / 2 + 1] };
        let source = Source { channel: Channel::Am, app: Some(job.0), principal: None, incarnation: 1 };
        Line::Observe(Observation { source, seq: 1, at: Time(1), received: Time(1), fact })
    };
    let dir = tempfile::tempdir().unwrap();
    let metrics = Arc::new(Metrics::new(&prometheus::Registry::new()).unwrap());
    let mut recorder: Recorder<Blocked> = Recorder::start(dir.path(), 1 << 20, 1 << 19, "r1", metrics).unwrap();
    let disk = Arc::new(Mutex::new(()));
    let held = disk.lock().unwrap();
    recorder.begin(Time(0), "{}".into());
    recorder.push(Line::Params(Blocked(disk.clone())));
    recorder.push(listing());
    assert_eq!(recorder.lost, 0);
    recorder.push(listing());
    assert_eq!(recorder.lost, 1, "both together are too much");
    drop(held);
    recorder.catch_up();
    assert_eq!(recorder.shared.rows.load(Ordering::Relaxed), 0);
    assert!(recorder.wants_segment());
    recorder.finish();
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

/// A recording that holds a mebibyte.
fn small(dir: &Path, segment_bytes: u64, pause: Duration) -> Recorder<String> {
    let metrics = Arc::new(Metrics::new(&prometheus::Registry::new()).unwrap());
    Recorder::pausing(dir, 1 << 20, segment_bytes, "r1", metrics, pause).unwrap()
}

fn newest(dir: &Path) -> String {
    std::fs::read_to_string(&segments(dir).unwrap().last().unwrap().1).unwrap()
}

#[test]
fn a_state_that_is_too_large_leaves_a_counted_gap_until_one_is_small_enough() {
    let dir = tempfile::tempdir().unwrap();
    let mut recorder = small(dir.path(), 1 << 19, Duration::ZERO);
    recorder.begin(Time(1), format!("\"{}\"", " ".repeat(1 << 18)));
    assert!(!recorder.wants_segment());
    recorder.push(Line::Decide(Time(1)));
    recorder.push(Line::Decide(Time(2)));
    recorder.catch_up();
    assert_eq!((recorder.metrics.recording.get(), recorder.metrics.recording_lost.get()), (0, 2));
    assert!(recorder.wants_segment(), "it is tried again");
    recorder.begin(Time(3), "{}".into());
    recorder.push(Line::Decide(Time(3)));
    recorder.catch_up();
    assert_eq!(recorder.metrics.recording.get(), 1);
    recorder.finish();
    let text = newest(dir.path());
    assert!(text.contains("\"lost\":2") && text.ends_with("{\"decide\":3}\n"), "{text}");
}

#[test]
fn a_state_that_was_too_large_is_not_asked_for_again_at_once() {
    let dir = tempfile::tempdir().unwrap();
    let mut recorder = small(dir.path(), 1 << 19, PAUSE);
    recorder.begin(Time(1), " ".repeat(1 << 18));
    for n in 0..100 {
        recorder.push(Line::Decide(Time(n)));
    }
    recorder.catch_up();
    assert!(recorder.metrics.recording_lost.get() == 100 && !recorder.wants_segment());
    recorder.finish();
}

#[test]
fn entries_that_outgrow_the_space_while_the_state_is_waited_for_leave_a_gap_and_the_recording_goes_on() {
    let dir = tempfile::tempdir().unwrap();
    let mut recorder = small(dir.path(), 1 << 18, Duration::ZERO);
    recorder.begin(Time(1), "{}".into());
    for _ in 0..5 {
        recorder.push(Line::Params(" ".repeat(1 << 18)));
    }
    recorder.catch_up();
    assert_eq!(recorder.metrics.recording_lost.get(), 2);
    assert!(recorder.wants_segment());
    recorder.begin(Time(2), "{}".into());
    recorder.push(Line::Decide(Time(2)));
    recorder.finish();
    let text = newest(dir.path());
    assert!(text.contains("\"lost\":2") && text.ends_with("{\"decide\":2}\n"), "{text}");
}

#[test]
fn a_recording_that_stops_does_not_stop_the_engine() {
    let dir = tempfile::tempdir().unwrap();
    let mut recorder = recorder(dir.path(), 1 << 19);
    recorder.catch_up();
    std::fs::remove_dir(dir.path()).unwrap();
    recorder.begin(Time(1), "{}".into());
    while !recorder.shared.stopped.load(Ordering::Relaxed) {
        std::thread::yield_now();
    }
    for n in 0..3_000 {
        recorder.push(Line::Decide(Time(n)));
    }
    assert!(!recorder.wants_segment());
    recorder.finish();
    assert_eq!(recorder.metrics.recording_stopped.with_label_values(&["unwritable"]).get(), 1);
    assert_eq!(recorder.metrics.recording.get(), 0);
}

#[test]
fn what_is_lost_after_the_last_segment_began_is_told_at_the_end_as_no_later_segment_tells_it() {
    let dir = tempfile::tempdir().unwrap();
    let mut whole = recorder(dir.path(), 1 << 19);
    whole.begin(Time(1), "{}".into());
    assert_eq!(crate::telemetry::logged(|| whole.finish()), "");
    let mut recorder = recorder(dir.path(), 1 << 19);
    recorder.begin(Time(1), "{}".into());
    recorder.catch_up();
    recorder.push(Line::Decide(Time(2)));
    recorder.miss();
    recorder.push(Line::Decide(Time(3)));
    let told = crate::telemetry::logged(|| recorder.finish());
    assert!(told.contains("WARN") && told.contains("lost=2"), "{told}");
}
