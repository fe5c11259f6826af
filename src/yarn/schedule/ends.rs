//! Jobs that have ended: whose end is read when, and of whom.

use super::job::{Ending, JobPlan};
use super::{Call, EndTry, Outcome, Schedule};
use crate::yarn::facts::cluster::AppSeen;
use drover_core::model::{JobId, Millis, Time};
use std::collections::BTreeSet;

/// Ends read at once: as many as may be asked for at once of the history server, so that its rate is what holds them back.
pub(super) const MAX_ENDS: usize = 8;
/// Of jobs that an earlier process left open so many at once: there may be hundreds, and ends of jobs that were watched are not to wait behind them.
pub(super) const LEFT_AT_ONCE: usize = 4;
/// So long such a job waits at most for a history server that is down: nothing that is known of it is kept for that, but a job that it cannot read is not to be tried for ever.
const LEFT_PATIENCE: Millis = Millis(3_600_000);
/// So long an end that nobody knows waits at most for a ResourceManager that tells nothing of it either.
const RM_PATIENCE: Millis = Millis(3_600_000);
/// Where more ends wait than jobs may be watched, each does so no longer than this.
const CROWD_PATIENCE: Millis = Millis(60_000);
/// So often in a row it has not answered in time, or at all, and is taken for down: then one end at a time finds out whether it is back.
const SILENCES: u32 = 3;

/// The history server as a whole.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct History {
    /// Ends that are being read.
    pub(super) busy: usize,
    /// How often in a row it has not answered.
    silences: u32,
    /// When it last did not.
    silent_at: Time,
    /// It is left alone until then.
    until: Time,
}

impl History {
    fn is_down(&self) -> bool {
        self.silences >= SILENCES
    }

    /// So many of as many, or one while the server is down.
    fn places(&self, most: usize) -> usize {
        if self.is_down() { 1 } else { most }
    }

    pub(super) fn has_place(&self) -> bool {
        self.busy < self.places(MAX_ENDS)
    }
}

impl Schedule {
    /// Has the ends read of jobs that an earlier process left open and that a listing shows to run no more, a few at a time, and none while ends of jobs that were watched wait for
    /// places. What neither runs nor is read yet is named again with the next one.
    pub fn left(&mut self, left: &[JobId], apps: &[AppSeen], now: Time) {
        let places = self.history.places(LEFT_AT_ONCE).saturating_sub(self.left_open.len());
        if left.is_empty() || places == 0 || self.ending - self.left_open.len() > MAX_ENDS - LEFT_AT_ONCE {
            return;
        }
        let running: BTreeSet<JobId> = apps.iter().map(|seen| JobId(seen.fact.app)).collect();
        let known = |id: &&JobId| running.contains(id) || self.jobs.contains_key(id) || self.ended.contains_key(id);
        let next: Vec<JobId> = left.iter().filter(|id| !known(id)).take(places).copied().collect();
        for id in next {
            self.jobs.insert(id, JobPlan::new(now, None, &self.params));
            self.begin_end(id, false, now);
            self.left_open.insert(id);
        }
    }

    /// Tasks whose attempts are read with this job's end, at most: each is one more request that other ends wait for, those of jobs that were watched for no other's.
    pub fn end_tasks(&self, job: JobId) -> usize {
        let waiting = self.ends.len();
        let others = match self.left_open.contains(&job) {
            true => waiting.min(LEFT_AT_ONCE - 1),
            false => waiting.saturating_sub(self.left_open.len()),
        };
        self.params.history_tasks / (1 + others)
    }

    /// When the ResourceManager's word has to do for the end of a job that has been waited for since then.
    fn given_up(&self, job: JobId, since: Time) -> Time {
        let patience = since + self.params.history_patience;
        match (self.left_open.contains(&job), self.history.is_down()) {
            (false, _) => patience,
            (true, true) => since + LEFT_PATIENCE,
            // While the server was down it could not tell.
            (true, false) => {
                patience.max(self.history.silent_at + self.params.history_patience).min(since + LEFT_PATIENCE)
            }
        }
    }

    /// The end to be read now. While the history server is down none of those waits for it that have waited long enough: the ResourceManager's word has to do for them.
    pub(super) fn pick_end(&mut self, now: Time) -> Option<Call> {
        while let Some(job) = self.ends.first_due(now).filter(|_| self.history.has_place()) {
            let Some(ending) = self.jobs.get(&job).and_then(|plan| plan.ending) else {
                self.ends.remove(job);
                continue;
            };
            let given_up = self.given_up(job, ending.since);
            // Where more wait than may run, some make way.
            let is_old = now >= given_up || self.ending > self.params.max_jobs;
            let rests = self.history.is_down() && now < self.history.until;
            let of = match () {
                () if now >= given_up + RM_PATIENCE => EndTry::Nobody,
                () if rests && is_old => EndTry::Rm,
                () if rests => {
                    // Whether it is back those find out first that have the least time.
                    let behind = Millis(self.left_open.contains(&job).into());
                    self.ends.set(job, self.history.until.min(given_up) + behind);
                    continue;
                }
                // One that has waited for its turn all the time has not been tried yet.
                () if is_old && ending.tries > 0 => EndTry::Last,
                () => EndTry::History,
            };
            return Some(Call::End { job, of });
        }
        None
    }

    pub(super) fn done_end(&mut self, id: JobId, outcome: Outcome, of: EndTry, now: Time) {
        self.history.busy = self.history.busy.saturating_sub(1);
        if matches!(of, EndTry::History | EndTry::Last) {
            self.heard_of_history(outcome, now);
        }
        match outcome {
            Outcome::Done | Outcome::DoneByRm | Outcome::Told(_) => return self.forget(id, now),
            Outcome::StillRuns => {
                self.put_off(id, now);
                return self.resume(id, now);
            }
            _ if of == EndTry::Nobody => return self.forget(id, now),
            Outcome::RmDown => self.doubt_rm(now),
            // No try: it is the server's wish to be left alone.
            Outcome::Paused(length) => return self.ends.set(id, now + length),
            _ => {}
        }
        let Some(ending) = self.jobs.get_mut(&id).and_then(|job| job.ending.as_mut()) else { return };
        ending.tries = ending.tries.saturating_add(1);
        let tries = ending.tries;
        let pause = self.backoff(tries);
        self.ends.set(id, now + pause);
    }

    /// Where more ends wait than jobs may be watched those that have waited longest are read no more, whether they were tried or not; gives how many. Nobody has told them, so that
    /// they are told as nothing: the engine loses these jobs from sight, and the next process finds them open.
    pub fn make_way(&mut self, now: Time) -> usize {
        let beyond = self.ending.saturating_sub(self.params.max_jobs);
        if beyond == 0 {
            return 0;
        }
        let waits = |id: &JobId| self.ends.next_of(*id).and_then(|_| self.jobs.get(id)?.ending);
        let since = |id: &JobId| waits(id).map(|ending| (ending.since, *id));
        let mut old: Vec<_> =
            self.jobs.keys().filter_map(since).filter(|(since, _)| now.since(*since) >= CROWD_PATIENCE).collect();
        old.sort_unstable();
        old.truncate(beyond);
        old.iter().for_each(|(_, id)| self.forget(*id, now));
        old.len()
    }

    fn heard_of_history(&mut self, outcome: Outcome, now: Time) {
        match outcome {
            Outcome::NoHistory | Outcome::DoneByRm => {}
            // Of these the ResourceManager is the one that told.
            Outcome::StillRuns | Outcome::RmDown => return,
            _ => return (self.history.silences, self.history.until) = (0, now),
        }
        self.history.silences = self.history.silences.saturating_add(1);
        self.history.silent_at = now;
        let beyond = self.history.silences.saturating_sub(SILENCES - 1);
        if beyond > 0 {
            self.history.until = now + self.backoff(beyond);
        }
    }

    pub(super) fn begin_end(&mut self, id: JobId, is_certain: bool, now: Time) {
        if let Some(job) = self.jobs.get_mut(&id) {
            self.ending += usize::from(job.ending.is_none());
            job.ending = Some(Ending { since: now, tries: 0, is_certain });
            self.unset_tasks(id);
            self.side.remove(id);
            self.ends.set(id, now + Millis(500));
        }
    }

    /// A job that runs though no listing shows it (its AM waits to be started again, say) is not taken for ended with each of them.
    fn put_off(&mut self, id: JobId, now: Time) {
        let Some(job) = self.jobs.get_mut(&id) else { return };
        job.still_runs = job.still_runs.saturating_add(1);
        let times = job.still_runs;
        let pause = self.backoff(times);
        if let Some(job) = self.jobs.get_mut(&id) {
            job.no_end_before = now + pause;
        }
    }

    pub(super) fn resume(&mut self, id: JobId, now: Time) {
        if let Some(job) = self.jobs.get_mut(&id) {
            self.ending -= usize::from(job.ending.take().is_some());
            (job.is_sure, job.is_hung) = (false, false);
            let is_side_asked = job.is_side_asked;
            self.left_open.remove(&id);
            self.ends.remove(id);
            self.set_tasks(id, now + self.params.tasks_soon);
            if !is_side_asked {
                self.side.set(id, now + self.params.tasks_soon);
            }
        }
    }

    fn forget(&mut self, id: JobId, now: Time) {
        let known = self.jobs.remove(&id);
        self.ending -= usize::from(known.is_some_and(|job| job.ending.is_some()));
        self.left_open.remove(&id);
        self.leaves(id);
        self.ended.insert(id, now);
    }
}
