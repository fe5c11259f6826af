//! The ideal that knows how long every attempt would take.

use super::attempt::{Attempt, AttemptKey, Stage};
use super::job::Job;
use super::replicas::replicas;
use super::task::Ask;
use super::world::World;
use crate::model::{TaskKind, TaskState, Time};

/// A copy that would end before what is at work.
struct Gain {
    job: u32,
    kind: TaskKind,
    index: u32,
    /// On that node.
    node: u32,
    /// By so many milliseconds.
    sooner: f64,
}

impl World<'_> {
    /// Has each task copied whose next attempt would end first, the one that gains most before the others, while there is room and its job has none that wait.
    pub(super) fn foresee(&mut self, now: Time) {
        let mut gains = self.gains(now);
        gains.sort_by(|a, b| b.sooner.total_cmp(&a.sooner));
        for Gain { job: number, kind, index, .. } in gains {
            // Those before it may have taken the node on which it was to gain.
            let gain = |job| self.gain(job, kind, index, self.node_for(job, kind)?, now);
            let Some(Gain { node, .. }) = self.jobs.get(&number).and_then(gain) else { continue };
            let Some(job) = self.jobs.get_mut(&number) else { continue };
            job.ask(kind, Ask { is_copy: true, prefer: vec![node], ..Ask::of(index, now) }, false);
            self.yarn.seat(job);
            self.serve(now);
        }
    }

    fn gains(&self, now: Time) -> Vec<Gain> {
        let of = |job, kind| Some((job, kind, self.node_for(job, kind)?));
        let phases = self.jobs.values().flat_map(|job| TaskKind::ALL.into_iter().filter_map(move |kind| of(job, kind)));
        phases
            .flat_map(|(job, kind, node)| {
                (0..job.of(kind).all.len() as u32).filter_map(move |index| self.gain(job, kind, index, node, now))
            })
            .collect()
    }

    /// The fastest node with room for a copy of one of a job's tasks, if none of its tasks waits for a container.
    fn node_for(&self, job: &Job, kind: TaskKind) -> Option<u32> {
        job.tasks.iter().all(|tasks| tasks.asks.is_empty()).then(|| self.fastest(job, kind))?
    }

    /// The fastest node with room for one of a job's tasks.
    fn fastest(&self, job: &Job, kind: TaskKind) -> Option<u32> {
        let size = job.of(kind).size;
        let open = self.yarn.open_nodes().filter(|node| self.nodes[*node as usize].fits(size));
        let has_room = size.memory_mb <= self.yarn.headroom_mb(job.queue);
        let of_trace = |node: u32| self.scenario.hosts.slower(self.host_on(job.of, node));
        let pace = |node: &u32| self.nodes[*node as usize].slower() * of_trace(*node);
        open.filter(|_| has_room).min_by(|a, b| pace(a).total_cmp(&pace(b)))
    }

    /// The most that a copy of a task would gain: on the fastest node, or on one with room that has its split.
    fn gain(&self, job: &Job, kind: TaskKind, index: u32, fastest: u32, now: Time) -> Option<Gain> {
        let task = job.task(kind, index);
        if task.state != TaskState::Running || task.asked > 0 {
            return None;
        }
        let left = task.live.iter().map(|key| self.left(job, *key, now));
        let left = left.collect::<Option<Vec<f64>>>()?.into_iter().fold(f64::INFINITY, f64::min);
        let on = |node: u32| {
            let mut next = Attempt::new(job.number, kind, index, task.numbered, true, node, now);
            next.factor = self.factor(job, &next);
            let sooner = left - self.from(job, &next, Stage::Waiting);
            (sooner > 0.0).then_some(Gain { job: job.number, kind, index, node, sooner })
        };
        let seeks = kind == TaskKind::Map && self.seeks_split(task);
        let holders = if seeks { replicas(self.scenario, &self.draws, job, index) } else { Vec::new() };
        let size = job.of(kind).size;
        let nodes =
            std::iter::once(fastest).chain(holders.into_iter().filter(|node| self.nodes[*node as usize].fits(size)));
        nodes.filter_map(on).max_by(|a, b| a.sooner.total_cmp(&b.sooner))
    }

    /// Milliseconds until an attempt ends at its present pace; `None` of one that waits for maps, or whose end is at hand.
    fn left(&self, job: &Job, key: AttemptKey, now: Time) -> Option<f64> {
        let attempt = self.attempts.get(key);
        let next = match (attempt.stage, attempt.kind) {
            (Stage::Commit, _) => return None,
            (Stage::Waiting, _) => Stage::StartUp,
            (Stage::StartUp, TaskKind::Map) | (Stage::Sort, _) => Stage::Work,
            (Stage::StartUp, TaskKind::Reduce) => Stage::Copy,
            (Stage::Copy, _) => Stage::Sort,
            (Stage::Work, _) => Stage::Commit,
        };
        Some(attempt.stage_left(now)? + self.from(job, attempt, next))
    }

    /// Milliseconds that an attempt takes from the beginning of a stage on.
    fn from(&self, job: &Job, attempt: &Attempt, first: Stage) -> f64 {
        const ALL: [Stage; 6] = [Stage::Waiting, Stage::StartUp, Stage::Copy, Stage::Sort, Stage::Work, Stage::Commit];
        let takes = |stage: Stage| self.whole(job, attempt, stage) / self.rate(attempt, stage);
        ALL.into_iter().filter(|stage| *stage >= first).map(takes).sum()
    }
}
