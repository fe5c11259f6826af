//! How good the estimators have proved to be.

use super::ApiState;
use super::error::{ApiError, ErrorBody};
use super::handlers::{Asked, limit};
use super::principal::{Principal, Role};
use axum::Json;
use axum::extract::State;
use drover_core::engine::Engine;
use drover_core::estimate::calibration::{Accuracy, Cell, INTERVAL, Record};
use drover_core::model::TaskKind;
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};
use utoipa_axum::{router::OpenApiRouter, routes};

/// Every estimator's predictions of time left, made for a sample of each job's tasks, against what happened, as far as it is known: with a ledger from earlier processes on (`ledger.resume_learned`).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct CalibrationView {
    /// The configured estimator.
    pub estimator: String,
    /// For a kind of job another is taken where it has proved better.
    pub choose_estimator: bool,
    /// What the predicted intervals are to cover, 0–1.
    pub interval: f64,
    /// In all jobs.
    pub overall: RecordView,
    /// By kind of job, the one last heard of first.
    pub kinds: Vec<KindView>,
}

/// What jobs of a kind have shown: those of one user, and of one name but for its numbers.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct KindView {
    /// Their owner.
    pub user: String,
    /// Their name, with a `#` for each number.
    pub name: String,
    /// The estimator that proved better than the configured one on maps.
    pub better_on_maps: Option<String>,
    /// The same on reduces.
    pub better_on_reduces: Option<String>,
    /// How good they were.
    #[serde(flatten)]
    pub record: RecordView,
}

/// How good estimators were.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct RecordView {
    /// Sampled attempts of maps that did not run to success: their predictions prove nothing.
    pub censored_maps: u64,
    /// The same of reduces.
    pub censored_reduces: u64,
    /// Maps first, then by point, then by estimator; what there is no evidence for is left out.
    pub accuracies: Vec<AccuracyView>,
}

/// How good one estimator was.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct AccuracyView {
    /// `map` or `reduce`.
    pub kind: String,
    /// The progress it was predicted at: `quarter`, `half`, `three_quarters`.
    pub point: String,
    /// By which estimator.
    pub estimator: String,
    /// Predictions it rests on; older ones count less.
    pub predictions: u64,
    /// Median of |predicted − actual| / actual.
    pub median_error: Option<f64>,
    /// Mean of the same, each at most 10.
    pub mean_error: Option<f64>,
    /// Mean of (predicted − actual) / actual: above zero where too much was predicted.
    pub bias: Option<f64>,
    /// Share of predicted intervals that held the actual time.
    pub coverage: Option<f64>,
    /// One standard deviation of a prediction as measured, as a share of it: that of its interval from 20 predictions on.
    pub spread: Option<f64>,
    /// Pairs of tasks that ran at once, whose order of ending was predicted.
    pub pairs: u64,
    /// Share of those that ended in another order.
    pub wrong_orderings: Option<f64>,
}

impl CalibrationView {
    /// What an engine knows, with so many kinds at most.
    pub fn of(engine: &Engine, limit: usize) -> CalibrationView {
        let (params, known) = (engine.params(), engine.calibration());
        let better = |record: &Record, kind| record.best(kind, params.estimator).map(|best| best.label().to_owned());
        let kinds = known.kinds().into_iter().take(limit).map(|(kind, record)| KindView {
            user: kind.user.clone(),
            name: kind.name.clone(),
            better_on_maps: better(record, TaskKind::Map),
            better_on_reduces: better(record, TaskKind::Reduce),
            record: RecordView::of(record),
        });
        CalibrationView {
            estimator: params.estimator.label().into(),
            choose_estimator: params.choose_estimator,
            interval: INTERVAL,
            overall: RecordView::of(known.overall()),
            kinds: kinds.collect(),
        }
    }
}

impl RecordView {
    fn of(record: &Record) -> RecordView {
        let [censored_maps, censored_reduces] = record.censored;
        let accuracies = record.cells().map(|(cell, accuracy)| AccuracyView::of(cell, accuracy)).collect();
        RecordView { censored_maps, censored_reduces, accuracies }
    }
}

impl AccuracyView {
    fn of(cell: Cell, accuracy: &Accuracy) -> AccuracyView {
        AccuracyView {
            kind: cell.tasks.label().into(),
            point: cell.point.label().into(),
            estimator: cell.estimator.label().into(),
            predictions: accuracy.evidence().into(),
            median_error: accuracy.median_error(),
            mean_error: accuracy.mean_error(),
            bias: accuracy.bias(),
            coverage: accuracy.coverage(),
            spread: accuracy.spread(),
            pairs: accuracy.pairs().into(),
            wrong_orderings: accuracy.wrong_orderings(),
        }
    }
}

/// Its route.
pub fn routes() -> OpenApiRouter<ApiState> {
    OpenApiRouter::new().routes(routes!(calibration))
}

#[derive(Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
struct Kinds {
    /// So many kinds of jobs at most, 1–1000; 100 if not said.
    limit: Option<usize>,
}

/// Past predictions of every estimator against what happened, overall and by kind of job
#[utoipa::path(get, path = "/api/v1/calibration", tag = "drover", params(Kinds), responses(
    (status = OK, body = CalibrationView),
    (status = BAD_REQUEST, body = ErrorBody),
    (status = SERVICE_UNAVAILABLE, body = ErrorBody),
))]
async fn calibration(
    State(state): State<ApiState>,
    who: Principal,
    Asked(kinds): Asked<Kinds>,
) -> Result<Json<CalibrationView>, ApiError> {
    who.may(Role::View)?;
    let limit = limit(kinds.limit)?;
    Ok(Json(state.asker.ask(move |desk| CalibrationView::of(&desk.engine, limit)).await?))
}
