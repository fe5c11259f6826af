//! How much of a task's input crosses racks on its way (Mantri, OSDI'10, §4.2 and §5.5): where the input lies against where the task runs.

use crate::model::*;
use std::collections::BTreeMap;

/// Where a phase's inputs lie.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Inputs {
    /// Share (0–1) of the maps' outputs by rack, of which each reduce is taken to read as much; `None` for maps, and where not every map that succeeded has a known rack.
    outputs: Option<BTreeMap<String, f64>>,
}

impl Inputs {
    /// Those of a job's tasks of one kind; for reduces one pass over its maps.
    pub fn of(cluster: &ClusterState, job: &Job, kind: TaskKind) -> Inputs {
        Inputs { outputs: if kind == TaskKind::Reduce { outputs(cluster, job) } else { None } }
    }

    /// Share (0–1) of a task's input that would cross racks if it ran on that one. A map reads all of its split from its own rack, where any replica lies there.
    pub fn crossing(&self, cluster: &ClusterState, job: &Job, task: TaskId, rack: &str) -> Option<f64> {
        match task.kind {
            TaskKind::Map => {
                let near = cluster.places.racks(job.task(task)?.place?).iter().any(|one| one == rack);
                Some(if near { 0.0 } else { 1.0 })
            }
            TaskKind::Reduce => Some(1.0 - self.outputs.as_ref()?.get(rack).copied().unwrap_or(0.0)),
        }
    }

    /// The share that did cross, or does, of an attempt on a host: as its source counts, else by racks.
    pub fn crossed(&self, cluster: &ClusterState, job: &Job, attempt: AttemptId, host: Option<NameId>) -> Option<f64> {
        // Where nothing is told of inputs, as over REST of any map's, no rack need be sought.
        let told = self.outputs.is_some() || job.task(attempt.task)?.place.is_some();
        let by_rack = || self.crossing(cluster, job, attempt.task, cluster.rack_of(host?)?);
        job.intakes.crossed(attempt).or_else(|| if told { by_rack() } else { None })
    }
}

/// By what the maps have written, where all have told it; else each is taken to have written as much as its split is long, where all are told, or as any other.
fn outputs(cluster: &ClusterState, job: &Job) -> Option<BTreeMap<String, f64>> {
    let (mut written, mut split) = (true, true);
    for (task, _, output) in job.map_outputs() {
        (written, split) = (written && output.0 > 0, split && task.input.0 > 0);
    }
    let weight = |task: &Task, output: Bytes| match (written, split) {
        (true, _) => output.0 as f64,
        (false, true) => task.input.0 as f64,
        (false, false) => 1.0,
    };
    let (mut by_rack, mut all) = (BTreeMap::<String, f64>::new(), 0.0);
    for (task, host, output) in job.map_outputs() {
        let rack = cluster.rack_of(host?)?;
        let bytes = weight(task, output);
        all += bytes;
        match by_rack.get_mut(rack) {
            Some(sum) => *sum += bytes,
            None => drop(by_rack.insert(rack.to_owned(), bytes)),
        }
    }
    by_rack.values_mut().for_each(|bytes| *bytes /= all);
    (all > 0.0).then_some(by_rack)
}

#[cfg(test)]
mod tests {
    use super::*;

    const JOB: JobId = JobId(AppId { cluster: 1, seq: 1 });

    /// A cluster of two racks of two hosts, and a job of one reduce whose maps ran on these hosts, with such splits.
    fn seen(maps: &[(&str, u64)]) -> (ClusterState, Job) {
        let (mut cluster, mut job) = (ClusterState::default(), Job::new(JOB));
        job.totals = Some([maps.len() as u32, 1]);
        for (host, rack) in [("a0", "/a"), ("a1", "/a"), ("b0", "/b"), ("b1", "/b")] {
            let free = Resources::default();
            cluster.nodes.insert(host.into(), NodeFact { rack: rack.into(), ..NodeFact::usable(host, free, free) });
        }
        for (index, (host, input)) in (0..).zip(maps) {
            let id = JOB.task(TaskKind::Map, index);
            let (state, input) = (Some(TaskState::Succeeded), Some(Bytes(*input)));
            assert!(job.learn_task(&TaskFact { state, input, winner: Some(0), ..TaskFact::of(id) }, Time(9), 9));
            let won = AttemptFact { state: Some(AttemptState::Succeeded), ..AttemptFact::of(id.attempt(0)) };
            assert!(job.learn_attempt(&won, cluster.hosts.intern(host), Time(9), 9));
        }
        (cluster, job)
    }

    fn of_reduce(maps: &[(&str, u64)], rack: &str) -> Option<f64> {
        let (cluster, job) = seen(maps);
        let inputs = Inputs::of(&cluster, &job, TaskKind::Reduce);
        inputs.crossing(&cluster, &job, JOB.task(TaskKind::Reduce, 0), rack)
    }

    #[test]
    fn a_reduce_reads_over_racks_what_maps_on_others_put_out_by_their_splits_where_these_are_told() {
        let maps = [("a0", 100), ("a1", 100), ("b0", 200), ("a0", 400)];
        assert_eq!(
            [of_reduce(&maps, "/a"), of_reduce(&maps, "/b"), of_reduce(&maps, "/c")],
            [0.25, 0.75, 1.0].map(Some)
        );
        let untold = maps.map(|(host, input)| (host, if host == "a1" { 0 } else { input }));
        assert_eq!(of_reduce(&untold, "/b"), Some(0.75), "three maps of four");
        assert_eq!(of_reduce(&[("a0", 1), ("a0", 1), ("b1", 6)], "/b"), Some(0.25));
    }

    #[test]
    fn what_maps_have_written_goes_before_their_splits_once_all_have_told_it() {
        let (cluster, mut job) = seen(&[("a0", 100), ("b0", 100)]);
        let mut crossing = |map, written| {
            let counters = Counters { written: Some(Bytes(written)), ..Counters::default() };
            let fact = AttemptFact { counters, ..AttemptFact::of(JOB.task(TaskKind::Map, map).attempt(0)) };
            assert!(job.learn_attempt(&fact, None, Time(9), 9));
            let inputs = Inputs::of(&cluster, &job, TaskKind::Reduce);
            inputs.crossing(&cluster, &job, JOB.task(TaskKind::Reduce, 0), "/a")
        };
        assert_eq!([crossing(0, 30), crossing(1, 90)], [Some(0.5), Some(0.75)]);
    }

    #[test]
    fn of_maps_on_a_host_that_the_resource_manager_does_not_list_and_before_any_has_ended_nothing_is_said() {
        assert_eq!(of_reduce(&[("a0", 1), ("elsewhere", 1)], "/a"), None);
        assert_eq!(of_reduce(&[], "/a"), None);
    }

    #[test]
    fn what_a_source_counts_goes_before_what_follows_from_racks() {
        let (mut cluster, mut job) = seen(&[("a0", 100)]);
        let attempt = JOB.task(TaskKind::Map, 0).attempt(0);
        let crossed = |cluster: &ClusterState, job: &Job, host| {
            Inputs::of(cluster, job, TaskKind::Map).crossed(cluster, job, attempt, cluster.hosts.find(host))
        };
        assert_eq!(crossed(&cluster, &job, "a0"), None, "nobody has told where its split lies");
        job.task_mut(attempt.task).unwrap().place = cluster.places.intern(["/b"].into_iter());
        cluster.hosts.intern("b0");
        assert_eq!(["a0", "b0"].map(|host| crossed(&cluster, &job, host)), [Some(1.0), Some(0.0)]);
        let counters = Counters { read: Some(Bytes(80)), crossed: Some(Bytes(20)), ..Counters::default() };
        job.intakes.learn(attempt, &AttemptFact { counters, ..AttemptFact::of(attempt) }, Time(9));
        assert_eq!(crossed(&cluster, &job, "a0"), Some(0.25));
    }
}
