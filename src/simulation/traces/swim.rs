//! SWIM's workloads: a job a line, with its bytes and nothing of its tasks.

use super::held::{JOBS_MAX, SIZE, named, room};
use super::{BadTrace, Lines, Trace};
use drover_core::model::{Bytes, Millis};
use drover_core::sim::{ARRIVES_MAX, TASKS_MAX, TracedJob, TracedPhase, TracedTask, TracedTasks};
use std::collections::BTreeMap;

/// One map for so many bytes of input: Hadoop's block size.
const SPLIT: u64 = 128 << 20;
/// One reduce for so many bytes of shuffle: Hive's `hive.exec.reducers.bytes.per.reducer` of the time.
const PER_REDUCE: u64 = 1 << 30;
/// What a task reads and works through in a second, and what it takes at least.
const BYTES_A_SECOND: f64 = 8e6;
const LEAST_SECONDS: f64 = 2.0;

pub(super) fn read(first: String, lines: Lines<'_>) -> Result<Trace, BadTrace> {
    within(first, lines, JOBS_MAX)
}

/// The same of so many jobs at most.
fn within(first: String, mut lines: Lines<'_>, most: usize) -> Result<Trace, BadTrace> {
    let mut trace = Trace {
        assumed: vec![
            "SWIM tells no tasks: one map for each 128 MiB of input, one reduce for each GiB of shuffle".into(),
            "SWIM tells no times: a task works through 8 MB a second, and takes 2 s at least".into(),
            "SWIM tells no users, queues or names: one of each".into(),
            "what SWIM's jobs write at their end is passed over: writing costs no time of its own".into(),
        ],
        ..Trace::default()
    };
    let (mut row, mut seen) = (Some(first), std::collections::BTreeSet::new());
    let (mut before, mut odd) = (None, Odd::default());
    while let Some(text) = row {
        let fields: Vec<&str> = text.split('\t').collect();
        let [id, submitted, gap, input, shuffled, output] = fields[..] else {
            return Err(lines.wrong(format!("has {} fields; a job of SWIM's has six between tabs", fields.len())));
        };
        named("a job", id).map_err(|what| lines.wrong(what))?;
        if !seen.insert(id.to_owned()) {
            return Err(lines.wrong(format!("{id} was there before")));
        }
        room(seen.len(), most, id, "jobs").map_err(|what| lines.wrong(what))?;
        let (submitted, input) = (lines.whole(submitted, "submission")?, lines.whole(input, "input")?);
        let shuffled = lines.whole(shuffled, "shuffle")?;
        // Submissions tell the gaps between them, too. What is not used is to be sound all the same.
        odd.count(before.replace(submitted), submitted, lines.whole(gap, "inter-arrival")?);
        lines.whole(output, "output")?;
        trace.jobs.push(TracedJob {
            name: "swim".into(),
            user: "swim".into(),
            queue: "default".into(),
            arrives: arrival(submitted)
                .ok_or_else(|| lines.wrong("submission: is more than 100 years after the start".into()))?,
            phases: [
                phase(input, SPLIT, 1, false).ok_or_else(|| lines.wrong("input: is too large".into()))?,
                phase(shuffled, PER_REDUCE, 0, true).ok_or_else(|| lines.wrong("shuffle: is too large".into()))?,
            ],
        });
        row = lines.next()?;
    }
    trace.jobs.sort_by_key(|job| job.arrives);
    trace.repairs = odd.told();
    Ok(trace)
}

/// What of submissions does not agree with itself.
#[derive(Default)]
struct Odd {
    gaps: u64,
    early: u64,
}

impl Odd {
    /// A job was submitted then, the one before it in the file at `before`, and the time between is told to be `gap`.
    fn count(&mut self, before: Option<u64>, submitted: u64, gap: u64) {
        let Some(before) = before else { return };
        // The time since a job that came later can be no number.
        self.early += u64::from(submitted < before);
        self.gaps += u64::from(submitted.checked_sub(before).is_some_and(|passed| passed != gap));
    }

    fn told(self) -> BTreeMap<String, u64> {
        let all = [
            ("inter-arrivals that are not the time since the submission before: passed over", self.gaps),
            ("jobs submitted before the one above them: they arrive when they were submitted", self.early),
        ];
        all.into_iter().filter(|(_, count)| *count > 0).map(|(what, count)| (what.to_owned(), count)).collect()
    }
}

/// So many seconds from the start; `None` of what comes too late for a scenario.
fn arrival(seconds: u64) -> Option<Millis> {
    seconds.checked_mul(1_000).map(Millis).filter(|at| *at <= ARRIVES_MAX)
}

/// As many tasks as the bytes ask for, but `least`; `None` for more than a job can have.
fn phase(bytes: u64, each: u64, least: u64, reduces: bool) -> Option<TracedPhase> {
    let count = Some(bytes.div_ceil(each).max(least)).filter(|count| *count <= TASKS_MAX.into())?;
    let input = bytes.checked_div(count).unwrap_or(0);
    let millis = (input as f64 / BYTES_A_SECOND).max(LEAST_SECONDS) * 1e3;
    // Of a reduce's time a half is reading.
    let work = if reduces { [millis / 2.0, 0.0, millis / 2.0] } else { [0.0, 0.0, millis] };
    Some(TracedPhase {
        tasks: TracedTasks::Alike(count as u32, TracedTask { work, first: 1.0, input: Bytes(input), host: None }),
        size: SIZE,
        // Half of a reduce's time is all that it reads, whenever it may.
        reads_after_maps: false,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn more_jobs_than_are_held_are_refused_as_they_come() {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), "j1\t9\t9\t1\t0\t1\nj2\t9\t9\t1\t0\t1\n").unwrap();
        let of = |most| {
            let mut lines = Lines::open(file.path(), u64::MAX, false).unwrap();
            let first = lines.next().unwrap().unwrap();
            within(first, lines, most).map_err(|error| error.to_string())
        };
        assert_eq!(of(2).unwrap().jobs.len(), 2);
        assert!(of(1).unwrap_err().ends_with(":2: j2 is one too many: a trace has 1 jobs at most"));
    }
}
