//! How the ledger is, as a view.

use crate::ledger::State;
use drover_core::model::Bytes;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// How the ledger is.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct LedgerView {
    /// `off`: none is kept; `opening`: the file is being looked through before it is written to; `keeping`; else what keeps the service from it: `full`, `read_only`, `damaged`, `busy`, `foreign`, `newer`, `deleted`, `missing`, `unwritable` or `panicked`.
    pub state: String,
    /// The same in words, and what to do.
    pub trouble: Option<String>,
    /// The space it takes, its log included; `null` where none is kept.
    #[serde(default)]
    pub size_bytes: Option<u64>,
}

impl LedgerView {
    /// How it is, and the space it takes.
    pub fn of(state: &State, size: Option<Bytes>) -> LedgerView {
        let (state, trouble) = (state.label().to_owned(), state.trouble().map(str::to_owned));
        LedgerView { state, trouble, size_bytes: size.map(|size| size.0) }
    }
}
