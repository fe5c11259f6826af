//! What follows from answers: when to ask again.

use super::job::JobPlan;
use super::{ASK_AFTER, Call, Outcome, RmPlan, Schedule, Wants};
use crate::yarn::facts::cluster::AppSeen;
use drover_core::model::{JobId, Millis, Time};
use rand::RngExt;
use std::collections::BTreeSet;

/// An ended job stays known for this long, so that a listing from before does not bring it back.
const REMEMBER_ENDED: Millis = Millis(600_000);

impl Schedule {
    /// A call has come back after `took`.
    pub fn done(&mut self, call: Call, outcome: Outcome, took: Millis, now: Time) {
        self.comes_back(call, outcome, took, now);
        match call {
            Call::Apps | Call::Totals | Call::Nodes | Call::Queues => self.done_rm(call, outcome, took, now),
            Call::End { job, of } => self.done_end(job, outcome, of, now),
            _ => {
                if let Call::Settings(job) = call {
                    self.settings_busy = self.settings_busy.saturating_sub(1);
                    self.settings_again = self.settings_again.filter(|again| *again != job);
                }
                self.done_job(call, outcome, took, now);
            }
        }
    }

    fn done_rm(&mut self, call: Call, outcome: Outcome, took: Millis, now: Time) {
        let base = match call {
            Call::Apps => self.params.apps,
            Call::Totals => self.params.totals,
            Call::Nodes => self.params.nodes,
            _ => self.params.queues,
        };
        match outcome {
            Outcome::RmDown if call == Call::Apps => self.is_rm_down = true,
            Outcome::RmDown => self.doubt_rm(now),
            Outcome::Done | Outcome::Told(_) if call == Call::Apps => self.is_rm_down = false,
            _ => {}
        }
        let is_ok = matches!(outcome, Outcome::Done | Outcome::Told(_) | Outcome::Paused(_));
        let failures = self.rm_plan(call).map_or(0, |plan| if is_ok { 0 } else { plan.failures.saturating_add(1) });
        let pause = if is_ok { self.stretched(base, took) } else { self.backoff(failures) };
        if let Some(plan) = self.rm_plan(call) {
            *plan = RmPlan { due: now + pause, is_busy: false, failures, back: now };
        }
    }

    /// One connection that fails, of twenty a second, is no ResourceManager that is down: whether it is the listing of applications tells, soon.
    pub(super) fn doubt_rm(&mut self, now: Time) {
        let soonest = self.params.apps;
        if let Some(plan) = self.rm_plan(Call::Apps).filter(|plan| !plan.is_busy) {
            plan.due = plan.due.min(now.max(plan.back + soonest));
        }
    }

    fn done_job(&mut self, call: Call, outcome: Outcome, took: Millis, now: Time) {
        let Some(id) = call.job() else { return };
        self.asked(call, id);
        if outcome == Outcome::RmDown {
            self.doubt_rm(now);
        }
        let Some(job) = self.jobs.get_mut(&id) else { return };
        match outcome {
            Outcome::Finished if job.ending.is_none() && job.no_end_before <= now => {
                return self.begin_end(id, true, now);
            }
            _ if job.ending.is_some() => return,
            // It may tell its run at once, and its tasks never in time.
            Outcome::Told(_) if job.is_hung && matches!(call, Call::Master(_)) => {}
            Outcome::Done | Outcome::DoneByRm | Outcome::Told(_) => job.failures = 0,
            Outcome::RmDown => {}
            // However short the pause that it asks for, it is asked no sooner than one that answers.
            Outcome::Paused(length) => {
                let length = length.max(job.interval(now, &self.params));
                job.quiet_until = job.quiet_until.max(now + length);
            }
            // Estimates do without, and the job's own answers come as ever.
            Outcome::Refused | Outcome::Failed | Outcome::Silent if matches!(call, Call::Counters(_)) => {
                job.counters_after = now + self.params.longest_pause;
                job.wanted.retain(|call| !matches!(call, Call::Counters(_)));
            }
            Outcome::Refused => job.failures = job.failures.saturating_add(1),
            Outcome::Failed | Outcome::Silent | Outcome::NoHistory | Outcome::Finished | Outcome::StillRuns => {
                job.failures = job.failures.saturating_add(1);
                // Another run of the AM may answer next.
                job.is_sure = false;
            }
        }
        let pause = match job.failures {
            0 => Millis(0),
            _ if outcome == Outcome::Refused => self.params.longest_pause,
            failures => self.backoff(failures),
        };
        match call {
            Call::Tasks(_) | Call::Master(_) => self.after_tasks(id, call, outcome, pause, took, now),
            _ => self.after_side(id, call, outcome, pause, took, now),
        }
    }

    fn after_tasks(&mut self, id: JobId, call: Call, outcome: Outcome, pause: Millis, took: Millis, now: Time) {
        let Some(job) = self.jobs.get_mut(&id) else { return };
        let due = match (call, outcome) {
            (Call::Master(_), Outcome::Told(run)) => {
                let run = u32::try_from(run).ok().filter(|run| *run > 0);
                job.attempt = run.max(job.attempt);
                job.is_sure = true;
                now
            }
            (Call::Tasks(_), Outcome::Told(tasks)) => {
                job.tasks = tasks;
                job.listed = Some(now);
                // Listings that follow closely must not put the question off for ever.
                job.ask_due.get_or_insert(now + ASK_AFTER);
                let (side, base) = (job.side_due(), job.interval(now, &self.params));
                if self.side.next_of(id).is_some() {
                    self.side.set(id, side);
                }
                now + self.stretched(base, took)
            }
            _ => now + pause.max(Millis(200)),
        };
        match (call, outcome) {
            (_, Outcome::Silent) => self.hangs(id),
            (Call::Tasks(_), _) => self.answers(id, now),
            _ => {}
        }
        self.set_tasks(id, due);
    }

    /// What failed waits for its pause; what else is due beside the job's tasks waits only where the job itself failed.
    fn after_side(&mut self, id: JobId, call: Call, outcome: Outcome, pause: Millis, took: Millis, now: Time) {
        let is_ok = matches!(outcome, Outcome::Done | Outcome::Told(_));
        // These two have a count of their own: tasks that are read in between would set the job's back.
        let failed = match (call, self.jobs.get_mut(&id)) {
            (Call::Summary(_) | Call::Settings(_), Some(job)) => {
                job.side_failures = if is_ok { 0 } else { job.side_failures.saturating_add(1) };
                job.side_failures
            }
            _ => 0,
        };
        let again = now + pause.max(self.backoff(failed.max(1)));
        let next_summary = now + self.stretched(self.params.summary, took);
        let Some(job) = self.jobs.get_mut(&id) else { return };
        match call {
            Call::Summary(_) => job.summary_due = if is_ok { next_summary } else { again },
            Call::Settings(_) => job.settings_due = (!is_ok).then_some(again),
            _ => {}
        }
        let wait = if outcome == Outcome::Refused { Millis(0) } else { pause };
        let due = job.side_due().max(now + wait);
        if !job.is_hung {
            self.side.set(id, due);
        }
    }

    /// The applications that run. Gives how many were left out because too many are watched; those of which a shim tells are not. Of jobs that are known and that no listing has
    /// shown, as their shim told of them and they ended before the next, the end is read.
    pub fn apps(&mut self, apps: &[AppSeen], wants: &dyn Wants, now: Time) -> usize {
        let mut left_out = 0;
        let mut running = BTreeSet::new();
        let mut watched = self.watched(wants);
        for seen in apps {
            let id = JobId(seen.fact.app);
            running.insert(id);
            if self.ended.contains_key(&id) {
                continue;
            }
            let has_shim = wants.has_shim(id);
            if self.jobs.contains_key(&id) {
                self.seen_again(id, seen.attempt, now);
            } else if !has_shim && watched >= self.params.max_jobs {
                left_out += 1;
            } else {
                watched += usize::from(!has_shim);
                self.jobs.insert(id, JobPlan::new(now, seen.attempt, &self.params));
                self.belongs(id, &seen.fact.user);
                self.tasks.set(id, now);
                self.side.set(id, now);
            }
        }
        for id in wants.known() {
            if !running.contains(&id) && !self.ended.contains_key(&id) {
                self.jobs.entry(id).or_insert_with(|| JobPlan::new(now, None, &self.params));
            }
        }
        let may_end = |job: &JobPlan| job.ending.is_none() && job.no_end_before <= now;
        let gone = self.jobs.iter().filter(|(id, job)| may_end(job) && !running.contains(id));
        for id in gone.map(|(id, _)| *id).collect::<Vec<_>>() {
            self.begin_end(id, false, now);
        }
        self.ended.retain(|_, at| now.since(*at) < REMEMBER_ENDED);
        left_out
    }

    fn watched(&self, wants: &dyn Wants) -> usize {
        self.jobs.iter().filter(|(id, job)| job.ending.is_none() && !wants.has_shim(**id)).count()
    }

    fn seen_again(&mut self, id: JobId, attempt: Option<u32>, now: Time) {
        let Some(job) = self.jobs.get_mut(&id) else { return };
        (job.still_runs, job.no_end_before) = (0, now);
        if let Some(attempt) = attempt {
            if job.attempt.is_some_and(|known| attempt > known) {
                job.summary_due = now;
                job.wanted.clear();
            }
            job.attempt = Some(attempt).max(job.attempt);
            job.is_sure = true;
        }
        if job.ending.is_some_and(|ending| !ending.is_certain) {
            self.resume(id, now);
        }
    }

    /// An interval that keeps a slow answer from being asked for all the time, with jitter.
    fn stretched(&mut self, base: Millis, took: Millis) -> Millis {
        let by_cost = took.scaled(1.0 / self.params.busy_share.clamp(0.001, 1.0));
        base.max(by_cost.min(self.params.longest_pause)).scaled(self.rng.random_range(0.9..1.1))
    }

    /// 1 s, doubled with every failure, with jitter.
    pub(super) fn backoff(&mut self, failures: u32) -> Millis {
        let doubled = Millis(1_000u64 << failures.saturating_sub(1).min(10));
        doubled.min(self.params.longest_pause).scaled(self.rng.random_range(0.8..1.2))
    }
}
