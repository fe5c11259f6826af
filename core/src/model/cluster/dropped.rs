//! Why an observation is not taken into account.

/// Why an observation was dropped. One stable label each.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Dropped {
    /// Older than the newest of its source, or a repetition of it.
    StaleSequence,
    /// From a life of the source that has been replaced.
    OldIncarnation,
    /// About an application other than the source's own.
    ForeignApplication,
    /// About a job that is not known to run.
    UnknownJob,
    /// As many jobs are known as may be.
    TooManyJobs,
}

impl Dropped {
    /// Every reason, for metrics that start at zero.
    pub const ALL: [Dropped; 5] = [
        Dropped::StaleSequence,
        Dropped::OldIncarnation,
        Dropped::ForeignApplication,
        Dropped::UnknownJob,
        Dropped::TooManyJobs,
    ];

    /// Stable snake_case label.
    pub fn label(self) -> &'static str {
        match self {
            Dropped::StaleSequence => "stale_sequence",
            Dropped::OldIncarnation => "old_incarnation",
            Dropped::ForeignApplication => "foreign_application",
            Dropped::UnknownJob => "unknown_job",
            Dropped::TooManyJobs => "too_many_jobs",
        }
    }
}
