//! The scheduler's queues as facts.

use super::cluster::label;
use super::{Reason, Refused, name};
use crate::yarn::wire::lenient::{Float, Int, Maybe};
use crate::yarn::wire::scheduler::{Amount, Capacity, KindOf, Queue, Scheduler, SchedulerInfo, Usage, Usages};
use drover_core::model::{QueueFact, QueueShare, QueueUser, Resources};
use std::collections::BTreeMap;

/// Most leaf queues kept.
pub const MAX_QUEUES: usize = 20_000;

/// Does a listing of so many queues tell which there are? One without any tells none, and one that was cut short not all.
pub fn tells_all(queues: usize) -> bool {
    (1..MAX_QUEUES).contains(&queues)
}

/// Most users kept of one queue.
pub const MAX_USERS: usize = 1_000;
/// Most node labels kept of one queue or user.
const MAX_LABELS: usize = 100;

/// Leaf queues.
pub fn queues(wire: &Scheduler, refused: &mut Refused) -> Vec<QueueFact> {
    let Some(info) = wire.scheduler_info.0.as_ref() else { return Vec::new() };
    let mut leaves = Vec::new();
    match info.kind.as_deref() {
        Some("fifoScheduler") => leaves.push(QueueFact {
            used_capacity: refused.share(info.used_capacity.0).unwrap_or(0.0),
            ..QueueFact::open("default")
        }),
        _ => {
            let cluster = info.root_queue.items.first().and_then(|root| root.cluster_resources.0.clone());
            let roots = info.queues.items.iter().chain(&info.root_queue.items);
            let least = least(info, refused);
            let mut counts_vcores = info.kind.as_deref() == Some("fairScheduler");
            for root in roots {
                counts_vcores |= has_limits_of_vcores(root);
                leaf_queues(root, cluster.as_ref(), &Above::default(), &mut leaves, refused);
            }
            for leaf in &mut leaves {
                (leaf.counts_vcores, leaf.least) = (counts_vcores, least);
                // The others give containers on any node.
                leaf.partition.take_if(|_| info.kind.as_deref() != Some("capacityScheduler"));
            }
        }
    }
    leaves
}

/// The least allocation, where a scheduler tells it: as a capacity one does beside what its root is set to, where all other amounts have zeros in its place.
fn least(info: &SchedulerInfo, refused: &mut Refused) -> Option<Resources> {
    let capacities = &info.capacities.0.as_ref()?.queue_capacities_by_partition;
    let amounts = capacities.items.iter().filter_map(|capacity| capacity.configured_min_resource.0.as_ref());
    let kinds = amounts.filter_map(|amount| amount.resource_informations.0.as_ref());
    let kinds: Vec<_> = kinds.flat_map(|kinds| &kinds.resource_information.items).collect();
    let of = |name: &str| {
        let named = |kind: &&&KindOf| kind.name.as_deref() == Some(name) && kind.minimum_allocation.0 > Some(0);
        kinds.iter().find(named).map(|kind| kind.minimum_allocation)
    };
    let (memory, vcores) = (of("memory-mb")?, of("vcores").unwrap_or_default());
    Some(Resources { memory_mb: refused.amount(memory), vcores: refused.small(vcores) })
}

/// Does it or anything in it have a limit of more than one virtual core? No scheduler tells whether it counts them. A fair one does on every node, whatever its policy. A capacity one reckons its
/// limits anew with its calculator: one that looks at memory alone makes one virtual core of each (`Resources.createResource`), however many there are.
fn has_limits_of_vcores(queue: &Queue) -> bool {
    let users = queue.users.0.iter().flat_map(|users| &users.user.items);
    let mut limits = users.map(|user| &user.user_resource_limit).chain([&queue.am_resource_limit]);
    let is_more = |limit: &Maybe<Amount>| limit.0.as_ref().is_some_and(|limit| limit.v_cores.0 > Some(1));
    limits.any(is_more) || queue.inside().any(has_limits_of_vcores)
}

/// What the fullest of a queue's parents leaves it.
#[derive(Debug, Clone, Default)]
struct Above {
    /// Share of the cluster.
    left: Option<f64>,
    /// Share of the nodes with a label, by label.
    by_label: BTreeMap<String, f64>,
}

fn leaf_queues(
    queue: &Queue,
    cluster: Option<&Amount>,
    above: &Above,
    leaves: &mut Vec<QueueFact>,
    refused: &mut Refused,
) {
    refused.many(Reason::NoObject, queue.queue.odd + queue.queues.odd + queue.child_queues.odd);
    let (max, used) = shares(queue, cluster);
    let own = max.zip(used).map(|(max, used)| (max - used).max(0.0));
    let mut below = Above { left: above.left.into_iter().chain(own).reduce(f64::min), ..above.clone() };
    below.beneath(queue);
    let mut is_leaf = true;
    for inside in queue.inside() {
        is_leaf = false;
        leaf_queues(inside, cluster, &below, leaves, refused);
    }
    let Some(name) = queue.queue_path.as_deref().or(queue.queue_name.as_deref()).filter(|_| is_leaf) else { return };
    if leaves.len() >= MAX_QUEUES {
        refused.add(Reason::TooMany);
        return;
    }
    leaves.push(QueueFact {
        name: name.to_owned(),
        max_capacity: refused.share(max).unwrap_or(1.0),
        used_capacity: refused.share(used).unwrap_or(0.0),
        parents_left: refused.share(above.left),
        containers_pending: refused.small(queue.pending_containers),
        masters_pending: refused.small(queue.num_pending_applications),
        user_capacity: refused.share(user_capacity(queue, queue.absolute_capacity)),
        user_share: refused.share(percent(queue.user_limit)),
        users: users(queue, refused),
        counts_vcores: false,
        partition: Some(label(&queue.default_node_label_expression).unwrap_or_default()),
        least: None,
        by_label: by_label(queue, above, refused),
    });
}

impl Above {
    /// What a queue that is in it leaves of the nodes with a label to those in that.
    fn beneath(&mut self, queue: &Queue) {
        for (label, capacity) in capacities(queue) {
            if let Some((max, used)) =
                percent(capacity.absolute_max_capacity).zip(percent(capacity.absolute_used_capacity))
            {
                let left = self.by_label.entry(label).or_insert(f64::MAX);
                *left = left.min((max - used).max(0.0));
            }
        }
    }
}

/// What a queue is set to of the nodes with a label, by label.
fn capacities(queue: &Queue) -> impl Iterator<Item = (String, &Capacity)> {
    let all = queue.capacities.0.iter().flat_map(|all| all.queue_capacities_by_partition.items.iter());
    all.filter_map(|capacity| Some((label(&capacity.partition_name)?, capacity))).take(MAX_LABELS)
}

/// What is used of the nodes with a label, or waited for, MiB by label.
fn mb_by_label(
    usages: &Maybe<Usages>,
    of: fn(&Usage) -> &Maybe<Amount>,
    refused: &mut Refused,
) -> BTreeMap<String, u64> {
    let all = usages.0.iter().flat_map(|all| all.resource_usages_by_partition.items.iter()).take(MAX_LABELS);
    let told = all.filter_map(|usage| Some((label(&usage.partition_name)?, of(usage).0.as_ref()?.memory)));
    told.map(|(label, memory)| (label, refused.amount(memory))).collect()
}

/// A leaf's shares of the nodes with a label. Where it is not told how much of them it may use, nothing is.
fn by_label(queue: &Queue, above: &Above, refused: &mut Refused) -> BTreeMap<String, QueueShare> {
    let used_mb = mb_by_label(&queue.resources, |usage| &usage.used, refused);
    let pending_mb = mb_by_label(&queue.resources, |usage| &usage.pending, refused);
    let mut users_mb = BTreeMap::<_, BTreeMap<_, _>>::new();
    for user in queue.users.0.iter().flat_map(|users| &users.user.items).take(MAX_USERS) {
        for (label, used) in mb_by_label(&user.resources, |usage| &usage.used, refused) {
            users_mb.entry(label).or_default().insert(name(&user.username), used);
        }
    }
    let mut shares = BTreeMap::new();
    for (label, capacity) in capacities(queue) {
        let Some(max_capacity) = refused.share(percent(capacity.absolute_max_capacity)) else { continue };
        let share = QueueShare {
            max_capacity,
            used_capacity: refused.share(percent(capacity.absolute_used_capacity)).unwrap_or(0.0),
            used_mb: used_mb.get(&label).copied().unwrap_or(0),
            pending_mb: pending_mb.get(&label).copied().unwrap_or(0),
            parents_left: refused.share(above.by_label.get(&label).copied()),
            user_capacity: refused.share(user_capacity(queue, capacity.absolute_capacity)),
            users_mb: users_mb.remove(&label).unwrap_or_default(),
        };
        shares.insert(label, share);
    }
    shares
}

fn percent(share: Float) -> Option<f64> {
    share.0.map(|percent| percent / 100.0)
}

/// What a queue may use and what it uses, shares of the cluster: percentages of a capacity scheduler; of a fair one, which bounds each resource, of that of which the least is left.
fn shares(queue: &Queue, cluster: Option<&Amount>) -> (Option<f64>, Option<f64>) {
    if queue.absolute_max_capacity.0.is_some() || queue.absolute_used_capacity.0.is_some() {
        return (percent(queue.absolute_max_capacity), percent(queue.absolute_used_capacity));
    }
    let [max, used] = [&queue.max_resources, &queue.used_resources].map(|amount| shares_of(amount, cluster));
    let left = |of: &usize| max[*of].unwrap_or(1.0) - used[*of].unwrap_or(0.0);
    let told = [0, 1].into_iter().filter(|of| max[*of].is_some() || used[*of].is_some());
    told.min_by(|a, b| left(a).total_cmp(&left(b))).map_or((None, None), |of| (max[of], used[of]))
}

/// What any one user may use of that which is promised the queue so much of, as a share. A factor below zero is the scheduler's word for no limit; of a queue that is promised nothing its users may have what they find.
fn user_capacity(queue: &Queue, promised: Float) -> Option<f64> {
    let capacity = promised.0.filter(|capacity| *capacity > 0.0)?;
    let factor = queue.user_limit_factor.0.filter(|factor| *factor >= 0.0)?;
    Some((capacity / 100.0 * factor).min(1.0))
}

/// A queue's users; those without a name or a limit tell nothing.
fn users(queue: &Queue, refused: &mut Refused) -> Vec<QueueUser> {
    let Some(users) = &queue.users.0 else { return Vec::new() };
    refused.many(Reason::NoObject, users.user.odd);
    refused.many(Reason::TooMany, users.user.items.len().saturating_sub(MAX_USERS) as u64);
    let kept = users.user.items.iter().take(MAX_USERS);
    kept.filter_map(|user| {
        let (used, limit) = (user.resources_used.0.as_ref()?, user.user_resource_limit.0.as_ref()?);
        limit.memory.0?;
        Some(QueueUser {
            user: name(&user.username),
            used_mb: refused.amount(used.memory),
            limit_mb: refused.amount(limit.memory),
        })
    })
    .filter(|user| !user.user.is_empty())
    .collect()
}

/// The shares of the cluster's memory and virtual cores.
fn shares_of(amount: &Maybe<Amount>, cluster: Option<&Amount>) -> [Option<f64>; 2] {
    let (Some(amount), Some(cluster)) = (amount.0.as_ref(), cluster) else { return [None; 2] };
    let of = |part: Int, all: Int| Some(part.natural()? as f64 / all.natural().filter(|a| *a > 0)? as f64);
    [of(amount.memory, cluster.memory), of(amount.v_cores, cluster.v_cores)]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::yarn::wire::decode;
    use serde_json::{Value, json};

    #[test]
    fn a_leafs_shares_of_nodes_with_a_label_are_read_with_what_its_parents_and_users_leave_of_them() {
        let of = |label: &str, promised: f64, max: Value, used: f64| json!({"partitionName": label, "absoluteCapacity": promised, "absoluteMaxCapacity": max, "absoluteUsedCapacity": used});
        let used = |label: &str, mb: i64| json!({"partitionName": label, "used": {"memory": mb}, "pending": {"memory": 2 * mb.max(0)}});
        let user = json!({"username": "ann", "resourcesUsed": {"memory": 9}, "userResourceLimit": {"memory": 9},
            "resources": {"resourceUsagesByPartition": [used("", 4), used("gpu", 5)]}});
        let leaf = json!({"queueName": "x", "userLimitFactor": 2.0, "users": {"user": user},
            "capacities": {"queueCapacitiesByPartition": [of("", 10.0, json!(90.0), 1.0), of("gpu", 20.0, json!(60.0), 30.0), of("ssd", 5.0, Value::Null, 1.0)]},
            "resources": {"resourceUsagesByPartition": [used("", 7), used("gpu", 3_000), used("ssd", -7)]}});
        let parent = json!({"queueName": "a", "queues": {"queue": [leaf]},
            "capacities": {"queueCapacitiesByPartition": [of("", 100.0, json!(100.0), 99.0), of("gpu", 50.0, json!(50.0), 40.0)]}});
        let info = json!({"type": "capacityScheduler", "queues": {"queue": [parent]}});
        let mut refused = Refused::default();
        let queue = queues(
            &decode(json!({"scheduler": {"schedulerInfo": info}}).to_string().as_bytes()).unwrap(),
            &mut refused,
        )
        .remove(0);
        let (max_capacity, used_capacity, used_mb) = (0.6, 0.3, 3_000);
        let (parents_left, user_capacity, users_mb) = (Some(0.1), Some(0.4), [("ann".to_owned(), 5)].into());
        let gpu = QueueShare {
            max_capacity,
            used_capacity,
            used_mb,
            pending_mb: 6_000,
            parents_left,
            user_capacity,
            users_mb,
        };
        assert_eq!(queue.by_label, [("gpu".to_owned(), gpu)].into(), "of ssd it is not told what it may use");
        assert_eq!(refused.count(Reason::NumberRange), 1);
    }
}
