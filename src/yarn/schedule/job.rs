//! What is known of one job's polling.

use drover_core::model::{AttemptId, JobId, Millis, TaskId, Time};
use std::collections::VecDeque;

use super::params::ScheduleParams;
use super::{Call, SHIM_CHECK, Wants};

/// A job's place in the schedule.
#[derive(Debug, Clone)]
pub struct JobPlan {
    /// When it was first seen.
    pub since: Time,
    /// Run of its AM, where known.
    pub attempt: Option<u32>,
    /// That run has not been put in doubt by an error since.
    pub is_sure: bool,
    /// Its end is being read.
    pub ending: Option<Ending>,
    /// How often it turned out to run after all, since a listing last showed it.
    pub still_runs: u32,
    /// It is not taken for ended before: it has just turned out to run.
    pub no_end_before: Time,
    /// Its AM asked to be left alone until then.
    pub quiet_until: Time,
    /// Errors in a row.
    pub failures: u32,
    /// Its AM did not answer in time when it was last asked for its tasks, or for its run since.
    pub is_hung: bool,
    /// Something beside its tasks is being asked.
    pub is_side_asked: bool,
    /// How long its AM has lately taken to answer, at most.
    pub took: Millis,
    /// Errors in a row of its summary and its configuration.
    pub side_failures: u32,
    /// Tasks of its last listing.
    pub tasks: usize,
    /// When its tasks were last listed.
    pub listed: Option<Time>,
    /// When its summary is due.
    pub summary_due: Time,
    /// When its configuration is due; `None` once it is known.
    pub settings_due: Option<Time>,
    /// When it is due to ask which attempts are wanted; `None` until the next listing.
    pub ask_due: Option<Time>,
    /// Attempts and counters wanted and not yet read, since the time they were named.
    pub wanted: VecDeque<Call>,
    /// Since when none of them was read: a newer listing names them anew, and they must not wait behind summaries for ever.
    pub wanted_since: Time,
    /// The last of those read was a task's attempts: under load only the first few are reached before the next listing, so the two take turns.
    pub read_attempts: bool,
    /// Counters are not asked for before: where they are not to be had they cost no more than a request now and then.
    pub counters_after: Time,
}

/// The reading of a job's end.
#[derive(Debug, Clone, Copy)]
pub struct Ending {
    /// Since when it is tried.
    pub since: Time,
    /// Tries so far.
    pub tries: u32,
    /// The proxy said so; else it was only missing from the listing.
    pub is_certain: bool,
}

impl JobPlan {
    /// A job first seen now.
    pub fn new(now: Time, attempt: Option<u32>, params: &ScheduleParams) -> JobPlan {
        JobPlan {
            since: now,
            attempt,
            is_sure: attempt.is_some(),
            ending: None,
            still_runs: 0,
            no_end_before: now,
            quiet_until: now,
            failures: 0,
            is_hung: false,
            is_side_asked: false,
            took: Millis(0),
            side_failures: 0,
            tasks: 0,
            listed: None,
            summary_due: now,
            settings_due: Some(now + params.settings_after),
            ask_due: None,
            wanted: VecDeque::new(),
            wanted_since: now,
            read_attempts: false,
            counters_after: now,
        }
    }

    /// The shortest interval between two listings of its tasks.
    pub fn interval(&self, now: Time, params: &ScheduleParams) -> Millis {
        let is_soon = now.since(self.since) < params.new_for || self.tasks <= params.small_tasks;
        if is_soon { params.tasks_soon } else { params.tasks }
    }

    /// When something beside its tasks is due.
    pub fn side_due(&self) -> Time {
        let wanted = (!self.wanted.is_empty()).then_some(self.wanted_since);
        [self.settings_due, self.ask_due, wanted].into_iter().flatten().fold(self.summary_due, Time::min)
    }

    /// How long nothing is due beside its tasks while a shim tells of it.
    pub fn shim_pause(&self, now: Time) -> Millis {
        self.settings_due.map_or(SHIM_CHECK, |due| due.since(now).min(SHIM_CHECK)).max(Millis(1))
    }

    /// What is due beside its tasks, the longest due first. With a shim that is its configuration, if anything.
    pub fn side_call(&mut self, id: JobId, now: Time, params: &ScheduleParams, wants: &dyn Wants) -> Option<Call> {
        if self.settings_due.is_some_and(|due| due <= now) && wants.settings_known(id) {
            self.settings_due = None;
        }
        let settings = self.settings_due.filter(|due| *due <= now).map(|due| (due, Call::Settings(id)));
        if wants.has_shim(id) {
            return settings.map(|(_, call)| call);
        }
        if self.ask_due.is_some_and(|due| due <= now) {
            self.ask_due = None;
            if self.wanted.is_empty() {
                self.wanted_since = now;
            }
            let attempts = wants.suspects(id, params.suspects).into_iter().take(params.suspects).map(Call::Attempts);
            let counters = if now < self.counters_after { Vec::new() } else { wants.counters(id, params.suspects) };
            let counters = counters.into_iter().take(params.suspects).map(Call::Counters);
            self.wanted = attempts.chain(counters).filter(|call| call.job() == Some(id)).collect();
            if self.read_attempts {
                self.wanted.make_contiguous().sort_by_key(|call| matches!(call, Call::Attempts(_)));
            }
        }
        let summary = Some((self.summary_due, Call::Summary(id))).filter(|(due, _)| *due <= now);
        let wanted = self.wanted.front().map(|call| (self.wanted_since, *call));
        [summary, settings, wanted].into_iter().flatten().min_by_key(|(due, _)| *due).map(|(_, call)| call)
    }
}

/// A task or an attempt names its job.
impl Call {
    /// The job it is about.
    pub fn job(&self) -> Option<JobId> {
        match self {
            Call::Apps | Call::Totals | Call::Nodes | Call::Queues => None,
            Call::Master(job) | Call::Summary(job) | Call::Settings(job) | Call::Tasks(job) => Some(*job),
            Call::Attempts(TaskId { job, .. }) => Some(*job),
            Call::Counters(AttemptId { task, .. }) => Some(task.job),
            Call::End { job, .. } => Some(*job),
        }
    }
}
