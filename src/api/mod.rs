//! The operators' REST interface, and the listener for metrics.

pub mod calibration;
pub mod cause;
pub mod copy;
mod error;
mod handlers;
pub mod health;
mod holds;
pub mod listen;
mod principal;
pub mod report;
pub mod views;

#[cfg(test)]
mod tests;

pub use calibration::CalibrationView;
pub use error::{ApiError, ErrorBody};
pub use handlers::{Decisions, Jobs, Nodes, Tasks};
pub use holds::{HoldAnswer, HoldRequest, HoldView, HoldsView};
pub use principal::{Doorman, Principal, Role, host_name};

use crate::ledger::Access;
use crate::service::holds::Holds;
use crate::service::{Asker, Process, Shims};
use crate::telemetry::{self, Metrics};
use axum::extract::{DefaultBodyLimit, Request, State};
use axum::http::{HeaderValue, StatusCode, header};
use axum::middleware::{self, Next};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use axum::{Json, Router};
use drover_core::model::{JobId, Time};
use prometheus::Registry;
use std::sync::Arc;
use std::time::Duration;
use utoipa::OpenApi;
use utoipa_axum::router::OpenApiRouter;
use views::{ConfigView, RmView};

/// Most entries on one page.
pub const PAGE_MAX: usize = 1_000;
/// No request of ours has a body of more than a few lines.
const BODY_MAX: usize = 64 << 10;
const PATIENCE: Duration = Duration::from_secs(10);

/// What handlers share.
#[derive(Clone)]
pub struct ApiState {
    /// Asks the engine's thread.
    pub asker: Asker,
    /// Tells principals apart.
    pub doorman: Doorman,
    /// This process, as far as it does not change.
    pub process: Process,
    /// Why the service is not ready; `None` when it is.
    pub readiness: Arc<dyn Fn() -> Option<String> + Send + Sync>,
    /// What the shims' sessions come to.
    pub shims: Arc<dyn Fn() -> Shims + Send + Sync>,
    /// How the ResourceManager is.
    pub rm: Arc<dyn Fn() -> RmView + Send + Sync>,
    /// What came of reading the configuration again.
    pub config: Arc<dyn Fn() -> ConfigView + Send + Sync>,
    /// Operators' holds.
    pub holds: Arc<Holds>,
    /// The service's clock.
    pub clock: Arc<dyn Fn() -> Time + Send + Sync>,
    /// The ledger.
    pub ledger: Access,
    /// Counts requests.
    pub metrics: Arc<Metrics>,
}

impl AsRef<Doorman> for ApiState {
    fn as_ref(&self) -> &Doorman {
        &self.doorman
    }
}

impl ApiState {
    fn now(&self) -> Time {
        (self.clock)()
    }

    fn not_ready(&self) -> Option<String> {
        (self.readiness)()
    }

    /// What to say of a job that is not known: before the cluster was read that means nothing.
    fn no_job(&self, job: JobId) -> ApiError {
        self.not_ready().map_or(ApiError::NoJob(job), |why| ApiError::NotYet(job, why))
    }

    async fn process(&self) -> Process {
        let holds = self.holds.all(self.now()).await.iter().map(HoldView::of).collect();
        let holds_unkept = self.holds.unkept();
        let (ready, shims, rm) = (self.not_ready().is_none(), (self.shims)(), (self.rm)());
        let config = (self.config)();
        let (ledger, ledger_size) = self.ledger.told();
        Process { ready, shims, holds, holds_unkept, rm, ledger, ledger_size, config, ..self.process.clone() }
    }
}

#[derive(OpenApi)]
#[openapi(info(
    title = "Drover",
    description = "What Drover knows of running jobs, what it decided, and why. Times in the cluster are Unix milliseconds on the clock that each field names."
))]
struct Document;

/// The description that `/openapi.json` serves.
pub fn openapi() -> utoipa::openapi::OpenApi {
    let mut document = Document::openapi();
    document.merge(all_routes().into_openapi());
    document
}

fn all_routes() -> OpenApiRouter<ApiState> {
    quick_routes().merge(report::routes())
}

fn quick_routes() -> OpenApiRouter<ApiState> {
    handlers::routes().merge(calibration::routes()).merge(holds::routes())
}

/// What takes longer is cut short, and told in the form of any other refusal.
async fn within(State(patience): State<Duration>, request: Request, next: Next) -> Response {
    let answer = tokio::time::timeout(patience, next.run(request)).await;
    answer.unwrap_or_else(|_| ApiError::TookTooLong(patience).into_response())
}

/// The operators' API.
pub fn router(state: ApiState) -> Router {
    let [(quick, _), (reports, _)] = [quick_routes(), report::routes()].map(OpenApiRouter::split_for_parts);
    let metrics = state.metrics.clone();
    Router::new()
        .merge(quick)
        .route("/healthz", get(handlers::healthz))
        .route("/readyz", get(handlers::readyz))
        .route("/openapi.json", get(|| async { Json(openapi()) }))
        .fallback(handlers::nothing)
        .layer(middleware::from_fn_with_state(PATIENCE, within))
        .merge(reports.layer(middleware::from_fn_with_state(report::PATIENCE, within)))
        .method_not_allowed_fallback(handlers::no_method)
        .with_state(state)
        .layer(DefaultBodyLimit::max(BODY_MAX))
        .layer(middleware::from_fn_with_state((metrics, "api"), count))
}

/// The listener for metrics.
pub fn metrics_router(registry: Registry, metrics: Arc<Metrics>) -> Router {
    let page = move || {
        let registry = registry.clone();
        async move {
            match telemetry::encode(&registry) {
                Ok(text) => ([(header::CONTENT_TYPE, prometheus::TEXT_FORMAT)], text).into_response(),
                Err(error) => (StatusCode::INTERNAL_SERVER_ERROR, error.to_string()).into_response(),
            }
        }
    };
    Router::new()
        .route("/metrics", get(page))
        .fallback(handlers::nothing)
        .method_not_allowed_fallback(handlers::no_method)
        .layer(middleware::from_fn_with_state((metrics, "metrics"), count))
}

async fn count(
    State((metrics, listener)): State<(Arc<Metrics>, &'static str)>,
    request: Request,
    next: Next,
) -> Response {
    let mut response = next.run(request).await;
    let class = match response.status().as_u16() {
        200..400 => "2xx",
        400..500 => "4xx",
        _ => "5xx",
    };
    metrics.requests.with_label_values(&[listener, class]).inc();
    response.headers_mut().insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    response
}
