//! Rumen's traces: jobs as JSON, one after the other, with all their attempts.

mod keys;
mod logged;

use super::held::{About, Attempt};
use super::recorded::{Recorder, SET_UP, known};
use super::{BadTrace, Lines, Overhead, Trace};
use keys::{Kind, Noted};
use logged::{LoggedAttempt, LoggedJob, LoggedTask};
use std::cell::Cell;
use std::collections::BTreeSet;
use std::io::{self, Read};
use std::rc::Rc;

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
    let (mut recorder, mut passed_over) = (Recorder::default(), PassedOver::default());
    let jobs = serde_json::Deserializer::from_reader(text).into_iter::<Noted<LoggedJob>>();
    let fault = jobs.map(|job| take(&mut recorder, &mut passed_over, job, &place)).find_map(Result::err);
    lines.line = fault.as_ref().map_or(place.get().line, |(line, _)| *line);
    match (fault, lines.is_at_end()) {
        (Some((_, what)), _) => Err(lines.wrong(what)),
        (None, Err(error)) => Err(lines.wrong(format!("cannot be read on: {error}"))),
        (None, Ok(_)) => {
            passed_over.told(&mut recorder);
            Ok(recorder.trace(overhead))
        }
    }
}

/// Names that Rumen does not have, and how often one stood there.
#[derive(Default)]
struct PassedOver {
    names: BTreeSet<String>,
    count: usize,
}

impl PassedOver {
    /// Names that are told.
    const TOLD: usize = 20;

    fn of<T: Kind>(&mut self, noted: Noted<T>) -> T {
        if let Some(strange) = noted.strange {
            self.count += strange.count;
            self.names.extend(strange.names.iter().map(|name| format!("{}.{name}", T::CALLED)));
            // More of them are no use to anybody, and of some trace they would never end.
            while self.names.len() > PassedOver::TOLD {
                self.names.pop_last();
            }
        }
        noted.of
    }

    fn told(self, recorder: &mut Recorder) {
        let names = self.names.into_iter().collect::<Vec<_>>().join(", ");
        recorder.mend_all(&format!("values under names that Rumen does not have ({names}): passed over"), self.count);
    }
}

/// Takes a job that has been read. A fault of the text has a line of its own; one of what it says has that on which the job began.
fn take(
    recorder: &mut Recorder,
    passed_over: &mut PassedOver,
    job: serde_json::Result<Noted<LoggedJob>>,
    place: &Cell<Place>,
) -> Result<(), (usize, String)> {
    let is_cut = |error: &serde_json::Error| if error.is_io() { "cannot be read on: " } else { "" };
    // What cannot be read may have no line of its own.
    let line_of = |error: &serde_json::Error| if error.line() == 0 { place.get().line } else { error.line() };
    let job = job.map_err(|error| (line_of(&error), format!("{}{error}", is_cut(&error))))?;
    let Place { line, began, .. } = place.replace(Place { line: place.get().line, began: None, bytes: 0, nodes: 0 });
    let job = passed_over.of(job);
    let id = job.id.clone();
    record(recorder, passed_over, job).map_err(|what| (began.unwrap_or(line), format!("in {id}: {what}")))
}

fn record(recorder: &mut Recorder, passed_over: &mut PassedOver, job: LoggedJob) -> Result<(), String> {
    let succeeded = job.succeeded()?;
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
    recorder.job_ended(succeeded, has, told as u64);
    let maps = map_tasks.into_iter().map(|task| (false, task));
    for (is_reduce, task) in maps.chain(reduce_tasks.into_iter().map(|task| (true, task))) {
        let LoggedTask { id: task, input_bytes, attempts } = passed_over.of(task);
        recorder.task(&id, is_reduce, &task)?;
        let attempts: Vec<LoggedAttempt> = attempts.into_iter().map(|attempt| passed_over.of(attempt)).collect();
        let read = attempts.iter().flat_map(|attempt| [attempt.reduce_shuffle_bytes, attempt.hdfs_bytes_read]);
        let odd = read.chain([input_bytes]).flatten().filter(|bytes| *bytes < -1).count();
        recorder.mend_all("inputs below zero: as if they were not told", odd);
        let of_task = input_bytes.and_then(|bytes| u64::try_from(bytes).ok());
        for (nth, attempt) in attempts.into_iter().enumerate() {
            let times = [attempt.start_time, attempt.finish_time, attempt.shuffle_finished, attempt.sort_finished];
            let [started, finished, shuffled, sorted] = times.map(|at| recorder.instant(at));
            let succeeded = attempt.succeeded();
            let input = of_task.or_else(|| attempt.input(is_reduce));
            let own = attempt.id.unwrap_or_else(|| format!("{id}/{task}_{nth}"));
            recorder.attempt(Attempt {
                job: id.clone(),
                is_reduce,
                task: task.clone(),
                input,
                succeeded: succeeded.map_err(|what| format!("{own}: {what}"))?,
                id: own,
                host: attempt.host_name,
                started,
                finished,
                stages: [shuffled, sorted],
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
