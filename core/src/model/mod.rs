//! The vocabulary: what exists, what can be said about it, what can be decided. No policy.

pub mod action;
pub mod capability;
pub mod cause;
pub mod clone_plan;
pub mod cluster;
pub mod decision;
pub mod id;
pub mod intake;
pub mod job;
pub mod job_kind;
pub mod lost;
pub mod names;
pub mod observation;
pub mod pairs;
pub mod places;
pub mod state;
pub mod track;
pub mod units;

pub use action::{AckFact, Answer, BreakerTurn, CopyEnd, CopyOutcome, Hold, OpenBreaker, Scope};
pub use capability::Capabilities;
pub use cause::{Cause, CauseKind};
pub use clone_plan::ClonePlan;
pub use cluster::{Changed, ClusterState, Dropped};
pub use decision::{Action, Decision, Mode, Numbers, Verdict, VirtualOutcome};
pub use id::{AppAttemptId, AppId, AttemptId, BadId, JobId, TaskId, TaskKind};
pub use intake::{Intake, Intakes};
pub use job::{Attempt, Job, Task};
pub use job_kind::JobKind;
pub use lost::Lost;
pub use names::{NameId, Names};
pub use observation::*;
pub use places::{Place, Places};
pub use state::{AttemptState, JobPhase, Phase, TaskState};
pub use track::{Stamp, Track};
pub use units::{Bytes, Millis, Time};
