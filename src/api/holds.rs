//! Holds over the API: pause, resume and stop.

use super::ApiState;
use super::error::{ApiError, ErrorBody};
use super::handlers::Named;
use super::principal::{Principal, Role};
use crate::config::value::{Kind, Value};
use crate::service::holds::{self, name};
use crate::shown::printable;
use axum::Json;
use axum::extract::rejection::JsonRejection;
use axum::extract::{FromRequest, Request, State};
use drover_core::model::{Hold, Millis, Scope};
use serde::{Deserialize, Serialize};
use std::time::Duration;
use utoipa::ToSchema;
use utoipa_axum::{router::OpenApiRouter, routes};

/// So long what there is to know besides is looked for.
const SOON: Duration = Duration::from_secs(1);
/// Characters of a reason.
const REASON_MAX: usize = 500;
/// A hold that lasts has an end within a year, or none.
const LASTS: Kind = Kind::Span(1_000, 366 * 86_400_000);

/// The addresses about holds.
pub fn routes() -> OpenApiRouter<ApiState> {
    OpenApiRouter::new().routes(routes!(all, hold)).routes(routes!(lift))
}

/// What is to be held.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct HoldRequest {
    /// `cluster`, `queue:NAME`, `user:NAME` or `job:ID`.
    pub scope: String,
    /// Why, for everybody who looks.
    pub reason: String,
    /// For how long, as in `30m`; until it is lifted, if not said.
    #[serde(rename = "for", default, skip_serializing_if = "Option::is_none")]
    pub lasts: Option<String>,
}

/// An operator's word that Drover is not to act: it goes on advising, and Hadoop's own speculator gets the jobs back.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct HoldView {
    /// `cluster`, `queue:NAME`, `user:NAME` or `job:ID`.
    pub scope: String,
    /// Why.
    pub reason: String,
    /// Who said so.
    pub by: String,
    /// Since when, the service's clock, Unix milliseconds.
    pub since_ms: u64,
    /// Until when, likewise; `null`: until it is lifted.
    pub until_ms: Option<u64>,
}

/// A hold that was put in force or lifted.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct HoldAnswer {
    /// The hold.
    pub hold: HoldView,
    /// The hold of the same scope that it took the place of.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub replaced: Option<HoldView>,
    /// What else there is to know.
    pub note: Option<String>,
}

/// The holds in force.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct HoldsView {
    /// In order of what they cover.
    pub holds: Vec<HoldView>,
}

impl HoldView {
    /// A hold as it is served.
    pub fn of(hold: &Hold) -> HoldView {
        HoldView {
            scope: name(&hold.scope),
            reason: hold.reason.clone(),
            by: hold.by.clone(),
            since_ms: hold.since.0,
            until_ms: hold.until.map(|at| at.0),
        }
    }
}

/// A body whose refusal is one of ours.
struct Told<T>(T);

impl<T: serde::de::DeserializeOwned, S: Send + Sync> FromRequest<S> for Told<T> {
    type Rejection = ApiError;

    async fn from_request(request: Request, state: &S) -> Result<Self, ApiError> {
        let body = Json::<T>::from_request(request, state).await;
        let Json(body) = body.map_err(|why: JsonRejection| ApiError::BadRequest(why.body_text()))?;
        Ok(Told(body))
    }
}

fn bad(what: String) -> ApiError {
    ApiError::BadRequest(what)
}

fn lasts(text: &str) -> Result<Millis, ApiError> {
    match LASTS.parse(text) {
        Ok(Value::Span(lasts)) => Ok(lasts),
        Ok(_) => Err(bad(format!("for: is empty; allowed: {}", LASTS.allowed()))),
        Err(what) => Err(bad(format!("for: {what}; allowed: {}", LASTS.allowed()))),
    }
}

/// The holds in force
#[utoipa::path(get, path = "/api/v1/holds", tag = "drover", responses(
    (status = OK, body = HoldsView),
    (status = SERVICE_UNAVAILABLE, body = ErrorBody),
))]
async fn all(State(state): State<ApiState>, who: Principal) -> Result<Json<HoldsView>, ApiError> {
    who.may(Role::View)?;
    let holds = state.holds.all(state.now()).await;
    Ok(Json(HoldsView { holds: holds.iter().map(HoldView::of).collect() }))
}

/// Has Drover start no more copies for what the scope covers; needs the role `operate`
#[utoipa::path(post, path = "/api/v1/holds", tag = "drover", request_body = HoldRequest, responses(
    (status = OK, body = HoldAnswer),
    (status = BAD_REQUEST, body = ErrorBody),
    (status = FORBIDDEN, body = ErrorBody),
    (status = CONFLICT, body = ErrorBody),
    (status = SERVICE_UNAVAILABLE, body = ErrorBody),
))]
async fn hold(
    State(state): State<ApiState>,
    who: Principal,
    Told(asked): Told<HoldRequest>,
) -> Result<Json<HoldAnswer>, ApiError> {
    who.may(Role::Operate)?;
    let (now, reason) = (state.now(), asked.reason.trim().to_owned());
    if reason.is_empty() || reason.chars().count() > REASON_MAX || printable(&reason) != reason {
        return Err(bad(format!("reason: say why, on one line of at most {REASON_MAX} characters")));
    }
    let scope = holds::scope(&asked.scope).map_err(bad)?;
    let until = asked.lasts.as_deref().map(lasts).transpose()?.map(|lasts| now + lasts);
    let hold = Hold { scope, reason, by: who.name, since: now, until };
    let (replaced, unkept) = state.holds.hold(hold.clone(), now).await?;
    let notes: Vec<String> = unkept.into_iter().chain(stops_nothing(&state, &hold.scope).await).collect();
    let note = (!notes.is_empty()).then(|| notes.join("; "));
    Ok(Json(HoldAnswer { hold: HoldView::of(&hold), replaced: replaced.as_ref().map(HoldView::of), note }))
}

/// A hold may be there before its queue or its jobs; but one that stops nothing is to be known for that.
async fn stops_nothing(state: &ApiState, scope: &Scope) -> Option<String> {
    let says = match scope {
        Scope::Cluster => return None,
        Scope::Queue(queue) => format!("the cluster has told of no leaf queue {queue}, so that this stops nothing now"),
        Scope::User(user) => format!("no job of {user} is known to run, so that this stops nothing now"),
        Scope::Job(job) => format!("{job} is not known to run, so that this stops nothing now"),
    };
    let scope = scope.clone();
    // The hold stands already, and is to be told soon.
    let asked = tokio::time::timeout(SOON, state.asker.ask(move |desk| desk.finds(&scope))).await;
    matches!(asked, Ok(Ok(Some(false)))).then_some(says)
}

/// Lifts the hold of a scope; needs the role `operate`
#[utoipa::path(delete, path = "/api/v1/holds/{scope}", tag = "drover", params(("scope" = String, Path, description = "What the hold covers")), responses(
    (status = OK, body = HoldAnswer),
    (status = BAD_REQUEST, body = ErrorBody),
    (status = FORBIDDEN, body = ErrorBody),
    (status = NOT_FOUND, body = ErrorBody),
    (status = SERVICE_UNAVAILABLE, body = ErrorBody),
))]
async fn lift(
    State(state): State<ApiState>,
    who: Principal,
    Named(asked): Named,
) -> Result<Json<HoldAnswer>, ApiError> {
    who.may(Role::Operate)?;
    let scope = holds::scope(&asked).map_err(bad)?;
    let lifted = state.holds.lift(&scope, &who.name, state.now()).await?;
    let (hold, note) = lifted.ok_or(ApiError::NoHold(asked))?;
    Ok(Json(HoldAnswer { hold: HoldView::of(&hold), replaced: None, note }))
}
