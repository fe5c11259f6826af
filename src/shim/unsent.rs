//! Orders that reach no shim.

/// Why an order reaches no shim.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unsent {
    /// No session speaks for the job.
    NoSession,
    /// Its session cannot or may not do it.
    Unable,
    /// It has as many actions open as it may.
    Full,
}

impl Unsent {
    /// Every reason, for metrics that start at zero.
    pub const ALL: [Unsent; 3] = [Unsent::NoSession, Unsent::Unable, Unsent::Full];

    /// Stable snake_case label.
    pub fn label(self) -> &'static str {
        match self {
            Unsent::NoSession => "no_session",
            Unsent::Unable => "unable",
            Unsent::Full => "full",
        }
    }
}
