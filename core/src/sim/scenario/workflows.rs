//! Jobs that come after one another, as what Hive or Pig make of one query: the nth jobs of groups that `after` joins are one workflow.

use super::{JobGroup, Scenario};
use std::collections::BTreeMap;

/// Phases one after the other that a workflow may have, maps and reduces counted each. The longest of Bing's jobs had 6 (Dolly, NSDI'13, §5.3); this is a bound against slips.
pub const PHASES_MAX: u32 = 100;

/// Groups whose nth jobs are one workflow.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Workflow {
    /// Name of the last of its groups in the scenario, for which no other waits.
    pub name: String,
    /// How many groups.
    pub groups: u32,
    /// How many phases its jobs have together, at most.
    pub phases: u32,
}

/// How a scenario's groups hang together.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Workflows {
    /// By group: the groups that it waits for, as `after` has them.
    pub before: Vec<Vec<u32>>,
    /// By group: the groups that wait for it.
    pub followers: Vec<Vec<u32>>,
    /// By group: its workflow, where it is in one.
    pub of: Vec<Option<u32>>,
    /// The workflows.
    pub all: Vec<Workflow>,
}

/// By group: the groups that it waits for. Names of none that stands before it are left out.
fn before(jobs: &[JobGroup]) -> Vec<Vec<u32>> {
    let mut known: BTreeMap<&str, u32> = BTreeMap::new();
    let numbered = (0..).zip(jobs).map(|(number, group)| {
        let before = group.after.iter().filter_map(|name| known.get(name.as_str()).copied()).collect();
        known.entry(&group.name).or_insert(number);
        before
    });
    numbered.collect()
}

/// By group: how many phases come one after the other until its jobs have ended, at most.
fn phases(jobs: &[JobGroup], before: &[Vec<u32>]) -> Vec<u32> {
    let mut all: Vec<u32> = Vec::with_capacity(jobs.len());
    for (group, before) in jobs.iter().zip(before) {
        let earlier = before.iter().map(|number| all[*number as usize]).max().unwrap_or(0);
        all.push(earlier.saturating_add(group.phases()));
    }
    all
}

impl Workflows {
    /// Those of a scenario without faults.
    pub fn new(scenario: &Scenario) -> Workflows {
        let jobs = &scenario.jobs;
        if jobs.iter().all(|group| group.after.is_empty()) {
            return Workflows::default();
        }
        let (before, mut followers) = (before(jobs), vec![Vec::new(); jobs.len()]);
        // Each group stands with the first of those that it is joined with.
        let mut first: Vec<u32> = (0..jobs.len() as u32).collect();
        for (number, before) in (0_u32..).zip(&before) {
            for other in before {
                followers[*other as usize].push(number);
                let (a, b) = (root(&first, number), root(&first, *other));
                first[a.max(b) as usize] = a.min(b);
            }
        }
        let mut members: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
        (0..jobs.len() as u32).for_each(|number| members.entry(root(&first, number)).or_default().push(number));
        let (mut of, mut all) = (vec![None; jobs.len()], Vec::new());
        for groups in members.into_values().filter(|groups| groups.len() > 1) {
            let last = groups.last().map_or(0, |last| *last as usize);
            groups.iter().for_each(|group| of[*group as usize] = Some(all.len() as u32));
            let phases = groups.iter().map(|group| jobs[*group as usize].phases()).sum();
            all.push(Workflow { name: jobs[last].name.clone(), groups: groups.len() as u32, phases });
        }
        Workflows { before, followers, of, all }
    }

    /// The groups, by number, with which a way through a workflow has more phases than may be.
    pub fn too_deep(jobs: &[JobGroup]) -> Vec<usize> {
        let before = before(jobs);
        let deep = phases(jobs, &before);
        let earlier = |number: usize| before[number].iter().map(|other| deep[*other as usize]).max().unwrap_or(0);
        (0..jobs.len()).filter(|number| deep[*number] > PHASES_MAX && earlier(*number) <= PHASES_MAX).collect()
    }
}

fn root(first: &[u32], mut number: u32) -> u32 {
    while first[number as usize] != number {
        number = first[number as usize];
    }
    number
}

#[cfg(test)]
mod tests {
    use super::*;

    fn workflows(json: &str) -> Workflows {
        let scenario: Scenario = serde_json::from_str(json).unwrap();
        Workflows::new(&scenario)
    }

    #[test]
    fn groups_that_are_joined_by_any_way_are_one_workflow_and_the_others_none() {
        let found = workflows(
            r#"{"jobs": [
                {"name": "a", "maps": {"tasks": 1}, "reduces": {"tasks": 1}}, {"name": "alone", "maps": {"tasks": 1}},
                {"name": "b", "maps": {"tasks": 1}}, {"name": "c", "after": ["b", "a"], "maps": {"tasks": 1}, "reduces": {"tasks": 1}},
                {"name": "x", "maps": {"tasks": 1}}, {"name": "y", "after": "x", "maps": {"tasks": 1}}
            ]}"#,
        );
        assert_eq!(found.of, [Some(0), None, Some(0), Some(0), Some(1), Some(1)]);
        let named = |name: &str, groups, phases| Workflow { name: name.into(), groups, phases };
        assert_eq!(found.all, [named("c", 3, 5), named("y", 2, 2)]);
        assert_eq!((&found.before[3], &found.followers[0], &found.followers[4]), (&vec![2, 0], &vec![3], &vec![5]));
    }

    #[test]
    fn a_scenario_without_any_has_no_tables_of_them() {
        assert_eq!(workflows(r#"{"jobs": [{"name": "a", "maps": {"tasks": 1}}]}"#), Workflows::default());
    }
}
