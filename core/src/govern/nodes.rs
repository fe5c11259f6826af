//! Hosts on which copies keep coming to nothing are avoided for a while.

use super::GovernParams;
use crate::model::{CopyOutcome, Name, NameId, Names, Time};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Hosts of all users that are remembered; for another one whoever has most of them gives one up.
const HOSTS_MAX: usize = 4_096;

/// How copies have fared by the host they ran on, for every user: what one user's jobs claim decides about that user's jobs alone.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct NodeRests {
    by_user: BTreeMap<String, BTreeMap<NameId, Row>>,
}

/// The same without the numbers that hosts have in one process alone: what outlasts it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct NamedRests(Vec<(String, Name, Row)>);

/// Copies on one host that came to nothing one after the other, and when the last of them did, the service's clock.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
struct Row {
    futile: u32,
    last: Time,
}

impl NodeRests {
    /// Counts the end of copies of a user's, of which the winner, or each that lost or died, ran on one of these hosts, none named twice.
    pub fn count(&mut self, end: &CopyOutcome, user: &str, hosts: &[NameId], now: Time) {
        if !end.telling {
            return;
        }
        for host in hosts {
            match end.end.won() {
                Some(true) => self.clear(user, *host),
                Some(false) => self.add(user, *host, now),
                None => {}
            }
        }
    }

    fn add(&mut self, user: &str, host: NameId, now: Time) {
        let known = self.by_user.get(user).is_some_and(|hosts| hosts.contains_key(&host));
        if !known && self.by_user.values().map(BTreeMap::len).sum::<usize>() >= HOSTS_MAX {
            self.give_one_up();
        }
        let hosts = self.by_user.entry(user.to_owned()).or_default();
        let row = hosts.entry(host).or_insert(Row { futile: 0, last: now });
        *row = Row { futile: row.futile + 1, last: now };
    }

    /// What is longest ago of the user with most hosts.
    fn give_one_up(&mut self) {
        let most = self.by_user.values_mut().max_by_key(|hosts| hosts.len());
        if let Some(hosts) = most
            && let Some(oldest) = hosts.iter().min_by_key(|(_, row)| row.last).map(|(host, _)| *host)
        {
            hosts.remove(&oldest);
        }
    }

    fn clear(&mut self, user: &str, host: NameId) {
        if let Some(hosts) = self.by_user.get_mut(user) {
            hosts.remove(&host);
        }
    }

    /// Forgets what is longer ago than a host rests. A clock that was set back makes that no longer.
    pub fn roll(&mut self, params: &GovernParams, now: Time) {
        self.by_user.retain(|_, hosts| {
            hosts.retain(|_, row| {
                row.last = row.last.min(now);
                now < row.last + params.node_cool_down
            });
            !hosts.is_empty()
        });
    }

    /// With hosts by their names.
    pub fn named(&self, names: &Names) -> NamedRests {
        let all = self.by_user.iter().flat_map(|(user, hosts)| hosts.iter().map(move |(host, row)| (user, host, row)));
        NamedRests(all.filter_map(|(user, host, row)| Some((user.clone(), names.shared(*host)?, *row))).collect())
    }

    /// Goes on from those, whose hosts get new numbers.
    pub fn resume(&mut self, NamedRests(told): NamedRests, names: &mut Names) {
        self.by_user.clear();
        for (user, host, row) in told.into_iter().take(HOSTS_MAX) {
            if let Some(host) = names.intern(&host) {
                self.by_user.entry(user).or_default().insert(host, row);
            }
        }
    }

    /// Hosts that copies are kept off, each counted once for each user whose copies are.
    pub fn count_resting(&self, params: &GovernParams) -> usize {
        self.by_user.keys().map(|user| self.resting(user, params).count()).sum()
    }

    /// Hosts that a user's copies are kept off, in order of their numbers.
    pub fn resting(&self, user: &str, params: &GovernParams) -> impl Iterator<Item = NameId> {
        let least = params.node_futile_copies;
        let hosts = self.by_user.get(user).into_iter().flatten();
        hosts.filter(move |(_, row)| row.futile >= least).map(|(host, _)| *host)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::govern::breaker::tests::outcome;
    use crate::model::{CopyEnd, Millis, Names};
    use CopyEnd::{Died, Lost, Refused, Unknown, Won};

    fn params() -> GovernParams {
        GovernParams { node_futile_copies: 2, node_cool_down: Millis(60_000), ..GovernParams::default() }
    }

    fn hosts() -> [NameId; 2] {
        let mut names = Names::default();
        ["n1", "n2"].map(|name| names.intern(name).unwrap())
    }

    /// Does the first host rest for ada after copies on it that ended so, at those seconds, and at that second?
    fn rests(ends: &[(CopyEnd, u64)], then: u64) -> bool {
        let (mut rests, [host, other]) = (NodeRests::default(), hosts());
        for (end, second) in ends {
            rests.roll(&params(), Time(second * 1_000));
            rests.count(&outcome(1, *end), "ada", &[host], Time(second * 1_000));
        }
        rests.roll(&params(), Time(then * 1_000));
        let resting = |user| rests.resting(user, &params()).collect::<Vec<_>>();
        assert!(resting("bob").is_empty() && !resting("ada").contains(&other));
        resting("ada") == [host]
    }

    #[test]
    fn one_users_hosts_leave_room_for_anothers() {
        let (mut rests, mut names) = (NodeRests::default(), Names::default());
        let mut host = |n: usize| names.intern(&format!("h{n}")).unwrap();
        for n in 0..HOSTS_MAX + 2 {
            rests.count(&outcome(1, Lost), "bob", &[host(n)], Time(n as u64));
        }
        let shared = host(HOSTS_MAX);
        for second in [1, 2] {
            rests.count(&outcome(1, Lost), "ada", &[shared], Time(10_000 * second));
        }
        assert_eq!(rests.resting("ada", &params()).collect::<Vec<_>>(), [shared]);
        let of_bob = rests.by_user["bob"].len();
        assert_eq!(
            (of_bob, rests.by_user["bob"].contains_key(&host(0))),
            (HOSTS_MAX - 1, false),
            "the oldest are gone"
        );
    }

    #[test]
    fn a_host_rests_once_so_many_copies_in_a_row_have_lost_or_died_on_it_and_for_its_time() {
        assert!(!rests(&[(Lost, 1)], 1));
        assert!(rests(&[(Lost, 1), (Died, 2)], 2));
        assert_eq!([61, 62].map(|then| rests(&[(Lost, 1), (Died, 2)], then)), [true, false]);
        assert!(!rests(&[(Lost, 1), (Won, 2), (Lost, 3)], 3), "a win ends the row");
        assert!(rests(&[(Lost, 1), (Refused, 2), (Unknown, 2), (Lost, 3)], 3), "what never ran there says nothing");
        assert!(!rests(&[(Lost, 1), (Lost, 61)], 61), "they are too far apart");
        assert!(!rests(&[(Lost, 100), (Lost, 101), (Unknown, 1)], 61), "the clock was set back by 100 s");
    }

    #[test]
    fn clones_and_what_ends_with_its_master_say_nothing_of_a_host() {
        let (mut rests, [host, _]) = (NodeRests::default(), hosts());
        for _ in 0..9 {
            rests.count(&CopyOutcome { telling: false, ..outcome(1, Lost) }, "ada", &[host], Time(1));
        }
        assert_eq!(rests, NodeRests::default());
    }

    #[test]
    fn no_more_hosts_are_remembered_than_may_be_and_the_known_count_on() {
        let (mut rests, mut names) = (NodeRests::default(), Names::default());
        let all: Vec<NameId> = (0..HOSTS_MAX + 1).map(|n| names.intern(&format!("n{n}")).unwrap()).collect();
        rests.count(&outcome(1, Lost), "ada", &all, Time(1));
        rests.count(&outcome(1, Lost), "ada", &[all[1]], Time(1));
        assert_eq!(rests.by_user["ada"].len(), HOSTS_MAX);
        assert_eq!(rests.resting("ada", &params()).collect::<Vec<_>>(), [all[1]]);
    }
}
