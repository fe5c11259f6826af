//! A job as it is known: its tasks, their attempts, its clock.

mod attempt;
mod attempts;
mod listings;
mod maps_done;
mod marks;
mod task;
#[cfg(test)]
mod tests;

pub use attempt::Attempt;
pub use attempts::Attempts;
pub use listings::Listings;
pub use maps_done::MapsDone;
pub use marks::Marks;
pub use task::Task;

use super::capability::Capabilities;
use super::id::{AttemptId, JobId, TaskId, TaskKind};
use super::intake::Intakes;
use super::lost::Lost;
use super::missed::Missed;
use super::names::NameId;
use super::observation::{AppFact, AttemptFact, Channel, EndFact, JobFact, JobSettings, TaskFact};
use super::outputs::Outputs;
use super::places::Place;
use super::state::{AttemptState, JobPhase, TaskState};
use super::track::Stamp;
use super::units::{Bytes, Millis, Time};
use serde::{Deserialize, Serialize};

/// Tasks of one kind in one job; Hadoop's own bound on a job's splits is far below.
pub(super) const TASKS_MAX: u32 = 2_000_000;

/// A job.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Job {
    /// Its id.
    pub id: JobId,
    /// Its name.
    pub name: String,
    /// Its owner.
    pub user: String,
    /// Its queue.
    pub queue: String,
    /// Owner and queue are the RM's word.
    #[serde(default)]
    is_vouched: bool,
    /// Its state, where known.
    pub state: Option<JobPhase>,
    /// Start, the AM's clock.
    pub started: Stamp,
    /// End, the AM's clock, once history has told it.
    pub ended: Stamp,
    /// Tasks in all, where known: maps, reduces.
    pub totals: Option<[u32; 2]>,
    /// Runs inside its AM.
    pub uber: bool,
    /// Newest AM attempt heard of.
    pub incarnation: u64,
    /// Its configuration, where read.
    pub settings: Option<JobSettings>,
    /// Containers it waits for: maps, reduces.
    pub needs: [u32; 2],
    /// Copies launched by Hadoop's own speculator, where a shim tells.
    pub native_copies: u64,
    /// A shim speaks for it.
    pub shim: bool,
    /// What can be done to it.
    pub can: Capabilities,
    /// The AM's clock less the service's, milliseconds, and the receipt it was taken from.
    pub clock_offset_ms: i64,
    /// When that clock was last seen to have been set, by what it said then.
    #[serde(default)]
    pub clock_set: Stamp,
    /// Receipt of the first fact about it, the service's clock.
    #[serde(default)]
    pub opened: Time,
    /// Newest receipt of a fact about its tasks; before any, that of the first about the job.
    pub heard: Time,
    /// Its AM does not let Drover's user view its tasks.
    #[serde(default)]
    pub hidden: bool,
    /// What attempts have read, where it was asked for or they are suspected.
    #[serde(default)]
    pub intakes: Intakes,
    /// What its tasks have written, where it was told.
    #[serde(default, skip_serializing_if = "Outputs::is_empty")]
    pub outputs: Outputs,
    /// Attempts whose output was lost.
    #[serde(default, skip_serializing_if = "Lost::is_empty")]
    pub lost: Lost,
    /// Outputs that reduces could not fetch.
    #[serde(default, skip_serializing_if = "Missed::is_empty")]
    pub missed: Missed,
    /// When its maps had all finished, the latest times that was seen.
    #[serde(default)]
    maps_ends: [Stamp; maps_done::ENDS],
    /// One of them was seen to run since.
    #[serde(default)]
    maps_run_again: bool,
    /// When the AM's clock was set back, where by what it said before they finished later than that.
    #[serde(default)]
    maps_over: Stamp,
    /// It is left to Hadoop's own speculator to compare with, or not, as was drawn when it was first seen; `None`: not drawn yet.
    #[serde(default)]
    pub held_out: Option<bool>,
    /// Who has listed all tasks.
    #[serde(default)]
    pub listings: Listings,
    /// More was told of it than how far its tasks are since the engine last looked at it whole.
    #[serde(default = "stirred")]
    pub stirred: bool,
    /// Tasks of which progress was told since the engine last looked at them, by kind, in no order.
    #[serde(default)]
    told: [Vec<u32>; 2],
    known: [u32; 2],
    /// Of these the ones without input, as far as it is known.
    #[serde(default)]
    empty: [u32; 2],
    tasks: [Vec<Option<Task>>; 2],
}

/// What has not been looked at yet is to be looked at whole.
fn stirred() -> bool {
    true
}

impl Job {
    /// A job of which only the id is known.
    pub fn new(id: JobId) -> Job {
        Job {
            id,
            name: String::new(),
            user: String::new(),
            queue: String::new(),
            is_vouched: false,
            state: None,
            started: Stamp::default(),
            ended: Stamp::default(),
            totals: None,
            uber: false,
            incarnation: 0,
            settings: None,
            needs: [0; 2],
            native_copies: 0,
            shim: false,
            can: Capabilities::default(),
            clock_offset_ms: 0,
            clock_set: Stamp::default(),
            opened: Time(0),
            heard: Time(0),
            hidden: false,
            intakes: Intakes::default(),
            outputs: Outputs::default(),
            lost: Lost::default(),
            missed: Missed::default(),
            maps_ends: [Stamp::default(); maps_done::ENDS],
            maps_run_again: false,
            maps_over: Stamp::default(),
            held_out: None,
            listings: Listings::default(),
            stirred: stirred(),
            told: Default::default(),
            known: [0; 2],
            empty: [0; 2],
            tasks: [Vec::new(), Vec::new()],
        }
    }

    /// Folds in its summary. More tasks than there can be are claimed, not had.
    pub fn learn(&mut self, fact: &JobFact) {
        let totals = Some([fact.maps, fact.reduces].map(|claimed| claimed.min(TASKS_MAX)));
        let owned = self.is_vouched || (&self.user, &self.queue) == (&fact.user, &fact.queue);
        let named = owned && self.name == fact.name;
        let stands = fact.state.is_none_or(|state| self.state == Some(state)) && (self.uber || !fact.uber);
        self.stirred |= !named || !stands || self.totals != totals;
        self.name.clone_from(&fact.name);
        if !self.is_vouched {
            self.user.clone_from(&fact.user);
            self.queue.clone_from(&fact.queue);
        }
        self.state = fact.state.or(self.state);
        self.started.earliest(Some(fact.started));
        self.totals = totals;
        self.uber |= fact.uber;
    }

    /// What the RM says of owner and queue goes before the job's own word, also while it says nothing: modes hang on it.
    pub fn vouched(&mut self, app: &AppFact) {
        if app.user.is_empty() || app.queue.is_empty() {
            return;
        }
        self.is_vouched = true;
        self.stirred |= (&self.user, &self.queue) != (&app.user, &app.queue);
        self.user.clone_from(&app.user);
        self.queue.clone_from(&app.queue);
    }

    /// Attempts numbered below this one ran under an earlier AM.
    pub fn first_number(&self) -> u64 {
        const NUMBERS_PER_AM: u64 = 1000;
        self.incarnation.saturating_sub(1) * NUMBERS_PER_AM
    }

    /// An AM of that number speaks. If it is a newer one, what ran under its predecessors runs no more, and their progress is no one's.
    pub fn outlive(&mut self, incarnation: u64) -> bool {
        if incarnation <= self.incarnation {
            return false;
        }
        (self.incarnation, self.stirred) = (incarnation, true);
        let first = self.first_number();
        (self.can, self.clock_set, self.maps_over) = Default::default();
        self.listings.clear();
        for task in self.tasks.iter_mut().flatten().flatten() {
            for attempt in task.attempts.iter_mut().filter(|attempt| u64::from(attempt.number) < first) {
                if !attempt.state.is_final() {
                    attempt.state = AttemptState::Killed;
                }
            }
            // The new AM's clock may be behind its predecessor's.
            task.as_of = Stamp::default();
            if !task.state.is_final() {
                (task.track, task.started) = Default::default();
                task.phase = None;
                task.marks = task.marks.skewing(false);
            }
        }
        true
    }

    /// The AM's clock says `at` now, and may be behind the one by which maps ended: none ended later.
    pub(super) fn maps_were_over_by(&mut self, at: Time) {
        if self.maps_done().at.is_some_and(|done| done > at) {
            self.maps_over = at.0.into();
        }
    }

    /// A shim begins to speak: what it says of a task first counts, though a listing that was stamped with its end seems newer.
    pub(super) fn date_back(&mut self) {
        self.tasks.iter_mut().flatten().flatten().for_each(|task| task.as_of = Stamp::default());
    }

    /// The AM's clock was set, and says `at` now. What runs spans that: its times tell nothing of others, and what is told of it next counts, though it may seem older.
    pub(super) fn clock_was_set(&mut self, at: Time) {
        (self.clock_set, self.stirred) = (at.0.into(), true);
        self.date_back();
        let tasks = self.tasks.iter_mut().flatten().flatten();
        tasks.filter(|task| task.state == TaskState::Running).for_each(|task| task.marks = task.marks.skewing(true));
        self.maps_were_over_by(at);
    }

    /// Was the AM's clock set since that was launched which is told, at `at` on it, to run?
    fn spans_a_step(&self, launched: Option<Time>, at: Time) -> bool {
        // What is rounded or told a little late is in no future.
        const NOISE: Millis = Millis(5_000);
        launched.zip(self.clock_set.get()).is_some_and(|(launched, set)| launched < set || launched > at + NOISE)
    }

    /// The job's end: what its history tells of attempts that succeeded settles their tasks. Of hosts' names `number` gives the numbers.
    pub fn end(&mut self, end: &EndFact, mut number: impl FnMut(&str) -> Option<NameId>) {
        let at = end.finished.unwrap_or(self.heard);
        for attempt in &end.attempts {
            let host = attempt.host.as_deref().and_then(&mut number);
            self.learn_attempt(attempt, host, at, TASKS_MAX);
        }
        self.state = end.state;
        self.ended.latest(end.finished);
        for fact in end.attempts.iter().filter(|fact| fact.state == Some(AttemptState::Succeeded)) {
            if let Some(task) = self.task_mut(self.id.task(fact.kind, fact.index)) {
                task.state = TaskState::Succeeded;
                task.winner = Some(fact.number);
                task.finished.latest(fact.finished);
            }
        }
    }

    /// Folds in what is told of one task; false when its index is beyond the job's size or `limit`.
    pub fn learn_task(&mut self, fact: &TaskFact, at: Time, limit: u32) -> bool {
        let spans = fact.state == Some(TaskState::Running) && self.spans_a_step(fact.started, at);
        let Some(task) = self.slot(fact.kind, fact.index, limit) else { return false };
        let (before, heard, was_empty) = (task.standing(), task.marks.told(), task.is_empty());
        task.learn(fact, at);
        task.marks = task.marks.skewing(task.marks.skewed() || spans);
        let (told, is_empty) = (task.marks.told() && !heard, task.is_empty());
        self.stirred |= before != task.standing();
        self.told[fact.kind as usize].extend(told.then_some(fact.index));
        let empty = &mut self.empty[fact.kind as usize];
        *empty = *empty + u32::from(is_empty) - u32::from(was_empty);
        true
    }

    /// The racks that a task's input lies on, once they are told.
    pub(super) fn learn_place(&mut self, id: TaskId, place: Option<Place>) {
        if let Some(task) = self.task_mut(id) {
            task.place = task.place.or(place);
        }
    }

    /// Folds in what is told of one attempt; false when its task's index is beyond the job's size or `limit`, or it would be one attempt too many: a newer one takes the place of the oldest that failed or was killed.
    pub fn learn_attempt(&mut self, fact: &AttemptFact, host: Option<NameId>, at: Time, limit: u32) -> bool {
        const ATTEMPTS_MAX: usize = 64;
        let first = self.first_number();
        let runs = |state| matches!(state, AttemptState::Running | AttemptState::CommitPending);
        let spans = fact.state.is_some_and(runs) && self.spans_a_step(fact.started, at);
        let Some(task) = self.slot(fact.kind, fact.index, limit) else { return false };
        let is_known = task.attempts.iter().any(|known| known.number == fact.number);
        if task.attempts.len() >= ATTEMPTS_MAX && !is_known && !task.attempts.make_room(fact.number) {
            return false;
        }
        let (before, known) = (task.standing(), task.attempts.len());
        let attempt = task.attempts.of_number(fact.number);
        if fact.state == Some(AttemptState::Succeeded) && u64::from(fact.number) < first {
            attempt.revive();
        }
        let lost = fact.state.is_some_and(|told| attempt.state.takes_back(told));
        let changed = attempt.learn(fact, host, at);
        let gone = matches!(attempt.state, AttemptState::Failed | AttemptState::Killed);
        let is_running = !attempt.state.is_final();
        let told = !task.marks.told() && fact.score.is_some();
        task.marks = task.marks.heard(task.marks.told() || told);
        task.started.earliest(fact.started);
        task.marks = task.marks.skewing(task.marks.skewed() || (spans && is_running));
        // Not by the end of one: a map whose output was lost waits for its next attempt.
        if task.state < TaskState::Running && fact.state.is_some_and(runs) && is_running {
            task.state = TaskState::Running;
        }
        self.stirred |= changed || lost || task.attempts.len() > known || task.standing() != before;
        self.told[fact.kind as usize].extend(told.then_some(fact.index));
        if gone {
            self.missed.forget(fact.id(self.id));
        } else {
            self.stirred |= self.missed.learn(fact.id(self.id), &fact.missed);
        }
        self.learn_output(fact);
        // What ran under an earlier AM is only taken to have been killed.
        if lost && u64::from(fact.number) >= self.first_number() {
            self.lost.add(fact.id(self.id));
        }
        true
    }

    /// Folds in what an attempt at a known task tells to have written.
    pub(super) fn learn_output(&mut self, fact: &AttemptFact) {
        let id = self.id.task(fact.kind, fact.index);
        if let Some(written) = fact.counters.written.filter(|_| self.task(id).is_some()) {
            self.outputs.learn(id, written);
        }
    }

    /// The task of that index, made if it is new. Rows come nearly in order, so room is made only a little ahead of what is known: a false index takes no memory.
    fn slot(&mut self, kind: TaskKind, index: u32, limit: u32) -> Option<&mut Task> {
        const AHEAD: usize = 50_000;
        let size = self.totals.map_or(limit, |totals| totals[kind as usize]).min(limit) as usize;
        let tasks = &mut self.tasks[kind as usize];
        let index = index as usize;
        if index >= size.min(2 * tasks.len() + AHEAD) {
            return None;
        }
        if tasks.len() <= index {
            // A vector's own doubling would waste up to half of it.
            tasks.reserve_exact(size.min(index + 1 + AHEAD) - tasks.len());
            tasks.resize(index + 1, None);
        }
        let known = &mut self.known[kind as usize];
        Some(tasks[index].get_or_insert_with(|| {
            *known += 1;
            Task::default()
        }))
    }

    /// Places for tasks of each kind that memory is held for, told of or not.
    pub(super) fn places(&self) -> [usize; 2] {
        [0, 1].map(|kind: usize| self.tasks[kind].len())
    }

    /// The limit of indices of that kind with which the job has no more places than `room`, and all that it has.
    pub(super) fn limit(&self, kind: TaskKind, room: usize) -> u32 {
        let places = self.places();
        let (own, all) = (places[kind as usize], places.iter().sum::<usize>());
        u32::try_from((room + own).saturating_sub(all).max(own)).map_or(TASKS_MAX, |limit| limit.min(TASKS_MAX))
    }

    /// A source says that it has named all tasks there are.
    pub(super) fn listed_by(&mut self, source: Channel) {
        self.listings.listed(source, self.totals.unwrap_or(self.known));
    }

    /// Every task is known: a source that still speaks has listed all there are by now, or they have come one by one.
    pub fn is_complete(&self) -> bool {
        self.listings.cover(self.totals) || self.totals == Some(self.known)
    }

    /// Tasks of that kind that are known, with their indices, in order.
    pub fn tasks(&self, kind: TaskKind) -> impl Iterator<Item = (TaskId, &Task)> {
        let id = self.id;
        self.tasks[kind as usize]
            .iter()
            .enumerate()
            .filter_map(move |(index, task)| Some((id.task(kind, index as u32), task.as_ref()?)))
    }

    /// Does a task of that kind tell how long others take? Not one without input where any has some: there is little more to it than the start of a JVM. Nor one while which the AM's
    /// clock was set.
    pub fn tells(&self, kind: TaskKind) -> impl Fn(&Task) -> bool {
        let apart = self.has_empty_apart(kind);
        move |task| !(apart && task.is_empty() || task.marks.skewed())
    }

    /// Has any task of that kind input where others have none?
    pub fn has_empty_apart(&self, kind: TaskKind) -> bool {
        self.empty[kind as usize] > 0 && self.tasks(kind).any(|(_, task)| task.input.0 > 0)
    }

    /// Tasks of that kind of which progress was told since the engine last looked at them, in order of index.
    pub fn told(&self, kind: TaskKind) -> Vec<TaskId> {
        let mut told: Vec<TaskId> = self.told[kind as usize].iter().map(|index| self.id.task(kind, *index)).collect();
        told.sort_unstable();
        told
    }

    /// The engine has looked at all of these.
    pub fn heed(&mut self) {
        for (kind, told) in TaskKind::ALL.into_iter().zip(std::mem::take(&mut self.told)) {
            for index in told {
                if let Some(task) = self.task_mut(self.id.task(kind, index)) {
                    task.marks = task.marks.heard(false);
                }
            }
        }
    }

    /// Of no task anything is kept in mind.
    pub fn forget_verdicts(&mut self) {
        self.told = Default::default();
        for task in self.tasks.iter_mut().flatten().flatten() {
            (task.verdict, task.marks) = (None, task.marks.lagging(false).heard(false));
        }
    }

    /// A task, if it is known.
    pub fn task(&self, id: TaskId) -> Option<&Task> {
        self.tasks[id.kind as usize].get(id.index as usize)?.as_ref()
    }

    /// The host of an attempt, where known.
    pub fn host_of(&self, id: AttemptId) -> Option<NameId> {
        self.task(id.task)?.attempts.iter().find(|attempt| attempt.number == id.number)?.host
    }

    /// A task, if it is known.
    pub fn task_mut(&mut self, id: TaskId) -> Option<&mut Task> {
        self.tasks[id.kind as usize].get_mut(id.index as usize)?.as_mut()
    }

    /// Of each map that has succeeded the host its output lies on, where known, and how much it has written; zero where that was not told.
    pub fn map_outputs(&self) -> impl Iterator<Item = (&Task, Option<NameId>, Bytes)> {
        let done = self.tasks(TaskKind::Map).filter(|(_, task)| task.state == TaskState::Succeeded);
        done.map(|(id, task)| (task, task.won().and_then(|won| won.host), self.outputs.of(id)))
    }

    /// Tasks of that kind that are known.
    pub fn known(&self, kind: TaskKind) -> u32 {
        self.known[kind as usize]
    }

    /// Does any task of that kind run, as far as is known? One that waits for another attempt after its first counts, too: Hadoop calls it RUNNING.
    pub fn runs(&self, kind: TaskKind) -> bool {
        self.tasks(kind).any(|(_, task)| task.state == TaskState::Running)
    }

    /// The AM's clock at an instant of the service's.
    pub fn am_time(&self, service: Time) -> Time {
        service.shifted(self.clock_offset_ms)
    }

    /// The service's clock at an instant of the AM's.
    pub fn service_time(&self, am: Time) -> Time {
        am.shifted(self.clock_offset_ms.saturating_neg())
    }

    /// The attempt a decision about that task speaks of; the first under this AM while only the task is known.
    pub fn judged_attempt(&self, id: TaskId) -> AttemptId {
        let first = || u32::try_from(self.first_number()).unwrap_or(u32::MAX);
        id.attempt(self.task(id).and_then(Task::original).map_or_else(first, |attempt| attempt.number))
    }
}
