//! The ResourceManager's answers: itself, totals, nodes, applications.

use super::lenient::{First, Flag, Float, Int, List, Maybe, Text, Written};
use serde::Deserialize;

/// `clusterInfo`: the ResourceManager about itself.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct ClusterInfo {
    /// Its start, Unix milliseconds.
    pub started_on: Int,
    /// `ACTIVE`, `STANDBY`, …
    pub ha_state: Text,
    /// Hadoop's version.
    pub hadoop_version: Text,
}

/// `clusterMetrics`: totals.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(default)]
#[allow(non_snake_case, missing_docs)]
pub struct ClusterMetrics {
    pub totalMB: Int,
    pub totalVirtualCores: Int,
    pub allocatedMB: Int,
    pub allocatedVirtualCores: Int,
    pub availableMB: Int,
    pub availableVirtualCores: Int,
    pub pendingMB: Int,
    pub pendingVirtualCores: Int,
    pub containersAllocated: Int,
    pub containersPending: Int,
    pub activeNodes: Int,
}

/// `nodes`.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(default)]
pub struct Nodes {
    /// The nodes.
    pub node: List<Node>,
}

/// A node.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(default)]
#[allow(non_snake_case, missing_docs)]
pub struct Node {
    pub id: Text,
    pub rack: Text,
    pub state: Text,
    pub nodeHostName: Text,
    pub lastHealthUpdate: Int,
    pub numContainers: Int,
    pub usedMemoryMB: Int,
    pub availMemoryMB: Int,
    pub usedVirtualCores: Int,
    pub availableVirtualCores: Int,
    pub nodeLabels: First,
    pub resourceUtilization: Maybe<Utilization>,
}

/// `nodeLabelsInfo`: the labels that nodes may have.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct NodeLabels {
    /// The labels.
    pub node_label_info: List<NodeLabel>,
}

/// A node label.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(default)]
pub struct NodeLabel {
    /// Its name.
    pub name: Text,
    /// Are its nodes for those alone who ask for it?
    pub exclusivity: Flag,
}

/// Use of the whole machine, as its NodeManager measures it.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(default)]
#[allow(non_snake_case, missing_docs)]
pub struct Utilization {
    pub nodePhysicalMemoryMB: Int,
    pub nodeCPUUsage: Float,
}

/// `apps`.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(default)]
pub struct Apps {
    /// The applications.
    pub app: List<App>,
}

/// `app`: an application.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(default)]
#[allow(non_snake_case, missing_docs)]
pub struct App {
    pub id: Text,
    pub user: Text,
    pub queue: Text,
    pub name: Text,
    pub state: Text,
    pub finalStatus: Text,
    pub applicationType: Text,
    pub startedTime: Int,
    pub finishedTime: Int,
    pub elapsedTime: Int,
    pub runningContainers: Int,
    pub allocatedMB: Int,
    pub allocatedVCores: Int,
    pub amContainerLogs: Text,
    pub appNodeLabelExpression: Written,
}

/// `appAttempts`: the runs of an application's master, as the ResourceManager knows them.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(default)]
pub struct AppAttempts {
    /// The runs.
    #[serde(rename = "appAttempt")]
    pub attempts: List<Numbered>,
}

/// `appStatInfo`: how many applications there are, whoever may see them.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct AppStatistics {
    /// By state and type.
    pub stat_item: List<Counted>,
}

/// Applications of one state and type.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(default)]
pub struct Counted {
    /// How many.
    pub count: Int,
}

/// A thing with a number.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(default)]
pub struct Numbered {
    /// Its number, from 1.
    pub id: Int,
}

impl super::Document for NodeLabels {
    const ROOT: &'static str = "nodeLabelsInfo";
    /// The second by Hadoop 2.6 and 2.7: names alone, which do not tell whose the nodes are.
    const BARE: &'static [&'static str] = &["nodeLabelInfo", "nodeLabels"];
}

documents! {
    ClusterInfo => "clusterInfo",
    ClusterMetrics => "clusterMetrics",
    Nodes => "nodes",
    Apps => "apps",
    App => "app",
    AppAttempts => "appAttempts",
    AppStatistics => "appStatInfo",
}
