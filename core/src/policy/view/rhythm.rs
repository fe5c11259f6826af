//! When an attempt's silence means anything.

use crate::estimate::stats::quantile;
use crate::model::{Attempt, Job, JobSettings, Millis, Task, TaskKind, TaskState, Track};
use serde::{Deserialize, Serialize};

/// How long what was not reported may only be late.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Patience {
    /// A report's way through the AM.
    pub way: Millis,
    /// What the start of a JVM takes at most where the machines are at rest.
    pub start_up: Millis,
    /// What the ends of tasks that should end together lie apart, with the ways of their reports.
    pub jitter: Millis,
}

impl Default for Patience {
    fn default() -> Self {
        Patience { way: Millis(1_000), start_up: Millis(10_000), jitter: Millis(2_000) }
    }
}

/// Twice what nine of ten attempts took to their first report: where many JVMs start at once, or a machine is busy, that of a healthy attempt is late, too. One that was watched, and ended
/// without any where one was due, took all of its run for it: there are record readers that tell nothing of how far they are. One that had reported before it was first heard of
/// tells nothing: nobody knows when it did.
pub(super) fn start_up(job: &Job, kind: TaskKind, patience: Patience) -> Option<Millis> {
    let due = usual(job, patience) + patience.start_up;
    let lag = |task: &Task, attempt: &Attempt| {
        let started = attempt.started.get()?;
        let watched = attempt.watched.get()?;
        let is_unheard = task.track.first().is_none() && attempt.track.first().is_none();
        let reported = attempt.track.first().filter(|(_, at)| watched < *at).map(|(_, at)| at.since(started));
        let run = || attempt.finished.get().map(|ended| ended.since(started)).filter(|run| is_unheard && *run > due);
        reported.or_else(run).map(Millis::as_secs_f64)
    };
    let ended = job.tasks(kind).filter(|(_, task)| task.state == TaskState::Succeeded && !task.marks.skewed());
    let mut lags = Vec::with_capacity(job.known(kind) as usize);
    lags.extend(ended.filter_map(|(_, task)| lag(task, task.won()?)));
    quantile(&mut lags, 0.9).map(|usual| Millis::from_secs_f64(2.0 * usual))
}

/// How long an attempt may be silent before that means anything: twice the interval at which it reports, and a report's way through the AM.
/// Hadoop sends a ping instead of a report while there is no progress, so one missing report is ordinary; before the first report the JVM starts as well.
pub(super) fn rhythm(job: &Job, start_up: Option<Millis>, patience: Patience, track: &Track) -> Millis {
    let usual = usual(job, patience);
    let start_up = start_up.map_or(patience.start_up, |seen| seen.max(patience.start_up));
    if track.first().is_some() { usual } else { usual + start_up }
}

/// The same once it has reported.
fn usual(job: &Job, patience: Patience) -> Millis {
    let interval = job.settings.as_ref().map_or_else(|| JobSettings::default().report_interval, |s| s.report_interval);
    interval + interval + patience.way
}
