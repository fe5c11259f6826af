//! Decisions as they are kept: with what was done about each, and what became of it.

use drover_core::model::{AckFact, CopyOutcome, Decision, Mode, Time, VirtualOutcome};

/// A decision and what became of it.
#[derive(Debug, Clone, PartialEq)]
pub struct Kept {
    /// The decision.
    pub decision: Decision,
    /// Its end where it was only advised, once its task has ended.
    pub end: Option<VirtualOutcome>,
    /// How far it has come where it was to be done.
    pub asked: Asked,
}

/// How far a copy that was asked for has come.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Asked {
    /// When it was first sent, the service's clock.
    pub sent: Option<Time>,
    /// The shim's newest answer.
    pub ack: Option<AckFact>,
    /// What became of it.
    pub end: Option<CopyOutcome>,
}

impl Asked {
    /// One word for it.
    pub fn state(&self) -> &'static str {
        match (&self.end, &self.ack, self.sent) {
            (Some(end), ..) => end.end.label(),
            (None, Some(ack), _) if ack.answer.is_applied() => ack.answer.label(),
            (None, Some(_), _) => "refused",
            (None, None, Some(_)) => "sent",
            (None, None, None) => "decided",
        }
    }
}

impl Kept {
    /// Is there nothing more to come of it?
    pub fn is_over(&self) -> bool {
        self.end.is_some() || self.asked.end.is_some()
    }
}

/// What was done about a decision when it was taken.
pub fn outcome(mode: Mode) -> &'static str {
    match mode {
        Mode::Off | Mode::Advise => "advised",
        Mode::Act => "decided",
    }
}
