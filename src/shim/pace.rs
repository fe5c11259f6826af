//! How often sessions call: as often as they may while there are few, and no oftener than the service bears.

use super::params::ShimParams;
use std::sync::Mutex;
use std::sync::PoisonError;

/// Longest pace of the protocol, milliseconds.
const LONGEST: f64 = 60_000.0;

/// What the pace depends on.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Load {
    /// Sessions believed.
    pub sessions: usize,
    /// Rows a second.
    pub rows_per_s: f64,
    /// Share of the room for observations that is taken, 0–1.
    pub backlog: f64,
}

/// How soon the service would like to hear of a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Haste {
    /// As soon as the settings say.
    Usual,
    /// Its job's speculation is Drover's: within a second.
    Owned,
    /// An action is to be sent, or its answer to come; or a task has ended, and left room, or has begun, and may have clones.
    Waiting,
}

impl Haste {
    /// Shortest time between two exchanges, milliseconds.
    fn shortest(self, params: &ShimParams) -> u32 {
        match self {
            Haste::Usual => params.min_exchange_ms,
            Haste::Owned => params.min_exchange_ms.min(1_000),
            Haste::Waiting => params.min_exchange_ms.min(250),
        }
    }
}

/// Time to the next exchange of a session, milliseconds.
pub fn next_exchange_ms(params: &ShimParams, load: Load, haste: Haste) -> u32 {
    let shared = load.sessions as f64 * 1000.0 / f64::from(params.exchanges_per_s.max(1));
    // A row that changes between two exchanges goes up once, so a slower pace also means fewer rows.
    let rows = (load.rows_per_s / f64::from(params.rows_per_s.max(1))).max(1.0);
    // Up to half full the queue does its work; full, it is given four times as long to drain.
    let backlog = 1.0 + 6.0 * (load.backlog - 0.5).max(0.0);
    (shared.max(f64::from(haste.shortest(params))) * rows * backlog).clamp(100.0, LONGEST) as u32
}

/// Time to the next call of a session whose proof is being checked: soon for the first, later for a crowd after a restart, because each call brings a
/// whole snapshot that cannot be used yet.
pub fn next_look_ms(pending: usize) -> u32 {
    (250 + 3 * pending).min(15_000) as u32
}

/// Rows a second, smoothed over some seconds.
#[derive(Debug, Default)]
pub struct RowRate(Mutex<(u64, f64)>);

impl RowRate {
    /// Takes note of the rows so far, `seconds` after the last time.
    pub fn sample(&self, total: u64, seconds: f64) {
        let mut state = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if seconds > 0.0 {
            let fresh = total.saturating_sub(state.0) as f64 / seconds;
            *state = (total, state.1 + 0.3 * (fresh - state.1));
        }
    }

    /// Rows a second.
    pub fn per_s(&self) -> f64 {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).1
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_pace_stretches_with_sessions_rows_and_backlog_and_stays_within_the_protocol() {
        let params = ShimParams::default();
        let pace = |sessions, rows_per_s, backlog| {
            next_exchange_ms(&params, Load { sessions, rows_per_s, backlog }, Haste::Usual)
        };
        assert_eq!(pace(0, 0.0, 0.0), 1_000);
        assert_eq!(pace(1_000, 0.0, 0.5), 1_000);
        assert_eq!(pace(5_000, 100_000.0, 0.0), 5_000, "the target load keeps to the pace of its sessions");
        assert_eq!(pace(5_000, 300_000.0, 0.0), 10_000);
        assert_eq!(pace(10, 0.0, 1.0), 4_000);
        assert_eq!(pace(1_000_000, 1e12, 1.0), 60_000);
        let one = Load { sessions: 1, rows_per_s: 0.0, backlog: 0.0 };
        let slow = ShimParams { min_exchange_ms: 30_000, ..params.clone() };
        let paces = [Haste::Usual, Haste::Owned, Haste::Waiting].map(|haste| next_exchange_ms(&slow, one, haste));
        assert_eq!(paces, [30_000, 1_000, 250]);
        let crowd = Load { sessions: 5_000, ..one };
        assert_eq!(next_exchange_ms(&params, crowd, Haste::Waiting), 5_000, "load comes before haste");
        let eager = ShimParams { min_exchange_ms: 1, ..params };
        assert_eq!(next_exchange_ms(&eager, one, Haste::Usual), 100);
    }

    #[test]
    fn a_crowd_of_pending_sessions_calls_less_often_than_a_single_one() {
        assert_eq!((next_look_ms(0), next_look_ms(1_000), next_look_ms(1_000_000)), (250, 3_250, 15_000));
    }
}
