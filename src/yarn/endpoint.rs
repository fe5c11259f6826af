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

/// A kind of request; its label is the value of `endpoint` in metrics.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Endpoint {
    /// `/ws/v1/cluster/info`
    RmInfo,
    /// `/ws/v1/cluster/metrics`
    RmMetrics,
    /// `/ws/v1/cluster/nodes`
    RmNodes,
    /// `/ws/v1/cluster/scheduler`
    RmScheduler,
    /// `/ws/v1/cluster/apps`
    RmApps,
    /// `/ws/v1/cluster/apps/{id}`
    RmApp,
    /// `/ws/v1/cluster/apps/{id}/appattempts`
    RmAppAttempts,
    /// `…/mapreduce/jobs/{id}`
    AmJob,
    /// `…/mapreduce/jobs/{id}/jobattempts`
    AmJobAttempts,
    /// `…/mapreduce/jobs/{id}/tasks`
    AmTasks,
    /// `…/mapreduce/jobs/{id}/tasks/{id}/attempts`
    AmAttempts,
    /// `…/mapreduce/jobs/{id}/tasks/{id}/attempts/{id}/counters`
    AmCounters,
    /// `…/mapreduce/jobs/{id}/conf`
    AmConf,
    /// `/ws/v1/history/info`
    HistoryInfo,
    /// `/ws/v1/history/mapreduce/jobs/{id}`
    HistoryJob,
    /// `/ws/v1/history/mapreduce/jobs/{id}/tasks`
    HistoryTasks,
    /// `/ws/v1/history/mapreduce/jobs/{id}/tasks/{id}/attempts`
    HistoryAttempts,
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

impl Endpoint {
    /// All of them.
    pub const ALL: [Endpoint; 17] = {
        use Endpoint::*;
        [
            RmInfo,
            RmMetrics,
            RmNodes,
            RmScheduler,
            RmApps,
            RmApp,
            RmAppAttempts,
            AmJob,
            AmJobAttempts,
            AmTasks,
            AmAttempts,
            AmCounters,
            AmConf,
            HistoryInfo,
            HistoryJob,
            HistoryTasks,
            HistoryAttempts,
        ]
    };

    /// Whose ceiling it counts against.
    pub fn class(self) -> Class {
        use Endpoint::*;
        match self {
            RmInfo | RmMetrics | RmNodes | RmScheduler | RmApps | RmApp | RmAppAttempts => Class::Rm,
            AmJob | AmJobAttempts | AmTasks | AmAttempts | AmCounters | AmConf => Class::Proxy,
            HistoryInfo | HistoryJob | HistoryTasks | HistoryAttempts => Class::History,
        }
    }

    /// Stable label.
    pub fn label(self) -> &'static str {
        use Endpoint::*;
        match self {
            RmInfo => "rm_info",
            RmMetrics => "rm_metrics",
            RmNodes => "rm_nodes",
            RmScheduler => "rm_scheduler",
            RmApps => "rm_apps",
            RmApp => "rm_app",
            RmAppAttempts => "rm_app_attempts",
            AmJob => "am_job",
            AmJobAttempts => "am_job_attempts",
            AmTasks => "am_tasks",
            AmAttempts => "am_attempts",
            AmCounters => "am_counters",
            AmConf => "am_conf",
            HistoryInfo => "history_info",
            HistoryJob => "history_job",
            HistoryTasks => "history_tasks",
            HistoryAttempts => "history_attempts",
        }
    }
}
