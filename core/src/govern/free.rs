//! Where there is room for a container.

use crate::model::{ClusterState, NameId, NodeFact, Resources};
use std::cmp::Reverse;
use std::collections::BTreeMap;

/// What is free on each of some usable nodes now, of what the scheduler counts: what the ResourceManager told, and what is known to have come and gone since.
#[derive(Debug, Default)]
pub struct FreeByNode {
    /// Those with most memory first. Hosts of which nothing else is known have no number.
    descending: Vec<(Resources, Option<NameId>)>,
    of_host: BTreeMap<NameId, Resources>,
    /// How many containers of a size, its memory and virtual cores, fit on all of them, for the sizes asked for so far.
    fit: BTreeMap<(u64, u32), u64>,
}

/// What has been taken (positive) or given back (negative).
#[derive(Debug, Clone, Copy, Default)]
pub struct Change {
    /// Mebibytes.
    pub memory_mb: i64,
    /// Virtual cores.
    pub vcores: i64,
}

impl Change {
    /// So many more containers of a size.
    pub fn add(&mut self, size: Resources, containers: i64) {
        self.memory_mb += size.memory_mb as i64 * containers;
        self.vcores += i64::from(size.vcores) * containers;
    }

    fn of(self, used: Resources) -> Resources {
        let vcores = i64::from(used.vcores).saturating_add(self.vcores).clamp(0, u32::MAX.into()) as u32;
        Resources { memory_mb: used.memory_mb.saturating_add_signed(self.memory_mb), vcores }
    }
}

impl FreeByNode {
    /// Where `since` is what has changed by host since the ResourceManager told of its nodes. One pass over the nodes.
    pub fn new<'n>(
        cluster: &ClusterState,
        usable: impl IntoIterator<Item = &'n NodeFact>,
        since: &BTreeMap<NameId, Change>,
    ) -> FreeByNode {
        let usable = usable.into_iter().map(|node| {
            let host = cluster.hosts.find(&node.host);
            let change = host.and_then(|host| since.get(&host)).copied().unwrap_or_default();
            (cluster.counted(node.total.less(change.of(node.used))), host)
        });
        let mut descending: Vec<_> = usable.collect();
        descending.sort_unstable_by_key(|(room, host)| Reverse((room.memory_mb, *host)));
        let of_host = descending.iter().filter_map(|(room, host)| Some(((*host)?, *room))).collect();
        FreeByNode { descending, of_host, fit: BTreeMap::new() }
    }

    /// On one host; none on one that is not usable.
    pub fn of(&self, host: NameId) -> Resources {
        self.of_host.get(&host).copied().unwrap_or_default()
    }

    /// Hosts with at least so much, those with most memory first.
    pub fn with_room(&self, size: Resources) -> impl Iterator<Item = Option<NameId>> {
        let by_memory = self.descending.iter().take_while(move |(room, _)| room.memory_mb >= size.memory_mb);
        by_memory.filter(move |(room, _)| room.holds(size)).map(|(_, host)| *host)
    }

    /// Containers of that size that fit on others than the hosts in `avoid`, of which none is named twice.
    pub fn fit(&mut self, size: Resources, avoid: &[NameId]) -> u32 {
        let everywhere = || self.descending.iter().map(|(room, _)| room.fit(size)).sum();
        let all = *self.fit.entry((size.memory_mb, size.vcores)).or_insert_with(everywhere);
        let avoided: u64 = avoid.iter().filter_map(|host| self.of_host.get(host)).map(|room| room.fit(size)).sum();
        (all - avoided).min(u32::MAX.into()) as u32
    }

    /// Is any node left beside the hosts in `avoid`, of which none is named twice? Where no node is known nobody can tell.
    pub fn leave_some(&self, avoid: &[NameId]) -> bool {
        let avoided = avoid.iter().filter(|host| self.of_host.contains_key(host)).count();
        self.descending.is_empty() || self.descending.len() > avoided
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::QueueFact;

    /// Nodes n0, n1, … of 4,096 MiB each, of which so much is in use; the one named "off" gets no containers, and the last is on no attempt's list.
    fn free(nodes: &[(&str, u64)], since: &[(&str, i64)]) -> (FreeByNode, impl Fn(&str) -> NameId) {
        let mut cluster = ClusterState::default();
        let of = |memory_mb| Resources { memory_mb, vcores: 8 };
        for (host, used) in nodes {
            let node = NodeFact { usable: *host != "off", ..NodeFact::usable(host, of(4_096), of(*used)) };
            cluster.nodes.insert(node.host.clone(), node);
        }
        nodes[..nodes.len() - 1].iter().for_each(|(host, _)| assert!(cluster.hosts.intern(host).is_some()));
        let change = |mb: &i64| Change { memory_mb: *mb, vcores: 0 };
        let since = since.iter().map(|(host, mb)| (cluster.hosts.find(host).unwrap(), change(mb))).collect();
        (FreeByNode::new(&cluster, cluster.usable_nodes(), &since), move |host: &str| cluster.hosts.find(host).unwrap())
    }

    fn mb(memory_mb: u64) -> Resources {
        Resources { memory_mb, vcores: 0 }
    }

    #[test]
    fn where_virtual_cores_are_counted_nodes_that_lack_them_have_no_room_and_where_memory_alone_is_they_have() {
        let free = |counts_vcores| {
            let mut cluster = ClusterState::default();
            let queue = QueueFact { counts_vcores, ..QueueFact::open("etl") };
            cluster.queues.insert(queue.name.clone(), queue);
            for (host, vcores) in [("a", 8), ("b", 7), ("c", 12), ("d", 0)] {
                let used = Resources { memory_mb: 96, vcores };
                let node = NodeFact::usable(host, Resources { memory_mb: 4_096, vcores: 8 }, used);
                cluster.nodes.insert(node.host.clone(), node);
                cluster.hosts.intern(host).unwrap();
            }
            let mut on_d = Change::default();
            on_d.add(Resources { memory_mb: 0, vcores: 1 }, 3);
            let mut free = FreeByNode::new(
                &cluster,
                cluster.usable_nodes(),
                &BTreeMap::from([(cluster.hosts.find("d").unwrap(), on_d)]),
            );
            let size = Resources { memory_mb: 1_000, vcores: 2 };
            (free.fit(size, &[]), free.with_room(size).count(), free.with_room(Resources::default()).count())
        };
        assert_eq!(free(true), (2, 1, 4), "five virtual cores are left on one");
        assert_eq!(free(false), (16, 4, 4));
    }

    #[test]
    fn room_is_what_was_told_and_what_came_and_went_since_on_nodes_that_get_containers() {
        let (free, host) = free(&[("a", 96), ("b", 96), ("off", 0), ("c", 4_000)], &[("a", 1_000), ("b", -500)]);
        assert_eq!(["a", "b", "off"].map(|name| free.of(host(name)).memory_mb), [3_000, 4_096, 0]);
        let with = |size| free.with_room(mb(size)).collect::<Vec<_>>();
        assert_eq!(with(3_000), [Some(host("b")), Some(host("a"))]);
        assert_eq!(with(3_001), [Some(host("b"))]);
        assert_eq!(with(96), [Some(host("b")), Some(host("a")), None], "nothing else is known of the last");
    }

    #[test]
    fn containers_fit_whole_on_each_node_that_is_not_to_be_avoided() {
        let (mut free, host) = free(&[("a", 1_096), ("b", 2_596), ("off", 0), ("c", 0)], &[]);
        assert_eq!((free.fit(mb(1_000), &[]), free.fit(mb(1_500), &[])), (3 + 1 + 4, 2 + 1 + 2));
        assert_eq!(free.fit(mb(1_000), &[host("a"), host("off")]), 1 + 4);
        assert_eq!(free.fit(mb(0), &[]), 3_000 + 1_500 + 4_096, "a size of none is one of the least");
    }

    #[test]
    fn to_avoid_all_nodes_leaves_none() {
        let (free, host) = free(&[("a", 0), ("b", 0), ("off", 0)], &[]);
        let none = FreeByNode::default();
        assert_eq!((free.leave_some(&[host("a")]), none.leave_some(&[host("a")])), (true, true));
        assert!(!free.leave_some(&[host("a"), host("b")]));
    }
}
