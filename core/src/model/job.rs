//! A job as it is known: its tasks, their attempts, its clock.

use super::capability::Capabilities;
use super::decision::Verdict;
use super::id::{AttemptId, JobId, TaskId, TaskKind};
use super::intake::Intakes;
use super::lost::Lost;
use super::names::NameId;
use super::observation::{AppFact, AttemptFact, EndFact, JobFact, JobSettings, TaskFact};
use super::state::{AttemptState, JobPhase, Phase, TaskState};
use super::track::{Stamp, Track};
use super::units::{Bytes, Millis, Time};
use serde::{Deserialize, Serialize};

/// One attempt at a task. Every field only ever grows towards the truth, so facts may come in any order.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Attempt {
    /// Number within its task.
    pub number: u32,
    /// Host, where known.
    pub host: Option<NameId>,
    /// State.
    pub state: AttemptState,
    /// Phase of its work, where known.
    pub phase: Option<Phase>,
    /// Hadoop calls it a speculative attempt.
    pub speculative: bool,
    /// Launch, the AM's clock.
    pub started: Stamp,
    /// End, the AM's clock.
    pub finished: Stamp,
    /// When it was first seen past its first phase, the AM's clock.
    pub second_phase: Stamp,
    /// When it was first seen past its second phase, the AM's clock.
    pub third_phase: Stamp,
    /// Its progress.
    pub track: Track,
}

/// A task and its attempts.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Task {
    /// State.
    pub state: TaskState,
    /// Verdict of the last pass.
    pub verdict: Option<Verdict>,
    /// Phase, as a status text of the task tells it.
    pub phase: Option<Phase>,
    /// AM time at which `state` held.
    pub as_of: Stamp,
    /// Attempt that succeeded.
    pub winner: Option<u32>,
    /// Launch of its first attempt, the AM's clock.
    pub started: Stamp,
    /// End, the AM's clock.
    pub finished: Stamp,
    /// Progress of its best attempt: all that REST tells of most tasks.
    pub track: Track,
    /// Input split's length; zero where unknown.
    pub input: Bytes,
    /// Attempts known, by number.
    pub attempts: Vec<Attempt>,
}

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
    /// Newest receipt of a fact about its tasks.
    pub heard: Time,
    /// Its AM does not let Drover's user view its tasks.
    #[serde(default)]
    pub hidden: bool,
    /// What attempts have read, where it was asked for.
    #[serde(default)]
    pub intakes: Intakes,
    /// Attempts whose output was lost.
    #[serde(default, skip_serializing_if = "Lost::is_empty")]
    pub lost: Lost,
    /// A listing of all tasks was seen.
    pub(super) listed: bool,
    known: [u32; 2],
    tasks: [Vec<Option<Task>>; 2],
}

impl Default for Task {
    fn default() -> Self {
        Task {
            state: TaskState::New,
            verdict: None,
            phase: None,
            as_of: Stamp::default(),
            winner: None,
            started: Stamp::default(),
            finished: Stamp::default(),
            track: Track::default(),
            input: Bytes(0),
            attempts: Vec::new(),
        }
    }
}

impl Attempt {
    /// An attempt of which only the number is known.
    fn new(number: u32) -> Attempt {
        Attempt {
            number,
            host: None,
            state: AttemptState::New,
            phase: None,
            speculative: false,
            started: Stamp::default(),
            finished: Stamp::default(),
            second_phase: Stamp::default(),
            third_phase: Stamp::default(),
            track: Track::default(),
        }
    }

    /// Did its JVM come to run? Hadoop gives an attempt that is killed with its container just assigned a launch at the moment of its end (TaskAttemptImpl,
    /// sendJHStartEventForAssignedFailTask).
    pub fn was_launched(&self) -> bool {
        // Less than any JVM takes to start.
        const AT_ONCE: Millis = Millis(100);
        let lived = self.started.get().zip(self.finished.get()).map(|(started, finished)| finished.since(started));
        self.state != AttemptState::Killed || lived.is_some_and(|lived| lived > AT_ONCE)
    }

    /// Was it still running when the other was launched?
    fn overlaps(&self, later: &Attempt) -> bool {
        let Some(launched) = later.started.get() else { return false };
        let launched_before = self.started.get().is_some_and(|started| started < launched);
        launched_before && self.finished.get().map_or(!self.state.is_final(), |finished| launched < finished)
    }

    /// Folds in what a fact tells, which held at `at` on the AM's clock.
    fn learn(&mut self, fact: &AttemptFact, host: Option<NameId>, at: Time) {
        self.host = self.host.or(host);
        self.state = self.state.max(fact.state.unwrap_or(self.state));
        self.speculative |= fact.speculative == Some(true);
        self.started.earliest(fact.started);
        self.finished.earliest(fact.finished);
        // Hadoop sets the score of an ended attempt to 1, whatever its end.
        let ended = fact.state.is_some_and(AttemptState::is_final);
        let seen = fact.scored_at.unwrap_or(at);
        if let Some(score) = fact.score.filter(|_| !ended) {
            self.track.add(score, seen);
        }
        self.track.add_reports(fact.reports.unwrap_or(0));
        if let Some(phase) = fact.phase {
            self.phase = self.phase.max(Some(phase));
            let entered = Some(seen);
            match phase {
                Phase::Sort => self.second_phase.earliest(entered),
                Phase::Reduce => {
                    self.second_phase.earliest(entered);
                    self.third_phase.earliest(entered);
                }
                _ => {}
            }
        }
    }
}

impl Task {
    /// Folds in what a fact tells, which held at `at` on the AM's clock.
    fn learn(&mut self, fact: &TaskFact, at: Time) {
        // A map whose output was lost runs again, so the newest state counts, not the furthest.
        if let Some(state) = fact.state
            && (Some(at), state) >= (self.as_of.get(), self.state)
        {
            self.state = state;
            self.as_of.latest(Some(at));
            self.finished = Stamp::default();
            self.winner = None;
        }
        self.started.earliest(fact.started);
        if fact.state.is_some_and(TaskState::is_final) {
            if self.state.is_final() {
                self.finished.latest(fact.finished);
                self.winner = fact.winner.or(self.winner);
            }
        } else if let Some(score) = fact.score {
            self.track.add(score, at);
        }
        self.phase = self.phase.max(fact.phase);
        self.input = self.input.max(fact.input.unwrap_or_default());
    }

    /// The attempt with that number, made if it is new.
    fn attempt_mut(&mut self, number: u32) -> &mut Attempt {
        let at = match self.attempts.binary_search_by_key(&number, |attempt| attempt.number) {
            Ok(at) => at,
            Err(at) => {
                // A vector's own growth would take room for four where nearly every task has one.
                self.attempts.reserve_exact(1);
                self.attempts.insert(at, Attempt::new(number));
                at
            }
        };
        &mut self.attempts[at]
    }

    /// Attempts that hold a container.
    pub fn live(&self) -> impl Iterator<Item = &Attempt> {
        self.attempts
            .iter()
            .filter(|attempt| matches!(attempt.state, AttemptState::Running | AttemptState::CommitPending))
    }

    /// Attempts that have not ended, those that wait for a container included.
    pub fn unended(&self) -> impl Iterator<Item = &Attempt> {
        self.attempts.iter().filter(|attempt| !attempt.state.is_final())
    }

    /// The attempt to judge the task by: the oldest that runs. `None` while only the task itself is known.
    pub fn original(&self) -> Option<&Attempt> {
        self.live().min_by_key(|attempt| (attempt.started.get(), attempt.number))
    }

    /// All that is known of the progress of the attempt to judge it by.
    pub fn progress(&self) -> Track {
        let mut track = self.original().map_or_else(Track::default, |attempt| attempt.track);
        // A task's own score is that of its best attempt: the original's only while it is alone.
        if self.live().count() <= 1 && self.attempts.len() <= 1 {
            track.join(&self.track);
        }
        track
    }

    /// The attempt that succeeded, where it is known: as the task tells, or as the attempts do.
    pub fn won(&self) -> Option<&Attempt> {
        let told = self.winner.and_then(|number| self.attempts.iter().find(|attempt| attempt.number == number));
        told.or_else(|| self.attempts.iter().find(|attempt| attempt.state == AttemptState::Succeeded))
    }

    /// When it ended, the AM's clock; `None` while it runs, and where it is not known.
    pub fn ended(&self) -> Option<Time> {
        let attempt = self.won().or_else(|| self.attempts.iter().max_by_key(|attempt| attempt.finished.get()));
        let ended = self.finished.get().or_else(|| attempt.and_then(|attempt| attempt.finished.get()));
        ended.filter(|_| self.state.is_final())
    }

    /// The number of the attempt that succeeded, where it is known.
    pub fn winner(&self) -> Option<u32> {
        self.won().map(|attempt| attempt.number).or(self.winner)
    }

    /// How long its successful run took, the AM's clock; `None` where it is not known.
    pub fn run_time(&self) -> Option<Millis> {
        if self.state != TaskState::Succeeded {
            return None;
        }
        let started = self.won().map_or(self.started, |attempt| attempt.started).get()?;
        Some(self.won().and_then(|attempt| attempt.finished.get()).or(self.ended())?.since(started))
    }

    /// How often an attempt of it was killed after its launch: while it has not succeeded, each time another was started in its place.
    pub fn restarts(&self) -> u32 {
        let killed = |attempt: &&Attempt| attempt.state == AttemptState::Killed && attempt.was_launched();
        self.attempts.iter().filter(killed).count() as u32
    }

    /// A speculator of Hadoop's started a copy of it at some time: an attempt is labelled so, or, where REST shows no labels, two ran at once.
    pub fn natively_copied(&self) -> bool {
        let labelled = self.attempts.iter().any(|attempt| attempt.speculative);
        labelled || self.attempts.windows(2).any(|pair| pair[0].overlaps(&pair[1]))
    }
}

impl Job {
    /// A job of which only the id is known.
    pub fn new(id: JobId) -> Job {
        Job {
            id,
            name: String::new(),
            user: String::new(),
            queue: String::new(),
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
            heard: Time(0),
            hidden: false,
            intakes: Intakes::default(),
            lost: Lost::default(),
            listed: false,
            known: [0; 2],
            tasks: [Vec::new(), Vec::new()],
        }
    }

    /// Folds in its summary.
    pub fn learn(&mut self, fact: &JobFact) {
        self.name.clone_from(&fact.name);
        self.user.clone_from(&fact.user);
        self.queue.clone_from(&fact.queue);
        self.state = fact.state.or(self.state);
        self.started.earliest(Some(fact.started));
        self.totals = Some([fact.maps, fact.reduces]);
        self.uber |= fact.uber;
    }

    /// What the RM says of owner and queue goes before the job's own word: modes hang on it.
    pub fn vouched(&mut self, app: &AppFact) {
        self.user.clone_from(&app.user);
        self.queue.clone_from(&app.queue);
    }

    /// Attempts numbered below this one ran under an earlier AM.
    pub fn first_number(&self) -> u64 {
        const NUMBERS_PER_AM: u64 = 1000;
        self.incarnation.saturating_sub(1) * NUMBERS_PER_AM
    }

    /// An AM of that number speaks. If it is a newer one, what ran under its predecessors runs no more, and their progress is no one's.
    pub fn outlive(&mut self, incarnation: u64) {
        if incarnation <= self.incarnation {
            return;
        }
        self.incarnation = incarnation;
        let first = self.first_number();
        self.can = Capabilities::default();
        for task in self.tasks.iter_mut().flatten().flatten() {
            for attempt in task.attempts.iter_mut().filter(|attempt| u64::from(attempt.number) < first) {
                if !attempt.state.is_final() {
                    attempt.state = AttemptState::Killed;
                }
            }
            if !task.state.is_final() {
                (task.track, task.started) = Default::default();
                task.phase = None;
            }
        }
    }

    /// The job's end: what its history tells of attempts that succeeded settles their tasks.
    pub fn end(&mut self, end: &EndFact) {
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
        self.slot(fact.kind, fact.index, limit).map(|task| task.learn(fact, at)).is_some()
    }

    /// Folds in what is told of one attempt; false when its task's index is beyond the job's size or `limit`, or it would be one attempt too many.
    pub fn learn_attempt(&mut self, fact: &AttemptFact, host: Option<NameId>, at: Time, limit: u32) -> bool {
        const ATTEMPTS_MAX: usize = 64;
        let Some(task) = self.slot(fact.kind, fact.index, limit) else { return false };
        if task.attempts.len() >= ATTEMPTS_MAX && !task.attempts.iter().any(|known| known.number == fact.number) {
            return false;
        }
        let attempt = task.attempt_mut(fact.number);
        let lost = fact.state.is_some_and(|told| attempt.state.takes_back(told));
        attempt.learn(fact, host, at);
        task.started.earliest(fact.started);
        if task.state < TaskState::Running && fact.state.is_some_and(|s| s >= AttemptState::Running) {
            task.state = TaskState::Running;
        }
        // What ran under an earlier AM is only taken to have been killed.
        if lost && u64::from(fact.number) >= self.first_number() {
            self.lost.add(fact.id(self.id));
        }
        true
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

    /// Every task is known: all were listed at once, or they have come one by one.
    pub fn is_complete(&self) -> bool {
        self.listed || self.totals == Some(self.known)
    }

    /// Tasks of that kind that are known, with their indices, in order.
    pub fn tasks(&self, kind: TaskKind) -> impl Iterator<Item = (TaskId, &Task)> {
        let id = self.id;
        self.tasks[kind as usize]
            .iter()
            .enumerate()
            .filter_map(move |(index, task)| Some((id.task(kind, index as u32), task.as_ref()?)))
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

    /// Tasks of that kind that are known.
    pub fn known(&self, kind: TaskKind) -> u32 {
        self.known[kind as usize]
    }

    /// The AM's clock at an instant of the service's.
    pub fn am_time(&self, service: Time) -> Time {
        service.shifted(self.clock_offset_ms)
    }

    /// The attempt a decision about that task speaks of; numbered 0 while only the task is known.
    pub fn judged_attempt(&self, id: TaskId) -> AttemptId {
        let number = self.task(id).and_then(Task::original).map_or(0, |attempt| attempt.number);
        id.attempt(number)
    }
}
