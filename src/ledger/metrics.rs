//! The ledger's metrics.

use super::error::LedgerError;
use super::tables::{JobRow, TABLES};
use prometheus::{CounterVec, IntCounterVec, IntGauge, Opts, Registry};

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
    /// Jobs that have ended, by their side of the hold-out.
    pub jobs: IntCounterVec,
    /// What copies that won gained jobs, seconds, by whether these ended sooner for it or later.
    pub job_gain: CounterVec,
}

/// Why rows were not kept.
pub const DROPPED: [&str; 3] = ["queue_full", "unwritable", "invalid"];

const ROWS: &str = "Rows that the ledger has committed, by table; one that was there before is none.";
const NOT_KEPT: &str = "Rows that the ledger did not keep: queue_full (the disk was slower than they came, or another process had the file locked), unwritable (see drover_ledger_errors_total), invalid (a row lacked what it has to have: a fault of Drover).";
const QUEUE: &str = "Messages that wait for the ledger's writer.";
const BYTES: &str = "Space the ledger takes, its write-ahead log included, bytes.";
const ERRORS: &str = "Troubles of the ledger, by kind: full, read_only, damaged, busy (another process has locked the file; rows wait), foreign, newer, deleted, missing (a report or an export names no ledger), unwritable, panicked (a fault of Drover). The service goes on without it meanwhile.";
const ACTIVE: &str = "1 while the ledger keeps what it is given; 0 while it cannot, or reads its file through first, as at the start. Like all of drover_ledger_*, absent where ledger.path is not set.";
const JOBS: &str = "Jobs that have ended, by their side of the hold-out: acted_on, held_out, undrawn (it could never be acted on, as in mode advise, or all or none were held out). What the sides' times differ by, drover report tells: it takes both, and enough of them.";
const JOB_GAIN: &str = "Estimate of what copies that won gained jobs on their critical path, at most, seconds, by side: sooner where a job ended sooner for them, later where it ended later. Of maps and of reduces it is the last end as predicted without these copies, less the actual one, and a job's is the sum of both.";
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
            jobs: counters("drover_ledger_jobs_ended_total", JOBS, "side")?,
            job_gain: CounterVec::new(Opts::new("drover_ledger_job_gain_seconds_total", JOB_GAIN), &["side"])?,
        };
        registry.register(Box::new(metrics.job_gain.clone()))?;
        for counters in [&metrics.rows, &metrics.dropped, &metrics.errors, &metrics.forgotten, &metrics.jobs] {
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
        [None, Some(false), Some(true)]
            .into_iter()
            .for_each(|held| metrics.jobs.with_label_values(&[side(held)]).inc_by(0));
        GAINS.iter().for_each(|side| metrics.job_gain.with_label_values(&[*side]).inc_by(0.0));
        LedgerError::LABELS.iter().for_each(|kind| metrics.errors.with_label_values(&[*kind]).inc_by(0));
        Ok(metrics)
    }
}

/// Where gains are counted, and losses.
const GAINS: [&str; 2] = ["sooner", "later"];

/// The label of a job's side of the hold-out.
fn side(held_out: Option<bool>) -> &'static str {
    match held_out {
        None => "undrawn",
        Some(false) => "acted_on",
        Some(true) => "held_out",
    }
}

impl Metrics {
    /// A job has ended, which was drawn to a side of the hold-out or was not.
    pub fn job_ended(&self, row: &JobRow, held_out: Option<bool>) {
        self.jobs.with_label_values(&[side(held_out)]).inc();
        let seconds = (row.map_gain_ms + row.reduce_gain_ms) as f64 / 1e3;
        let [sooner, later] = GAINS;
        self.job_gain.with_label_values(&[if seconds < 0.0 { later } else { sooner }]).inc_by(seconds.abs());
    }
}

#[cfg(test)]
mod tests {
    use super::super::fixture;
    use super::*;

    #[test]
    fn a_job_counts_on_its_side_with_what_it_gained_or_lost() {
        let metrics = Metrics::new(&Registry::new()).unwrap();
        let ended = fixture::ended(1, false, 60, "succeeded");
        metrics.job_ended(&ended, Some(true));
        metrics.job_ended(&JobRow { map_gain_ms: -9_000, ..ended.clone() }, Some(false));
        metrics.job_ended(&ended, None);
        let jobs = ["held_out", "acted_on", "undrawn"].map(|side| metrics.jobs.with_label_values(&[side]).get());
        let gain = GAINS.map(|side| metrics.job_gain.with_label_values(&[side]).get());
        assert_eq!((jobs, gain), ([1; 3], [8.0, 8.0]));
    }
}
