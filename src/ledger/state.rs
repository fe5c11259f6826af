//! How the ledger is, for whoever asks.

use super::error::LedgerError;
use drover_core::model::Bytes;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use tokio::sync::Semaphore;

/// How the ledger is.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum State {
    /// None is kept.
    #[default]
    Off,
    /// The file is being looked through before it is written to.
    Opening,
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
            State::Opening => "opening",
            State::Keeping => "keeping",
            State::Failing(label, _) => label,
        }
    }

    /// What is wrong, in words; `None` where nothing is.
    pub fn trouble(&self) -> Option<&str> {
        match self {
            State::Failing(_, words) => Some(words),
            State::Off | State::Opening | State::Keeping => None,
        }
    }
}

/// Reports reckoned at once for whoever asks over the API: each reads the whole ledger, whose log is not begun anew while anybody reads.
const READERS: usize = 1;

/// Where whoever asks finds the ledger, and how it is.
#[derive(Clone)]
pub struct Access {
    path: Option<PathBuf>,
    told: Option<Arc<dyn Fn() -> (State, Bytes) + Send + Sync>>,
    /// Whose turn it is to read it.
    pub turns: Arc<Semaphore>,
}

impl Default for Access {
    /// To none.
    fn default() -> Access {
        Access { path: None, told: None, turns: Arc::new(Semaphore::new(READERS)) }
    }
}

impl Access {
    /// To the file of that name, of which that tells how it is and what space it takes, and asks no disk.
    pub fn new(path: &Path, told: impl Fn() -> (State, Bytes) + Send + Sync + 'static) -> Access {
        Access { path: Some(path.to_owned()), told: Some(Arc::new(told)), ..Access::default() }
    }

    /// The file; `None` where no ledger is kept.
    pub fn path(&self) -> Option<&Path> {
        self.path.as_deref()
    }

    /// How it is, and the space it took when it was last written to or opened; `None` where no ledger is kept.
    pub fn told(&self) -> (State, Option<Bytes>) {
        self.told.as_ref().map_or((State::Off, None), |told| {
            let (state, bytes) = told();
            (state, Some(bytes))
        })
    }
}
