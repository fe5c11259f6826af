//! How the ledger is, for whoever asks.

use super::open::LedgerError;

/// How the ledger is.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum State {
    /// None is kept.
    #[default]
    Off,
    /// It keeps what it is given.
    Keeping,
    /// It cannot: the trouble's label, and what it is in words.
    Failing(&'static str, String),
}

impl State {
    /// After that trouble.
    pub fn after(error: &LedgerError) -> State {
        State::Failing(error.label(), error.to_string())
    }

    /// Stable label.
    pub fn label(&self) -> &'static str {
        match self {
            State::Off => "off",
            State::Keeping => "keeping",
            State::Failing(label, _) => label,
        }
    }

    /// What is wrong, in words; `None` where nothing is.
    pub fn trouble(&self) -> Option<&str> {
        match self {
            State::Failing(_, words) => Some(words),
            State::Off | State::Keeping => None,
        }
    }
}
