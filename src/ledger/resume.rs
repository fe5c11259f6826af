//! What an earlier process left open: actions that it decided on and whose end it never wrote, and jobs that ended, if they did, when it saw them no more.

mod ends;
mod jobs;
#[cfg(test)]
mod tests;

use super::error::LedgerError;
use super::open;
use super::steps::SETTINGS_SINCE;
use super::tables::OutcomeRow;
use super::under::Told;
use super::wording::{reckoned, spaced, word};
use crate::span::plausible;
use drover_core::model::{
    AckFact, Action, Answer, Attempt, AttemptId, CopyEnd, Job, Millis, NameId, Names, TaskId, TaskState, Time,
};
pub use jobs::LeftJob;
use rusqlite::{Connection, Row, RowIndex, params};
use std::path::Path;

/// Older ones have no job that runs, but where one was enrolled before and has no end.
const LOOK_BACK: Millis = Millis(7 * 86_400_000);

/// What an earlier process left open.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Left {
    /// Actions without an end, oldest first.
    pub actions: Vec<Unanswered>,
    /// Jobs without an end, newest first: those that were enrolled, and those of the actions.
    pub jobs: Vec<LeftJob>,
    /// What became of other actions in jobs without an end, newest first.
    pub settled: Vec<Settled>,
    /// What the file says last of settings.
    pub told: Option<Told>,
}

impl Left {
    /// Nothing has to be settled any more.
    pub fn is_settled(&self) -> bool {
        self.actions.is_empty() && self.jobs.is_empty()
    }
}

/// An action with an end, in a job without one.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Settled {
    /// The task.
    pub task: TaskId,
    /// The copy won.
    pub won: bool,
    /// When the slow attempt would have ended as predicted, the clock of the job's ApplicationMaster.
    pub predicted_end: Option<Time>,
}

/// An action without an end.
#[derive(Debug, Clone, PartialEq)]
pub struct Unanswered {
    /// The process that decided.
    pub incarnation: String,
    /// Its decision.
    pub decision: u64,
    /// The task.
    pub task: TaskId,
    /// When it is too late to start its copies, the service's clock.
    pub deadline: Time,
    /// It is known to have been sent.
    pub sent: bool,
    /// The shim's last answer, where there was one, and the attempts that it named.
    pub answer: Option<(Answer, Vec<u32>)>,
    /// When it was decided on, the service's clock, and by which policy.
    at: Time,
    policy: String,
    /// Its job's owner and queue.
    user: String,
    queue: String,
    /// It was to kill the slow attempt.
    restart: bool,
    /// Number of the slow attempt.
    slow: Option<u32>,
    /// When it is too late to carry it out, the clock of the job's ApplicationMaster.
    too_late: Option<Time>,
    /// When it would have ended as predicted, and one standard deviation.
    prediction: Option<(Time, Option<Millis>)>,
}

/// From the first time on, and before the second only in jobs without an end.
const ASK: &str = "SELECT d.incarnation, d.decision, d.task, d.deadline_ms, d.am_at_ms, d.time_left_ms, d.time_left_spread_ms, s.at_ms IS NOT NULL,
    (SELECT a.answer || ':' || a.attempts FROM answers a WHERE a.incarnation = d.incarnation AND a.decision = d.decision ORDER BY a.at_ms DESC, a.rowid DESC LIMIT 1), d.attempt,
    d.at_ms, d.policy, d.user, d.queue, d.action
    FROM decisions d LEFT JOIN sent s USING (incarnation, decision) LEFT JOIN outcomes o USING (incarnation, decision)
    WHERE d.mode = 'act' AND d.action <> 'withdraw' AND o.at_ms IS NULL AND d.at_ms >= ?1
    AND (d.at_ms >= ?2 OR NOT EXISTS (SELECT 1 FROM jobs j WHERE j.job = d.job)) ORDER BY d.at_ms";

const SETTLED: &str = "SELECT d.task, o.outcome = 'won', o.predicted_end_ms FROM decisions d JOIN outcomes o USING (incarnation, decision) LEFT JOIN jobs j ON j.job = d.job
    WHERE d.mode = 'act' AND d.action <> 'withdraw' AND j.job IS NULL AND d.at_ms >= ? ORDER BY d.at_ms DESC LIMIT ?";

/// More than jobs that run at once have copies.
const SETTLED_MAX: i64 = 100_000;

/// What is left open in the file.
///
/// # Errors
/// Where it cannot be read.
pub fn left(path: &Path, now: Time) -> Result<Left, LedgerError> {
    let (connection, version) = open::read_any(path)?;
    let read = of(&connection, now - LOOK_BACK).and_then(|left| {
        let told = if version < SETTINGS_SINCE { None } else { Told::last(&connection)? };
        Ok(Left { told, ..left })
    });
    read.map_err(|error| LedgerError::of(path, &error))
}

fn of(connection: &Connection, since: Time) -> rusqlite::Result<Left> {
    // One moment of the file for both.
    let moment = connection.unchecked_transaction()?;
    let recent = i64::try_from(since.0).unwrap_or(i64::MAX);
    let enrolled = jobs::enrolled_and_open(&moment, recent);
    // What was done to the longest of them belongs to its end, too.
    let since = enrolled.iter().map(LeftJob::at).min().map_or(since, |first| since.min(first));
    let since = i64::try_from(since.0).unwrap_or(i64::MAX);
    let actions = moment
        .prepare(ASK)?
        .query_map(params![since, recent], Unanswered::read)?
        .collect::<rusqlite::Result<Vec<_>>>()?;
    let actions: Vec<Unanswered> = actions.into_iter().flatten().collect();
    let jobs = jobs::left(&moment, enrolled, &actions);
    let mut settled = moment.prepare(SETTLED)?;
    let settled =
        settled.query_map(params![since, SETTLED_MAX], Settled::read)?.collect::<rusqlite::Result<Vec<_>>>()?;
    let settled = settled.into_iter().flatten().collect();
    Ok(Left { actions, jobs, settled, told: None })
}

/// A number that is none below zero.
fn whole(row: &Row<'_>, at: impl RowIndex) -> rusqlite::Result<Option<u64>> {
    Ok(row.get::<_, Option<i64>>(at)?.and_then(|number| u64::try_from(number).ok()))
}

impl Settled {
    /// `None` where the task's name is none.
    fn read(row: &Row<'_>) -> rusqlite::Result<Option<Settled>> {
        let task: String = row.get(0)?;
        let Ok(task) = task.parse() else { return Ok(None) };
        Ok(Some(Settled { task, won: row.get(1)?, predicted_end: whole(row, 2)?.map(Time) }))
    }
}

impl Unanswered {
    /// `None` where the task's name is none.
    fn read(row: &Row<'_>) -> rusqlite::Result<Option<Unanswered>> {
        let task: String = row.get(2)?;
        let Ok(task) = task.parse() else { return Ok(None) };
        let (am_at, left, spread) = (whole(row, 4)?, whole(row, 5)?, whole(row, 6)?);
        let answer: Option<String> = row.get(8)?;
        let answer = answer.as_deref().and_then(|text| text.split_once(':')).and_then(|(label, attempts)| {
            Some((Answer::parse(label)?, attempts.split(' ').filter_map(|one| one.parse().ok()).collect()))
        });
        let (slow, action): (String, String) = (row.get(9)?, row.get(14)?);
        let (at, deadline) = (Time(whole(row, 10)?.unwrap_or(0)), Time(whole(row, 3)?.unwrap_or(0)));
        Ok(Some(Unanswered {
            incarnation: row.get(0)?,
            decision: whole(row, 1)?.unwrap_or(0),
            task,
            deadline,
            sent: row.get(7)?,
            answer,
            at,
            policy: row.get(11)?,
            user: row.get(12)?,
            queue: row.get(13)?,
            restart: action == Action::Restart.label(),
            too_late: am_at.map(|am_at| Time(am_at) + deadline.since(at)),
            slow: slow.parse().ok().map(|slow: AttemptId| slow.number),
            prediction: am_at.zip(left).map(|(at, left)| (Time(at + left), spread.map(Millis))),
        }))
    }

    /// Takes an answer in, unless it says nothing new.
    pub fn hear(&mut self, ack: &AckFact) -> bool {
        let stale = self.answer.as_ref().is_some_and(|(before, named)| ack.is_stale_after(Some(*before), named));
        let answer = Some((ack.answer, ack.attempts.clone()));
        if stale || self.answer == answer {
            return false;
        }
        (self.sent, self.answer) = (true, answer);
        true
    }

    /// What became of it, as the attempts show that were seen of its job, which has ended, on hosts of those names.
    pub fn outcome(&self, job: &Job, hosts: &Names, at: Time) -> OutcomeRow {
        let task = job.task(self.task);
        let known = self.copies(task);
        let end = self.end(task, known.as_deref());
        let numbers = known.unwrap_or_default();
        let copies = || task.into_iter().flat_map(|task| &task.attempts).filter(|one| numbers.contains(&one.number));
        let winner = task.filter(|task| task.state == TaskState::Succeeded).and_then(|task| task.winner());
        let ended = task.and_then(|task| task.ended()).or(job.ended.get()).unwrap_or_else(|| job.am_time(at));
        let held = |one: &Attempt| one.held_until(ended);
        let of_winner = copies().find(|one| Some(one.number) == winner).filter(|_| end == CopyEnd::Won);
        // Of a task whose attempts were not read its start is not known.
        let of_winner = of_winner.filter(|one| one.started.get().is_some()).map(held);
        let container = copies().map(held).fold(Millis(0), |sum, one| sum + one);
        let name = |host: NameId| hosts.name(host).to_owned();
        let winner_host = winner.and_then(|winner| task?.attempts.iter().find(|one| one.number == winner)?.host);
        let launched = copies().filter(|copy| copy.was_launched()).filter_map(|copy| copy.host);
        let predicted = self.prediction.map(|(predicted, _)| predicted);
        let (gained_ms, prediction_error_ms) = reckoned(end, winner, self.slow, predicted, ended);
        OutcomeRow {
            at_ms: at,
            incarnation: self.incarnation.clone(),
            decision: self.decision,
            outcome: word(end).to_owned(),
            end: end.label().to_owned(),
            answer: self.answer.as_ref().map(|(answer, _)| answer.label().to_owned()),
            attempts: spaced(&numbers),
            winner,
            host: winner_host.map(name),
            hosts: launched.map(name).collect::<Vec<_>>().join(" "),
            near_preferred: None,
            ended_ms: ended,
            predicted_end_ms: predicted,
            predicted_spread_ms: self.prediction.and_then(|(_, spread)| spread),
            gained_ms,
            prediction_error_ms,
            container_ms: plausible(container).unwrap_or_default(),
            winner_container_ms: of_winner.and_then(plausible),
            would_have_won: None,
        }
    }
}
