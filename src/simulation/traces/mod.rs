//! Traces of real clusters as workloads: what they tell is done again, and what they do not tell is assumed and said.

mod attempts;
mod jhist;
mod recorded;
mod rumen;
mod swim;

use crate::yarn::site::SiteError;
use drover_core::sim::{Scenario, TracedJob};
use flate2::read::MultiGzDecoder;
use std::collections::BTreeMap;
use std::fs::File;
use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};

/// A trace that was read.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Trace {
    /// Its jobs, in order of their arrival.
    pub jobs: Vec<TracedJob>,
    /// What it does not tell and was assumed, a sentence each.
    pub assumed: Vec<String>,
    /// What was amiss and was mended or left out, and how often.
    pub repairs: BTreeMap<String, u64>,
}

/// Why a trace cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum BadTrace {
    /// It cannot be read.
    #[error("{}: cannot be read: {source}", path.display())]
    Unread {
        /// The file.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// A line is wrong.
    #[error("{}:{line}: {what}", path.display())]
    Line {
        /// The file.
        path: PathBuf,
        /// The line, from 1.
        line: usize,
        /// What is wrong with it.
        what: String,
    },
    /// A job's conf beside its history is wrong.
    #[error(transparent)]
    Conf(#[from] SiteError),
    /// It is of no kind that is known, or empty.
    #[error("{}: {what}", path.display())]
    Whole {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        what: String,
    },
}

/// Largest trace that is read, bytes, unpacked, and the longest line of one.
const LIMIT: u64 = 8 << 30;
const LINE_LIMIT: u64 = 256 << 20;

/// Reads a trace, plain or gzipped: attempts as CSV, Rumen's JSON, SWIM's jobs, or Hadoop's job histories, of which a directory may hold many.
///
/// # Errors
/// With file and line.
pub fn read(path: &Path) -> Result<Trace, BadTrace> {
    let trace = if path.is_dir() { jhist::directory(path)? } else { file(Lines::open(path, LIMIT)?)? };
    let nothing = || BadTrace::Whole { path: path.to_owned(), what: "has no jobs".into() };
    if trace.jobs.is_empty() { Err(nothing()) } else { Ok(trace) }
}

fn file(mut lines: Lines<'_>) -> Result<Trace, BadTrace> {
    // A gzip file that was cut off at once ends in an error, too.
    let unread = |source| BadTrace::Unread { path: lines.path.to_owned(), source };
    let begins = lines.inner.fill_buf().map_err(unread)?;
    let (is_history, is_json) = (begins.starts_with(jhist::BEGINS), begins.trim_ascii_start().starts_with(b"{"));
    match (is_history, is_json) {
        (true, _) => jhist::one(lines),
        (_, true) => rumen::read(lines.path, lines.inner),
        _ => by_line(lines),
    }
}

/// What a scenario has no room for as the trace has it, and how it is done instead.
pub fn strays(scenario: &Scenario) -> Option<String> {
    let known = &scenario.cluster.queues;
    let is_known = |job: &&TracedJob| known.iter().any(|queue| queue.name == job.queue);
    let strays = scenario.traced.iter().filter(|job| !is_known(job)).count();
    let told = || {
        format!(
            "{strays} of {} jobs were in queues that the scenario does not have: they go to its first",
            scenario.traced.len()
        )
    };
    (strays > 0 && !known.is_empty()).then(told)
}

fn by_line(mut lines: Lines<'_>) -> Result<Trace, BadTrace> {
    const UNKNOWN: &str = "is none of a CSV of attempts (dataset,job,phase,task,attempt,…), Rumen's JSON, a job history (.jhist), and SWIM's jobs (six fields between tabs)";
    let path = lines.path.to_owned();
    let whole = |what: &str| BadTrace::Whole { path: path.clone(), what: what.to_owned() };
    let Some(first) = lines.next()? else { return Err(whole("is empty")) };
    match first.as_str() {
        header if header.starts_with("dataset,job,") => attempts::read(header, lines),
        row if row.split('\t').count() == 6 => swim::read(row.to_owned(), lines),
        _ => Err(whole(UNKNOWN)),
    }
}

/// Lines with their numbers.
struct Lines<'a> {
    path: &'a Path,
    inner: BufReader<std::io::Take<Box<dyn Read>>>,
    line: usize,
}

impl<'a> Lines<'a> {
    /// Of a file, plain or gzipped, that has `limit` bytes at most, unpacked.
    fn open(path: &'a Path, limit: u64) -> Result<Lines<'a>, BadTrace> {
        let unread = |source| BadTrace::Unread { path: path.to_owned(), source };
        let mut file = BufReader::new(File::open(path).map_err(unread)?);
        let packed = file.fill_buf().map_err(unread)?.starts_with(&[0x1f, 0x8b]);
        let unpacked: Box<dyn Read> = if packed { Box::new(MultiGzDecoder::new(file)) } else { Box::new(file) };
        Ok(Lines { path, inner: BufReader::new(unpacked.take(limit)), line: 0 })
    }

    fn path(&self) -> &Path {
        self.path
    }

    /// What follows the line that was read last.
    fn rest(&mut self) -> &mut impl Read {
        &mut self.inner
    }

    /// Is there no more?
    ///
    /// # Errors
    /// Where there is more than is read of a trace.
    fn is_at_end(&mut self) -> std::io::Result<bool> {
        let is_at_end = self.inner.fill_buf()?.is_empty();
        if is_at_end && self.left() == 0 {
            return Err(std::io::Error::other(format!("there is more than {LIMIT} bytes")));
        }
        Ok(is_at_end)
    }

    /// How much more may be read, bytes.
    fn left(&self) -> u64 {
        self.inner.get_ref().limit()
    }

    /// The next line, without its end.
    fn next(&mut self) -> Result<Option<String>, BadTrace> {
        let mut text = String::new();
        self.line += 1;
        let ended = self.is_at_end();
        let read = ended.and_then(|_| (&mut self.inner).take(LINE_LIMIT).read_line(&mut text));
        // A gzip file that was cut off ends in an error, too.
        let read = read.map_err(|error| self.wrong(format!("cannot be read on: {error}")))?;
        if read as u64 == LINE_LIMIT {
            return Err(self.wrong(format!("is longer than {LINE_LIMIT} bytes")));
        }
        text.truncate(text.trim_end_matches(['\n', '\r']).len());
        Ok((read > 0).then_some(text))
    }

    /// The line that was read last is wrong.
    fn wrong(&self, what: String) -> BadTrace {
        BadTrace::Line { path: self.path.to_owned(), line: self.line, what }
    }

    /// The file is wrong.
    fn whole_wrong(&self, what: String) -> BadTrace {
        BadTrace::Whole { path: self.path.to_owned(), what }
    }

    /// A whole number of that line.
    fn whole(&self, text: &str, name: &str) -> Result<u64, BadTrace> {
        text.trim().parse().map_err(|_| self.wrong(format!("{name}: \"{text}\" is no whole number from 0 on")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use drover_core::sim::TracedTasks;
    use flate2::Compression;
    use flate2::write::GzEncoder;
    use std::io::Write;

    fn of(bytes: &[u8]) -> Result<Trace, BadTrace> {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), bytes).unwrap();
        read(file.path())
    }

    fn packed(text: &str) -> Vec<u8> {
        let mut writer = GzEncoder::new(Vec::new(), Compression::default());
        writer.write_all(text.as_bytes()).unwrap();
        writer.finish().unwrap()
    }

    /// Without the file's name.
    fn told(bytes: &[u8]) -> String {
        let error = of(bytes).unwrap_err().to_string();
        error.split_once(':').map_or(error.clone(), |(_, rest)| rest.trim().to_owned())
    }

    const SWIM: &str = "job0\t9\t9\t1762\t0\t14347\njob1\t20\t11\t53088744165\t1510005522\t5759777\n";
    const HEADER: &str = "dataset,job,phase,task,attempt,host,rack,start_ms,finish_ms,dur_s,result,n_attempts,in_bytes,locality,shuffle_fin_ms,sort_fin_ms\n";

    fn row(phase: &str, task: u32, attempt: u32, times: [u64; 3], result: &str) -> String {
        let [start, shuffled, finish] = times;
        format!(
            "d,j1,{phase},t{phase}{task},a{phase}{task}_{attempt},h,r,{start},{finish},0,{result},1,100,,{shuffled},-1\n"
        )
    }

    #[test]
    fn a_swim_job_has_a_map_for_each_block_and_a_reduce_for_each_gibibyte_and_says_what_it_assumes() {
        let trace = of(SWIM.as_bytes()).unwrap();
        let counts: Vec<[u32; 2]> =
            trace.jobs.iter().map(|job| [0, 1].map(|kind| job.phases[kind].tasks.count())).collect();
        assert_eq!(counts, [[1, 0], [396, 2]]);
        assert_eq!(trace.jobs[1].arrives.0, 20_000);
        assert_eq!(trace.assumed.len(), 3);
        assert_eq!(of(&packed(SWIM)).unwrap(), trace);
    }

    #[test]
    fn attempts_give_each_task_its_work_and_its_luck_and_a_reduces_wait_for_maps_is_no_work() {
        let maps = [10_000, 10_000, 40_000].map(|takes| [1_000, 0, 1_000 + takes]);
        let mut text = HEADER.to_owned();
        (0..).zip(maps).for_each(|(task, times)| text += &row("MAP", task, 0, times, "SUCCESS"));
        text += &row("MAP", 2, 1, [5_000, 0, 6_000], "KILLED");
        text += &row("REDUCE", 0, 0, [2_000, 45_000, 50_000], "SUCCESS");
        let trace = of(text.as_bytes()).unwrap();
        let [maps, reduces] = &trace.jobs[0].phases;
        let TracedTasks::Each(tasks) = &maps.tasks else { panic!("{maps:?}") };
        let work: Vec<_> = tasks.iter().map(|task| (task.work[2], task.first)).collect();
        assert_eq!(work, [(10_000.0, 1.0), (10_000.0, 1.0), (10_000.0, 4.0)]);
        // The maps end at 41 s; it reads until 45 s, and works for 5 s.
        assert_eq!(reduces.tasks.task(0).map(|task| task.work), Some([4_000.0, 0.0, 5_000.0]));
        assert_eq!(trace.repairs.values().copied().collect::<Vec<_>>(), [1]);
    }

    #[test]
    fn what_is_wrong_is_told_with_its_line_and_what_is_mended_is_counted() {
        let bad = |rows: &str| told(format!("{HEADER}{rows}").as_bytes());
        assert!(bad(&row("MAP", 0, 0, [9, 0, 3], "SUCCESS")).starts_with("2: aMAP0_0 ends at 3, before"));
        let twice = row("MAP", 0, 0, [1, 0, 3], "SUCCESS").repeat(2);
        assert_eq!(bad(&twice), "3: aMAP0_0 was there before");
        assert!(bad("d,j1,MAP\n").starts_with("2: ends too early"));
        assert!(bad(&row("SHUFFLE", 0, 0, [1, 0, 3], "SUCCESS")).contains("neither MAP nor REDUCE"));
        assert!(bad(&row("MAP", 0, 0, [1, 0, 3], "SUCCESS").replace(",1,3,", ",x,3,")).contains("no whole number"));
        assert_eq!(bad(&row("MAP", 0, 0, [1, 0, 3], "KILLED")), "has no jobs");
        assert!(told(b"dataset,job,task\n").contains("there is no column phase"));
        assert!(told(b"hello\n").contains("none of a CSV"));
        assert_eq!(told(b""), "is empty");
        assert!(told(b"job0\t9\t9\t1\t0\t1\njob0\t9\t9\t1\t0\t1\n").starts_with("2: job0 was there before"));
        assert!(told(b"job0\t-9\t9\t1\t0\t1\n").starts_with("1: submission"));
        let most = u64::MAX;
        assert_eq!(told(format!("job0\t{most}\t9\t1\t0\t1\n").as_bytes()), "1: submission: is too late");
        assert_eq!(told(format!("job0\t9\t9\t{most}\t0\t1\n").as_bytes()), "1: input: is too large");
        assert_eq!(told(format!("job0\t9\t9\t1\t{most}\t1\n").as_bytes()), "1: shuffle: is too large");
        let mut lost = row("MAP", 0, 0, [1_000, 0, 3_000], "SUCCESS");
        lost += &row("MAP", 1, 0, [1_000, 0, 3_000], "FAILED");
        let trace = of(format!("{HEADER}{lost}").as_bytes()).unwrap();
        assert_eq!((trace.jobs[0].phases[0].tasks.count(), trace.repairs.len()), (2, 2), "{:?}", trace.repairs);
    }

    #[test]
    fn rumens_jobs_come_with_their_users_and_what_is_amiss_in_them_is_told_or_counted() {
        let attempt = |id: &str, result: &str, from: u64, to: i64| {
            format!(r#"{{"attemptID": "{id}", "result": "{result}", "startTime": {from}, "finishTime": {to}}}"#)
        };
        let task = |id: &str, attempts: &[String]| {
            format!(r#"{{"taskID": "{id}", "inputBytes": 64, "attempts": [{}]}}"#, attempts.join(","))
        };
        let job = |id: &str, tasks: &[String]| {
            format!(
                r#"{{"jobID": "{id}", "user": "geek1", "jobName": null, "submitTime": 500, "mapTasks": [{}]}}"#,
                tasks.join(",")
            )
        };
        let one = task("t1", &[attempt("a1", "SUCCESS", 1_000, 3_000), attempt("a2", "KILLED", 1_500, 3_000)]);
        let two = task("t2", &[attempt("a3", "KILLED", 1_000, -1), attempt("a4", "KILLED", 0, -1)]);
        let trace = of(format!("{}\n{}", job("j1", &[one.clone(), two]), job("j2", &[])).as_bytes()).unwrap();
        assert_eq!(trace.jobs.len(), 1);
        let only = &trace.jobs[0];
        assert_eq!((only.user.as_str(), only.name.as_str(), only.phases[0].tasks.count()), ("geek1", "j1", 2));
        let counted: Vec<u64> = trace.repairs.values().copied().collect();
        assert_eq!(counted, [1; 5], "{:?}", trace.repairs);
        assert!(told(job("j1", &[one.clone(), one]).as_bytes()).contains("job 1: a1 was there before"));
        assert!(told(b"{\n\"jobID\": 7}").starts_with("2: "), "{}", told(b"{\n\"jobID\": 7}"));
    }

    #[test]
    fn a_gzip_file_that_was_cut_off_is_told() {
        let mut cut = packed(SWIM);
        cut.truncate(cut.len() - 12);
        assert!(told(&cut).contains("cannot be read on"), "{}", told(&cut));
    }
}
