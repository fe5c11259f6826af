//! Where there is room for a container.

use crate::model::{ClusterState, NameId};
use std::collections::BTreeMap;

/// Memory free on each usable node now, MiB: what the ResourceManager told, and what is known to have come and gone since.
#[derive(Debug, Default)]
pub struct Rooms {
    /// The roomiest first. Hosts of which nothing else is known have no number.
    descending: Vec<(u64, Option<NameId>)>,
    of_host: BTreeMap<NameId, u64>,
    /// How many containers of a size fit on all of them, for the sizes asked for so far.
    fit: BTreeMap<u64, u64>,
}

impl Rooms {
    /// Where `since` is what was taken (positive) or given back by host since the ResourceManager told of its nodes, MiB. One pass over the nodes.
    pub fn new(cluster: &ClusterState, since: &BTreeMap<NameId, i64>) -> Rooms {
        let usable = cluster.usable_nodes().map(|node| {
            let host = cluster.hosts.find(&node.host);
            let more = host.and_then(|host| since.get(&host)).copied().unwrap_or(0);
            (node.total.memory_mb.saturating_sub(node.used.memory_mb.saturating_add_signed(more)), host)
        });
        let mut descending: Vec<_> = usable.collect();
        descending.sort_unstable_by(|a, b| b.cmp(a));
        let of_host = descending.iter().filter_map(|(room, host)| Some(((*host)?, *room))).collect();
        Rooms { descending, of_host, fit: BTreeMap::new() }
    }

    /// On one host; none on one that is not usable.
    pub fn of(&self, host: NameId) -> u64 {
        self.of_host.get(&host).copied().unwrap_or(0)
    }

    /// Hosts with at least so much, the roomiest first.
    pub fn with_room(&self, size_mb: u64) -> impl Iterator<Item = Option<NameId>> {
        self.descending.iter().take_while(move |(room, _)| *room >= size_mb).map(|(_, host)| *host)
    }

    /// Containers of that size that fit on others than the hosts in `avoid`, of which none is named twice.
    pub fn fit(&mut self, size_mb: u64, avoid: &[NameId]) -> u32 {
        let size = size_mb.max(1);
        let everywhere = || self.descending.iter().map(|(room, _)| room / size).sum();
        let all = *self.fit.entry(size).or_insert_with(everywhere);
        let avoided: u64 = avoid.iter().filter_map(|host| self.of_host.get(host)).map(|room| room / size).sum();
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
    use crate::model::{NodeFact, Resources};

    /// Nodes n0, n1, … of 4,096 MiB each, of which so much is in use; the one named "off" gets no containers, and the last is on no attempt's list.
    fn rooms(nodes: &[(&str, u64)], since: &[(&str, i64)]) -> (Rooms, impl Fn(&str) -> NameId) {
        let mut cluster = ClusterState::default();
        let of = |memory_mb| Resources { memory_mb, vcores: 8 };
        for (host, used) in nodes {
            let node = NodeFact { usable: *host != "off", ..NodeFact::usable(host, of(4_096), of(*used)) };
            cluster.nodes.insert(node.host.clone(), node);
        }
        nodes[..nodes.len() - 1].iter().for_each(|(host, _)| assert!(cluster.hosts.intern(host).is_some()));
        let since = since.iter().map(|(host, mb)| (cluster.hosts.find(host).unwrap(), *mb)).collect();
        (Rooms::new(&cluster, &since), move |host: &str| cluster.hosts.find(host).unwrap())
    }

    #[test]
    fn room_is_what_was_told_and_what_came_and_went_since_on_nodes_that_get_containers() {
        let (rooms, host) = rooms(&[("a", 96), ("b", 96), ("off", 0), ("c", 4_000)], &[("a", 1_000), ("b", -500)]);
        assert_eq!(["a", "b", "off"].map(|name| rooms.of(host(name))), [3_000, 4_096, 0]);
        let with = |size| rooms.with_room(size).collect::<Vec<_>>();
        assert_eq!(with(3_000), [Some(host("b")), Some(host("a"))]);
        assert_eq!(with(3_001), [Some(host("b"))]);
        assert_eq!(with(96), [Some(host("b")), Some(host("a")), None], "nothing else is known of the last");
    }

    #[test]
    fn containers_fit_whole_on_each_node_that_is_not_to_be_avoided() {
        let (mut rooms, host) = rooms(&[("a", 1_096), ("b", 2_596), ("off", 0), ("c", 0)], &[]);
        assert_eq!((rooms.fit(1_000, &[]), rooms.fit(1_500, &[])), (3 + 1 + 4, 2 + 1 + 2));
        assert_eq!(rooms.fit(1_000, &[host("a"), host("off")]), 1 + 4);
        assert_eq!(rooms.fit(0, &[]), 3_000 + 1_500 + 4_096, "a size of none is one of the least");
    }

    #[test]
    fn to_avoid_all_nodes_leaves_none() {
        let (rooms, host) = rooms(&[("a", 0), ("b", 0), ("off", 0)], &[]);
        let none = Rooms::default();
        assert_eq!((rooms.leave_some(&[host("a")]), none.leave_some(&[host("a")])), (true, true));
        assert!(!rooms.leave_some(&[host("a"), host("b")]));
    }
}
