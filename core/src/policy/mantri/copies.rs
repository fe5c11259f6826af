//! What is known of the copies of a task that run, and of one that would be new (Mantri §5.5).

use super::super::{Contender, View};
use crate::estimate::new_copy::NewCopy;
use crate::estimate::remaining::{Basis, t_rem};
use crate::estimate::runs::work_began;
use crate::estimate::split::tells_pace;
use crate::estimate::stats::median;
use crate::estimate::{Estimator, Sample};
use crate::model::{Attempt, Millis, NameId, TaskKind, TaskState};

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
    /// Where it runs, where that is known.
    host: Option<NameId>,
    /// How long it has been at work, or where start-up is not told from work has run, seconds. `None` before a tenth is done.
    so_far: Option<f64>,
}

/// The copies of every task that runs, one task after the other, of each the fastest first.
pub struct Copies {
    all: Vec<LiveCopy>,
    /// Where in these each contender's end.
    ends: Vec<usize>,
}

impl Copies {
    /// All of a phase.
    pub fn of(view: &View<'_>) -> Copies {
        let (tasks, told) = (view.contenders.len(), start_up_is_told(view));
        let mut copies = Copies { all: Vec::with_capacity(tasks), ends: Vec::with_capacity(tasks) };
        view.contenders.iter().for_each(|contender| copies.add(view, contender, told));
        copies
    }

    fn add(&mut self, view: &View<'_>, contender: &Contender<'_>, told: bool) {
        let (task, begin) = (contender.task, self.all.len());
        if task.live().count() > 1 {
            let sample = |live| Some((live, view.sample(contender.id, task, Some(live), live.track)?));
            let sampled = task.live().filter_map(sample);
            self.all.extend(sampled.map(|(live, sample)| one(view, contender, Some(live), &sample, told)));
        } else {
            self.all.push(one(view, contender, task.original(), &contender.sample, told));
        }
        // One that need not have reported yet may still turn out fast, unlike one that should have and has not.
        let left = |copy: &LiveCopy| copy.t_rem.unwrap_or(f64::MAX);
        self.all[begin..].sort_by(|a, b| left(a).total_cmp(&left(b)).then(a.number.cmp(&b.number)));
        self.ends.push(self.all.len());
    }

    /// Those of one of the view's contenders.
    pub fn of_task(&self, contender: usize) -> &[LiveCopy] {
        let begin = contender.checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.all[begin..self.ends[contender]]
    }

    /// The fastest of each contender, in their order.
    fn fastest(&self) -> impl Iterator<Item = Option<&LiveCopy>> {
        (0..self.ends.len()).map(|contender| self.of_task(contender).first())
    }
}

fn one(view: &View<'_>, contender: &Contender<'_>, live: Option<&Attempt>, sample: &Sample, told: bool) -> LiveCopy {
    let number = live.map_or(0, |attempt| attempt.number);
    // Of a reduce both may have begun with the end of the maps.
    let oldest = contender.task.original().is_none_or(|original| original.number == number);
    let by_score = matches!(view.estimator, Estimator::PhaseAware | Estimator::Mantri) && sample.reading.is_none();
    let left = match contender.left.filter(|_| oldest && by_score) {
        // By the score that has been reckoned already.
        Some(left) => Some((left.mean.as_secs_f64(), Basis::Score)),
        None => t_rem(sample, view.shape, &view.peers.times, view.now),
    };
    let overdue = sample.is_silent() || (oldest && contender.outlasts(view));
    let (t_rem, basis) = match left {
        Some((left, basis)) => (Some(left), basis),
        None => (overdue.then_some(f64::INFINITY), Basis::Score),
    };
    let (age, host) = (view.now.since(sample.started), live.and_then(|attempt| attempt.host));
    LiveCopy { number, age, t_rem, basis, host, so_far: so_far(view, sample, told) }
}

/// d of this task, in typical inputs of its phase; 1 where it is not known.
pub fn data(view: &View<'_>, contender: &Contender<'_>) -> f64 {
    view.peers.split_share(contender.task.input).unwrap_or_else(|| view.input_ratio(contender))
}

/// t_new from the phase's tasks, of which a copy's own is left out later ([`own_place`]): the finished, and those far enough for a pace as they are projected; where a copy is kept off slow hosts, from those of the others. While
/// they are fewer than `enough`, the job's earlier runs speak beside them.
pub fn new_copy(view: &View<'_>, copies: &Copies, enough: u32, slow_from: f64) -> NewCopy {
    let told = start_up_is_told(view);
    let slow = slow_hosts_of(view, copies);
    let is_slow = |one: &Rate| one.host.is_some_and(|host| slow.binary_search(&host).is_ok());
    let (there, elsewhere): (Vec<_>, Vec<_>) = rates(view, copies, told).partition(is_slow);
    let tells = |one: &&Rate| one.ended || one.rate <= slow_from;
    let evidence = there.iter().chain(&elsewhere).filter(tells).count();
    let rates = if elsewhere.is_empty() { there } else { elsewhere }.into_iter().map(|one| one.rate).collect();
    let prior = view.prior.filter(|_| evidence < enough as usize);
    let own = |start_up: f64| NewCopy::new(rates, evidence, start_up + view.start_lag.as_secs_f64(), view.location);
    let beside = prior.and_then(|prior| prior.beside(&view.runs, told, view.peers.typical_data()));
    let Some((start_up, tasks, times)) = beside else { return own(view.runs.before_own().0) };
    own(start_up).with_earlier(times, tasks)
}

/// What a task of the phase shows.
struct Rate {
    /// Its time for the phase's typical input, seconds.
    rate: f64,
    /// Where that was taken.
    host: Option<NameId>,
    /// It has succeeded.
    ended: bool,
}

/// The phase's tasks, the finished ones first.
fn rates<'a>(view: &'a View<'_>, copies: &'a Copies, told: bool) -> impl Iterator<Item = Rate> + 'a {
    let finished = view.paces().filter_map(|(run, rate)| {
        let task = view.job.task(view.job.id.task(view.kind, run.index))?;
        let attempt = task.won().or_else(|| task.original());
        Some(Rate { rate, host: attempt.and_then(|attempt| attempt.host), ended: task.state == TaskState::Succeeded })
    });
    let running = view.contenders.iter().zip(copies.fastest());
    finished.chain(running.filter_map(move |(contender, fastest)| {
        let fastest = fastest?;
        Some(Rate { rate: rate(view, contender, fastest, told)?, host: fastest.host, ended: false })
    }))
}

/// Time for the typical input, seconds, beyond which a running task is slow and no evidence of how long a copy takes: of two stragglers in a small phase either would make
/// the other's copy seem slow.
pub fn slow_from(view: &View<'_>) -> f64 {
    let typical = median(&mut view.paces().map(|(_, rate)| rate).collect::<Vec<_>>());
    typical.filter(|_| view.slow_factor > 0.0).map_or(f64::INFINITY, |typical| view.slow_factor * typical)
}

/// That of a running task, as far as its fastest copy shows it.
fn rate(view: &View<'_>, contender: &Contender<'_>, fastest: &LiveCopy, told: bool) -> Option<f64> {
    let tells = || view.tells(contender.task) && tells_pace(contender.task.input, view.peers.typical_split, told);
    let left = fastest.t_rem.filter(|left| left.is_finite() && tells())?;
    Some((fastest.so_far? + left) / data(view, contender))
}

/// The place that a running task's own time has in t_new, where it has one; and of how many of the evidence that leaves t_new to rest on.
pub fn own_place(
    view: &View<'_>,
    contender: &Contender<'_>,
    fastest: &LiveCopy,
    t_new: &NewCopy,
    slow_from: f64,
) -> (Option<usize>, usize) {
    let own = rate(view, contender, fastest, start_up_is_told(view));
    let place = own.and_then(|own| t_new.place(own));
    let counted = place.is_some() && own.is_some_and(|own| own <= slow_from);
    (place, t_new.evidence() - usize::from(counted))
}

/// Is start-up told from work?
fn start_up_is_told(view: &View<'_>) -> bool {
    view.kind == TaskKind::Map && view.runs.told()
}

/// The hosts that a copy is kept off for being slow. Sought only where a task is as slow as that.
fn slow_hosts_of<'a>(view: &'a View<'_>, copies: &Copies) -> &'a [NameId] {
    let Some(long) = view.peers.typical.map(|typical| view.slow_factor * typical.as_secs_f64()) else {
        return &[];
    };
    let run = |copy: &LiveCopy| copy.age.as_secs_f64() + copy.t_rem.unwrap_or(0.0);
    let slow = copies.fastest().flatten().any(|copy| run(copy) > long);
    if slow { view.slow_hosts() } else { &[] }
}

/// See [`LiveCopy`].
fn so_far(view: &View<'_>, sample: &Sample, told: bool) -> Option<f64> {
    const LEAST: f64 = 0.1;
    if told {
        let began = work_began(sample.started, &sample.track, None)?;
        return Some(view.now.since(began).as_secs_f64());
    }
    (sample.track.score() >= LEAST).then(|| view.now.since(sample.started).as_secs_f64())
}

#[cfg(test)]
mod tests;
