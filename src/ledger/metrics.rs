//! The ledger's metrics.

use super::error::LedgerError;
use super::tables::TABLES;
use prometheus::{IntCounterVec, IntGauge, Opts, Registry};

/// Every metric of the ledger.
#[derive(Clone)]
pub struct Metrics {
    /// Rows committed, by table.
    pub rows: IntCounterVec,
    /// Rows that were not kept, by why.
    pub dropped: IntCounterVec,
    /// Messages that wait for the writer.
    pub queue: IntGauge,
    /// Space that it takes.
    pub bytes: IntGauge,
    /// Troubles, by kind.
    pub errors: IntCounterVec,
    /// 1 while rows are kept.
    pub active: IntGauge,
    /// Rows that retention took away, by table.
    pub forgotten: IntCounterVec,
}

/// Why rows were not kept.
pub const DROPPED: [&str; 3] = ["queue_full", "unwritable", "invalid"];

const ROWS: &str = "Rows that the ledger has committed, by table; one that was there before is none.";
const NOT_KEPT: &str = "Rows that the ledger did not keep: queue_full (the disk was slower than they came, or another process had the file locked), unwritable (see drover_ledger_errors_total), invalid (a row lacked what it has to have: a fault of Drover).";
const QUEUE: &str = "Messages that wait for the ledger's writer.";
const BYTES: &str = "Space the ledger takes, its write-ahead log included, bytes.";
const ERRORS: &str = "Troubles of the ledger, by kind: full, read_only, damaged, busy (another process has locked the file; rows wait), foreign, newer, deleted, missing (a report or an export names no ledger), unwritable, panicked (a fault of Drover). The service goes on without it meanwhile.";
const ACTIVE: &str = "1 while the ledger keeps what it is given; 0 while it cannot, or reads its file through first, as at the start. Like all of drover_ledger_*, absent where ledger.path is not set.";
const FORGOTTEN: &str = "Rows that the ledger let go for their age or its size, by table.";

impl Metrics {
    /// Registers them, with label sets that start at zero.
    pub fn new(registry: &Registry) -> prometheus::Result<Metrics> {
        let counters = |name: &str, help: &str, label: &str| IntCounterVec::new(Opts::new(name, help), &[label]);
        let metrics = Metrics {
            rows: counters("drover_ledger_rows_total", ROWS, "table")?,
            dropped: counters("drover_ledger_dropped_total", NOT_KEPT, "reason")?,
            queue: IntGauge::new("drover_ledger_queue_messages", QUEUE)?,
            bytes: IntGauge::new("drover_ledger_bytes", BYTES)?,
            errors: counters("drover_ledger_errors_total", ERRORS, "kind")?,
            active: IntGauge::new("drover_ledger_active", ACTIVE)?,
            forgotten: counters("drover_ledger_forgotten_total", FORGOTTEN, "table")?,
        };
        for counters in [&metrics.rows, &metrics.dropped, &metrics.errors, &metrics.forgotten] {
            registry.register(Box::new(counters.clone()))?;
        }
        for gauge in [&metrics.queue, &metrics.bytes, &metrics.active] {
            registry.register(Box::new(gauge.clone()))?;
        }
        for table in TABLES {
            metrics.rows.with_label_values(&[table.name]).inc_by(0);
            metrics.forgotten.with_label_values(&[table.name]).inc_by(0);
        }
        DROPPED.iter().for_each(|reason| metrics.dropped.with_label_values(&[*reason]).inc_by(0));
        LedgerError::LABELS.iter().for_each(|kind| metrics.errors.with_label_values(&[*kind]).inc_by(0));
        Ok(metrics)
    }
}
