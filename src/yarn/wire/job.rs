//! A job's answers, from its ApplicationMaster and, in the same shapes, from the JobHistoryServer.

use super::lenient::{Float, Int, List, Text};
use serde::Deserialize;

/// `job`: its summary.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(default)]
#[allow(non_snake_case, missing_docs)]
pub struct Job {
    pub id: Text,
    pub name: Text,
    pub user: Text,
    pub queue: Text,
    pub state: Text,
    pub startTime: Int,
    pub finishTime: Int,
    pub elapsedTime: Int,
    pub mapsTotal: Int,
    pub reducesTotal: Int,
    pub mapsCompleted: Int,
    pub mapsPending: Int,
    pub mapsRunning: Int,
    pub reducesPending: Int,
    pub reducesRunning: Int,
    pub newMapAttempts: Int,
    pub newReduceAttempts: Int,
    pub runningMapAttempts: Int,
    pub runningReduceAttempts: Int,
    pub uberized: super::lenient::Flag,
    pub diagnostics: Text,
}

/// `jobAttempts`: the runs of its ApplicationMaster.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(default)]
pub struct JobAttempts {
    /// The runs.
    #[serde(rename = "jobAttempt")]
    pub attempts: List<super::cluster::Numbered>,
}

/// `tasks`.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(default)]
pub struct Tasks {
    /// The tasks.
    pub task: List<Task>,
}

/// A task.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct Task {
    /// `task_…`
    pub id: Text,
    /// Its state.
    pub state: Text,
    /// Percent.
    pub progress: Float,
    /// AM's clock, Unix milliseconds.
    pub start_time: Int,
    /// AM's clock, Unix milliseconds; 0 while it runs.
    pub finish_time: Int,
    /// Milliseconds from start to end, or to the AM's now.
    pub elapsed_time: Int,
    /// `attempt_…`
    pub successful_attempt: Text,
    /// What the task says it does; absent in history.
    pub status: Text,
}

/// `taskAttempts`.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(default)]
pub struct TaskAttempts {
    /// The attempts.
    #[serde(rename = "taskAttempt")]
    pub attempts: List<TaskAttempt>,
}

/// The answer to the wish for another state: that one. It has no outermost element.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(default)]
pub struct StateWished {
    /// The state.
    pub state: Text,
}

/// An attempt.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct TaskAttempt {
    /// `attempt_…`
    pub id: Text,
    /// Its state.
    pub state: Text,
    /// Percent; 100 for every one that has ended, however it ended.
    pub progress: Float,
    /// AM's clock, Unix milliseconds.
    pub start_time: Int,
    /// AM's clock, Unix milliseconds.
    pub finish_time: Int,
    /// Milliseconds from start to end, or to the AM's now.
    pub elapsed_time: Int,
    /// `host:port` of its node's web server.
    pub node_http_address: Text,
    /// What it says it does.
    pub status: Text,
    /// End of a reduce's copy phase; 0 or -1 before.
    pub shuffle_finish_time: Int,
    /// End of a reduce's sort phase; 0 or -1 before.
    pub merge_finish_time: Int,
}

/// `conf`: a job's configuration.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(default)]
pub struct Conf {
    /// Its properties.
    pub property: List<Property>,
}

/// A property.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(default)]
pub struct Property {
    /// Its name.
    pub name: Text,
    /// Its value.
    pub value: Text,
}

/// `jobTaskAttemptCounters`: an attempt's counters.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(default)]
pub struct AttemptCounters {
    /// `attempt_…`
    pub id: Text,
    /// Their groups.
    #[serde(rename = "taskAttemptCounterGroup")]
    pub groups: List<CounterGroup>,
}

/// A group of counters.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct CounterGroup {
    /// Its name.
    pub counter_group_name: Text,
    /// Its counters.
    pub counter: List<Counter>,
}

/// A counter.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(default)]
pub struct Counter {
    /// Its name.
    pub name: Text,
    /// Its value.
    pub value: Int,
}

documents! {
    Job => "job",
    JobAttempts => "jobAttempts",
    Tasks => "tasks",
    TaskAttempts => "taskAttempts",
    Conf => "conf",
    AttemptCounters => "jobTaskAttemptCounters",
}
