//! What the service answers: a reply, or a refusal with a name.

use serde::Serialize;

/// The answer to an exchange that was not refused.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Reply {
    /// Version of the protocol.
    pub protocol: u64,
    /// The request's number.
    pub seq: u64,
    /// Epoch of the service.
    pub epoch: u64,
    /// Process of the service.
    pub incarnation: String,
    /// The session is believed.
    pub accepted: bool,
    /// Why it is not yet.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<&'static str>,
    /// Version up to which the service holds the session's rows.
    pub ack: u64,
    /// Start again from version 0.
    pub snapshot: bool,
    /// Time to the next exchange, milliseconds.
    pub next_exchange_ms: u32,
    /// Time to the next exchange where there is news meanwhile, as of a task that has ended, milliseconds; only with a lease.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub news_exchange_ms: Option<u32>,
    /// A task that has begun to run is news, too.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub news_of_starts: bool,
    /// Who launches copies.
    pub launcher: Launcher,
    /// Rows may tell which reduces could not fetch a map's output.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub fetch_failures: bool,
    /// Length of the lease, milliseconds.
    pub lease_ms: u64,
    /// What the shim is asked to do.
    pub actions: Vec<Action>,
}

/// Something for the shim to do.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Action {
    /// Its id, unique over all processes of the service.
    pub id: String,
    /// What to do.
    #[serde(flatten)]
    pub what: What,
    /// How long it may still be done, milliseconds, counted like the lease.
    pub deadline_ms: u64,
}

/// The task that an action is about, and where its new attempts are not to run.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct On {
    /// Kind of the task.
    pub k: char,
    /// Index of the task.
    pub i: u32,
    /// Attempts of the task that the service takes to have not ended.
    pub live: u32,
    /// Hosts on which a copy would do no good.
    pub avoid: Vec<String>,
    /// How often a copy that is given one of these may be moved on.
    pub moves: u32,
}

/// A type of action, with what only that type says.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "snake_case", tag = "type")]
pub enum What {
    /// Start further attempts of a running task.
    Duplicate {
        /// Of which task.
        #[serde(flatten)]
        on: On,
        /// How many copies.
        copies: u32,
        /// Hosts to ask for, beside those that hold the task's input.
        #[serde(skip_serializing_if = "Vec::is_empty")]
        prefer: Vec<String>,
    },
    /// Kill an attempt, which Hadoop then replaces.
    Restart {
        /// Of which task.
        #[serde(flatten)]
        on: On,
        /// Number of the attempt.
        n: u32,
        /// Progress score (0–1) from which on it is to be left.
        below: f64,
        /// Restarts of the task that the service knows of.
        restarts: u32,
    },
    /// Give the job no new container on these hosts.
    Avoid {
        /// The hosts, in place of all that were named before.
        avoid: Vec<String>,
        /// For how long, milliseconds from when it is begun.
        for_ms: u64,
    },
    /// Kill attempts that have succeeded, whose outputs are out of reach; Hadoop has their maps run again.
    Rerun {
        /// Of each the index of its map, and its number.
        outputs: Vec<(u32, u32)>,
    },
}

/// Who launches copies.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Launcher {
    /// Hadoop's own speculator.
    Native,
    /// Drover, while the lease lasts.
    Drover,
}

/// An exchange that was refused.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Refusal {
    /// Its name.
    #[serde(rename = "error", serialize_with = "label")]
    pub why: Why,
    /// What to do about it, in words.
    pub message: String,
    /// When to try again, milliseconds.
    pub retry_ms: u64,
    /// Version up to which the service holds the session's rows, where there is a session.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ack: Option<u64>,
}

/// Why an exchange was refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Why {
    /// Not what the schema describes.
    Malformed,
    /// The job's diagnostics do not bear the session out.
    WrongProof,
    /// The body is not authenticated by the session's key.
    WrongMac,
    /// An application of another user, or not the session's own.
    ForeignApplication,
    /// The ResourceManager does not vouch for it.
    NotVouched,
    /// The job's ACLs keep Drover's user from seeing its proof.
    MayNotView,
    /// A key came over plain HTTP although the operator forbids it.
    SecretOverPlainHttp,
    /// The body did not arrive in time.
    SlowBody,
    /// No such session here.
    UnknownSession,
    /// A newer attempt or session of the same job has taken over.
    Superseded,
    /// This request, or a newer one, was applied already.
    StaleSequence,
    /// Another session of the same attempt is believed.
    TwoMasters,
    /// The application has ended.
    FinishedApplication,
    /// The body is larger than allowed.
    TooLarge,
    /// Another version of the protocol.
    ProtocolVersion,
    /// No room for another session.
    TooManySessions,
    /// This session calls too often.
    TooFrequent,
    /// The service cannot take it now.
    Overloaded,
}

impl Why {
    /// Every refusal, for metrics that start at zero.
    pub const ALL: [Why; 18] = [
        Why::Malformed,
        Why::WrongProof,
        Why::WrongMac,
        Why::ForeignApplication,
        Why::NotVouched,
        Why::MayNotView,
        Why::SecretOverPlainHttp,
        Why::SlowBody,
        Why::UnknownSession,
        Why::Superseded,
        Why::StaleSequence,
        Why::TwoMasters,
        Why::FinishedApplication,
        Why::TooLarge,
        Why::ProtocolVersion,
        Why::TooManySessions,
        Why::TooFrequent,
        Why::Overloaded,
    ];

    /// Label, HTTP status, and when to try again unless the case knows better.
    fn row(self) -> (&'static str, u16, u64) {
        match self {
            Why::Malformed => ("malformed", 400, 5_000),
            Why::WrongProof => ("wrong_proof", 401, 5_000),
            Why::WrongMac => ("wrong_mac", 401, 5_000),
            Why::ForeignApplication => ("foreign_application", 403, 60_000),
            Why::NotVouched => ("not_vouched", 403, 10_000),
            Why::MayNotView => ("may_not_view", 403, 60_000),
            Why::SecretOverPlainHttp => ("secret_over_plain_http", 403, 60_000),
            Why::UnknownSession => ("unknown_session", 404, 100),
            Why::SlowBody => ("slow_body", 408, 5_000),
            Why::Superseded => ("superseded", 409, 30_000),
            Why::StaleSequence => ("stale_sequence", 409, 100),
            Why::TwoMasters => ("two_masters", 409, 30_000),
            Why::FinishedApplication => ("finished_application", 410, 600_000),
            Why::TooLarge => ("too_large", 413, 100),
            Why::ProtocolVersion => ("protocol_version", 426, 600_000),
            Why::TooManySessions => ("too_many_sessions", 429, 10_000),
            Why::TooFrequent => ("too_frequent", 429, 1_000),
            Why::Overloaded => ("overloaded", 503, 2_000),
        }
    }

    /// Stable snake_case label.
    pub fn label(self) -> &'static str {
        self.row().0
    }

    /// HTTP status.
    pub fn status(self) -> u16 {
        self.row().1
    }
}

impl Refusal {
    /// A refusal with the case's own time to try again.
    pub fn new(why: Why, message: impl Into<String>) -> Refusal {
        Refusal { why, message: message.into(), retry_ms: why.row().2, ack: None }
    }

    /// The same, with another time to try again, milliseconds.
    pub fn retry(mut self, retry_ms: u64) -> Refusal {
        self.retry_ms = retry_ms;
        self
    }

    /// The same, with what the service holds.
    pub fn holding(mut self, ack: u64) -> Refusal {
        self.ack = Some(ack);
        self
    }
}

fn label<S: serde::Serializer>(why: &Why, to: S) -> Result<S::Ok, S::Error> {
    to.serialize_str(why.label())
}
