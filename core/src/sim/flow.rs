//! Jobs that wait for others, and the workflows that these are.

use super::job::{Job, Origin, START};
use super::outcome::WorkflowRow;
use super::scenario::{Scenario, Workflows};
use super::world::{Event, World};
use crate::model::{Millis, Time};
use std::collections::BTreeMap;

/// Which jobs wait, and what has come of workflows so far. A job is its group and which of that it is.
#[derive(Debug)]
pub(super) struct Flow {
    groups: Workflows,
    /// Of jobs that are to come: where the jobs before them wrote, in the order of `after`; `None` for one that has not ended.
    to_come: BTreeMap<(u32, u32), Vec<Option<Vec<u32>>>>,
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
}

impl Flow {
    pub(super) fn new(scenario: &Scenario) -> Flow {
        Flow { groups: Workflows::new(scenario), to_come: BTreeMap::new(), under_way: BTreeMap::new() }
    }

    /// Where the jobs before one that arrives wrote what its maps read, file by file.
    pub(super) fn inputs(&mut self, of: Origin) -> Vec<u32> {
        let Origin::Group(group, nth) = of else { return Vec::new() };
        self.to_come.remove(&(group, nth)).into_iter().flatten().flatten().flatten().collect()
    }

    /// A job has ended. The groups whose jobs of that number have nothing more to wait for.
    fn ended(&mut self, group: u32, nth: u32, job: &Job) -> Vec<u32> {
        let followers = self.groups.followers.get(group as usize).map_or(&[][..], Vec::as_slice);
        let mut free = Vec::new();
        for next in followers {
            let before = &self.groups.before[*next as usize];
            let wrote = self.to_come.entry((*next, nth)).or_insert_with(|| vec![None; before.len()]);
            let place = before.iter().position(|known| *known == group);
            if let Some(known) = place.and_then(|place| wrote.get_mut(place)) {
                *known = Some(job.wrote_on());
            }
            if wrote.iter().all(Option::is_some) {
                free.push(*next);
            }
        }
        free
    }

    /// A job has ended: its workflow, where that was the last of it.
    fn over(&mut self, group: u32, nth: u32, job: &Job, now: Time) -> Option<WorkflowRow> {
        let number = self.groups.of.get(group as usize).copied().flatten()?;
        let workflow = &self.groups.all[number as usize];
        let new = || UnderWay { left: workflow.groups, arrived: job.arrived };
        let way = self.under_way.entry((number, nth)).or_insert_with(new);
        way.left -= 1;
        way.arrived = way.arrived.min(job.arrived);
        if way.left > 0 {
            return None;
        }
        let arrived = self.under_way.remove(&(number, nth))?.arrived;
        Some(WorkflowRow {
            name: workflow.name.clone(),
            nth,
            jobs: workflow.groups,
            phases: workflow.phases,
            arrived: arrived.since(START),
            took: now.since(arrived),
        })
    }
}

impl World<'_> {
    /// A job has ended: those that waited for it last are to come, and its workflow is over where it was the last of that.
    pub(super) fn flow_on(&mut self, job: &Job, now: Time) {
        let Origin::Group(group, nth) = job.of else { return };
        for next in self.flow.ended(group, nth, job) {
            let at = now + Millis::from_secs_f64(self.scenario.jobs[next as usize].arrive.at);
            self.calendar.enter(at, Event::Arrive(Origin::Group(next, nth)));
        }
        self.outcome.workflows.extend(self.flow.over(group, nth, job, now));
    }
}
