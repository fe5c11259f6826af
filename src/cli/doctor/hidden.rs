//! Applications that the ResourceManager shows to their owners alone: it lists no others, and says so nowhere.

use super::Checks;
use crate::yarn::poll::Clients;

const NAME: &str = "hidden applications";
const FIX: &str = "the ResourceManager shows applications to those alone who may view them (yarn.webapp.filter-entity-list-by-user, \
     yarn.resourcemanager.display.per-user-apps): name in cluster.user one who may view them all, as one of yarn.admin.acl. Of the others Drover knows nothing";

/// Counts them: the ResourceManager counts them all, for whomever it lists them.
pub async fn check(clients: &Clients, checks: &mut Checks) {
    let listed = async || clients.rm.apps(None).await.ok().map(|told| told.what.len() as u64);
    // One that starts or ends meanwhile is in one of two listings.
    let before = listed().await;
    // Where it does not count them, nothing is known.
    let running = clients.rm.running().await.ok().and_then(|told| told.what);
    if let (Some(before), Some(running), Some(after)) = (before, running, listed().await) {
        compare(before.max(after), running, checks);
    }
}

fn compare(listed: u64, running: u64, checks: &mut Checks) {
    if listed < running {
        checks.warn(NAME, format!("{running} MapReduce applications run, and {listed} of them are listed"), FIX);
    }
}

#[cfg(test)]
mod tests {
    use super::super::Verdict;
    use super::*;
    use crate::yarn::facts::{Refused, cluster::counted};
    use crate::yarn::wire::decode;

    #[test]
    fn fewer_that_are_listed_than_run_are_warned_of_and_more_that_end_meanwhile_are_not() {
        let of = |listed, running| {
            let mut checks = Checks::default();
            compare(listed, running, &mut checks);
            checks.0.pop().map(|check| (check.verdict, check.says))
        };
        let says = "7 MapReduce applications run, and 2 of them are listed".to_owned();
        assert_eq!([of(2, 7), of(7, 7), of(8, 7)], [Some((Verdict::Warn, says)), None, None]);
    }

    #[test]
    fn the_resource_managers_count_is_none_where_it_tells_none() {
        let told = |json: &str| counted(&decode(json.as_bytes()).unwrap(), &mut Refused::default());
        let item = r#"{"appStatInfo":{"statItem":[{"state":"RUNNING","type":"mapreduce","count":7}]}}"#;
        assert_eq!(told(item), Some(7));
        assert_eq!([r#"{"appStatInfo":{}}"#, r#"{"appStatInfo":{"statItem":[{"count":"x"}]}}"#].map(told), [None; 2]);
    }
}
