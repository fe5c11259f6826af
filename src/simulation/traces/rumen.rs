//! Rumen's traces: jobs as JSON, one after the other, with all their attempts.

use super::held::{About, Attempt};
use super::recorded::{Recorder, SET_UP, known};
use super::{BadTrace, Lines, Overhead, Trace};
use serde::Deserialize;
use serde::de::IgnoredAny;
use std::cell::Cell;
use std::io::{self, Read};
use std::rc::Rc;

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct LoggedJob {
    #[serde(rename = "jobID")]
    id: String,
    job_name: Option<String>,
    user: Option<String>,
    queue: Option<String>,
    #[serde(default)]
    submit_time: i64,
    map_tasks: Option<Vec<LoggedTask>>,
    reduce_tasks: Option<Vec<LoggedTask>>,
    /// Set-up and clean-up.
    #[serde(default)]
    other_tasks: Vec<IgnoredAny>,
    outcome: Option<String>,
    #[serde(default)]
    total_maps: i64,
    #[serde(default)]
    total_reduces: i64,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct LoggedTask {
    #[serde(rename = "taskID")]
    id: String,
    input_bytes: Option<i64>,
    #[serde(default)]
    attempts: Vec<LoggedAttempt>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct LoggedAttempt {
    #[serde(rename = "attemptID")]
    id: Option<String>,
    host_name: Option<String>,
    result: Option<String>,
    #[serde(default)]
    start_time: i64,
    #[serde(default)]
    finish_time: i64,
    #[serde(default)]
    shuffle_finished: i64,
    #[serde(default)]
    sort_finished: i64,
    hdfs_bytes_read: Option<i64>,
    reduce_shuffle_bytes: Option<i64>,
}

impl LoggedAttempt {
    /// What it read: a map of its split, a reduce of maps' outputs.
    fn input(&self, is_reduce: bool) -> Option<u64> {
        let bytes = if is_reduce { self.reduce_shuffle_bytes } else { self.hdfs_bytes_read };
        bytes.and_then(|bytes| u64::try_from(bytes).ok())
    }
}

/// How much one job may have: bytes of text, and lists and objects, each of which is held as some 140 bytes.
#[derive(Debug, Clone, Copy)]
struct Most {
    bytes: u64,
    nodes: u64,
}

const MOST: Most = Most { bytes: 1 << 30, nodes: 8_000_000 };

/// The line that is being read, that on which the job there began, and how much of it was read.
#[derive(Debug, Clone, Copy)]
struct Place {
    line: usize,
    began: Option<usize>,
    bytes: u64,
    nodes: u64,
}

/// Knows where it is, as the parser asks for one byte at a time and for none beyond a job.
struct Placed<R> {
    inner: R,
    place: Rc<Cell<Place>>,
    most: Most,
}

impl<R: Read> Read for Placed<R> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let read = self.inner.read(into)?;
        let Place { mut line, mut began, mut bytes, mut nodes } = self.place.get();
        for byte in &into[..read] {
            line += usize::from(*byte == b'\n');
            began = began.or((!byte.is_ascii_whitespace()).then_some(line));
            bytes += u64::from(began.is_some());
            nodes += u64::from(matches!(byte, b'[' | b'{'));
        }
        self.place.set(Place { line, began, bytes, nodes });
        let Most { bytes: most, nodes: most_nodes } = self.most;
        let what = match (bytes > most, nodes > most_nodes) {
            (true, _) => format!("more than {most} bytes"),
            (_, true) => format!("more than {most_nodes} lists and objects"),
            _ => return Ok(read),
        };
        Err(io::Error::other(format!("the job that begins on line {} has {what}", began.unwrap_or(line))))
    }
}

pub(super) fn read(lines: Lines<'_>, overhead: Overhead) -> Result<Trace, BadTrace> {
    within(lines, overhead, MOST)
}

fn within(mut lines: Lines<'_>, overhead: Overhead, most: Most) -> Result<Trace, BadTrace> {
    let place = Rc::new(Cell::new(Place { line: 1, began: None, bytes: 0, nodes: 0 }));
    let text = Placed { inner: lines.rest(), place: Rc::clone(&place), most };
    let mut recorder = Recorder::default();
    let jobs = serde_json::Deserializer::from_reader(text).into_iter::<LoggedJob>();
    let fault = jobs.map(|job| take(&mut recorder, job, &place)).find_map(Result::err);
    lines.line = fault.as_ref().map_or(place.get().line, |(line, _)| *line);
    match (fault, lines.is_at_end()) {
        (Some((_, what)), _) => Err(lines.wrong(what)),
        (None, Err(error)) => Err(lines.wrong(format!("cannot be read on: {error}"))),
        (None, Ok(_)) => Ok(recorder.trace(overhead)),
    }
}

/// Takes a job that has been read. A fault of the text has a line of its own; one of what it says has that on which the job began.
fn take(
    recorder: &mut Recorder,
    job: serde_json::Result<LoggedJob>,
    place: &Cell<Place>,
) -> Result<(), (usize, String)> {
    let is_cut = |error: &serde_json::Error| if error.is_io() { "cannot be read on: " } else { "" };
    let job = job.map_err(|error| (error.line(), format!("{}{error}", is_cut(&error))))?;
    let Place { line, began, .. } = place.replace(Place { line: place.get().line, began: None, bytes: 0, nodes: 0 });
    let id = job.id.clone();
    record(recorder, job).map_err(|what| (began.unwrap_or(line), format!("in {id}: {what}")))
}

fn record(recorder: &mut Recorder, job: LoggedJob) -> Result<(), String> {
    let (id, submitted) = (job.id, recorder.instant(job.submit_time));
    recorder.job(&id, About { name: job.job_name, user: job.user, queue: job.queue, submitted, sizes: [None; 2] })?;
    recorder.mend_all(SET_UP, job.other_tasks.len());
    if job.map_tasks.is_none() || job.reduce_tasks.is_none() {
        recorder.mend(
            "jobs without a list of their maps (mapTasks) or of their reduces (reduceTasks): taken as having none",
        );
    }
    let [map_tasks, reduce_tasks] = [job.map_tasks, job.reduce_tasks].map(Option::unwrap_or_default);
    let (has, told) = ([job.total_maps, job.total_reduces], map_tasks.len() + reduce_tasks.len());
    let has = has.into_iter().filter_map(known).sum();
    recorder.job_ended(job.outcome.map(|outcome| outcome == "SUCCESS"), has, told as u64);
    let maps = map_tasks.into_iter().map(|task| (false, task));
    for (is_reduce, task) in maps.chain(reduce_tasks.into_iter().map(|task| (true, task))) {
        recorder.task(&id, is_reduce, &task.id)?;
        let read = task.attempts.iter().flat_map(|attempt| [attempt.reduce_shuffle_bytes, attempt.hdfs_bytes_read]);
        let odd = read.chain([task.input_bytes]).flatten().filter(|bytes| *bytes < -1).count();
        recorder.mend_all("inputs below zero: as if they were not told", odd);
        for (nth, attempt) in task.attempts.into_iter().enumerate() {
            let of_task = task.input_bytes.and_then(|bytes| u64::try_from(bytes).ok());
            let times = [attempt.start_time, attempt.finish_time, attempt.shuffle_finished, attempt.sort_finished];
            let [started, finished, shuffled, sorted] = times.map(|at| recorder.instant(at));
            recorder.attempt(Attempt {
                job: id.clone(),
                is_reduce,
                task: task.id.clone(),
                input: of_task.or_else(|| attempt.input(is_reduce)),
                id: attempt.id.unwrap_or_else(|| format!("{}_{nth}", task.id)),
                host: attempt.host_name,
                started,
                finished,
                stages: [shuffled, sorted],
                succeeded: attempt.result.as_deref() == Some("SUCCESS"),
            })?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What is said of two jobs where one may have no more than that.
    fn said(most: Most) -> Option<String> {
        let job = |nth| format!(r#"{{"jobID": "j{nth}", "mapTasks": [{{"taskID": "t{nth}"}}], "reduceTasks": []}}"#);
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), format!("{}\n{}\n", job(1), job(2))).unwrap();
        let lines = Lines::open(file.path(), u64::MAX, false).unwrap();
        let error = within(lines, Overhead::default(), most).err()?.to_string();
        error.split_once(": ").map(|(_, said)| said.to_owned())
    }

    #[test]
    fn a_job_meets_its_limits_while_it_is_read_and_each_has_its_own() {
        assert_eq!(said(Most { bytes: 67, nodes: 4 }), None);
        let is_told = |most, what: &str| {
            let told = said(most).unwrap();
            told.starts_with(&format!(
                "cannot be read on: the job that begins on line 1 has more than {what} at line 1"
            ))
        };
        assert!(is_told(Most { bytes: 40, nodes: 4 }, "40 bytes"));
        assert!(is_told(Most { bytes: 67, nodes: 3 }, "3 lists and objects"));
    }
}
