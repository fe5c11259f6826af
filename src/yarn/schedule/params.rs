//! How often what is asked.

use drover_core::model::Millis;

/// Intervals and bounds of polling. Intervals are the shortest; load and errors stretch them.
#[derive(Debug, Clone, PartialEq)]
pub struct ScheduleParams {
    /// Between two listings of running applications.
    pub apps: Millis,
    /// Between two readings of the cluster's totals.
    pub totals: Millis,
    /// Between two listings of nodes.
    pub nodes: Millis,
    /// Between two readings of the scheduler's queues.
    pub queues: Millis,
    /// Between two listings of a job's tasks, while it is new or small.
    pub tasks_soon: Millis,
    /// The same for any other job.
    pub tasks: Millis,
    /// A job counts as new for this long.
    pub new_for: Millis,
    /// A job with up to this many tasks counts as small.
    pub small_tasks: usize,
    /// Between two readings of a job's summary.
    pub summary: Millis,
    /// A job's configuration is large: it is read this long after the job was first seen.
    pub settings_after: Millis,
    /// Tasks whose attempts are read after each listing, at most.
    pub suspects: usize,
    /// Share of the requests through the proxy that goes to other than tasks when both are due, 0–1.
    pub side_share: f64,
    /// Masters that did not answer in time asked again at once, at most: each holds a place until its timeout.
    pub hung_at_once: usize,
    /// Share of the time that one poll may be under way, 0–1: a slow answer stretches its interval.
    pub busy_share: f64,
    /// Longest pause after errors.
    pub longest_pause: Millis,
    /// How long a finished job's history is waited for.
    pub history_patience: Millis,
    /// Tasks of a finished job whose attempts are read from history, at most, while no other end waits.
    pub history_tasks: usize,
    /// Jobs watched, at most.
    pub max_jobs: usize,
    /// Seed of the jitter.
    pub seed: u64,
}

impl Default for ScheduleParams {
    fn default() -> Self {
        ScheduleParams {
            apps: Millis(3_000),
            totals: Millis(2_000),
            nodes: Millis(3_000),
            queues: Millis(5_000),
            tasks_soon: Millis(2_000),
            tasks: Millis(5_000),
            new_for: Millis(60_000),
            small_tasks: 64,
            summary: Millis(30_000),
            settings_after: Millis(1_000),
            suspects: 8,
            side_share: 0.2,
            hung_at_once: 4,
            busy_share: 0.25,
            longest_pause: Millis(60_000),
            history_patience: Millis(180_000),
            history_tasks: 50,
            max_jobs: 10_000,
            seed: 0,
        }
    }
}
