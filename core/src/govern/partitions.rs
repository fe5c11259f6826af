//! Room by partition: for a job whose containers ask for a label only nodes that have it are room. For one that asks for none those are that have none, and those of partitions that lend
//! what they have free (`exclusive=false`, as some distributions set up most of their nodes).

use super::free::{Change, FreeByNode};
use crate::model::{ClusterState, Job, NameId, Resources, TaskKind};
use std::collections::BTreeMap;

/// Where there is room, by node label.
#[derive(Debug, Default)]
pub struct Partitions {
    /// On all nodes that give containers to jobs that ask for no label.
    open: FreeByNode,
    /// By label, but for nodes without one; `None` where no node has one or the scheduler knows of none.
    by_label: Option<BTreeMap<String, Partition>>,
    none: FreeByNode,
}

/// The nodes of a label.
#[derive(Debug, Default)]
struct Partition {
    free: FreeByNode,
    /// All that they offer, MiB.
    total_mb: u64,
    /// They give what is free to who asks for no label.
    lends: bool,
}

impl Partitions {
    /// Where `since` is what has changed by host since the ResourceManager told of its nodes. One pass over the nodes, and one over the labels.
    pub fn new(cluster: &ClusterState, since: &BTreeMap<NameId, Change>) -> Partitions {
        if !cluster.has_partitions() {
            let open = FreeByNode::new(cluster, cluster.usable_nodes(), since);
            return Partitions { open, ..Partitions::default() };
        }
        let open: Vec<_> = cluster.usable_nodes().filter(|node| node.label.is_none() || !node.exclusive).collect();
        let open = FreeByNode::new(cluster, open, since);
        let mut nodes = BTreeMap::<&str, Vec<_>>::new();
        for node in cluster.usable_nodes() {
            if let Some(label) = node.label.as_deref() {
                nodes.entry(label).or_default().push(node);
            }
        }
        let by_label = nodes.into_iter().map(|(label, nodes)| {
            let total_mb = nodes.iter().map(|node| node.total.memory_mb).fold(0, u64::saturating_add);
            let lends = nodes.iter().any(|node| !node.exclusive);
            (label.to_owned(), Partition { free: FreeByNode::new(cluster, nodes, since), total_mb, lends })
        });
        Partitions { open, by_label: Some(by_label.collect()), ..Partitions::default() }
    }

    /// Are there several?
    pub fn by_label(&self) -> bool {
        self.by_label.is_some()
    }

    /// Containers of a size that fit on what is lent to jobs that ask for no label, by the label of the nodes, on others than the hosts in `avoid`. No queue's share bounds it.
    pub fn lent(&mut self, size: Resources, avoid: &[NameId]) -> Vec<(String, u32)> {
        let lending = self.by_label.iter_mut().flatten().filter(|(_, partition)| partition.lends);
        lending.map(|(label, partition)| (label.clone(), partition.free.fit(size, avoid))).collect()
    }

    /// All that the nodes of a label offer, MiB; 0 of one that none has.
    pub fn total_mb(&self, label: &str) -> u64 {
        self.by_label.as_ref().and_then(|by_label| by_label.get(label)).map_or(0, |partition| partition.total_mb)
    }

    /// Where there is room for a job's containers of that kind.
    pub fn of(&self, cluster: &ClusterState, job: &Job, kind: TaskKind) -> &FreeByNode {
        match (&self.by_label, cluster.label_of(job, kind)) {
            (None, _) | (_, "") => &self.open,
            (Some(by_label), label) => by_label.get(label).map_or(&self.none, |partition| &partition.free),
        }
    }

    /// The same.
    pub fn of_mut(&mut self, cluster: &ClusterState, job: &Job, kind: TaskKind) -> &mut FreeByNode {
        let Partitions { open, by_label, none, .. } = self;
        match (by_label, cluster.label_of(job, kind)) {
            (None, _) | (_, "") => open,
            (Some(by_label), label) => by_label.get_mut(label).map_or(none, |partition| &mut partition.free),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::govern::flight::tests::{cluster, job};
    use crate::model::{AppFact, JobSettings, Labels, NodeFact, QueueFact, Time};

    const SIZE: Resources = Resources { memory_mb: 1_024, vcores: 1 };

    /// Containers for which there is room on two nodes without a label, four with one and eight with another: for maps of a job that asks for `of_app` in a queue with that partition.
    fn room(of_app: Option<&str>, of_queue: Option<&str>) -> u32 {
        rooms(of_app, of_queue, JobSettings::default())[0]
    }

    /// The same for maps and for reduces of one that is set so.
    fn rooms(of_app: Option<&str>, of_queue: Option<&str>, settings: JobSettings) -> [u32; 2] {
        of_cluster(of_app, of_queue, settings, &[])[0]
    }

    /// The same, and how many are lent to what asks for no label, where some labels' nodes are for who asks for them.
    fn of_cluster(
        of_app: Option<&str>,
        of_queue: Option<&str>,
        settings: JobSettings,
        exclusive: &[&str],
    ) -> [[u32; 2]; 2] {
        let mut job = job();
        job.settings = Some(settings);
        let mut cluster = cluster([job.clone()]);
        for (number, label) in std::iter::repeat_n(None, 2).chain([Some("gpu"); 4]).chain([Some("ssd"); 8]).enumerate()
        {
            let exclusive = label.is_some_and(|label| exclusive.contains(&label));
            let label = label.map(Into::into);
            let node =
                NodeFact { label, exclusive, ..NodeFact::usable(&format!("n{number}"), SIZE, Resources::default()) };
            cluster.nodes.insert(node.host.clone(), node);
        }
        let queue = QueueFact { partition: of_queue.map(str::to_owned), ..QueueFact::open("root.etl") };
        cluster.queues.insert(queue.name.clone(), queue);
        let app = AppFact {
            app: job.id.0,
            user: job.user.clone(),
            queue: job.queue.clone(),
            name: String::new(),
            started: Time(0),
            containers: 1,
            allocated: SIZE,
            label: of_app.map(str::to_owned),
        };
        cluster.apps.insert(app.app, app);
        let mut partitions = Partitions::new(&cluster, &BTreeMap::new());
        let of_kinds = TaskKind::ALL.map(|kind| {
            let room = partitions.of_mut(&cluster, &job, kind).fit(SIZE, &[]);
            assert_eq!(partitions.of(&cluster, &job, kind).with_room(SIZE).count() as u32, room);
            room
        });
        let lent = partitions.lent(SIZE, &[]).into_iter().map(|(_, fit)| fit).sum();
        [of_kinds, [lent; 2]]
    }

    #[test]
    fn a_job_that_asks_for_a_label_has_room_on_its_nodes_alone_and_one_that_asks_for_none_on_all_as_they_may_be_lent() {
        assert_eq!(room(None, Some("")), 14);
        assert_eq!([room(Some("gpu"), Some("")), room(Some("ssd"), Some("gpu"))], [4, 8]);
        assert_eq!(room(None, Some("gpu")), 4, "its queue's");
        assert_eq!(room(Some("none such"), Some("")), 0);
    }

    #[test]
    fn what_is_for_those_alone_who_ask_for_its_label_is_no_room_for_one_that_asks_for_none() {
        let of = |app, queue, exclusive: &[&str]| {
            of_cluster(app, queue, JobSettings::default(), exclusive).map(|of_kinds| of_kinds[0])
        };
        assert_eq!(of(None, Some(""), &["ssd"]), [6, 4]);
        assert_eq!(of(None, Some(""), &["ssd", "gpu"]), [2, 0]);
        assert_eq!(of(Some("ssd"), Some(""), &["ssd", "gpu"]), [8, 0]);
        assert_eq!(of(Some(""), Some("gpu"), &["ssd"]), [6, 4], "an empty one it asks for, whatever its queue has");
        assert_eq!(of(None, None, &["ssd"]), [14, 0], "a scheduler without labels");
    }

    #[test]
    fn the_label_of_maps_or_of_reduces_goes_before_the_applications_and_the_jobs_own_word_for_that_before_its_queues() {
        let set = |map: Option<&str>, reduce: Option<&str>, job: Option<&str>| {
            let [map, reduce, job] = [map, reduce, job].map(|label| label.map(str::to_owned));
            JobSettings { labels: Labels { map, reduce, job }.into(), ..JobSettings::default() }
        };
        assert_eq!(rooms(None, Some(""), set(Some("gpu"), None, None)), [4, 14], "of maps alone");
        assert_eq!(rooms(None, Some("gpu"), set(None, Some("ssd"), None)), [4, 8], "of reduces alone");
        assert_eq!(rooms(Some("ssd"), Some(""), set(Some("gpu"), None, Some("none such"))), [4, 8], "the RM's word");
        assert_eq!(rooms(None, Some("gpu"), set(None, None, Some("ssd"))), [8, 8], "which not every RM has");
        assert_eq!(rooms(None, None, set(Some("gpu"), Some("ssd"), None)), [14, 14], "by a scheduler without labels");
    }

    #[test]
    fn where_the_scheduler_knows_no_labels_all_nodes_are_room() {
        assert_eq!([room(None, None), room(Some("gpu"), None)], [14, 14]);
    }
}
