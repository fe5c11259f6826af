//! One function an address. Each takes a principal and says what role it needs.

use super::error::{ApiError, ErrorBody};
use super::health::StragglingView;
use super::principal::{Principal, Role};
use super::views::*;
use super::{ApiState, PAGE_MAX};
use crate::service::{DecisionFilter, Desk, TaskFilter};
use axum::Json;
use axum::extract::rejection::{PathRejection, QueryRejection};
use axum::extract::{FromRequestParts, Path, Query, State};
use axum::http::{Method, StatusCode, request::Parts};
use drover_core::model::{JobId, TaskId};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};
use utoipa_axum::{router::OpenApiRouter, routes};

const PAGE: usize = 100;

/// All of `/api/v1`.
pub fn routes() -> OpenApiRouter<ApiState> {
    OpenApiRouter::new()
        .routes(routes!(status))
        .routes(routes!(jobs))
        .routes(routes!(job))
        .routes(routes!(tasks))
        .routes(routes!(nodes))
        .routes(routes!(decisions))
}

/// A page of jobs.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub struct Jobs {
    /// Jobs in order of id.
    pub jobs: Vec<JobSummary>,
    /// How many are known in all.
    pub total: usize,
}

/// A page of tasks.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub struct Tasks {
    /// Maps in order of index, then reduces.
    pub tasks: Vec<TaskView>,
}

/// Nodes.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub struct Nodes {
    /// How often tasks straggle on any node.
    #[serde(default)]
    pub straggling: StragglingView,
    /// Nodes in order of name.
    pub nodes: Vec<NodeView>,
}

/// Decisions.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub struct Decisions {
    /// Oldest first.
    pub decisions: Vec<DecisionView>,
}

/// A query string whose refusal is one of ours.
pub(super) struct Asked<T>(pub(super) T);

impl<T: DeserializeOwned, S: Send + Sync> FromRequestParts<S> for Asked<T> {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, ApiError> {
        let query = Query::<T>::from_request_parts(parts, state).await;
        let Query(query) = query.map_err(|why: QueryRejection| ApiError::BadRequest(why.body_text()))?;
        Ok(Asked(query))
    }
}

/// A part of the path whose refusal is one of ours.
pub(super) struct Named(pub(super) String);

impl<S: Send + Sync> FromRequestParts<S> for Named {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, ApiError> {
        let path = Path::from_request_parts(parts, state).await;
        let Path(text) = path.map_err(|why: PathRejection| ApiError::BadRequest(why.body_text()))?;
        Ok(Named(text))
    }
}

pub(super) fn limit(asked: Option<usize>) -> Result<usize, ApiError> {
    match asked.unwrap_or(PAGE) {
        limit @ 1..=PAGE_MAX => Ok(limit),
        other => Err(ApiError::BadRequest(format!("limit={other} is out of range; allowed: 1 to {PAGE_MAX}"))),
    }
}

fn id<T: std::str::FromStr<Err = drover_core::model::BadId>>(text: &str) -> Result<T, ApiError> {
    text.parse().map_err(|why: T::Err| ApiError::BadRequest(why.to_string()))
}

/// The service as a whole
#[utoipa::path(get, path = "/api/v1/status", tag = "drover", responses(
    (status = OK, body = Status),
    (status = SERVICE_UNAVAILABLE, body = ErrorBody),
))]
async fn status(State(state): State<ApiState>, who: Principal) -> Result<Json<Status>, ApiError> {
    who.may(Role::View)?;
    let (process, now) = (state.process().await, state.now());
    Ok(Json(state.asker.ask(move |desk| desk.status(&process, now)).await?))
}

#[derive(Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
struct Page {
    /// Jobs after this id only: the last one of the page before.
    after: Option<String>,
    /// So many at most, 1–1000; 100 if not said.
    limit: Option<usize>,
}

/// Jobs that are known and have not ended
#[utoipa::path(get, path = "/api/v1/jobs", tag = "drover", params(Page), responses(
    (status = OK, body = Jobs),
    (status = BAD_REQUEST, body = ErrorBody),
    (status = SERVICE_UNAVAILABLE, body = ErrorBody),
))]
async fn jobs(State(state): State<ApiState>, who: Principal, page: Asked<Page>) -> Result<Json<Jobs>, ApiError> {
    who.may(Role::View)?;
    let after = page.0.after.as_deref().map(id::<JobId>).transpose()?;
    let (limit, now) = (limit(page.0.limit)?, state.now());
    let (jobs, total) = state.asker.ask(move |desk| desk.jobs(after, limit, now)).await?;
    Ok(Json(Jobs { jobs, total }))
}

/// One job
#[utoipa::path(get, path = "/api/v1/jobs/{id}", tag = "drover", params(("id" = String, Path, description = "The job's id")), responses(
    (status = OK, body = JobDetail),
    (status = BAD_REQUEST, body = ErrorBody),
    (status = NOT_FOUND, body = ErrorBody),
    (status = SERVICE_UNAVAILABLE, body = ErrorBody),
))]
async fn job(State(state): State<ApiState>, who: Principal, Named(text): Named) -> Result<Json<JobDetail>, ApiError> {
    who.may(Role::View)?;
    let (job, now) = (id::<JobId>(&text)?, state.now());
    state.asker.ask(move |desk| desk.job(job, now)).await?.map(Json).ok_or_else(|| state.no_job(job))
}

#[derive(Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
struct TaskPage {
    /// This task only.
    task: Option<String>,
    /// Running tasks only.
    #[serde(default)]
    running: bool,
    /// Tasks after this id only: the last one of the page before.
    after: Option<String>,
    /// So many at most, 1–1000; 100 if not said.
    limit: Option<usize>,
}

/// Tasks of a job: attempts, and for each that runs why it was or was not advised on
#[utoipa::path(get, path = "/api/v1/jobs/{id}/tasks", tag = "drover", params(("id" = String, Path, description = "The job's id"), TaskPage), responses(
    (status = OK, body = Tasks),
    (status = BAD_REQUEST, body = ErrorBody),
    (status = NOT_FOUND, body = ErrorBody),
    (status = SERVICE_UNAVAILABLE, body = ErrorBody),
))]
async fn tasks(
    State(state): State<ApiState>,
    who: Principal,
    Named(text): Named,
    Asked(page): Asked<TaskPage>,
) -> Result<Json<Tasks>, ApiError> {
    who.may(Role::View)?;
    let job = id::<JobId>(&text)?;
    let filter = TaskFilter {
        task: page.task.as_deref().map(id::<TaskId>).transpose()?,
        running: page.running,
        after: page.after.as_deref().map(id::<TaskId>).transpose()?,
        limit: limit(page.limit)?,
    };
    let tasks = state.asker.ask(move |desk| desk.tasks(job, filter)).await?.ok_or_else(|| state.no_job(job))?;
    match filter.task {
        Some(task) if tasks.is_empty() => Err(ApiError::NoTask(task)),
        _ => Ok(Json(Tasks { tasks })),
    }
}

/// Nodes, as the ResourceManager lists them
#[utoipa::path(get, path = "/api/v1/nodes", tag = "drover", params(NodePage), responses(
    (status = OK, body = Nodes),
    (status = BAD_REQUEST, body = ErrorBody),
    (status = SERVICE_UNAVAILABLE, body = ErrorBody),
))]
async fn nodes(State(state): State<ApiState>, who: Principal, page: Asked<NodePage>) -> Result<Json<Nodes>, ApiError> {
    who.may(Role::View)?;
    let (after, limit) = (page.0.after, limit(page.0.limit)?);
    let answer = move |desk: &Desk| Nodes {
        straggling: StragglingView::of(&desk.engine),
        nodes: desk.nodes(after.as_deref(), limit),
    };
    Ok(Json(state.asker.ask(answer).await?))
}

#[derive(Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
struct NodePage {
    /// Nodes after this name only: the last one of the page before.
    after: Option<String>,
    /// So many at most, 1–1000; 100 if not said.
    limit: Option<usize>,
}

#[derive(Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
struct DecisionPage {
    /// Decisions about this job only.
    job: Option<String>,
    /// Decisions with a higher number only.
    #[serde(default)]
    since: u64,
    /// Decisions with a lower number only: the first one of the page before, which is of newer ones.
    before: Option<u64>,
    /// Only decisions whose task still runs.
    #[serde(default)]
    open: bool,
    /// The newest so many, 1–1000; 100 if not said.
    limit: Option<usize>,
}

/// The newest decisions, oldest first; `before` goes on to those before them, down to the oldest that is kept
#[utoipa::path(get, path = "/api/v1/decisions", tag = "drover", params(DecisionPage), responses(
    (status = OK, body = Decisions),
    (status = BAD_REQUEST, body = ErrorBody),
    (status = SERVICE_UNAVAILABLE, body = ErrorBody),
))]
async fn decisions(
    State(state): State<ApiState>,
    who: Principal,
    Asked(page): Asked<DecisionPage>,
) -> Result<Json<Decisions>, ApiError> {
    who.may(Role::View)?;
    let job = page.job.as_deref().map(id::<JobId>).transpose()?;
    let filter =
        DecisionFilter { job, since: page.since, before: page.before, limit: limit(page.limit)?, open: page.open };
    Ok(Json(Decisions { decisions: state.asker.ask(move |desk| desk.decisions(filter)).await? }))
}

/// Alive: the process answers.
pub async fn healthz() -> &'static str {
    "ok\n"
}

/// Ready: the cluster has been polled once, completely.
pub async fn readyz(State(state): State<ApiState>) -> (StatusCode, String) {
    match state.not_ready() {
        None => {
            let (trouble, _) = state.ledger.told();
            let trouble = trouble.trouble().map(|words| format!("without its ledger: {words}\n")).unwrap_or_default();
            (StatusCode::OK, format!("ready\n{trouble}"))
        }
        Some(why) => (StatusCode::SERVICE_UNAVAILABLE, format!("not ready: {why}\n")),
    }
}

/// Anything else.
pub async fn nothing() -> ApiError {
    ApiError::NoRoute
}

/// Anything else that would be done at an address.
pub async fn no_method(method: Method) -> ApiError {
    ApiError::NoMethod(method)
}
