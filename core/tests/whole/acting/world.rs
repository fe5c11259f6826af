//! Jobs of two users in two queues, whose shims, tasks and polls go as the dice fall.

mod orders;

use super::*;
use std::collections::{BTreeMap, BTreeSet};

/// When the jobs begin, seconds; each has sixteen maps.
pub const BEGIN: f64 = 42.0;
/// Users and queues.
pub const JOBS: [(&str, &str); 3] = [("alice", "root.etl"), ("bob", "root.adhoc"), ("alice", "root.adhoc")];

/// An attempt that exists; its number is its place among its task's.
struct Real {
    state: AttemptState,
    /// When, and how long it takes from then on, seconds.
    launched: Option<f64>,
    takes: f64,
    ended: Option<f64>,
    host: String,
    /// The decision that it came of, if it did.
    asked: Option<u64>,
}

impl Real {
    fn end(&mut self, state: AttemptState, second: f64) {
        (self.state, self.ended) = (state, Some(second));
    }

    fn is_live(&self) -> bool {
        !self.state.is_final()
    }
}

/// What is really so, and what of it the engine hears.
pub struct World<'a> {
    pub script: Script,
    dice: std::iter::Cycle<std::slice::Iter<'a, u8>>,
    attempts: BTreeMap<TaskId, Vec<Real>>,
    /// Orders on their way, and when they arrive.
    orders: Vec<(f64, Decision)>,
    /// What shims have answered, by decision: an order that is repeated is answered the same.
    answered: BTreeMap<u64, AckFact>,
    /// Answers on their way, and when they arrive.
    answers: Vec<(f64, AckFact)>,
    /// Tasks that have succeeded: when, and by which attempt.
    won: BTreeMap<TaskId, (f64, u32)>,
    /// Tasks that the engine was told the end of.
    pub told: BTreeSet<TaskId>,
    /// How many attempts of its task the engine knew of at each decision.
    known: BTreeMap<u64, usize>,
    /// Restarts whose new attempts have taken the others' places.
    replaced: BTreeSet<u64>,
    /// Decisions that were carried out.
    pub done: Vec<Decision>,
    /// Withdrawals that were sent of attempts of which the engine had been told that they were all that was left of their tasks.
    pub robbed: Vec<Decision>,
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
        let mut world = World {
            script: with_a_slow_second_node(params),
            dice: dice.iter().cycle(),
            attempts: BTreeMap::new(),
            orders: Vec::new(),
            answered: BTreeMap::new(),
            answers: Vec::new(),
            won: BTreeMap::new(),
            told: BTreeSet::new(),
            known: BTreeMap::new(),
            replaced: BTreeSet::new(),
            done: Vec::new(),
            robbed: Vec::new(),
        };
        for (id, (user, queue)) in jobs().zip(JOBS) {
            world.open(id, user, queue);
        }
        let app = |(id, (user, queue)): (JobId, (&str, &str))| AppFact {
            app: id.0,
            user: user.into(),
            queue: queue.into(),
            name: "job".into(),
            started: at(BEGIN),
            containers: 1,
            allocated: Resources::default(),
            label: None,
        };
        world.script.say(at(BEGIN), Fact::Apps(jobs().zip(JOBS).map(app).collect()));
        world
    }

    /// A job that can have copies, and perhaps its attempts killed or withdrawn.
    fn open(&mut self, id: JobId, user: &str, queue: &str) {
        self.script.open_job_of(user, queue, id, MAPS, 0, at(BEGIN));
        self.script.say(at(BEGIN), Fact::ShimSession(id, true));
        let [restart, withdraw] = [(); 2].map(|()| self.roll(2) == 0);
        let can = Capabilities { duplicate: true, place: true, restart, withdraw, ..Capabilities::default() };
        self.script.say(at(BEGIN), Fact::Can(id, can));
        for task in (0..MAPS).map(|index| id.task(TaskKind::Map, index)) {
            let first = Real {
                state: AttemptState::Running,
                launched: Some(BEGIN),
                takes: alone(task),
                ended: None,
                host: format!("nm{}", task.index % 4 + 1),
                asked: None,
            };
            self.attempts.insert(task, vec![first]);
        }
    }

    fn roll(&mut self, sides: u8) -> u8 {
        self.dice.next().map_or(0, |die| die % sides)
    }

    /// Attempts that came of decisions and have not ended, but for those that have taken another's place: of each its task and its decision.
    pub fn live(&self) -> impl Iterator<Item = (TaskId, u64)> {
        let all = self.attempts.iter().flat_map(|(task, attempts)| attempts.iter().map(move |real| (*task, real)));
        let live = all.filter(|(_, real)| real.is_live()).filter_map(|(task, real)| Some((task, real.asked?)));
        live.filter(move |(_, decision)| !self.replaced.contains(decision))
    }

    /// Did, at some time since a restart was decided on, or a copy that is no clone, only such attempts of the task run as the engine had not known of? They are its own, or as good: where no answer names
    /// any, one that Hadoop started for another that failed.
    pub fn has_replaced(&mut self, decision: &Decision) -> bool {
        let known = self.known.get(&decision.id).copied().unwrap_or(0);
        let runs = |(number, real): (usize, &Real)| number >= known && real.launched.is_some();
        let mut live = self.attempts[&decision.task].iter().enumerate().filter(|(_, real)| real.is_live()).peekable();
        if decision.action != Action::Withdraw && !decision.clones && live.peek().is_some() && live.all(runs) {
            self.replaced.insert(decision.id);
        }
        self.replaced.contains(&decision.id)
    }

    /// Attempts of one of these tasks that run or wait for their containers at once, where they are most.
    pub fn most_at_once(&self, of: impl Fn(TaskId) -> bool) -> usize {
        let theirs = self.attempts.iter().filter(|(task, _)| of(**task));
        theirs.map(|(_, attempts)| attempts.iter().filter(|real| real.is_live()).count()).max().unwrap_or(0)
    }

    /// Does none of the attempts that are told of with an end come of another decision?
    pub fn are_its_own(&self, end: &CopyOutcome) -> bool {
        let attempts = end.attempts.iter().map(|number| &self.attempts[&end.task][*number as usize]);
        attempts.filter_map(|real| real.asked).all(|decision| decision == end.decision)
    }

    /// Hosts that a task's attempts have been on.
    pub fn hosts_of(&self, task: TaskId) -> BTreeSet<&str> {
        let launched = self.attempts[&task].iter().filter(|real| real.launched.is_some());
        launched.map(|real| real.host.as_str()).collect()
    }

    /// The same as far as the engine was told.
    pub fn known_hosts_of(&self, task: TaskId) -> BTreeSet<String> {
        let cluster = self.script.engine.cluster();
        let known = cluster.job(task.job).and_then(|job| job.task(task));
        let hosts = known.into_iter().flat_map(|task| &task.attempts).filter_map(|attempt| attempt.host);
        hosts.map(|host| cluster.hosts.name(host).to_owned()).collect()
    }

    /// Numbers of a task's attempts that have not ended as far as the engine was told.
    pub fn told_of(&self, task: TaskId) -> Vec<u32> {
        let known = self.script.engine.cluster().job(task.job).and_then(|job| job.task(task));
        known.into_iter().flat_map(Task::unended).map(|attempt| attempt.number).collect()
    }

    fn own(&mut self, second: f64, fact: Fact) {
        let app = fact.job().map(|job| job.0);
        let seen = self.script.observation(Channel::Own, app, at(second), fact);
        self.script.engine.observe(&seen).unwrap();
    }

    /// One more attempt of a task asks for its container: one that comes of a decision takes as long as it is drawn to, any other as long as its host has such tasks take. Its
    /// number.
    fn start(&mut self, task: TaskId, asked: Option<u64>) -> u32 {
        let (place, drawn) = (self.roll(4), asked.map(|_| 2.0 + f64::from(self.roll(64))));
        let (host, takes) = (format!("nm{}", place + 1), drawn.unwrap_or(4.0 * one_node_in_four(place.into())));
        let attempts = self.attempts.get_mut(&task).unwrap();
        attempts.push(Real { state: AttemptState::Starting, launched: None, takes, ended: None, host, asked });
        attempts.len() as u32 - 1
    }

    /// A second goes by.
    pub fn turn(&mut self, second: f64) {
        let tasks: Vec<TaskId> = self.attempts.keys().copied().filter(|task| !self.won.contains_key(task)).collect();
        for task in tasks {
            for nth in 1..self.attempts[&task].len() {
                let fate = self.roll(16);
                let real = &mut self.attempts.get_mut(&task).unwrap()[nth];
                match (real.state, fate) {
                    (AttemptState::Starting, 0..8) => {
                        (real.state, real.launched) = (AttemptState::Running, Some(second));
                    }
                    (AttemptState::Running, 0) => real.end(AttemptState::Failed, second),
                    _ => {}
                }
            }
            self.win(task, second);
            // Hadoop goes on with a task whose attempts have failed.
            if !self.attempts[&task].iter().any(Real::is_live) && !self.won.contains_key(&task) {
                self.start(task, None);
            }
        }
        let (due, later) = self.answers.drain(..).partition(|(at, _)| *at <= second);
        self.answers = later;
        let due: Vec<(f64, AckFact)> = due;
        due.into_iter().for_each(|(_, ack)| self.own(second, Fact::Acked(ack)));
    }

    /// The first attempt that is done ends its task.
    fn win(&mut self, task: TaskId, second: f64) {
        let attempts = self.attempts.get_mut(&task).unwrap();
        let end = |real: &Real| real.launched.filter(|_| real.is_live()).map(|launched| launched + real.takes);
        let ends = attempts.iter().enumerate().filter_map(|(number, real)| Some((end(real)?, number)));
        let Some((end, winner)) = ends.filter(|(end, _)| *end <= second).min_by(|a, b| a.0.total_cmp(&b.0)) else {
            return;
        };
        self.won.insert(task, (end, winner as u32));
        for (number, real) in attempts.iter_mut().enumerate().filter(|(_, real)| real.is_live()) {
            real.end(if number == winner { AttemptState::Succeeded } else { AttemptState::Killed }, end);
        }
    }

    /// What is heard of the jobs, of each but for now and then, and what the engine makes of it. Now and then they ask for containers for reduces.
    pub fn look(&mut self, second: f64) -> Pass {
        let nodes = self.script.engine.cluster().nodes.values().cloned().collect();
        self.script.say(at(second), Fact::Nodes(nodes));
        for id in jobs() {
            if self.roll(8) == 0 {
                continue;
            }
            let reduces = u32::from(self.roll(2));
            self.script.say(at(second), Fact::Needs { job: id, maps: 0, reduces, native_copies: 0 });
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
        let won = self.won.get(&task);
        let of_task = TaskFact {
            state: Some(won.map_or(TaskState::Running, |_| TaskState::Succeeded)),
            started: Some(at(BEGIN)),
            finished: won.map(|(end, _)| at(*end)),
            winner: won.map(|(_, number)| *number),
            ..TaskFact::of(task)
        };
        let fact = |(number, real): (u32, &Real)| AttemptFact {
            state: Some(real.state),
            started: real.launched.map(at),
            finished: real.ended.map(at),
            score: real.launched.map(|launched| (((second - launched) / real.takes) as f32).min(1.0)),
            host: real.launched.map(|_| real.host.as_str().into()),
            ..AttemptFact::of(task.attempt(number))
        };
        (of_task, (0..).zip(&self.attempts[&task]).map(fact).collect())
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
