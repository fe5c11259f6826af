//! Queues by name in settings and holds: one that the cluster has not is of no effect. A service warns of it; here the one that may have been meant is named.

use super::Checks;
use crate::api::{HoldView, HoldsView};
use crate::cli::client::Client;
use crate::config::Loaded;
use crate::yarn::facts::queues::tells_all;
use crate::yarn::poll::Clients;
use drover_core::model::queue_name::{Known, leaf};

const NAME: &str = "queues by name";
const FIX: &str = "correct the name: a job's queue is known by its path or the last part of it, and a parent stands for none of its queues. \
     One that is made as jobs come is a queue only once it is there";
/// Queues that are named as known.
const SHOWN: usize = 12;

/// A queue that somebody names, and where.
#[derive(Debug, PartialEq, Eq)]
struct Named {
    queue: String,
    place: String,
}

/// Checks them against the ResourceManager's, where it tells its own.
pub async fn check(loaded: &Loaded, clients: &Clients, service: Option<&Client>, checks: &mut Checks) {
    let mut named = configured(loaded);
    if let Some(service) = service
        && let Ok(HoldsView { holds }) = service.get("api/v1/holds").await
    {
        named.extend(held(&holds));
    }
    if named.is_empty() {
        return;
    }
    // Where it does not answer, that has been said, and nothing is known of its queues.
    if let Ok(told) = clients.rm.queues(None).await {
        let mut known: Vec<String> = told.what.into_iter().map(|queue| queue.name).collect();
        known.sort();
        compare(&named, &known, checks);
    }
}

fn configured(loaded: &Loaded) -> Vec<Named> {
    let named = loaded.entries.iter().filter_map(|(key, entry)| {
        let queue = key.strip_prefix("modes.queue.")?.to_owned();
        Some(Named { queue, place: format!("modes.queue ({})", entry.origin) })
    });
    named.collect()
}

fn held(holds: &[HoldView]) -> Vec<Named> {
    let named = holds.iter().filter_map(|hold| {
        let queue = hold.scope.strip_prefix("queue:")?.to_owned();
        Some(Named { queue, place: format!("the hold by {}", hold.by) })
    });
    named.collect()
}

/// The known queue that may have been meant, by the last part: all paths are alike in where they begin.
fn meant<'a>(name: &str, known: &'a [String]) -> Option<&'a String> {
    let typos = |queue: &&String| strsim::osa_distance(leaf(name), leaf(queue));
    known.iter().min_by_key(typos).filter(|queue| typos(queue) <= 1 + leaf(name).len() / 4)
}

fn compare(named: &[Named], known: &[String], checks: &mut Checks) {
    if !tells_all(known.len()) {
        return;
    }
    let all = Known::of(known.iter().map(String::as_str));
    let (right, wrong): (Vec<&Named>, Vec<&Named>) = named.iter().partition(|one| all.has(&one.queue));
    if wrong.is_empty() {
        checks.ok(NAME, format!("the cluster has all that settings and holds name: {}", right.len()));
    }
    let mut listed = known.iter().take(SHOWN).map(String::as_str).collect::<Vec<_>>().join(", ");
    if known.len() > SHOWN {
        listed += &format!(" and {} more", known.len() - SHOWN);
    }
    for Named { queue, place } in wrong {
        let says = format!("queue {queue} in {place} is not a queue of this cluster; known: {listed}");
        let fix =
            meant(queue, known).map_or_else(|| FIX.to_owned(), |alike| format!("did you mean {alike}? Else {FIX}"));
        checks.warn(NAME, says, fix);
    }
}

#[cfg(test)]
mod tests {
    use super::super::Verdict;
    use super::*;
    use crate::config::{Sources, load_named};
    use crate::yarn::facts::queues::MAX_QUEUES;

    fn compared(names: &[&str], known: &[&str]) -> Vec<(Verdict, String, String)> {
        let named: Vec<Named> =
            names.iter().map(|name| Named { queue: (*name).into(), place: "modes.queue (--set)".into() }).collect();
        let known: Vec<String> = known.iter().map(ToString::to_string).collect();
        let mut checks = Checks::default();
        compare(&named, &known, &mut checks);
        checks.0.into_iter().map(|check| (check.verdict, check.says, check.fix.unwrap_or_default())).collect()
    }

    #[test]
    fn a_queue_that_the_cluster_has_not_is_warned_of_with_the_known_ones_and_the_nearest() {
        let found = compared(&["root.elt", "batch", "root.batch", "root"], &["root.etl", "root.batch"]);
        let said: Vec<&str> = found.iter().map(|(_, says, _)| says.as_str()).collect();
        assert_eq!(
            said,
            ["root.elt", "root"].map(|queue| format!(
                "queue {queue} in modes.queue (--set) is not a queue of this cluster; known: root.etl, root.batch"
            ))
        );
        assert!(found.iter().all(|(verdict, ..)| *verdict == Verdict::Warn));
        assert!(found[0].2.starts_with("did you mean root.etl? Else correct the name"), "{}", found[0].2);
        let (_, _, fix) = &compared(&["root.adhoc"], &["root.etl", "root.batch"])[0];
        assert!(fix.starts_with("correct the name"), "nothing is like it: {fix}");
    }

    #[test]
    fn queues_that_are_there_are_fine_and_where_the_listing_tells_none_nothing_is_said() {
        let found = compared(&["etl", "root.batch"], &["root.etl", "root.batch"]);
        assert_eq!((found.len(), found[0].0), (1, Verdict::Ok));
        assert!(compared(&["etl"], &[]).is_empty());
        let many = vec!["q"; MAX_QUEUES];
        assert!(compared(&["etl"], &many).is_empty(), "there may be more");
        let (_, says, _) = &compared(&["etl"], &["q"; SHOWN + 3])[0];
        assert!(says.ends_with("q, q and 3 more"), "{says}");
    }

    #[test]
    fn queues_are_named_by_settings_with_their_place_and_by_holds_with_who_holds() {
        let set = vec!["modes.queue.root.a.b=off".into(), "modes.user.ann=off".into()];
        let loaded = load_named(&Sources { file: None, set }).unwrap();
        let [named] = &configured(&loaded)[..] else { panic!("one is named") };
        assert_eq!((named.queue.as_str(), named.place.as_str()), ("root.a.b", "modes.queue (--set)"));
        let hold = |scope: &str| HoldView {
            scope: scope.into(),
            reason: "x".into(),
            by: "local".into(),
            since_ms: 0,
            until_ms: None,
        };
        let named = held(&[hold("cluster"), hold("queue:etl"), hold("user:ann")]);
        assert_eq!(named, [Named { queue: "etl".into(), place: "the hold by local".into() }]);
    }
}
