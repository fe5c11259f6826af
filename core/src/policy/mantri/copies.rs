//! What is known of the copies of a task that run, and of one that would be new (Mantri §5.5).

use super::super::{Contender, View, slow_hosts};
use super::MantriParams;
use crate::estimate::Sample;
use crate::estimate::fresh::work_began;
use crate::estimate::new_copy::NewCopy;
use crate::estimate::remaining::{Basis, Reading, t_rem};
use crate::model::{Millis, NameId, Task, TaskKind};

/// A copy that runs.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LiveCopy {
    /// Its attempt's number; 0 where only the task is known.
    pub number: u32,
    /// How long it has run.
    pub age: Millis,
    /// t_rem, seconds: without end for one that should have moved and never has; `None` before its first report is due.
    pub t_rem: Option<f64>,
    /// What that rests on.
    pub basis: Basis,
}

/// The copies of a task that run, the fastest first.
pub fn of(view: &View<'_>, contender: &Contender<'_>) -> Vec<LiveCopy> {
    let task = contender.task;
    let mut copies: Vec<LiveCopy> = if task.live().count() > 1 {
        let sampled = |attempt| Some((attempt, view.sample(task, Some(attempt), attempt.track)?));
        task.live().filter_map(sampled).map(|(attempt, sample)| one(view, contender, attempt.number, &sample)).collect()
    } else {
        let number = task.original().map_or(0, |attempt| attempt.number);
        vec![one(view, contender, number, &contender.sample)]
    };
    let left = |copy: &LiveCopy| copy.t_rem.unwrap_or(f64::INFINITY);
    copies.sort_by(|a, b| left(a).total_cmp(&left(b)).then(a.number.cmp(&b.number)));
    copies
}

fn one(view: &View<'_>, contender: &Contender<'_>, number: u32, sample: &Sample) -> LiveCopy {
    let reports = view.job.intakes.recent(contender.id.attempt(number));
    let reading = Reading::of(contender.task.input, reports);
    let told = t_rem(sample, reading.as_ref(), view.shape, &view.times, view.now);
    let oldest = sample.started == contender.sample.started;
    let overdue = sample.is_silent() || (oldest && contender.outlasts(view));
    let (t_rem, basis) = match told {
        Some((left, basis)) => (Some(left), basis),
        None => (overdue.then_some(f64::INFINITY), Basis::Score),
    };
    LiveCopy { number, age: view.now.since(sample.started), t_rem, basis }
}

/// d of this task, in typical inputs of its phase; 1 where it is not known.
pub fn data(view: &View<'_>, contender: &Contender<'_>) -> f64 {
    view.split_share(contender.task.input).unwrap_or_else(|| view.input_ratio(contender))
}

/// t_new from the phase's tasks: the finished, and those far enough for a pace as they are projected; where a copy is kept off slow hosts, from those of the others. While
/// they are fewer than is enough, the job's earlier runs speak beside them.
pub fn new_copy(view: &View<'_>, copies: &[Vec<LiveCopy>], params: &MantriParams) -> NewCopy {
    let told = view.kind == TaskKind::Map && view.runs.told();
    let slow = slow_hosts_of(view, copies, params.slow_host_factor);
    let (there, elsewhere): (Vec<_>, Vec<_>) =
        rates(view, copies, told).partition(|(task, _)| !slow.is_empty() && runs_on(task, &slow));
    let evidence = there.len() + elsewhere.len();
    let rates = if elsewhere.is_empty() { there } else { elsewhere }.into_iter().map(|(_, rate)| rate).collect();
    let prior = view.prior.filter(|_| evidence < params.min_evidence as usize);
    let start_up = match prior {
        Some(prior) if told && !view.runs.knows_start_up() => prior.start_up(),
        _ => view.runs.before_own().0,
    };
    let own = NewCopy::new(rates, evidence, start_up + view.start_lag.as_secs_f64(), view.location);
    let Some(prior) = prior else { return own };
    // Where the phase does not tell start-up from work, its times hold both.
    let both = if told { 0.0 } else { prior.start_up() };
    own.with_earlier(prior.times(view.typical_split).map(|time| time + both), prior.tasks())
}

/// The phase's tasks, each with its time for the phase's typical input, seconds.
fn rates<'a>(view: &'a View<'_>, copies: &'a [Vec<LiveCopy>], told: bool) -> impl Iterator<Item = (&'a Task, f64)> {
    let finished = view.runs.own_runs().filter_map(|(seconds, run)| {
        let task = view.job.task(view.job.id.task(view.kind, run.index))?;
        Some((task, seconds / view.split_share(run.input).unwrap_or(1.0)))
    });
    let running = view.contenders.iter().zip(copies).filter_map(move |(contender, copies)| {
        let left = copies.first()?.t_rem.filter(|left| left.is_finite())?;
        Some((contender.task, (so_far(view, contender, told)? + left) / data(view, contender)))
    });
    finished.chain(running)
}

/// Does it run on one of the hosts, or did it end there?
fn runs_on(task: &Task, hosts: &[NameId]) -> bool {
    let attempt = task.won().or_else(|| task.original());
    attempt.and_then(|attempt| attempt.host).is_some_and(|host| hosts.contains(&host))
}

/// The hosts that a copy is kept off for being slow. Sought only where a task is as slow as that.
fn slow_hosts_of(view: &View<'_>, copies: &[Vec<LiveCopy>], factor: f64) -> Vec<NameId> {
    let Some(long) = view.typical.map(|typical| factor * typical.as_secs_f64()) else { return Vec::new() };
    let run = |copy: &LiveCopy| copy.age.as_secs_f64() + copy.t_rem.unwrap_or(0.0);
    let slow = factor > 0.0 && copies.iter().filter_map(|copies| copies.first()).any(|copy| run(copy) > long);
    if slow { slow_hosts::of(view, factor) } else { Vec::new() }
}

/// How long it has been at work, or where start-up is not `told` from work has run, seconds. `None` before a tenth is done.
fn so_far(view: &View<'_>, contender: &Contender<'_>, told: bool) -> Option<f64> {
    const LEAST: f64 = 0.1;
    let sample = &contender.sample;
    if told {
        let began = work_began(sample.started, &sample.track, None)?;
        return Some(view.now.since(began).as_secs_f64());
    }
    (sample.track.score() >= LEAST).then(|| contender.elapsed.as_secs_f64())
}
