//! Limits and pace of the shim's side. The configuration room fills these in; the defaults are what ships.

use std::fmt;

/// All limits of the shim's side.
#[derive(Debug, Clone, PartialEq)]
pub struct ShimParams {
    /// Shortest time between two exchanges of a session, milliseconds.
    pub min_exchange_ms: u32,
    /// Exchanges a second beyond which the pace stretches: 5,000 sessions then call every 5 s.
    pub exchanges_per_s: u32,
    /// Changed rows a second beyond which the pace stretches.
    pub rows_per_s: u32,
    /// Sessions believed at once; the target is 5,000 AMs.
    pub sessions: usize,
    /// A session is forgotten after so long without an exchange, milliseconds.
    pub expiry_ms: u64,
    /// Exchanges a second of one session, in the long run.
    pub session_per_s: u32,
    /// Exchanges of one session that may follow each other at once, as the pages of a large snapshot do.
    pub session_burst: u32,
    /// Rows of one session that may follow each other at once, as those of a large job's first snapshot do: what it may tell in so many seconds.
    pub session_rows_burst_s: u32,
    /// Hosts in one session's table; the target is 10,000 nodes.
    pub hosts: usize,
    /// Tasks of either kind in one job.
    pub tasks: u32,
    /// Largest body, bytes.
    pub body_bytes: usize,
    /// Time in which a body has to arrive, milliseconds.
    pub body_ms: u64,
    /// Bytes of bodies held at once, over all connections.
    pub bytes_in_flight: usize,
    /// Exchanges in hand at once, over all connections.
    pub exchanges_in_flight: usize,
    /// So long an answer waits at most for what the engine makes of its request, milliseconds: the pass that is due next, and some.
    pub decided_ms: u64,
    /// Connections open at once.
    pub connections: usize,
    /// A connection is closed after so long without a byte, milliseconds; longer than the longest pace.
    pub idle_ms: u64,
    /// Refuse a session whose key came over plain HTTP from another machine.
    pub require_tls: bool,
    /// How claims are looked into.
    pub proofs: ProofParams,
    /// How far the service acts through shims.
    pub act: ActParams,
}

/// How far the service acts through shims.
#[derive(Debug, Clone, PartialEq)]
pub struct ActParams {
    /// Length of a lease, milliseconds; longer where four exchanges take longer.
    pub lease_ms: u64,
    /// Act through sessions that come over plain HTTP from another machine, too.
    pub plain_http: bool,
    /// Have attempts killed so that their tasks start anew.
    pub restart: bool,
    /// Have jobs' new containers kept off listed machines.
    pub avoid: bool,
    /// Have maps run again whose outputs are out of reach; so ask which reduces could not fetch an output.
    pub rerun: bool,
    /// Actions of one session that may be open.
    pub actions: usize,
}

/// How claims are looked into.
#[derive(Debug, Clone, PartialEq)]
pub struct ProofParams {
    /// Claims under examination at once, over all applications.
    pub pending: usize,
    /// Claims under examination for one application.
    pub per_application: usize,
    /// Looks at the cluster at once.
    pub at_once: usize,
    /// How long one look may take, milliseconds.
    pub look_ms: u64,
    /// How long a proof may take to appear after the first look, milliseconds.
    pub patience_ms: u64,
    /// A claim is forgotten when its session has not called for so long, milliseconds.
    pub expiry_ms: u64,
}

impl Default for ShimParams {
    fn default() -> Self {
        ShimParams {
            min_exchange_ms: 1_000,
            exchanges_per_s: 1_000,
            rows_per_s: 150_000,
            sessions: 6_000,
            expiry_ms: 300_000,
            session_per_s: 10,
            session_burst: 50,
            session_rows_burst_s: 10,
            hosts: 20_000,
            tasks: 500_000,
            body_bytes: 4 << 20,
            body_ms: 10_000,
            bytes_in_flight: 64 << 20,
            exchanges_in_flight: 2_048,
            decided_ms: 300,
            connections: 16_384,
            idle_ms: 90_000,
            require_tls: false,
            proofs: ProofParams::default(),
            act: ActParams::default(),
        }
    }
}

impl ShimParams {
    /// Rows a second of one session, in the long run: a fourth of what all together may tell before the pace stretches, and never less than 90,000 tasks that run have to tell every three seconds.
    pub fn session_rows_per_s(&self) -> u32 {
        const LEAST: u32 = 30_000;
        (self.rows_per_s / 4).max(LEAST)
    }
}

impl Default for ActParams {
    fn default() -> Self {
        ActParams { lease_ms: 10_000, plain_http: false, restart: false, avoid: false, rerun: false, actions: 1_000 }
    }
}

impl Default for ProofParams {
    fn default() -> Self {
        ProofParams {
            pending: 6_000,
            per_application: 4,
            at_once: 8,
            look_ms: 10_000,
            patience_ms: 30_000,
            expiry_ms: 120_000,
        }
    }
}

/// Which service answers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Identity {
    /// The service's epoch: of two services the shim obeys the higher.
    pub epoch: u64,
    /// This process, at most 64 characters.
    pub incarnation: String,
}

impl fmt::Display for Identity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "epoch {}, incarnation {}", self.epoch, self.incarnation)
    }
}
