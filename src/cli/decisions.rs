//! Decisions of a running service, page by page.

use super::client::{Client, NoAnswer};
use crate::api::views::DecisionView;
use crate::api::{Decisions, PAGE_MAX};

/// So many are read at most, the newest: as many as a service keeps where `listen.decisions` says nothing else.
pub const AT_MOST: usize = 10_000;

/// What was read.
#[derive(Debug)]
pub struct Decided {
    /// Oldest first.
    pub decisions: Vec<DecisionView>,
    /// The service has older ones, which were not read.
    pub has_more: bool,
}

/// The newest decisions that a query asks for, at most [`AT_MOST`].
pub async fn newest(client: &Client, query: &str) -> Result<Decided, NoAnswer> {
    let mut pages: Vec<Vec<DecisionView>> = Vec::new();
    let (mut read, mut before) = (0, String::new());
    let has_more = loop {
        let limit = if read < AT_MOST { PAGE_MAX } else { 1 };
        let page: Decisions = client.get(&format!("api/v1/decisions?{query}limit={limit}{before}")).await?;
        let Some(first) = page.decisions.first().filter(|_| read < AT_MOST) else {
            break !page.decisions.is_empty();
        };
        before = format!("&before={}", first.id);
        read += page.decisions.len();
        let is_last = page.decisions.len() < PAGE_MAX;
        pages.push(page.decisions);
        if is_last {
            break false;
        }
    };
    Ok(Decided { decisions: pages.into_iter().rev().flatten().collect(), has_more })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::service::DecisionFilter;
    use crate::service::fixture::watched;
    use axum::extract::Query;
    use axum::routing::get;
    use axum::{Json, Router};
    use std::collections::HashMap;

    /// A client of a service that has decided so often.
    async fn client(decisions: u64) -> Client {
        let one = watched().decisions(DecisionFilter { limit: 1, ..DecisionFilter::default() }).remove(0);
        let page = move |Query(asked): Query<HashMap<String, u64>>| async move {
            let (since, before) = (asked["since"], asked.get("before").copied().unwrap_or(u64::MAX));
            let last = decisions.min(before - 1);
            let first = last.saturating_sub(asked["limit"]).max(since) + 1;
            Json(Decisions { decisions: (first..=last).map(|id| DecisionView { id, ..one.clone() }).collect() })
        };
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let base = format!("http://{}/", listener.local_addr().unwrap()).parse().unwrap();
        let router = Router::new().route("/api/v1/decisions", get(page));
        tokio::spawn(async move { axum::serve(listener, router).await });
        Client::new(base).unwrap()
    }

    async fn ids(decisions: u64, since: u64) -> (Vec<u64>, bool) {
        let found = newest(&client(decisions).await, &format!("since={since}&")).await.unwrap();
        (found.decisions.iter().map(|one| one.id).collect(), found.has_more)
    }

    #[tokio::test]
    async fn more_decisions_than_a_page_holds_are_all_read_in_their_order() {
        for decisions in [0, 1, 999, 1_000, 1_001, 2_500] {
            assert_eq!(ids(decisions, 0).await, ((1..=decisions).collect(), false), "{decisions}");
        }
        assert_eq!(ids(2_500, 1_200).await, ((1_201..=2_500).collect(), false));
    }

    #[tokio::test]
    async fn of_more_decisions_than_are_read_the_newest_are_and_the_others_told_of() {
        let most = AT_MOST as u64;
        assert_eq!(ids(most, 0).await, ((1..=most).collect(), false));
        assert_eq!(ids(most + 1, 0).await, ((2..=most + 1).collect(), true));
    }
}
