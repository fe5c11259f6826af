//! Refusals of the API: a status, a stable label, and what to do next.

use super::principal::{Denied, Misdirected};
use crate::service::Busy;
use crate::service::holds::Unheld;
use axum::Json;
use axum::http::{Method, StatusCode};
use axum::response::{IntoResponse, Response};
use drover_core::model::{JobId, TaskId};
use serde::{Deserialize, Serialize};
use std::time::Duration;
use utoipa::ToSchema;

/// What a refusal looks like.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct ErrorBody {
    /// Stable label.
    pub error: String,
    /// What is wrong and what to do next.
    pub message: String,
}

/// Why a request was refused.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ApiError {
    /// A parameter or the path cannot be understood.
    #[error("{0}")]
    BadRequest(String),
    /// The caller may not.
    #[error(transparent)]
    Forbidden(#[from] Denied),
    /// It was meant for another service.
    #[error(transparent)]
    Misdirected(#[from] Misdirected),
    /// No such job.
    #[error(
        "{0} is not known here; GET /api/v1/jobs lists the jobs that are, and an ended job is forgotten after a while"
    )]
    NoJob(JobId),
    /// No such job so far: the cluster has not been read.
    #[error("{0} is not known here yet: {1}; ask again when GET /readyz says that the service is ready")]
    NotYet(JobId, String),
    /// No such task.
    #[error("{0} is not known here; GET /api/v1/jobs/{{id}}/tasks lists the tasks that are")]
    NoTask(TaskId),
    /// No such hold.
    #[error("nothing is held for {0}; GET /api/v1/holds lists what is")]
    NoHold(String),
    /// A longer hold is in force.
    #[error("{0}")]
    HeldLonger(String),
    /// No such page.
    #[error("there is nothing at this address; /openapi.json lists what there is")]
    NoRoute,
    /// Nobody does that at this address.
    #[error("{0} does nothing at this address; the header Allow names what does, and /openapi.json tells of each")]
    NoMethod(Method),
    /// No ledger is kept.
    #[error("no ledger is kept here; set ledger.path to a file and start the service again")]
    NoLedger,
    /// The ledger cannot be read.
    #[error("{0}")]
    Ledger(String),
    /// The engine has too much to do, or is stopping.
    #[error(transparent)]
    Busy(#[from] Busy),
    /// So long no answer came together.
    #[error("no answer within {} s; ask again when the service has less to do, or of a report for less (since_ms)", .0.as_secs())]
    TookTooLong(Duration),
}

impl ApiError {
    fn parts(&self) -> (StatusCode, &'static str) {
        match self {
            ApiError::BadRequest(_) => (StatusCode::BAD_REQUEST, "bad_request"),
            ApiError::Forbidden(_) => (StatusCode::FORBIDDEN, "forbidden"),
            ApiError::Misdirected(_) => (StatusCode::MISDIRECTED_REQUEST, "misdirected"),
            ApiError::NoJob(_) => (StatusCode::NOT_FOUND, "unknown_job"),
            ApiError::NotYet(..) => (StatusCode::SERVICE_UNAVAILABLE, "not_ready"),
            ApiError::NoTask(_) => (StatusCode::NOT_FOUND, "unknown_task"),
            ApiError::NoHold(_) => (StatusCode::NOT_FOUND, "unknown_hold"),
            ApiError::HeldLonger(_) => (StatusCode::CONFLICT, "held_longer"),
            ApiError::NoLedger => (StatusCode::NOT_FOUND, "no_ledger"),
            ApiError::Ledger(_) => (StatusCode::SERVICE_UNAVAILABLE, "ledger"),
            ApiError::NoRoute => (StatusCode::NOT_FOUND, "not_found"),
            ApiError::NoMethod(_) => (StatusCode::METHOD_NOT_ALLOWED, "method_not_allowed"),
            ApiError::Busy(_) => (StatusCode::SERVICE_UNAVAILABLE, "busy"),
            ApiError::TookTooLong(_) => (StatusCode::SERVICE_UNAVAILABLE, "timeout"),
        }
    }
}

impl From<Unheld> for ApiError {
    fn from(why: Unheld) -> ApiError {
        match why {
            Unheld::Longer(says) => ApiError::HeldLonger(says),
            Unheld::TooMany => ApiError::BadRequest(why.to_string()),
            Unheld::Busy(busy) => ApiError::Busy(busy),
        }
    }
}

impl IntoResponse for Misdirected {
    fn into_response(self) -> Response {
        ApiError::from(self).into_response()
    }
}

impl IntoResponse for ApiError {
    fn into_response(self) -> Response {
        let (status, label) = self.parts();
        (status, Json(ErrorBody { error: label.into(), message: self.to_string() })).into_response()
    }
}
