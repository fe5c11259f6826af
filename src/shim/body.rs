//! Bodies of requests, within limits: each has a size and a time, and all together have a budget.

use super::params::ShimParams;
use super::reply::{Refusal, Why};
use axum::body::Body;
use axum::http::HeaderMap;
use axum::http::header::CONTENT_LENGTH;
use futures::StreamExt;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

/// Bytes of bodies that are held now; clones count the same.
#[derive(Debug, Clone, Default)]
pub struct Budget(Arc<AtomicUsize>);

/// A share of the budget, given back when dropped.
pub struct Held {
    budget: Budget,
    bytes: usize,
}

impl Held {
    fn add(&mut self, bytes: usize, limit: usize) -> Result<(), Refusal> {
        let before = self.budget.0.fetch_add(bytes, Ordering::Relaxed);
        self.bytes += bytes;
        if before + bytes > limit {
            return Err(Refusal::new(Why::Overloaded, "the service holds as many bodies as it may"));
        }
        Ok(())
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        self.budget.0.fetch_sub(self.bytes, Ordering::Relaxed);
    }
}

/// Reads a body. What it holds is charged to the budget as it arrives, so that announcing much takes nothing from others.
pub async fn read(
    body: Body,
    headers: &HeaderMap,
    params: &ShimParams,
    budget: &Budget,
) -> Result<(Vec<u8>, Held), Refusal> {
    let max = params.body_bytes;
    let too_large =
        || Refusal::new(Why::TooLarge, format!("the body has more than {max} bytes: send fewer rows at once"));
    let announced = headers.get(CONTENT_LENGTH).and_then(|v| v.to_str().ok()).and_then(|v| v.parse::<usize>().ok());
    if announced.is_some_and(|length| length > max) {
        return Err(too_large());
    }
    let mut held = Held { budget: budget.clone(), bytes: 0 };
    let mut whole = Vec::new();
    let gather = async {
        let mut parts = body.into_data_stream();
        while let Some(part) = parts.next().await {
            let part = part.map_err(|_| Refusal::new(Why::Malformed, "the body broke off"))?;
            if whole.len() + part.len() > max {
                return Err(too_large());
            }
            held.add(part.len(), params.bytes_in_flight)?;
            whole.extend_from_slice(&part);
        }
        Ok(())
    };
    match tokio::time::timeout(Duration::from_millis(params.body_ms), gather).await {
        Ok(done) => done.map(|()| (whole, held)),
        Err(_) => Err(Refusal::new(Why::SlowBody, format!("the body did not arrive within {} ms", params.body_ms))),
    }
}
