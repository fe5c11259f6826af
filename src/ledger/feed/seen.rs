//! Rows of what is learned over many jobs.

use crate::ledger::schema::{Record, Row};
use crate::ledger::tables::{CalibrationRow, NodeRow, StragglerRow};
use drover_core::engine::Engine;
use drover_core::model::Time;

/// How good estimates are, and how often tasks straggle.
pub fn hour(engine: &Engine, now: Time) -> Vec<Row> {
    let anywhere = engine.odds().cluster();
    let odds = StragglerRow { at_ms: now, probability: anywhere.probability(), evidence: anywhere.evidence() };
    let estimators = engine.calibration().overall().cells().map(|(cell, known)| {
        let row = CalibrationRow {
            at_ms: now,
            estimator: cell.estimator.label().to_owned(),
            kind: cell.tasks.label().to_owned(),
            point: cell.point.label().to_owned(),
            predictions: known.evidence(),
            median_error: known.median_error(),
            bias: known.bias(),
            coverage: known.coverage(),
            spread: known.spread(),
        };
        row.row()
    });
    std::iter::once(odds.row()).chain(estimators).collect()
}

/// How nodes are.
pub fn nodes(engine: &Engine, now: Time) -> Vec<Row> {
    let row = |(host, health): (_, drover_core::estimate::health::NodeHealth)| {
        let value = |measure: Option<drover_core::estimate::health::Measure>| measure.map(|known| known.value);
        let row = NodeRow {
            at_ms: now,
            node: engine.cluster().hosts.name(host).to_owned(),
            straggles: value(health.straggles),
            straggles_hourly: value(health.straggles_hourly),
            location_factor: value(health.location_factor),
            loses_output: value(health.loses_output),
            evidence: health.straggles_hourly.map(|known| known.evidence),
            slow: health.slow,
        };
        row.row()
    };
    engine.health().into_iter().map(row).collect()
}
