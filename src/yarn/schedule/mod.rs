//! What to ask next, and when: a pure decision, with time passed in.
//!
//! Three lanes: the ResourceManager's own answers, the jobs' tasks, and all else about jobs. The last two share the proxy; when both
//! have something due, the side lane gets its share and tasks the rest. Within a lane users take turns, and of a user's jobs the longest
//! due goes first, so under load all of them wait alike and none starves.

mod agenda;
mod done;
mod ends;
mod hung;
mod job;
mod outrun;
mod params;

#[cfg(test)]
mod tests;

pub use params::ScheduleParams;

use super::endpoint::Class;
use super::facts::cluster::AppSeen;
use agenda::Agenda;
use drover_core::model::{AttemptId, JobId, Millis, TaskId, Time};
use job::JobPlan;
use rand::SeedableRng;
use rand::rngs::StdRng;
use std::collections::{BTreeMap, BTreeSet};

/// What others know that decides what is worth asking. Called often: answers must be cheap and must not block.
pub trait Wants: Send + Sync {
    /// Tasks whose attempts are worth a call each, most wanted first.
    fn suspects(&self, job: JobId, limit: usize) -> Vec<TaskId>;
    /// Jobs that are known, whoever told of them.
    fn known(&self) -> Vec<JobId>;
    /// A shim tells of this job: nothing is asked of its AM that the shim tells.
    fn has_shim(&self, job: JobId) -> bool;
    /// The job's configuration is known already.
    fn settings_known(&self, job: JobId) -> bool;
    /// Attempts whose counters are worth a call each.
    fn counters(&self, job: JobId, limit: usize) -> Vec<AttemptId>;
    /// May the job's attempts be killed over REST? `None` where nobody is to hear of it.
    fn may_kill(&self, _job: JobId) -> Option<bool> {
        None
    }
    /// Jobs that an earlier process left open, the newest first: the ends of those that do not run are to be read.
    fn left(&self) -> Vec<JobId> {
        Vec::new()
    }
    /// Tasks of such a job whose attempts are to be read with its end.
    fn left_tasks(&self, _job: JobId) -> Vec<TaskId> {
        Vec::new()
    }
    /// These run, as has just been listed.
    fn listed(&self, _apps: &[AppSeen]) {}
}

/// One thing to ask.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Call {
    /// Running applications.
    Apps,
    /// The cluster's totals.
    Totals,
    /// All nodes.
    Nodes,
    /// The scheduler's queues.
    Queues,
    /// Which run of its AM a job is in.
    Master(JobId),
    /// A job's summary.
    Summary(JobId),
    /// A job's configuration.
    Settings(JobId),
    /// A job's tasks.
    Tasks(JobId),
    /// A task's attempts.
    Attempts(TaskId),
    /// An attempt's counters.
    Counters(AttemptId),
    /// How a job ended.
    End {
        /// The job.
        job: JobId,
        /// Who is to tell it.
        of: EndTry,
    },
}

/// Who tells a job's end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EndTry {
    /// Its history, now or on a later try.
    History,
    /// Its history, and where that does not, the ResourceManager: it is the last try.
    Last,
    /// The ResourceManager: the history server does not answer.
    Rm,
    /// The ResourceManager, and where that says nothing either, nobody: it has been waited for long enough.
    Nobody,
}

/// What became of a call, as far as the schedule cares.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    /// Answered.
    Done,
    /// Answered, with this many tasks, or with this run of the AM.
    Told(usize),
    /// The server wants to be left alone for that long; nothing is wrong with the job.
    Paused(Millis),
    /// The history server does not answer, or not in time.
    NoHistory,
    /// It does not, and the ResourceManager's word has to do.
    DoneByRm,
    /// No ResourceManager can be reached or is active.
    RmDown,
    /// The application has finished.
    Finished,
    /// The application runs after all.
    StillRuns,
    /// Not permitted, or too large: not worth asking soon.
    Refused,
    /// Nothing in time.
    Silent,
    /// Any other failure.
    Failed,
}

/// The ResourceManager's four answers, in the order of their urgency where they are due at once.
const RM_CALLS: [Call; 4] = [Call::Apps, Call::Totals, Call::Queues, Call::Nodes];
/// The engine takes in a listing before it is asked which attempts it wants.
const ASK_AFTER: Millis = Millis(300);
/// A job with a shim is looked at again after this time, in case the shim has gone.
const SHIM_CHECK: Millis = Millis(5_000);

/// The schedule.
#[derive(Debug)]
pub struct Schedule {
    params: ScheduleParams,
    rm: [RmPlan; 4],
    jobs: BTreeMap<JobId, JobPlan>,
    tasks: Agenda,
    hung: hung::Hung,
    side: Agenda,
    under_way: outrun::UnderWay,
    ends: Agenda,
    history: ends::History,
    /// How many jobs' ends are to be read.
    ending: usize,
    /// Those of them that an earlier process left open.
    left_open: BTreeSet<JobId>,
    settings_busy: usize,
    /// The one of them whose job's summary or configuration could not be read before.
    settings_again: Option<JobId>,
    ended: BTreeMap<JobId, Time>,
    /// What the side lane has earned by waiting, in calls.
    credit: f64,
    is_rm_down: bool,
    rng: StdRng,
}

#[derive(Debug, Clone, Copy)]
struct RmPlan {
    due: Time,
    is_busy: bool,
    failures: u32,
    /// When its last answer, or failure, came.
    back: Time,
}

impl Schedule {
    /// A schedule that begins now and knows no job.
    pub fn new(params: ScheduleParams, now: Time) -> Schedule {
        let rng = StdRng::seed_from_u64(params.seed);
        Schedule {
            params,
            rm: [RmPlan { due: now, is_busy: false, failures: 0, back: Time(0) }; 4],
            jobs: BTreeMap::new(),
            tasks: Agenda::default(),
            hung: hung::Hung::default(),
            side: Agenda::default(),
            under_way: outrun::UnderWay::default(),
            ends: Agenda::default(),
            history: ends::History::default(),
            ending: 0,
            left_open: BTreeSet::new(),
            settings_busy: 0,
            settings_again: None,
            ended: BTreeMap::new(),
            credit: 0.0,
            is_rm_down: false,
            rng,
        }
    }

    /// Jobs watched, and of these the ones whose end is being read.
    pub fn counts(&self) -> (usize, usize) {
        (self.jobs.len(), self.ending)
    }

    /// Jobs whose ends are to be read.
    pub fn ending(&self) -> Vec<JobId> {
        self.jobs.iter().filter(|(_, job)| job.ending.is_some()).map(|(id, _)| *id).collect()
    }

    /// Nothing but the listing of applications is asked for, until a ResourceManager answers it.
    pub fn is_rm_down(&self) -> bool {
        self.is_rm_down
    }

    /// The run of a job's AM, where known.
    pub fn attempt(&self, job: JobId) -> Option<u32> {
        self.jobs.get(&job)?.attempt
    }

    /// Is anything of the job still to be asked?
    pub fn watches(&self, job: JobId) -> bool {
        self.jobs.contains_key(&job)
    }

    /// When a job's tasks were last listed.
    pub fn listed(&self, job: JobId) -> Option<Time> {
        self.jobs.get(&job)?.listed
    }

    /// When something of this class is due next, that is not under way.
    pub fn wake(&self, class: Class) -> Option<Time> {
        match class {
            Class::Rm => {
                let calls = RM_CALLS.iter().zip(&self.rm).filter(|(call, plan)| self.may(call, plan));
                calls.map(|(_, plan)| plan.due).min()
            }
            _ if self.is_rm_down => None,
            Class::Proxy => [self.tasks.next(), self.next_hung(), self.side.next()].into_iter().flatten().min(),
            Class::History => self.ends.next().filter(|_| self.history.has_place()),
        }
    }

    /// The call of this class that should go now, if any; [`Schedule::start`] it, or ask again later.
    pub fn pick(&mut self, class: Class, now: Time, wants: &dyn Wants) -> Option<Call> {
        match class {
            Class::Rm => {
                let calls = RM_CALLS.iter().zip(&self.rm).filter(|(call, plan)| self.may(call, plan));
                let due = calls.filter(|(_, plan)| plan.due <= now);
                due.min_by_key(|(_, plan)| plan.due).map(|(call, _)| *call)
            }
            _ if self.is_rm_down => None,
            Class::Proxy => {
                let (task, side) = (self.pick_tasks(now, wants), self.side.first_due(now).is_some());
                let side =
                    if side && (task.is_none() || self.credit >= 1.0) { self.pick_side(now, wants) } else { None };
                side.or(task)
            }
            Class::History => self.pick_end(now),
        }
    }

    fn may(&self, call: &Call, plan: &RmPlan) -> bool {
        !plan.is_busy && (!self.is_rm_down || *call == Call::Apps)
    }

    fn pick_tasks(&mut self, now: Time, wants: &dyn Wants) -> Option<Call> {
        while let Some(id) = self.first_hung(now).or_else(|| self.tasks.first_due(now)) {
            let Some(job) = self.jobs.get_mut(&id) else {
                self.unset_tasks(id);
                continue;
            };
            // What the shim does not tell is asked for only where the run of the AM is known.
            let is_told = wants.has_shim(id) && (job.is_sure || job.settings_due.is_none() || wants.settings_known(id));
            let quiet_until = job.quiet_until;
            if now < quiet_until {
                self.set_tasks(id, quiet_until);
            } else if is_told {
                // Until the shim falls silent nothing is to be read: that time is no interval between two readings.
                job.listed = None;
                self.answers(id, now);
                self.set_tasks(id, now + SHIM_CHECK);
            } else {
                return Some(if job.is_sure { Call::Tasks(id) } else { Call::Master(id) });
            }
        }
        None
    }

    fn pick_side(&mut self, now: Time, wants: &dyn Wants) -> Option<Call> {
        while let Some(id) = self.side.first_due(now) {
            let Some(job) = self.jobs.get_mut(&id) else {
                self.side.remove(id);
                continue;
            };
            if now < job.quiet_until {
                self.side.set(id, job.quiet_until);
                continue;
            }
            if !job.is_sure {
                // Until the run of its AM is known, facts could not be told apart from those of another run.
                if wants.settings_known(id) {
                    job.settings_due = None;
                }
                let pause = if wants.has_shim(id) { job.shim_pause(now).max(ASK_AFTER) } else { ASK_AFTER };
                self.side.set(id, now + pause);
                continue;
            }
            // Large ones are not to come together; and of masters that may hang one is asked at a time, or the others would wait behind their timeouts.
            let waits = self.settings_busy >= 2 || (job.side_failures > 0 && self.settings_again.is_some());
            match job.side_call(id, now, &self.params, wants) {
                Some(Call::Settings(_)) if waits => self.side.set(id, now + ASK_AFTER),
                Some(call) => return Some(call),
                None => {
                    let pause = if wants.has_shim(id) { job.shim_pause(now) } else { Millis(1) };
                    let due = job.side_due().max(now + pause);
                    self.side.set(id, due);
                }
            }
        }
        None
    }

    /// A picked call goes out.
    pub fn start(&mut self, call: Call, now: Time) {
        let contested = self.tasks.first_due(now).is_some() && self.side.first_due(now).is_some();
        match call {
            Call::Apps | Call::Totals | Call::Nodes | Call::Queues => {
                if let Some(plan) = self.rm_plan(call) {
                    plan.is_busy = true;
                }
            }
            Call::Master(job) | Call::Tasks(job) => {
                self.ask_tasks(job);
                if contested {
                    let share = self.params.side_share.clamp(0.0, 0.9);
                    self.credit = (self.credit + share / (1.0 - share)).min(4.0);
                }
            }
            Call::Summary(job) | Call::Settings(job) => self.start_side(call, job, contested, now),
            Call::Attempts(task) => self.start_side(call, task.job, contested, now),
            Call::Counters(attempt) => self.start_side(call, attempt.task.job, contested, now),
            Call::End { job, .. } => {
                self.ends.remove(job);
                self.history.busy += 1;
            }
        }
        self.goes_out(call, now);
    }

    fn start_side(&mut self, call: Call, job: JobId, contested: bool, now: Time) {
        self.side.remove(job);
        self.side.takes_turn(job);
        if contested {
            self.credit = (self.credit - 1.0).max(0.0);
        }
        if let Call::Settings(_) = call {
            self.settings_busy += 1;
            if self.jobs.get(&job).is_some_and(|plan| plan.side_failures > 0) {
                self.settings_again = Some(job);
            }
        }
        let Some(job) = self.jobs.get_mut(&job) else { return };
        job.is_side_asked = true;
        if job.wanted.front() == Some(&call) {
            job.wanted.pop_front();
            job.wanted_since = now;
            job.read_attempts = matches!(call, Call::Attempts(_));
        }
    }

    fn rm_plan(&mut self, call: Call) -> Option<&mut RmPlan> {
        let index = RM_CALLS.iter().position(|c| *c == call)?;
        self.rm.get_mut(index)
    }
}
