//! Jobs whose end no process has written.

use super::{Unanswered, whole};
use crate::ledger::draw::Draw;
use drover_core::model::{EndFact, Job, JobId, Names, Time};
use rusqlite::{Connection, Params, Row, params};
use std::cmp::Reverse;
use std::collections::BTreeMap;

/// As many as run at once, as those that still do are among them. What is left of more waits for the next start.
const JOBS_MAX: usize = 10_000;

/// A job whose end no process has written, as far as rows tell of it.
#[derive(Debug, Clone, PartialEq)]
pub struct LeftJob {
    /// The job.
    pub id: JobId,
    /// The policy that was in force.
    pub policy: String,
    at: Time,
    name: String,
    user: String,
    queue: String,
    totals: Option<[u32; 2]>,
    held_out: Option<bool>,
    /// What its side was drawn under; `None` where it was not enrolled.
    pub drawn: Option<Draw>,
}

/// All columns, by their names: those of the draw are not in a file of an older version.
const ENROLLED: &str = "SELECT e.* FROM enrolments e";
/// By the indexes of both tables, in one order: of the many that have an end no row is read. From before the first end that is kept the ends of others may have been let go before their enrolments.
const OPEN: &str =
    "WHERE e.rowid IN (SELECT o.rowid FROM enrolments o WHERE NOT EXISTS (SELECT 1 FROM jobs j WHERE j.job = o.job))
    AND +e.at_ms >= MIN(?2, COALESCE((SELECT min(at_ms) FROM jobs), 0)) ORDER BY e.at_ms DESC LIMIT ?1";

/// Those that were enrolled, however long ago: a job may run for weeks, and end while no service does. Once its end is told it is none of these any more. Recent ones are left whatever else is kept.
pub fn enrolled_and_open(connection: &Connection, recent: i64) -> Vec<LeftJob> {
    let most = i64::try_from(JOBS_MAX).unwrap_or(i64::MAX);
    enrolled(connection, OPEN, params![most, recent])
}

/// Those that were enrolled, and those of the actions, the newest first. Where the first could not be read, the others alone: what is known of the actions holds back others of their tasks.
pub fn left(connection: &Connection, enrolled: Vec<LeftJob>, actions: &[Unanswered]) -> Vec<LeftJob> {
    let mut jobs: BTreeMap<JobId, LeftJob> = enrolled.into_iter().map(|job| (job.id, job)).collect();
    for one in actions {
        let job = one.task.job;
        // An enrolment tells more.
        let of = || enrolled_as(connection, job).unwrap_or_else(|| LeftJob::of(one));
        jobs.entry(job).or_insert_with(of);
    }
    let mut jobs: Vec<LeftJob> = jobs.into_values().collect();
    jobs.sort_by_key(|job| Reverse((job.at, job.id)));
    jobs.truncate(JOBS_MAX);
    jobs
}

fn enrolled_as(connection: &Connection, job: JobId) -> Option<LeftJob> {
    enrolled(connection, "WHERE e.job = ?1", params![job.to_string()]).pop()
}

fn enrolled(connection: &Connection, which: &str, values: impl Params) -> Vec<LeftJob> {
    let rows = connection.prepare(&format!("{ENROLLED} {which}")).and_then(|mut asked| {
        let rows = asked.query_map(values, LeftJob::read)?;
        rows.collect::<rusqlite::Result<Vec<_>>>()
    });
    let rows = rows.unwrap_or_else(|error| {
        tracing::error!(%error, "jobs that an earlier process left without an end cannot be read");
        Vec::new()
    });
    rows.into_iter().flatten().collect()
}

impl LeftJob {
    /// `None` where its name is none.
    fn read(row: &Row<'_>) -> rusqlite::Result<Option<LeftJob>> {
        let id: String = row.get("job")?;
        let Ok(id) = id.parse() else { return Ok(None) };
        let size = |of| Ok::<_, rusqlite::Error>(whole(row, of)?.and_then(|size| u32::try_from(size).ok()));
        let drawn = row.get("share").and_then(|share| Ok(Draw::kept(share, row.get("salt")?)));
        Ok(Some(LeftJob {
            id,
            policy: row.get("policy")?,
            at: Time(whole(row, "at_ms")?.unwrap_or(0)),
            name: row.get("name")?,
            user: row.get("user")?,
            queue: row.get("queue")?,
            totals: size("maps")?.zip(size("reduces")?).map(|(maps, reduces)| [maps, reduces]),
            held_out: row.get("held_out")?,
            drawn: drawn.unwrap_or(None),
        }))
    }

    /// When it was enrolled, or first acted on.
    pub fn at(&self) -> Time {
        self.at
    }

    /// Of a job that was never enrolled its actions tell.
    fn of(action: &Unanswered) -> LeftJob {
        let Unanswered { at, policy, user, queue, .. } = action.clone();
        LeftJob {
            id: action.task.job,
            policy,
            at,
            name: String::new(),
            user,
            queue,
            totals: None,
            held_out: None,
            drawn: None,
        }
    }

    /// The job as rows and its end tell of it, and the names of its attempts' hosts.
    pub fn ended(&self, end: &EndFact) -> (Job, Names) {
        let (mut job, mut hosts) = (Job::new(self.id), Names::default());
        job.name.clone_from(&self.name);
        job.user.clone_from(&self.user);
        job.queue.clone_from(&self.queue);
        (job.totals, job.held_out) = (self.totals, self.held_out);
        job.end(end, |host| hosts.intern(host));
        (job, hosts)
    }
}
