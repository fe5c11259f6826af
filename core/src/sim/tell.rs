//! What the engine is told at an exchange: of each job what has changed, and now and then what the ResourceManager knows.

use super::attempt::{Attempt, Scoring, Stage, Told};
use super::job::Job;
use super::replicas::replicas;
use super::task::Task;
use super::world::World;
use crate::engine::Pass;
use crate::model::*;
use std::collections::BTreeSet;

impl World<'_> {
    /// Tells of all jobs, and asks for decisions.
    pub(super) fn tell_all(&mut self, now: Time) -> Pass {
        if self.driver.polls(Millis::from_secs_f64(self.scenario.hadoop.poll), now) {
            self.tell_cluster(self.foresight(&BTreeSet::new()), now);
        }
        let numbers: Vec<u32> = self.jobs.numbers();
        for number in numbers {
            self.tell_job(number, now);
        }
        self.driver.decide(now)
    }

    /// Has those phases planned that have just been asked for, before any of their tasks is given a container, where anything can be done to tasks that wait for one: Dolly's
    /// scheduler is the one that gives containers out, and knows what is in use (NSDI'13, §3.2 and §5.1); Mantri's orders and places what it gives them to (OSDI'10, §6.1).
    pub(super) fn plan_begun(&mut self, now: Time) {
        let (begun, can) = (std::mem::take(&mut self.begun), self.can);
        let clones = self.driver.clones() && (can.copy_waiting || can.job_clones);
        let measures = self.driver.takes_measures() && (can.order || can.place_reduces);
        if begun.is_empty() || !(clones || measures) {
            return;
        }
        self.tell_cluster(self.foresight(&begun), now);
        begun.iter().for_each(|number| self.tell_job(*number, now));
        let pass = self.driver.decide(now);
        self.carry_out_all(&pass, now);
        begun.iter().for_each(|number| self.end_spares(*number, now));
        self.follow_whole_jobs(now);
    }

    /// Tells of nodes, queues, and links as they are on average from now on for as long as `ahead`.
    fn tell_cluster(&mut self, ahead: Millis, now: Time) {
        let state: Name = "RUNNING".into();
        let node = |machine: &super::machine::Machine| NodeFact {
            host: machine.host.clone(),
            rack: machine.rack_name.clone(),
            usable: machine.is_up(),
            state: state.clone(),
            total: machine.total,
            used: machine.used,
            containers: machine.attempts.len() as u32,
            cpu_used_vcores: None,
            memory_used_mb: None,
            last_health: now,
            label: None,
            exclusive: false,
        };
        let sum = |of: &dyn Fn(&super::machine::Machine) -> Resources| {
            self.nodes.iter().filter(|machine| machine.is_up()).map(of).fold(Resources::default(), |sum, one| {
                Resources { memory_mb: sum.memory_mb + one.memory_mb, vcores: sum.vcores + one.vcores }
            })
        };
        let asked = || self.jobs.values().flat_map(|job| &job.tasks);
        let totals = ClusterFact {
            total: sum(&|machine| machine.total),
            allocated: sum(&|machine| machine.used),
            pending: Resources {
                memory_mb: asked().map(|tasks| tasks.asks.len() as u64 * tasks.size.memory_mb).sum(),
                vcores: asked().map(|tasks| tasks.asks.len() as u32 * tasks.size.vcores).sum(),
            },
            containers: self.nodes.iter().map(|machine| machine.attempts.len() as u32).sum(),
            containers_pending: asked().map(|tasks| tasks.asks.len() as u32).sum(),
            active_nodes: self.nodes.iter().filter(|machine| machine.is_up()).count() as u32,
        };
        let whole = totals.total.memory_mb.max(1) as f64;
        let queue = |(number, queue): (usize, &super::yarn::Queue)| QueueFact {
            max_capacity: queue.most as f32,
            used_capacity: (queue.held_mb as f64 / whole) as f32,
            containers_pending: (self.jobs.values().filter(|job| job.queue == number as u32))
                .flat_map(|job| &job.tasks)
                .map(|tasks| tasks.asks.len() as u32)
                .sum(),
            ..QueueFact::open(&queue.name)
        };
        let queues = self.yarn.queues().iter().enumerate().map(queue).collect();
        let nodes = self.nodes.iter().map(node).collect();
        self.driver.say(now, Fact::Nodes(nodes));
        self.driver.say(now, Fact::Cluster(totals));
        self.driver.say(now, Fact::Queues(queues));
        let can = self.can;
        if can.place_reduces || can.replicate {
            self.driver.say(now, Fact::Racks(self.racks(ahead, now)));
        }
    }

    fn tell_job(&mut self, number: u32, now: Time) {
        let Some(mut job) = self.jobs.take(number) else { return };
        if !job.told {
            self.open(&mut job, now);
        }
        let news = job.take_news();
        let tasks: Vec<TaskFact> = news.into_iter().map(|(kind, index)| task_fact(&job, kind, index)).collect();
        let mut attempts = Vec::with_capacity(job.ended.len() + job.live.len());
        attempts.append(&mut job.ended);
        let reporting = self.reporting();
        for key in &job.live {
            let attempt = self.attempts.get_mut(*key);
            attempt.note_report(reporting, job.scoring, now);
            let host = &self.nodes[attempt.node as usize].host;
            attempts.extend(news_of(&job, attempt, host));
        }
        if !tasks.is_empty() {
            self.driver.say(now, Fact::Tasks { job: job.id, complete: false, tasks });
        }
        let needs = TaskKind::ALL.map(|kind| job.of(kind).asks.len() as u32);
        // Something is told each time: of a job that is silent nothing is decided.
        if needs != job.told_needs || attempts.is_empty() {
            job.told_needs = needs;
            let [maps, reduces] = needs;
            self.driver.say(now, Fact::Needs { job: job.id, maps, reduces, native_copies: 0 });
        }
        if !attempts.is_empty() {
            self.driver.say(now, Fact::Attempts { job: job.id, attempts });
        }
        self.jobs.insert(number, job);
    }

    /// The first that is told of a job.
    fn open(&mut self, job: &mut Job, now: Time) {
        let hadoop = &self.scenario.hadoop;
        let [maps, reduces] = TaskKind::ALL.map(|kind| job.of(kind).all.len() as u32);
        let summary = JobFact {
            job: job.id,
            attempt: AppAttemptId { app: job.id.0, number: 1 },
            name: job.name.clone(),
            user: job.user.clone(),
            queue: self.yarn.queues()[job.queue as usize].name.clone(),
            state: Some(JobPhase::Running),
            started: job.arrived,
            maps,
            reduces,
            uber: false,
        };
        let settings = JobSettings {
            report_interval: Millis::from_secs_f64(hadoop.report),
            map_container: job.of(TaskKind::Map).size,
            reduce_container: job.of(TaskKind::Reduce).size,
            slow_start: hadoop.slow_start,
            // Where no attempt fails nobody counts how many may.
            attempts_max: [if hadoop.fails.share > 0.0 { hadoop.attempts_max } else { u32::MAX }; 2],
            ..JobSettings::default()
        };
        let hosts = |index: u32| {
            let nodes = replicas(self.scenario, &self.draws, job, index);
            nodes.into_iter().map(|node| self.nodes[node as usize].host.clone()).collect()
        };
        let all = TaskKind::ALL
            .into_iter()
            .flat_map(|kind| (0..job.of(kind).all.len() as u32).map(move |index| (kind, index)));
        let listed = all.map(|(kind, index)| TaskFact {
            input: Some(job.task(kind, index).input).filter(|input| input.0 > 0 && kind == TaskKind::Map),
            hosts: if kind == TaskKind::Map { hosts(index) } else { Vec::new() },
            ..task_fact(job, kind, index)
        });
        let tasks = listed.collect();
        job.told = true;
        job.take_news();
        self.driver.say(now, Fact::Job(summary));
        self.driver.say(now, Fact::Settings(job.id, settings));
        self.driver.say(now, Fact::ShimSession(job.id, true));
        self.driver.say(now, Fact::Can(job.id, self.can));
        self.driver.say(now, Fact::Tasks { job: job.id, complete: true, tasks });
    }
}

fn task_fact(job: &Job, kind: TaskKind, index: u32) -> TaskFact {
    let task: &Task = job.task(kind, index);
    TaskFact {
        state: Some(task.state),
        started: task.started,
        finished: task.finished,
        winner: task.winner.map(|(number, _)| number),
        ..TaskFact::of(job.id.task(kind, index))
    }
}

/// What has not been told of an attempt yet.
fn news_of(job: &Job, attempt: &mut Attempt, host: &Name) -> Option<AttemptFact> {
    let told = attempt.told;
    let launched = attempt.stage != Stage::Waiting;
    let now_told = Told { exists: true, launched, report: attempt.report.map(|report| report.at) };
    if told == now_told {
        return None;
    }
    attempt.told = now_told;
    let first = launched && !told.launched;
    let report = attempt.report.filter(|report| told.report != Some(report.at));
    let read = report.and_then(|_| read_by(job.scoring, attempt));
    Some(AttemptFact {
        state: Some(if launched { AttemptState::Running } else { AttemptState::Starting }),
        host: first.then(|| host.clone()),
        started: first.then_some(attempt.launched),
        score: report.map(|report| report.score),
        scored_at: report.map(|report| report.at),
        reports: report.map(|report| report.count),
        phase: report.map(|report| report.stage.phase(attempt.kind)),
        speculative: attempt.is_copy.then_some(true),
        counters: Counters {
            read: read.filter(|_| attempt.kind == TaskKind::Map),
            shuffled: read.filter(|_| attempt.kind == TaskKind::Reduce),
            ..Counters::default()
        },
        ..AttemptFact::of(job.id.task(attempt.kind, attempt.index).attempt(attempt.number))
    })
}

/// Bytes that it had read by its newest report; `None` where nothing is known of its input.
fn read_by(scoring: Scoring, attempt: &Attempt) -> Option<Bytes> {
    let input = attempt.input;
    (input.0 > 0).then(|| Bytes((input.0 as f64 * attempt.read(scoring)) as u64))
}

#[cfg(test)]
mod tests {
    use super::super::attempt::Reporting;
    use super::super::draw::{Draw, Draws};
    use super::super::job::{Origin, START};
    use super::super::scenario::Scenario;
    use super::*;

    #[test]
    fn of_the_reports_between_two_exchanges_the_newest_is_told_and_no_more_until_the_next() {
        let scenario: Scenario = serde_json::from_str(r#"{"jobs": [{"name": "a", "maps": {"tasks": 1}}]}"#).unwrap();
        let job = Job::new(&scenario, &Draws::new(1), 0, Origin::Group(0, 0), 0, START);
        let mut attempt = Attempt::new(0, TaskKind::Map, 0, 0, false, 0, START);
        attempt.begin(Stage::Work, 10_000.0, 1.0, START);
        attempt.will_report(START + Millis(1_000), Draw::default());
        let mut told = |at: u64| {
            let reporting = Reporting { every: Millis(1_000), jitter: None };
            attempt.note_report(reporting, job.scoring, START + Millis(at));
            let fact = news_of(&job, &mut attempt, &"n0".into())?;
            Some((fact.scored_at?.since(START).0, fact.score?, fact.reports?))
        };
        assert_eq!(told(3_400), Some((3_000, 0.3, 3)));
        assert_eq!(told(3_900), None);
        assert_eq!(told(5_000), Some((5_000, 0.5, 5)));
    }
}
