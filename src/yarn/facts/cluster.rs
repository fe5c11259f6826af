//! The ResourceManager's answers as facts.

use super::{Reason, Refused, name};
use crate::shown::printable;
use crate::yarn::wire::cluster::{App, Apps, ClusterMetrics, Node, Nodes};
use crate::yarn::wire::lenient::{Float, Int, Maybe, Text};
use crate::yarn::wire::scheduler::{Amount, KindOf, Queue, Scheduler, SchedulerInfo};
use drover_core::model::{AppAttemptId, AppFact, AppId, ClusterFact, NodeFact, QueueFact, QueueUser, Resources, Time};
use std::collections::BTreeSet;

/// Most nodes kept of one listing.
pub const MAX_NODES: usize = 50_000;
/// Most applications kept of one listing.
pub const MAX_APPS: usize = 20_000;
/// Most leaf queues kept.
pub const MAX_QUEUES: usize = 20_000;
/// Most users kept of one queue.
pub const MAX_USERS: usize = 1_000;

/// Totals.
pub fn totals(wire: &ClusterMetrics, refused: &mut Refused) -> ClusterFact {
    let mut pair =
        |memory: Int, vcores: Int| Resources { memory_mb: refused.amount(memory), vcores: refused.small(vcores) };
    let allocated = pair(wire.allocatedMB, wire.allocatedVirtualCores);
    let pending = pair(wire.pendingMB, wire.pendingVirtualCores);
    let mut total = pair(wire.totalMB, wire.totalVirtualCores);
    if wire.totalMB.0.is_none() {
        total = with_left(allocated, wire.availableMB, wire.availableVirtualCores);
    }
    ClusterFact {
        total,
        allocated,
        pending,
        containers: refused.small(wire.containersAllocated),
        containers_pending: refused.small(wire.containersPending),
        active_nodes: refused.small(wire.activeNodes),
    }
}

/// All there is, of what is used and what is left. Where the scheduler looks at memory alone, more virtual cores are used than there are, and less than none are left.
fn with_left(used: Resources, memory: Int, vcores: Int) -> Resources {
    let all = |used: u64, left: Int| used.saturating_add_signed(left.0.unwrap_or(0));
    let vcores = all(used.vcores.into(), vcores).min(u32::MAX.into()) as u32;
    Resources { memory_mb: all(used.memory_mb, memory), vcores }
}

/// Nodes; one without a name is refused.
pub fn nodes(wire: &Nodes, refused: &mut Refused) -> Vec<NodeFact> {
    refused.many(Reason::NoObject, wire.node.odd);
    refused.many(Reason::TooMany, wire.node.items.len().saturating_sub(MAX_NODES) as u64);
    wire.node.items.iter().take(MAX_NODES).filter_map(|n| node(n, refused)).collect()
}

fn node(wire: &Node, refused: &mut Refused) -> Option<NodeFact> {
    let named = wire.nodeHostName.as_deref().or_else(|| wire.id.as_deref()?.rsplit_once(':').map(|(host, _)| host));
    let Some(host) = named.filter(|h| !h.is_empty()) else {
        refused.add(Reason::BadId);
        return None;
    };
    let used = Resources { memory_mb: refused.amount(wire.usedMemoryMB), vcores: refused.small(wire.usedVirtualCores) };
    let total = with_left(used, wire.availMemoryMB, wire.availableVirtualCores);
    let state = wire.state.as_deref().unwrap_or("UNKNOWN");
    // A NodeManager that cannot measure its machine reports zeros throughout.
    let use_of_machine = wire.resourceUtilization.0.as_ref().filter(|u| u.nodePhysicalMemoryMB.0.unwrap_or(0) > 0);
    let cpu = use_of_machine.and_then(|u| u.nodeCPUUsage.0).filter(|cpu| {
        let fine = cpu.is_finite() && (0.0..=100_000.0).contains(cpu);
        if !fine {
            refused.add(Reason::NumberRange);
        }
        fine
    });
    Some(NodeFact {
        host: host.into(),
        rack: wire.rack.as_deref().unwrap_or("/default-rack").into(),
        usable: state == "RUNNING",
        state: state.into(),
        total,
        used,
        containers: refused.small(wire.numContainers),
        cpu_used_vcores: cpu.map(|cpu| cpu as f32),
        memory_used_mb: use_of_machine.and_then(|u| u.nodePhysicalMemoryMB.natural()),
        last_health: refused.instant(wire.lastHealthUpdate).unwrap_or_default(),
        label: label(&wire.nodeLabels.0).map(Into::into),
    })
}

/// An application of the ResourceManager's listing, with what it tells beside the fact.
#[derive(Debug, Clone, PartialEq)]
pub struct AppSeen {
    /// The fact.
    pub fact: AppFact,
    /// The run of its master, where told: by the container it runs in.
    pub attempt: Option<u32>,
    /// The ResourceManager's clock when it answered, where told.
    pub rm_now: Option<Time>,
}

/// Applications; one without an id or named twice is refused.
pub fn apps(wire: &Apps, refused: &mut Refused) -> Vec<AppSeen> {
    refused.many(Reason::NoObject, wire.app.odd);
    refused.many(Reason::TooMany, wire.app.items.len().saturating_sub(MAX_APPS) as u64);
    let mut named = BTreeSet::new();
    let mut seen = Vec::new();
    for wire in wire.app.items.iter().take(MAX_APPS) {
        let Some(id) = wire.id.as_deref().and_then(|id| id.parse::<AppId>().ok()) else {
            refused.add(Reason::BadId);
            continue;
        };
        if named.insert(id) {
            seen.push(app(id, wire, refused));
        } else {
            refused.add(Reason::Repeated);
        }
    }
    seen
}

fn app(id: AppId, wire: &App, refused: &mut Refused) -> AppSeen {
    let started = refused.instant(wire.startedTime);
    let is_running = wire.finishedTime.0.unwrap_or(0) == 0;
    let elapsed = wire.elapsedTime.natural().filter(|e| *e > 0 && is_running);
    let fact = AppFact {
        app: id,
        user: name(&wire.user),
        queue: name(&wire.queue),
        name: name(&wire.name),
        started: started.unwrap_or_default(),
        containers: refused.small(wire.runningContainers),
        allocated: Resources {
            memory_mb: refused.amount(wire.allocatedMB),
            vcores: refused.small(wire.allocatedVCores),
        },
        label: label(&wire.appNodeLabelExpression),
    };
    let rm_now = started.zip(elapsed).map(|(started, elapsed)| Time(started.0.saturating_add(elapsed)));
    AppSeen { fact, attempt: master(wire, id), rm_now }
}

/// The number of the master's run, from the id of its container in the address of its logs:
/// `…/container_<cluster>_<app>_<run>_000001/…`, with `e<epoch>_` in front after a ResourceManager's restart.
pub fn master(wire: &App, id: AppId) -> Option<u32> {
    let logs = wire.amContainerLogs.as_deref()?;
    let container = logs.split('/').find_map(|part| part.strip_prefix("container_"))?;
    let mut parts = container.split('_').skip_while(|part| part.starts_with('e'));
    let (cluster, seq, run) = (parts.next()?, parts.next()?, parts.next()?);
    let run: u32 = run.parse().ok()?;
    let attempt = AppAttemptId { app: id, number: run };
    (cluster.parse() == Ok(id.cluster) && seq.parse() == Ok(id.seq) && run > 0).then_some(attempt.number)
}

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
                leaf_queues(root, cluster.as_ref(), None, &mut leaves, refused);
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

/// `above` is what the fullest of its parents leaves it, share of the cluster.
fn leaf_queues(
    queue: &Queue,
    cluster: Option<&Amount>,
    above: Option<f64>,
    leaves: &mut Vec<QueueFact>,
    refused: &mut Refused,
) {
    refused.many(Reason::NoObject, queue.queue.odd + queue.queues.odd + queue.child_queues.odd);
    let (max, used) = shares(queue, cluster);
    let own = max.zip(used).map(|(max, used)| (max - used).max(0.0));
    let left = above.into_iter().chain(own).reduce(f64::min);
    let mut is_leaf = true;
    for inside in queue.inside() {
        is_leaf = false;
        leaf_queues(inside, cluster, left, leaves, refused);
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
        parents_left: refused.share(above),
        containers_pending: refused.small(queue.pending_containers),
        masters_pending: refused.small(queue.num_pending_applications),
        user_capacity: refused.share(user_capacity(queue)),
        user_share: refused.share(percent(queue.user_limit)),
        users: users(queue, refused),
        counts_vcores: false,
        partition: Some(label(&queue.default_node_label_expression).unwrap_or_default()),
        least: None,
    });
}

fn label(text: &Text) -> Option<String> {
    text.as_deref().map(str::trim).filter(|label| !label.is_empty()).map(printable)
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

/// What any one user may use, share of the cluster. A factor below zero is the scheduler's word for no limit; of a queue that is promised nothing its users may have what they find.
fn user_capacity(queue: &Queue) -> Option<f64> {
    let capacity = queue.absolute_capacity.0.filter(|capacity| *capacity > 0.0)?;
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
