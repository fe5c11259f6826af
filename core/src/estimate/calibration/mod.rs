//! Past predictions of every estimator, whichever is in force, against what happened: for a sample of each job's tasks, noted at a quarter, half and three quarters of
//! the progress score.

mod accuracy;
mod learnt;
mod note;
mod owners;
mod spread;
#[cfg(test)]
mod tests;
mod watch;

pub use accuracy::{Accuracy, Cell, INTERVAL, INTERVAL_SPREADS, Outcome, Record};
pub use note::{Note, Point};
pub use owners::WATCHED_OF_USER;
pub use spread::Spreads;
pub use watch::{SAMPLED, SAMPLED_OF_KNOWN, Watched};

use super::by_kind::ByKind;
pub use super::by_kind::KINDS_MAX;
use super::users::Users;
use super::{Estimator, Left};
use crate::model::{AttemptId, Job, JobId, JobKind, Millis, TaskKind};
use learnt::Learnt;
use owners::Owners;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use watch::Watch;

/// Sampled tasks of all live jobs. Jobs beyond it, or beyond [`WATCHED_OF_USER`], are not sampled until others have ended.
pub const WATCHED_MAX: usize = 1 << 15;

/// A prediction of time left against what happened.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct EstimateError {
    /// The estimator.
    pub estimator: Estimator,
    /// Map or reduce.
    pub kind: TaskKind,
    /// The progress at which it was predicted.
    pub point: Point,
    /// Time left, as predicted.
    pub predicted: Left,
    /// Time left, as it was.
    pub actual: Millis,
}

/// What was predicted in live jobs, and how good the predictions of all jobs were.
#[derive(Debug, Default, Serialize, Deserialize)]
pub struct Calibration {
    jobs: BTreeMap<JobId, [Watch; 2]>,
    /// Their sampled tasks.
    watched: usize,
    #[serde(default)]
    owners: Owners,
    overall: Record,
    /// Users whose jobs that rests on.
    #[serde(default)]
    users: Users,
    #[serde(flatten)]
    kinds: ByKind<Record>,
}

impl Calibration {
    /// Draws the sample of a job's tasks, once it is known how many there are.
    pub fn open(&mut self, job: &Job, seed: u64) {
        let Some(totals) = job.totals.filter(|_| !self.jobs.contains_key(&job.id)) else { return };
        let known = JobKind::of(job).and_then(|of| self.kinds.get(&of));
        let most = TaskKind::ALL.map(|kind| {
            if known.is_some_and(|record| record.is_well_known(kind)) { SAMPLED_OF_KNOWN } else { SAMPLED }
        });
        let more: usize = totals.iter().zip(most).map(|(total, most)| (*total).min(most) as usize).sum();
        if self.watched + more > WATCHED_MAX || !self.owners.have_room(job, more) {
            return;
        }
        let seed = seed ^ job.id.0.cluster.rotate_left(20) ^ u64::from(job.id.0.seq);
        let watch = |kind: TaskKind| {
            Watch::draw(totals[kind as usize], most[kind as usize], seed.rotate_left(32 * kind as u32))
        };
        let watches = TaskKind::ALL.map(watch);
        self.jobs.insert(job.id, watches);
        self.watched += more;
        self.owners.take(job, more);
    }

    /// How good predictions were, without what is noted of live jobs: whoever goes on from it draws their samples anew.
    pub fn learnt(&self) -> Calibration {
        let Calibration { jobs: _, watched: _, owners: _, overall, users, kinds } = self;
        let (overall, users, kinds) = (overall.clone(), users.clone(), kinds.clone());
        Calibration { overall, users, kinds, ..Calibration::default() }
    }

    /// Goes on from that.
    pub fn resume(&mut self, told: Calibration) {
        (self.overall, self.users, self.kinds) = (told.overall, told.users, told.kinds.bounded());
    }

    /// Sampled tasks of live jobs.
    pub fn watched(&self) -> usize {
        self.watched
    }

    /// A job's sampled tasks that have not ended.
    pub fn sampled(&self, job: JobId, kind: TaskKind) -> impl Iterator<Item = &Watched> {
        let watch = self.jobs.get(&job).map(|watches| &watches[kind as usize]);
        watch.into_iter().flat_map(|watch| &watch.tasks).filter(|task| !task.closed)
    }

    /// Takes note of predictions for an attempt of a sampled task.
    pub fn note(&mut self, id: AttemptId, note: Note) {
        if let Some(watches) = self.jobs.get_mut(&id.task.job) {
            watches[id.task.kind as usize].note(id.task.index, id.number, note);
        }
    }

    /// Sets what was noted of the job's tasks against those that have ended since.
    pub fn settle(&mut self, job: &Job) -> Vec<EstimateError> {
        let Some(watches) = self.jobs.get_mut(&job.id) else { return Vec::new() };
        let mut learnt = Learnt::default();
        for (kind, watch) in TaskKind::ALL.into_iter().zip(watches) {
            learnt.follow(job, kind, watch);
            if watch.tasks.iter().all(|task| task.closed) {
                self.watched -= watch.tasks.len();
                self.owners.give_back(job.id, watch.tasks.len());
                learnt.conclude(kind, std::mem::take(watch));
            }
        }
        self.learn(job, learnt)
    }

    /// The same for a job that has ended, which is then forgotten.
    pub fn close(&mut self, job: &Job) -> Vec<EstimateError> {
        let mut errors = self.settle(job);
        let mut learnt = Learnt::default();
        for (kind, watch) in TaskKind::ALL.into_iter().zip(self.take(job.id)) {
            learnt.conclude(kind, watch);
        }
        errors.append(&mut self.learn(job, learnt));
        errors
    }

    /// Forgets what was noted of a job.
    pub fn forget(&mut self, job: JobId) {
        self.take(job);
    }

    fn take(&mut self, job: JobId) -> [Watch; 2] {
        let watches = self.jobs.remove(&job).unwrap_or_default();
        let places = watches.iter().map(|watch| watch.tasks.len()).sum();
        self.watched -= places;
        self.owners.forget(job, places);
        watches
    }

    fn learn(&mut self, job: &Job, learnt: Learnt) -> Vec<EstimateError> {
        if learnt.is_empty() {
            return learnt.errors;
        }
        learnt.add_to(&mut self.overall);
        self.users.add(&job.user);
        if let Some(kind) = JobKind::of(job) {
            learnt.add_to(self.kinds.entry(kind));
        }
        learnt.errors
    }

    /// How good predictions were in all jobs.
    pub fn overall(&self) -> &Record {
        &self.overall
    }

    /// The same by kind of job, the one last heard of first.
    pub fn kinds(&self) -> Vec<(&JobKind, &Record)> {
        self.kinds.newest_first()
    }

    /// The estimator to take for such jobs instead of the configured one, as [`Record::best`] has it of this kind alone.
    pub fn best(&self, kind: &JobKind, tasks: TaskKind, configured: Estimator) -> Option<Estimator> {
        self.kinds.get(kind)?.best(tasks, configured)
    }

    /// How far an estimator's predictions lie from what happens: in such jobs, where enough is known of them; else in all, as far as that is not one other user's word.
    pub fn spreads(&self, kind: &JobKind, tasks: TaskKind, estimator: Estimator) -> Spreads {
        let records = self.records_for(kind);
        Spreads::of(|point| spread(&records, Cell { tasks, point, estimator }))
    }

    /// The same of every estimator at one point of progress, in the order of [`Estimator::ALL`].
    pub fn spreads_at(&self, kind: &JobKind, tasks: TaskKind, point: Point) -> [Spreads; Estimator::ALL.len()] {
        let records = self.records_for(kind);
        let measured = |estimator| spread(&records, Cell { tasks, point, estimator });
        Estimator::ALL.map(|estimator| measured(estimator).map_or(Spreads::UNMEASURED, Spreads::even))
    }

    fn records_for(&self, kind: &JobKind) -> [Option<&Record>; 2] {
        let all = self.users.hold_for(&kind.user).then_some(&self.overall);
        [self.kinds.get(kind), all]
    }
}

/// As the first of the records has it that knows enough.
fn spread(records: &[Option<&Record>], cell: Cell) -> Option<f64> {
    records.iter().flatten().find_map(|record| record.of(cell.tasks, cell.point, cell.estimator)?.spread())
}
