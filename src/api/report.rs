//! What the ledger says.

use super::ApiState;
use super::error::{ApiError, ErrorBody};
use super::handlers::Asked;
use super::principal::{Principal, Role};
use crate::ledger::report::{Filter, Report};
use crate::ledger::{self, LedgerError};
use crate::service::Busy;
use axum::Json;
use axum::extract::State;
use drover_core::model::Time;
use serde::Deserialize;
use std::time::{Duration, Instant};
use tokio::sync::OwnedSemaphorePermit;
use tokio::task::JoinHandle;
use utoipa::IntoParams;
use utoipa_axum::{router::OpenApiRouter, routes};

/// A report reads all that the ledger keeps of the time asked for: minutes' worth of rows on a large cluster. Shorter than [`super::listen::IDLE`], which cuts a silent connection.
pub const PATIENCE: Duration = Duration::from_secs(75);

/// So long one that asks waits for its turn.
const TURN: Duration = Duration::from_secs(10);

/// After a reading there is none for as long as it took: the writer begins its log anew only when nobody reads, and where one reading followed the other the log would
/// grow without end.
fn rest(turn: OwnedSemaphorePermit, took: Duration) -> JoinHandle<()> {
    tokio::spawn(async move {
        tokio::time::sleep(took.min(PATIENCE)).await;
        drop(turn);
    })
}

/// Its route.
pub fn routes() -> OpenApiRouter<ApiState> {
    OpenApiRouter::new().routes(routes!(report))
}

#[derive(Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
struct Wanted {
    /// Not what is older, Unix milliseconds; all that is kept, if not said.
    #[serde(default)]
    since_ms: u64,
    /// Jobs of this queue only, by its path or the last part of it.
    queue: Option<String>,
    /// Jobs of this user only.
    user: Option<String>,
    /// What this policy did only.
    policy: Option<String>,
}

/// Whether copies paid: what became of them, what they gained and cost, and what jobs held out show
#[utoipa::path(get, path = "/api/v1/report", tag = "drover", params(Wanted), responses(
    (status = OK, body = Report),
    (status = BAD_REQUEST, body = ErrorBody),
    (status = NOT_FOUND, body = ErrorBody),
    (status = SERVICE_UNAVAILABLE, body = ErrorBody),
))]
async fn report(
    State(state): State<ApiState>,
    who: Principal,
    Asked(wanted): Asked<Wanted>,
) -> Result<Json<Report>, ApiError> {
    who.may(Role::View)?;
    let filters = [("queue", &wanted.queue), ("user", &wanted.user), ("policy", &wanted.policy)];
    if let Some((name, _)) = filters.iter().find(|(_, value)| matches!(value, Some(text) if text.is_empty())) {
        return Err(ApiError::BadRequest(format!("{name} is empty: name one, or leave it out")));
    }
    let path = state.ledger.path().ok_or(ApiError::NoLedger)?.to_owned();
    // Before it is read: one that was taken on meanwhile is read.
    let is_opening = state.ledger.told().0 == ledger::State::Opening;
    let turn = tokio::time::timeout(TURN, state.ledger.turns.clone().acquire_owned()).await;
    let turn = turn.ok().and_then(Result::ok).ok_or(Busy)?;
    let Wanted { since_ms, queue, user, policy } = wanted;
    let (filter, now) = (Filter { since: Time(since_ms), queue, user, policy }, state.now());
    // Whoever asked may be gone before it is read: the turn is the reading's.
    let read = tokio::task::spawn_blocking(move || {
        let began = Instant::now();
        let report = Report::of(&path, &filter, now);
        (report, rest(turn, began.elapsed()))
    });
    let (report, _) = read.await.map_err(|_| Busy)?;
    Ok(Json(report.map_err(|error| unread(&error, is_opening))?))
}

/// Why there is no report. Whoever asks a service needs start none, and while it begins need only wait.
fn unread(error: &LedgerError, is_opening: bool) -> ApiError {
    match error {
        LedgerError::Older(path, has, known) if is_opening => ApiError::Ledger(format!(
            "{}: the ledger is being looked through, and taken from version {has} to {known} of its schema; ask again",
            path.display()
        )),
        _ => ApiError::Ledger(error.to_string()),
    }
}
