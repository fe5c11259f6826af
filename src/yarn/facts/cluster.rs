//! The ResourceManager's answers as facts.

use super::{Reason, Refused, name};
use crate::shown::printable;
use crate::yarn::wire::cluster::{App, AppStatistics, Apps, ClusterMetrics, Node, NodeLabels, Nodes};
use crate::yarn::wire::lenient::{Int, Text};
use drover_core::model::{AppAttemptId, AppFact, AppId, ClusterFact, NodeFact, Resources, Time};
use std::collections::{BTreeMap, BTreeSet};

/// Most nodes kept of one listing.
pub const MAX_NODES: usize = 50_000;
/// Most applications kept of one listing.
pub const MAX_APPS: usize = 20_000;
/// Most node labels kept of one listing.
pub const MAX_LABELS: usize = 1_000;

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

/// How many applications are counted; `None` where no count is told.
pub fn counted(wire: &AppStatistics, refused: &mut Refused) -> Option<u64> {
    let counts = wire.stat_item.items.iter().filter(|item| item.count.0.is_some());
    counts.map(|item| refused.amount(item.count)).reduce(u64::saturating_add)
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
        exclusive: false,
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
        label: wire.appNodeLabelExpression.0.as_deref().map(str::trim).map(printable),
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

/// Is a label for those alone who ask for it? Of labels of which that is told.
pub fn exclusive(wire: &NodeLabels, refused: &mut Refused) -> BTreeMap<String, bool> {
    let labels = &wire.node_label_info;
    refused.many(Reason::NoObject, labels.odd);
    refused.many(Reason::TooMany, labels.items.len().saturating_sub(MAX_LABELS) as u64);
    labels.items.iter().take(MAX_LABELS).filter_map(|info| label(&info.name).zip(info.exclusivity.0)).collect()
}

/// A node label.
pub(super) fn label(text: &Text) -> Option<String> {
    text.as_deref().map(str::trim).filter(|label| !label.is_empty()).map(printable)
}
