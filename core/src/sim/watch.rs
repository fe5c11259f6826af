//! The attempts of one job, kept for a picture of it. Of all others only sums are kept, so that a run of a million attempts stays small.

use super::attempt::{Attempt, Stage};
use super::job::{Job, START};
use crate::model::{Millis, TaskKind, Time};
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;

/// How an attempt ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum End {
    /// First of its task's.
    Succeeded,
    /// It ended well after another had, and left an output of its own for clones to read.
    Spare,
    /// Killed, as another was first.
    Overtaken,
    /// A copy that the policy took back.
    Withdrawn,
    /// The policy had it killed for another in its place.
    Restarted,
    /// A reduce that made way for a map of its job.
    MadeWay,
    /// Its queue gave its container back to one that had less than its share.
    Preempted,
    /// Its node was lost.
    Lost,
    /// It failed by itself.
    Failed,
    /// Killed with its job, of which a task had failed.
    JobFailed,
}

impl End {
    /// Does its task ask for another in its place?
    pub fn is_replaced(self) -> bool {
        matches!(self, End::Restarted | End::MadeWay | End::Preempted | End::Lost)
    }

    /// Does the attempt in its place hurry on Hadoop? What Drover's shim kills, and maps on nodes that are lost, are killed with `reschedule` (TaskAttemptKillEvent).
    pub fn hurries(self, kind: TaskKind) -> bool {
        self == End::Restarted || (self == End::Lost && kind == TaskKind::Map)
    }

    /// Does the ApplicationMaster kill it? What a queue gives back the ResourceManager takes at once.
    pub fn is_killed(self) -> bool {
        matches!(self, End::Overtaken | End::Withdrawn | End::Restarted | End::MadeWay | End::JobFailed)
    }
}

/// An attempt that was launched, and has ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct AttemptRow {
    /// A map's or a reduce's.
    pub kind: TaskKind,
    /// Index of its task within its kind.
    pub task: u32,
    /// Its number within its task.
    pub number: u32,
    /// It was asked for beside another.
    pub is_copy: bool,
    /// Number of its node.
    pub node: u32,
    /// From the start of the run.
    pub launched: Millis,
    /// The same.
    pub ended: Millis,
    /// How it ended.
    pub end: End,
}

/// A job to be watched, by its name and its number within its group.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Watch {
    name: String,
    nth: u32,
    most: usize,
    rows: VecDeque<AttemptRow>,
    dropped: u64,
}

impl Watch {
    /// One that keeps at most so many attempts, those that ended last: they are what the job waited for.
    pub fn new(name: &str, nth: u32, most: usize) -> Watch {
        Watch { name: name.to_owned(), nth, most, rows: VecDeque::new(), dropped: 0 }
    }

    /// What was kept, in order of the ends.
    pub fn rows(&self) -> impl Iterator<Item = &AttemptRow> {
        self.rows.iter()
    }

    /// How many attempts were too many to be kept.
    pub fn dropped(&self) -> u64 {
        self.dropped
    }

    /// An attempt has ended. One that was never launched is none.
    pub(super) fn ended(&mut self, job: &Job, attempt: &Attempt, end: End, now: Time) {
        if job.of.nth() != self.nth || job.name != self.name || attempt.stage == Stage::Waiting {
            return;
        }
        self.rows.push_back(AttemptRow {
            kind: attempt.kind,
            task: attempt.index,
            number: attempt.number,
            is_copy: attempt.is_copy,
            node: attempt.node,
            launched: attempt.launched.since(START),
            ended: now.since(START),
            end,
        });
        if self.rows.len() > self.most {
            self.rows.pop_front();
            self.dropped += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::ideal::{Actor, Ideal};
    use super::super::job::Origin;
    use super::super::scenario::Scenario;
    use super::super::world::World;
    use super::*;

    /// Of three maps, of which the first is done with so: which are asked for then, in their order, and whether they hurry.
    fn asked(withdraw: bool, done: impl Fn(&mut World<'_>)) -> Vec<(u32, bool)> {
        let json = format!(
            r#"{{"cluster": {{"nodes": 1, "memory_mb": 1024}}, "hadoop": {{"can": {{"duplicate": true, "withdraw": {withdraw}}}}},
                "jobs": [{{"name": "a", "maps": {{"tasks": 3}}, "reduces": {{"tasks": 1}}}}]}}"#
        );
        let scenario: Scenario = serde_json::from_str(&json).unwrap();
        let mut world = World::new(&scenario, Actor::Ideal(Ideal::NoSkew), 1);
        world.jobs.insert(0, Job::new(&scenario, &world.draws, 0, Origin::Group(0, 0), 0, START));
        world.begin_phases(0, START);
        world.serve(START);
        done(&mut world);
        world.jobs[&0].of(TaskKind::Map).asks.iter().map(|ask| (ask.index, ask.hurries)).collect()
    }

    fn ended(withdraw: bool, end: End) -> Vec<(u32, bool)> {
        asked(withdraw, |world| {
            let key = *world.jobs[&0].live.first().unwrap();
            world.ends(key, end, START + Millis(1));
        })
    }

    #[test]
    fn a_map_that_hadoop_reschedules_hurries_and_one_that_it_only_kills_waits_in_line() {
        for end in [End::Restarted, End::Lost] {
            assert_eq!(ended(false, end), [(0, true), (1, false), (2, false)], "{end:?}");
        }
        assert_eq!(ended(false, End::Preempted), [(1, false), (2, false), (0, false)]);
        for end in [End::Restarted, End::Lost, End::Preempted] {
            assert_eq!(ended(true, end), [(0, false), (1, false), (2, false)], "{end:?}");
        }
    }

    #[test]
    fn a_map_whose_output_is_not_read_has_failed_on_hadoop_and_each_later_attempt_of_it_hurries() {
        let lost = |gone| {
            let missed = move |world: &mut World<'_>| {
                let key = *world.jobs[&0].live.first().unwrap();
                world.attempts.get_mut(key).stage = Stage::Commit;
                world.stage_ends(key, START + Millis(1));
                world.misses(0, 0, gone, START + Millis(2));
                let again = super::super::task::Ask::of(0, START);
                world.jobs.get_mut(&0).unwrap().ask(TaskKind::Map, again, false);
            };
            move |withdraw| asked(withdraw, missed)
        };
        assert_eq!(lost(false)(false), [(0, true), (0, true), (1, false), (2, false)]);
        assert_eq!(lost(true)(false), [(0, true), (1, false), (2, false), (0, false)]);
        assert_eq!(lost(false)(true), [(0, false), (1, false), (2, false), (0, false)]);
    }
}
