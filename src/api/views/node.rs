//! Nodes.

use crate::api::health::HealthView;
use drover_core::estimate::health::NodeHealth;
use drover_core::model::NodeFact;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// A node.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct NodeView {
    /// Its host name.
    pub node: String,
    /// Its rack.
    pub rack: String,
    /// YARN's word for its state.
    pub state: String,
    /// The ResourceManager gives it containers.
    pub usable: bool,
    /// Containers it runs.
    pub containers: u64,
    /// Memory it offers, mebibytes.
    pub memory_mb: u64,
    /// Memory its containers hold, mebibytes.
    pub memory_used_mb: u64,
    /// Virtual cores it offers.
    pub vcores: u64,
    /// Virtual cores its containers hold.
    pub vcores_used: u64,
    /// Virtual cores in use on the whole machine, where told.
    pub cpu_used_vcores: Option<f64>,
    /// Newest heartbeat, the ResourceManager's clock, Unix milliseconds.
    pub last_heartbeat_ms: u64,
    /// What is known of its health.
    #[serde(default)]
    pub health: HealthView,
}

impl NodeView {
    /// A node, with what is known of its health.
    pub fn of(node: &NodeFact, health: &NodeHealth) -> NodeView {
        NodeView {
            node: node.host.to_string(),
            rack: node.rack.to_string(),
            state: node.state.to_string(),
            usable: node.usable,
            containers: node.containers.into(),
            memory_mb: node.total.memory_mb,
            memory_used_mb: node.used.memory_mb,
            vcores: node.total.vcores.into(),
            vcores_used: node.used.vcores.into(),
            cpu_used_vcores: node.cpu_used_vcores.map(f64::from),
            last_heartbeat_ms: node.last_health.0,
            health: HealthView::of(health),
        }
    }
}
