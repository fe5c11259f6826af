//! What is asked of whom.

/// Servers that share one ceiling.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Class {
    /// The ResourceManager itself.
    Rm,
    /// ApplicationMasters, all through the ResourceManager's proxy.
    Proxy,
    /// The JobHistoryServer.
    History,
}

impl Class {
    /// All, in the order of their discriminants.
    pub const ALL: [Class; 3] = [Class::Rm, Class::Proxy, Class::History];

    /// Stable label.
    pub fn label(self) -> &'static str {
        match self {
            Class::Rm => "rm",
            Class::Proxy => "proxy",
            Class::History => "history",
        }
    }
}

/// One row an endpoint: what it is, whose ceiling it counts against, its label.
macro_rules! endpoints {
    ($($(#[$doc:meta])+ $name:ident: $class:ident = $label:literal,)+) => {
        /// A kind of request; its label is the value of `endpoint` in metrics.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum Endpoint {
            $($(#[$doc])+ $name,)+
        }

        impl Endpoint {
            /// All of them.
            pub const ALL: &'static [Endpoint] = &[$(Endpoint::$name),+];

            /// Whose ceiling it counts against.
            pub fn class(self) -> Class {
                match self {
                    $(Endpoint::$name => Class::$class,)+
                }
            }

            /// Stable label.
            pub fn label(self) -> &'static str {
                match self {
                    $(Endpoint::$name => $label,)+
                }
            }
        }
    };
}

impl Endpoint {
    /// Is it asked once for each of very many applications or, of a job's proof, as often as anybody claims to be its master?
    pub fn is_single(self) -> bool {
        matches!(self, Endpoint::RmApp | Endpoint::RmAppAttempts | Endpoint::AmProof)
    }
}

endpoints! {
    /// `/ws/v1/cluster/info`
    RmInfo: Rm = "rm_info",
    /// `/ws/v1/cluster/metrics`
    RmMetrics: Rm = "rm_metrics",
    /// `/ws/v1/cluster/nodes`
    RmNodes: Rm = "rm_nodes",
    /// `/ws/v1/cluster/get-node-labels`
    RmNodeLabels: Rm = "rm_node_labels",
    /// `/ws/v1/cluster/scheduler`
    RmScheduler: Rm = "rm_scheduler",
    /// `/ws/v1/cluster/apps`
    RmApps: Rm = "rm_apps",
    /// `/ws/v1/cluster/appstatistics`
    RmAppStatistics: Rm = "rm_app_statistics",
    /// `/ws/v1/cluster/apps/{id}`
    RmApp: Rm = "rm_app",
    /// `/ws/v1/cluster/apps/{id}/appattempts`
    RmAppAttempts: Rm = "rm_app_attempts",
    /// `…/mapreduce/jobs/{id}`
    AmJob: Proxy = "am_job",
    /// `…/mapreduce/jobs/{id}`, for the proof in its diagnostics
    AmProof: Proxy = "am_proof",
    /// `…/mapreduce/jobs/{id}/jobattempts`
    AmJobAttempts: Proxy = "am_job_attempts",
    /// `…/mapreduce/jobs/{id}/tasks`
    AmTasks: Proxy = "am_tasks",
    /// `…/mapreduce/jobs/{id}/tasks/{id}/attempts`
    AmAttempts: Proxy = "am_attempts",
    /// `…/mapreduce/jobs/{id}/tasks/{id}/attempts/{id}/counters`
    AmCounters: Proxy = "am_counters",
    /// PUT of `…/mapreduce/jobs/{id}/tasks/{id}/attempts/{id}/state`
    AmKill: Proxy = "am_kill",
    /// `…/mapreduce/jobs/{id}/conf`
    AmConf: Proxy = "am_conf",
    /// `/ws/v1/history/info`
    HistoryInfo: History = "history_info",
    /// `/ws/v1/history/mapreduce/jobs/{id}`
    HistoryJob: History = "history_job",
    /// `/ws/v1/history/mapreduce/jobs/{id}/tasks`
    HistoryTasks: History = "history_tasks",
    /// `/ws/v1/history/mapreduce/jobs/{id}/tasks/{id}/attempts`
    HistoryAttempts: History = "history_attempts",
}
