//! How the ledger is, as a view.

use crate::ledger::State;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// How the ledger is.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct LedgerView {
    /// `off`: none is kept; `keeping`; else what keeps the service from it: `full`, `read_only`, `damaged`, `foreign`, `newer`, `deleted`, `missing` or `unwritable`.
    pub state: String,
    /// The same in words, and what to do.
    pub trouble: Option<String>,
}

impl LedgerView {
    /// How it is.
    pub fn of(state: &State) -> LedgerView {
        LedgerView { state: state.label().to_owned(), trouble: state.trouble().map(str::to_owned) }
    }
}
