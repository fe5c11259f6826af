//! The vocabulary: what exists, what can be said about it, what can be decided. No policy.

pub mod decision;
pub mod id;
pub mod observation;
pub mod state;
pub mod units;

pub use decision::{Action, Decision, Mode, Numbers, Verdict, VirtualOutcome};
pub use id::{AppAttemptId, AppId, AttemptId, BadId, JobId, TaskId, TaskKind};
pub use observation::*;
pub use state::{AttemptState, JobPhase, Phase, TaskState};
pub use units::{Bytes, Millis, Time};
