//! What the API answers with. Fields carry their units in their names; ids are Hadoop's own.

mod clones;
mod config;
mod decision;
mod job;
mod learned;
mod ledger;
mod measure;
mod node;
mod numbers;
mod status;
mod task;

pub use clones::{ClonePlanView, ReadingView};
pub use config::ConfigView;
pub use decision::{DecisionView, EndView};
pub use job::{Counts, JobDetail, JobSummary, SettingsView};
pub use learned::{KnownView, LearnedView};
pub use ledger::LedgerView;
pub use measure::{MeasureView, PlanView};
pub use node::NodeView;
pub use numbers::NumbersView;
pub use status::{BreakerView, RmView, Status};
pub use task::{AttemptView, TaskView};

use serde::Serialize;

/// The serialised word of a state without fields.
fn word<T: Serialize>(state: &T) -> String {
    match serde_json::to_value(state) {
        Ok(serde_json::Value::String(word)) => word,
        _ => String::new(),
    }
}
