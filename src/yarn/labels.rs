//! Which node labels are for those alone who ask for them: asked seldom, and kept from one listing of nodes to the next.

use super::endpoint::Endpoint;
use super::error::{Error, Kind};
use super::facts::cluster;
use super::http::Http;
use super::told::Told;
use drover_core::model::{Millis, NodeFact, Time};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::time::{Instant, timeout_at};
use url::Url;

/// What was told is asked for again after so long, as hardly anybody ever changes it.
const RENEWED: Millis = Millis(600_000);
/// After a failure nothing is asked for so many times as long as an answer may take; four times as long after each further one, and [`RENEWED`] at most. What always fails is soon asked too seldom to hold up
/// listings or an alert.
const PAUSE: u32 = 4;

/// What is known of labels; clones share it.
#[derive(Debug, Clone, Default)]
pub(super) struct Labels(Arc<Mutex<Known>>);

#[derive(Debug, Default)]
struct Known {
    /// Those of the last good answer and of the nodes there were then: is a label for those alone who ask for it?
    exclusive: BTreeMap<String, bool>,
    stale_at: Time,
    not_before: Time,
    /// In a row.
    failures: u32,
}

impl Labels {
    /// Marks the nodes of labels that are for those alone who ask for them. Where that was never told, as by Hadoop 2.7, they may be anybody's.
    pub(super) async fn mark(&self, http: &Http, url: &Url, told: &mut Told<Vec<NodeFact>>, now: Time) {
        let labels: BTreeSet<_> = told.what.iter().filter_map(|node| node.label.clone()).collect();
        let pause = Millis::from_secs_f64((PAUSE * http.aside_timeout()).as_secs_f64());
        let is_due = self.lock().is_due(labels.iter().map(|label| &**label), now, pause);
        if is_due {
            let asked = ask(http, url).await;
            let mut known = self.lock();
            match asked {
                Ok(answer) => {
                    answer.refused.counts().for_each(|(reason, count)| told.refused.many(reason, count));
                    known.keep(answer.what, labels.iter().map(|label| &**label), now);
                }
                Err(error) => known.failed(&error, now, pause),
            }
        }
        let known = self.lock();
        for node in &mut told.what {
            node.exclusive = node.label.as_deref().is_some_and(|label| known.exclusive.get(label) == Some(&true));
        }
    }

    fn lock(&self) -> MutexGuard<'_, Known> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Known {
    /// Is it to be asked now, of nodes with these labels? Where it is, nobody else asks meanwhile.
    fn is_due<'a>(&mut self, mut labels: impl ExactSizeIterator<Item = &'a str>, now: Time, pause: Millis) -> bool {
        let is_stale = labels.len() > 0 && now >= self.stale_at;
        let is_due = now >= self.not_before && (is_stale || labels.any(|label| !self.exclusive.contains_key(label)));
        if is_due {
            self.not_before = now + pause;
        }
        is_due
    }

    /// Takes an answer; of a label of which it does not tell, what was told before stands.
    fn keep<'a>(&mut self, told: BTreeMap<String, bool>, labels: impl Iterator<Item = &'a str>, now: Time) {
        let before = std::mem::replace(&mut self.exclusive, told);
        for label in labels {
            let was = before.get(label).copied().unwrap_or(false);
            self.exclusive.entry(label.to_owned()).or_insert(was);
        }
        (self.stale_at, self.not_before, self.failures) = (now + RENEWED, now, 0);
    }

    fn failed(&mut self, error: &Error, now: Time, pause: Millis) {
        let pause = Millis(pause.0 << (2 * self.failures.min(8))).min(RENEWED);
        self.not_before = now + pause;
        self.failures += 1;
        tracing::debug!(%error, asked_again_s = pause.0 / 1_000, "node labels are not told");
    }
}

/// Asks that one server, whose trouble with this says nothing about its other answers.
async fn ask(http: &Http, url: &Url) -> Result<Told<BTreeMap<String, bool>>, Error> {
    let endpoint = Endpoint::RmNodeLabels;
    let until = Instant::now() + http.aside_timeout();
    let late = || Kind::Timeout(http.aside_timeout()).at(url);
    let permit = timeout_at(until, http.limits().acquire(endpoint)).await.map_err(|_| late())?;
    let sent = Instant::now();
    let answer = timeout_at(until, http.get(Some(permit), endpoint, url)).await.unwrap_or_else(|_| {
        let error = late();
        http.metrics().request(endpoint, error.label(), 0, sent.elapsed());
        Err(error)
    })?;
    Ok(Told::of(answer, cluster::exclusive))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(labels: &[(&str, bool)]) -> BTreeMap<String, bool> {
        labels.iter().map(|(label, exclusive)| ((*label).to_owned(), *exclusive)).collect()
    }

    const TEN: Millis = Millis(10_000);

    fn failure() -> Error {
        Kind::Empty.at(&"http://rm/".parse().unwrap())
    }

    #[test]
    fn a_label_that_is_new_is_asked_about_at_once_and_the_others_every_ten_minutes() {
        let mut known = Known::default();
        let due = |known: &mut Known, labels: &[&'static str], second: u64| {
            known.is_due(labels.iter().copied(), Time(second * 1_000), TEN)
        };
        assert!(!due(&mut known, &[], 1_000), "no node has any");
        assert!(due(&mut known, &["gpu"], 1_000));
        assert!(!due(&mut known, &["gpu"], 1_001), "it is being asked");
        known.keep(told(&[("ssd", true)]), ["gpu"].into_iter(), Time(1_001_000));
        assert!(!due(&mut known, &["gpu", "ssd"], 1_600), "the one had no answer, the other no node");
        assert!(due(&mut known, &["core", "gpu"], 1_600));
        known.keep(told(&[("core", false)]), ["core", "gpu"].into_iter(), Time(1_600_000));
        assert!(!due(&mut known, &["core", "gpu"], 2_199) && due(&mut known, &["core", "gpu"], 2_200));
    }

    #[test]
    fn what_was_told_stands_until_it_is_told_otherwise_and_no_longer_than_a_node_has_it() {
        let mut known = Known::default();
        known.keep(told(&[("gpu", true), ("old", true)]), ["gpu"].into_iter(), Time(0));
        known.failed(&failure(), Time(1), TEN);
        assert_eq!(known.exclusive, told(&[("gpu", true), ("old", true)]));
        known.keep(told(&[]), ["gpu"].into_iter(), Time(2));
        assert_eq!(known.exclusive, told(&[("gpu", true)]));
        known.keep(told(&[("gpu", false)]), ["gpu"].into_iter(), Time(3));
        assert_eq!(known.exclusive, told(&[("gpu", false)]));
    }

    #[test]
    fn what_always_fails_is_asked_ever_more_seldom_and_an_answer_ends_that() {
        let mut known = Known::default();
        let mut asked = Vec::new();
        for second in 0..2_000 {
            let now = Time(second * 1_000);
            if known.is_due(["gpu"].into_iter(), now, TEN) {
                asked.push(second);
                known.failed(&failure(), now, TEN);
            }
        }
        assert_eq!(asked, [0, 10, 50, 210, 810, 1_410]);
        known.keep(told(&[]), ["gpu"].into_iter(), Time(2_000_000));
        known.failed(&failure(), Time(2_600_000), TEN);
        assert!(known.is_due(["gpu"].into_iter(), Time(2_610_000), TEN));
    }
}
