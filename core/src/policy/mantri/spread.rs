//! Which rack each reduce goes to (Mantri, OSDI'10, §5.2): I from what the maps have written and where, the links as measured, [`place`] over both.

use super::MeasureParams;
use super::placement::{Links, Placement, expected_links, place, place_alike};
use crate::model::{Bytes, ClusterState, Job, MeasurePlan, NameId, TaskKind, TaskState, Verdict, maps_before_reduces};
use std::collections::BTreeMap;

/// The racks of a cluster's usable nodes.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Racks<'a> {
    names: Vec<&'a str>,
    of: BTreeMap<NameId, usize>,
    /// b_u and b_d of each; `None` unless all are measured.
    links: Option<Vec<Links>>,
}

impl<'a> Racks<'a> {
    /// Those of a cluster. One pass over its nodes.
    pub fn of(cluster: &'a ClusterState) -> Racks<'a> {
        let mut names: Vec<&str> = cluster.usable_nodes().map(|node| &*node.rack).collect();
        names.sort_unstable();
        names.dedup();
        let place = |node: &'a crate::model::NodeFact| {
            Some((cluster.hosts.find(&node.host)?, names.binary_search(&&*node.rack).ok()?))
        };
        let of = cluster.usable_nodes().filter_map(place).collect();
        let measured = |name: &&str| {
            let rack = cluster.racks.get(*name)?;
            let (up, down) = (rack.up_bytes_per_second, rack.down_bytes_per_second);
            (up > 0.0 && down > 0.0).then_some(Links { up, down })
        };
        let links = names.iter().map(measured).collect();
        Racks { names, of, links }
    }

    /// More than one.
    fn are_several(&self) -> bool {
        self.names.len() > 1
    }
}

/// Are a job's reduces about to be placed: have as many maps ended as they wait for, and has not every one of them begun?
pub fn is_due(job: &Job) -> bool {
    let (Some([maps, _]), Some(settings)) = (job.totals, job.settings.as_ref()) else { return false };
    let wanted = maps_before_reduces(settings.slow_start, maps).max(1);
    count(job, TaskKind::Map, |state| state == TaskState::Succeeded) >= wanted && waits(job)
}

/// Does any of a job's reduces wait?
fn waits(job: &Job) -> bool {
    count(job, TaskKind::Reduce, |state| state >= TaskState::Running) < reduces(job)
}

fn count(job: &Job, kind: TaskKind, is: impl Fn(TaskState) -> bool) -> u32 {
    job.tasks(kind).filter(|(_, task)| is(task.state)).count() as u32
}

/// Where the reduces that wait go, or why that is all the same. One pass over the job's tasks, and what [`place`] takes.
pub fn spread(job: &Job, racks: &Racks<'_>, params: &MeasureParams) -> Result<MeasurePlan, Verdict> {
    if !racks.are_several() || !waits(job) {
        return Err(Verdict::NothingGained);
    }
    let written = written(job, racks).ok_or(Verdict::DataUnknown)?;
    let links = match &racks.links {
        Some(measured) => {
            // What all racks could send meanwhile.
            let short = params.short_phase.as_secs_f64() * measured.iter().map(|links| links.up).sum::<f64>();
            expected_links(measured, written.iter().sum(), short)
        }
        // Equal ones: whatever their bandwidth, the best placement is the same.
        None => vec![Links { up: 1.0, down: 1.0 }; racks.names.len()],
    };
    let waiting = waiting(job);
    let (placement, moves) = placed(job, &waiting, &written, &links).ok_or(Verdict::DataUnknown)?;
    let on = |rack: usize| {
        let there = waiting.iter().zip(&placement.racks).filter(|(_, placed)| **placed == rack);
        there.map(|(index, _)| *index).collect::<Vec<u32>>()
    };
    let each = racks.names.iter().enumerate().map(|(rack, name)| ((*name).to_owned(), on(rack)));
    let told = racks.links.is_some();
    Ok(MeasurePlan::Place {
        racks: each.filter(|(_, reduces)| !reduces.is_empty()).collect(),
        moves: Bytes(moves as u64),
        seconds: told.then_some(placement.seconds),
        bound: told.then_some(placement.bound),
    })
}

/// The placement of reduces that wait, and what crosses racks with it, bytes. Where they are all alike, one row stands for all: how many there are is the job's word alone.
fn placed(job: &Job, waiting: &[u32], written: &[f64], links: &[Links]) -> Option<(Placement, f64)> {
    let row = |share: f64| written.iter().map(|bytes| share * bytes).collect::<Vec<f64>>();
    let crosses = |row: &Vec<f64>, rack: usize| row.iter().sum::<f64>() - row[rack];
    let Some(reads) = reads(job) else {
        let each = row(1.0 / f64::from(reduces(job)));
        let placement = place_alike(&each, waiting.len() as u32, links);
        let moves = placement.racks.iter().map(|rack| crosses(&each, *rack)).sum();
        return Some((placement, moves));
    };
    let all: f64 = reads.iter().sum();
    let inputs: Vec<Vec<f64>> = waiting.iter().map(|index| row(reads[*index as usize] / all)).collect();
    let placement = place(&inputs, links)?;
    let moves = inputs.iter().zip(&placement.racks).map(|(row, rack)| crosses(row, *rack)).sum();
    Some((placement, moves))
}

fn reduces(job: &Job) -> u32 {
    job.totals.map_or(0, |[_, reduces]| reduces)
}

/// The reduces that wait.
fn waiting(job: &Job) -> Vec<u32> {
    let waits = |index: &u32| {
        let known = job.task(job.id.task(TaskKind::Reduce, *index));
        known.is_none_or(|task| task.state < TaskState::Running)
    };
    (0..reduces(job)).filter(waits).collect()
}

/// What each reduce is told to read, bytes; `None` unless that is told of every one of them.
fn reads(job: &Job) -> Option<Vec<f64>> {
    let told = job.tasks(TaskKind::Reduce).take_while(|(id, task)| id.index < reduces(job) && task.input.0 > 0);
    let reads: Vec<f64> = told.map(|(_, task)| task.input.0 as f64).collect();
    (reads.len() == reduces(job) as usize).then_some(reads)
}

/// What all maps write on each rack, bytes: those that have ended, and the others as they did. `None` while none has told.
fn written(job: &Job, racks: &Racks<'_>) -> Option<Vec<f64>> {
    let (mut on, mut told) = (vec![0.0; racks.names.len()], 0);
    for (_, host, output) in job.map_outputs() {
        if let Some(rack) = host.and_then(|host| racks.of.get(&host)).filter(|_| output.0 > 0) {
            on[*rack] += output.0 as f64;
            told += 1;
        }
    }
    let maps = job.totals.map_or(told, |[maps, _]| maps.max(told));
    on.iter_mut().for_each(|bytes| *bytes *= f64::from(maps) / f64::from(told.max(1)));
    (told > 0).then_some(on)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{JobSettings, NodeFact, RackFact, Resources, TaskFact, Time};

    #[test]
    fn reduces_wait_for_the_share_of_maps_that_was_written_and_not_for_one_more() {
        let is_due = |maps, ended| {
            let mut job = Job::new("job_1_0001".parse().unwrap());
            (job.totals, job.settings) = (Some([maps, 1]), Some(JobSettings::default()));
            for index in 0..ended {
                let of = TaskFact::of(job.id.task(TaskKind::Map, index));
                assert!(job.learn_task(&TaskFact { state: Some(TaskState::Succeeded), ..of }, Time(1), maps));
            }
            is_due(&job)
        };
        for (maps, wanted) in [(1, 1), (20, 1), (21, 2), (100, 5)] {
            assert_eq!([wanted - 1, wanted].map(|ended| is_due(maps, ended)), [false, true], "{maps} maps");
        }
    }

    #[test]
    fn reduces_are_about_to_be_placed_until_every_one_has_begun() {
        let mut job = Job::new("job_1_0001".parse().unwrap());
        (job.totals, job.settings) = (Some([1, 2]), Some(JobSettings::default()));
        let mut due = |kind, index, state| {
            let of = TaskFact::of(job.id.task(kind, index));
            assert!(job.learn_task(&TaskFact { state: Some(state), ..of }, Time(1), 9));
            is_due(&job)
        };
        assert!(due(TaskKind::Map, 0, TaskState::Succeeded));
        assert!(due(TaskKind::Reduce, 0, TaskState::Scheduled) && due(TaskKind::Reduce, 1, TaskState::Running));
        assert!(!due(TaskKind::Reduce, 0, TaskState::Running));
        job.totals = Some([1, 0]);
        assert!(!is_due(&job), "without reduces none waits");
    }

    #[test]
    fn on_one_rack_it_is_all_the_same_how_many_reduces_a_job_claims() {
        let mut job = Job::new("job_1_0001".parse().unwrap());
        job.totals = Some([1, u32::MAX]);
        assert_eq!(spread(&job, &Racks::default(), &MeasureParams::default()), Err(Verdict::NothingGained));
    }

    #[test]
    fn links_are_measured_where_something_gets_through_both_ways_on_every_rack() {
        let measured = |links: &[(f64, f64)]| {
            let mut cluster = ClusterState::default();
            for (number, (up, down)) in links.iter().enumerate() {
                let (rack, host) = (format!("/r{number}"), format!("n{number}"));
                let node = NodeFact {
                    rack: rack.as_str().into(),
                    ..NodeFact::usable(&host, Resources::default(), Resources::default())
                };
                cluster.nodes.insert(host.into(), node);
                let (up_bytes_per_second, down_bytes_per_second) = (*up, *down);
                let fact = RackFact {
                    rack: rack.clone(),
                    up_bytes_per_second,
                    down_bytes_per_second,
                    within_bytes_per_second: 1.0,
                };
                cluster.racks.insert(rack, fact);
            }
            Racks::of(&cluster).links
        };
        assert_eq!(measured(&[(1.0, 2.0)]), Some(vec![Links { up: 1.0, down: 2.0 }]));
        for dead in [(0.0, 2.0), (1.0, 0.0)] {
            assert_eq!(measured(&[(1.0, 2.0), dead]), None, "{dead:?}");
        }
    }
}
