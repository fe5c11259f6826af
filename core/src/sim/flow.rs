//! Jobs that wait for others, and the workflows that these are.

use super::job::{Job, Origin, START};
use super::outcome::WorkflowRow;
use super::scenario::{Scenario, Workflows};
use super::world::{Event, World};
use crate::model::{Millis, Time};
use std::collections::{BTreeMap, BTreeSet};

/// Which jobs wait, and what has come of workflows so far. A job is its group and which of that it is.
#[derive(Debug)]
pub(super) struct Flow {
    groups: Workflows,
    /// Of jobs that are to come: where the jobs before them wrote, in the order of `after`; `None` for one that has not ended.
    to_come: BTreeMap<(u32, u32), Vec<Option<Vec<u32>>>>,
    /// Jobs that never come, as one before them failed.
    never: BTreeSet<(u32, u32)>,
    /// Workflows that have begun to end.
    under_way: BTreeMap<(u32, u32), UnderWay>,
}

/// A workflow of which a job has ended.
#[derive(Debug)]
struct UnderWay {
    /// How many of its jobs have not.
    left: u32,
    /// When the first of those that ended arrived.
    arrived: Time,
    /// One of them failed.
    failed: bool,
}

impl Flow {
    pub(super) fn new(scenario: &Scenario) -> Flow {
        let groups = Workflows::new(scenario);
        Flow { groups, to_come: BTreeMap::new(), never: BTreeSet::new(), under_way: BTreeMap::new() }
    }

    /// Where the jobs before one that arrives wrote what its maps read, file by file.
    pub(super) fn inputs(&mut self, of: Origin) -> Vec<u32> {
        let Origin::Group(group, nth) = of else { return Vec::new() };
        self.to_come.remove(&(group, nth)).into_iter().flatten().flatten().flatten().collect()
    }

    /// The groups that wait for one.
    fn followers(&self, group: u32) -> &[u32] {
        self.groups.followers.get(group as usize).map_or(&[], Vec::as_slice)
    }

    /// A job has failed: how many of those that wait for it, by whatever way, never come and were still to come until now.
    fn end_followers(&mut self, group: u32, nth: u32) -> u32 {
        let (mut groups, mut never) = (vec![group], 0);
        while let Some(group) = groups.pop() {
            for next in self.followers(group).to_vec() {
                if self.never.insert((next, nth)) {
                    self.to_come.remove(&(next, nth));
                    never += 1;
                    groups.push(next);
                }
            }
        }
        never
    }

    /// A job has ended well. The groups whose jobs of that number have nothing more to wait for.
    fn ended(&mut self, group: u32, nth: u32, job: &Job) -> Vec<u32> {
        let mut free = Vec::new();
        for next in self.followers(group).to_vec() {
            if self.never.contains(&(next, nth)) {
                continue;
            }
            let before = &self.groups.before[next as usize];
            let wrote = self.to_come.entry((next, nth)).or_insert_with(|| vec![None; before.len()]);
            let place = before.iter().position(|known| *known == group);
            if let Some(known) = place.and_then(|place| wrote.get_mut(place)) {
                *known = Some(job.wrote_on());
            }
            if wrote.iter().all(Option::is_some) {
                free.push(next);
            }
        }
        free
    }

    /// A job has ended, or failed, with which so many others never come: its workflow, where nothing is left of it.
    fn over(&mut self, job: &Job, failed: Option<u32>, now: Time) -> Option<WorkflowRow> {
        let Origin::Group(group, nth) = job.of else { return None };
        let number = self.groups.of.get(group as usize).copied().flatten()?;
        let workflow = &self.groups.all[number as usize];
        let new = || UnderWay { left: workflow.groups, arrived: job.arrived, failed: false };
        let way = self.under_way.entry((number, nth)).or_insert_with(new);
        way.left -= 1 + failed.unwrap_or(0);
        way.arrived = way.arrived.min(job.arrived);
        way.failed |= failed.is_some();
        if way.left > 0 {
            return None;
        }
        let UnderWay { arrived, failed, .. } = self.under_way.remove(&(number, nth))?;
        Some(WorkflowRow {
            name: workflow.name.clone(),
            nth,
            jobs: workflow.groups,
            phases: workflow.phases,
            arrived: arrived.since(START),
            took: now.since(arrived),
            failed,
        })
    }
}

impl World<'_> {
    /// A job has ended, well or not: those that waited for it last are to come, or never come, and its workflow is over where it was the last of that.
    pub(super) fn flow_on(&mut self, job: &Job, failed: bool, now: Time) {
        let Origin::Group(group, nth) = job.of else { return };
        let never = failed.then(|| self.flow.end_followers(group, nth));
        if let Some(failures) = &mut self.outcome.failures {
            failures.never_came += u64::from(never.unwrap_or(0));
        }
        let free = if failed { Vec::new() } else { self.flow.ended(group, nth, job) };
        for next in free {
            let at = now + Millis::from_secs_f64(self.scenario.jobs[next as usize].arrive.at);
            self.calendar.enter(at, Event::Arrive(Origin::Group(next, nth)));
        }
        self.outcome.workflows.extend(self.flow.over(job, never, now));
    }
}
