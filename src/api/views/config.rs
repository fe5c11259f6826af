//! What came of reading the configuration again, as a view.

use crate::service::Reread;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// The last time that the service read its configuration again, as SIGHUP has it do.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(default)]
pub struct ConfigView {
    /// When, the service's clock, Unix milliseconds; `null` where it has not since its start.
    pub read_ms: Option<u64>,
    /// Why nothing changed then; `null` where what was read holds.
    pub refused: Option<String>,
    /// Settings that hold something else by now and are heeded after a restart, and files that settings name, likewise.
    pub wait_for_restart: Vec<String>,
}

impl ConfigView {
    /// Of what is kept of it.
    pub fn of(reread: Reread) -> ConfigView {
        let Reread { at, refused, waiting } = reread;
        ConfigView { read_ms: at.map(|at| at.0), refused, wait_for_restart: waiting }
    }

    /// What waits, of which so many are named; `None` where nothing does.
    pub fn waiting(&self, named: usize) -> Option<String> {
        let all = &self.wait_for_restart;
        let more = all.len().saturating_sub(named);
        let shown = all[..all.len() - more].join(", ");
        (!all.is_empty()).then(|| if more > 0 { format!("{shown} and {more} more") } else { shown })
    }
}
