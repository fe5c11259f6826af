//! Jobs of two users in two queues, whose shims, tasks and polls go as the dice fall.

use super::*;
use std::collections::{BTreeMap, BTreeSet};

/// When the jobs begin, seconds; each has sixteen maps.
pub const BEGIN: f64 = 42.0;
/// Users and queues.
pub const JOBS: [(&str, &str); 3] = [("alice", "root.etl"), ("alice", "root.adhoc"), ("bob", "root.etl")];

/// A copy that exists.
struct Extra {
    task: TaskId,
    number: u32,
    state: AttemptState,
    launched: Option<f64>,
    host: String,
}

/// What is really so, and what of it the engine hears.
pub struct World<'a> {
    pub script: Script,
    dice: std::iter::Cycle<std::slice::Iter<'a, u8>>,
    extras: Vec<Extra>,
    /// Answers on their way, and when they arrive.
    answers: Vec<(f64, AckFact)>,
    /// Tasks that a copy has finished: when, and its number.
    won: BTreeMap<TaskId, (f64, u32)>,
    /// Tasks that the engine was told the end of.
    pub told: BTreeSet<TaskId>,
}

pub fn jobs() -> impl Iterator<Item = JobId> {
    (2..).take(JOBS.len()).map(job_id)
}

/// How long a task takes alone, seconds: one node in four is slow, and was slow before.
fn alone(task: TaskId) -> f64 {
    4.0 * one_node_in_four(task.index)
}

impl World<'_> {
    pub fn new(params: EngineParams, dice: &[u8]) -> World<'_> {
        let mut script = with_a_slow_second_node(params);
        for (id, (user, queue)) in jobs().zip(JOBS) {
            script.open_job_of(user, queue, id, MAPS, 0, at(BEGIN));
            script.say(at(BEGIN), Fact::ShimSession(id, true));
            let can = Capabilities { duplicate: true, place: true, ..Capabilities::default() };
            script.say(at(BEGIN), Fact::Can(id, can));
        }
        let app = |(id, (user, queue)): (JobId, (&str, &str))| AppFact {
            app: id.0,
            user: user.into(),
            queue: queue.into(),
            name: "job".into(),
            started: at(BEGIN),
            containers: 1,
            allocated: Resources::default(),
        };
        script.say(at(BEGIN), Fact::Apps(jobs().zip(JOBS).map(app).collect()));
        let (dice, answers) = (dice.iter().cycle(), Vec::new());
        World { script, dice, extras: Vec::new(), answers, won: BTreeMap::new(), told: BTreeSet::new() }
    }

    fn roll(&mut self, sides: u8) -> u8 {
        self.dice.next().map_or(0, |die| die % sides)
    }

    /// Copies of a task that have not ended.
    pub fn live(&self, of: impl Fn(TaskId) -> bool) -> u32 {
        self.extras.iter().filter(|extra| of(extra.task) && !extra.state.is_final()).count() as u32
    }

    fn own(&mut self, second: f64, fact: Fact) {
        let app = fact.job().map(|job| job.0);
        let seen = self.script.observation(Channel::Own, app, at(second), fact);
        self.script.engine.observe(&seen).unwrap();
    }

    /// What the shim does with a decision: it may never be sent, get lost, be refused, or add copies; the answer may come late, never, and more than once.
    pub fn ask(&mut self, second: f64, decision: &Decision) {
        let fate = self.roll(8);
        if fate == 0 {
            return;
        }
        self.own(second, Fact::Sent { job: decision.job, decision: decision.id });
        let known = self.extras.iter().filter(|extra| extra.task == decision.task).count() as u32;
        let (answer, attempts) = match fate {
            1 => return,
            2 => (Answer::NoHeadroom, vec![]),
            _ if self.live(|task| task == decision.task) + 1 > decision.live => (Answer::TooManyAttempts, vec![]),
            _ => (Answer::Applied, (1..=decision.copies).map(|nth| known + nth).collect()),
        };
        for number in &attempts {
            let host = format!("nm{}", self.roll(4) + 1);
            let (task, state) = (decision.task, AttemptState::Starting);
            self.extras.push(Extra { task, number: *number, state, launched: None, host });
        }
        let ack = AckFact { job: decision.job, decision: decision.id, answer, attempts };
        for _ in 0..self.roll(4) {
            let late = f64::from(self.roll(16));
            self.answers.push((second + late, ack.clone()));
        }
    }

    /// A second goes by.
    pub fn turn(&mut self, second: f64) {
        for nth in 0..self.extras.len() {
            let (fate, extra) = (self.roll(16), &mut self.extras[nth]);
            match (extra.state, fate) {
                (AttemptState::Starting, 0..8) => {
                    (extra.state, extra.launched) = (AttemptState::Running, Some(second));
                }
                (AttemptState::Running, 0) => extra.state = AttemptState::Failed,
                (AttemptState::Running, 1) => {
                    let (task, number) = (extra.task, extra.number);
                    self.won.entry(task).or_insert((second, number));
                }
                _ => {}
            }
        }
        for nth in 0..self.extras.len() {
            let task = self.extras[nth].task;
            let Some((_, winner)) = self.end(task, second) else { continue };
            let extra = &mut self.extras[nth];
            if !extra.state.is_final() {
                extra.state = if extra.number == winner { AttemptState::Succeeded } else { AttemptState::Killed };
            }
        }
        let (due, later) = self.answers.drain(..).partition(|(at, _)| *at <= second);
        self.answers = later;
        let due: Vec<(f64, AckFact)> = due;
        due.into_iter().for_each(|(_, ack)| self.own(second, Fact::Acked(ack)));
    }

    /// When a task ended, and by which attempt.
    fn end(&self, task: TaskId, second: f64) -> Option<(f64, u32)> {
        let end = BEGIN + alone(task);
        self.won.get(&task).copied().or((end <= second).then_some((end, 0)))
    }

    /// What is heard of the jobs, of each but for now and then, and what the engine makes of it.
    pub fn look(&mut self, second: f64) -> Pass {
        let nodes = self.script.engine.cluster().nodes.values().cloned().collect();
        self.script.say(at(second), Fact::Nodes(nodes));
        for id in jobs() {
            if self.roll(8) == 0 {
                continue;
            }
            let all = (0..MAPS).map(|index| self.seen(id.task(TaskKind::Map, index), second));
            let (tasks, attempts): (Vec<_>, Vec<_>) = all.unzip();
            let over = tasks.iter().filter(|task| task.state == Some(TaskState::Succeeded));
            self.told.extend(over.map(|task| id.task(TaskKind::Map, task.index)));
            self.script.tasks(id, at(second), tasks);
            self.script.attempts(id, at(second), attempts.concat());
        }
        self.script.decide(at(second))
    }

    fn seen(&self, task: TaskId, second: f64) -> (TaskFact, Vec<AttemptFact>) {
        let (mut of_task, mut attempts) = runs_of(task, &[Run { launched: BEGIN, takes: alone(task) }], second);
        let end = self.end(task, second);
        let finished = end.map(|(when, _)| at(when));
        attempts.iter_mut().for_each(|first| first.host = Some(format!("nm{}", task.index % 4 + 1)));
        if let Some((_, winner)) = end {
            let state = Some(TaskState::Succeeded);
            of_task = TaskFact { state, finished, winner: Some(winner), ..of_task };
            let first = if winner == 0 { AttemptState::Succeeded } else { AttemptState::Killed };
            attempts.iter_mut().for_each(|one| (one.state, one.finished) = (Some(first), finished));
        }
        let extras = self.extras.iter().filter(|extra| extra.task == task).map(|extra| AttemptFact {
            state: Some(extra.state),
            started: extra.launched.map(at),
            finished: finished.or(extra.state.is_final().then_some(at(second))),
            host: extra.launched.map(|_| extra.host.clone()),
            ..AttemptFact::of(task.attempt(extra.number))
        });
        attempts.extend(extras);
        (of_task, attempts)
    }

    /// The jobs end.
    pub fn close(&mut self, second: f64) -> Pass {
        for job in jobs() {
            let (state, finished) = (Some(JobPhase::Succeeded), Some(at(second)));
            let end = EndFact { job, state, started: Some(at(BEGIN)), finished, attempts: vec![] };
            self.script.say(at(second), Fact::Ended(end));
        }
        self.script.decide(at(second))
    }
}
