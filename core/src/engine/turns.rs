//! Whose proposal gets its place first.

use super::proposal::Proposal;
use crate::govern::in_flight::InFlight;
use crate::model::ClusterState;
use crate::policy::Budget;
use std::collections::BTreeMap;

/// Puts proposals in the order in which they get their places in the budgets: clones first, as a phase's are worth most while it is young, and were promised to it. Then the
/// most urgent, but each user's before anybody's next, those in flight counted: how urgent one is rests on what jobs claim, and nobody's claims are to take what another's need.
pub(super) fn in_turn(mut all: Vec<Proposal>, cluster: &ClusterState, copies: &InFlight) -> Vec<Proposal> {
    let is_copy = |proposal: &Proposal| proposal.judged.budget == Budget::Copies;
    all.sort_by(|a, b| {
        let by_rank = b.judged.rank.total_cmp(&a.judged.rank);
        is_copy(a).cmp(&is_copy(b)).then(by_rank).then(a.judged.task.cmp(&b.judged.task))
    });
    let mut next: BTreeMap<&str, u32> = BTreeMap::new();
    let mut turn = |proposal: &Proposal| {
        let user = cluster.job(proposal.judged.task.job).map_or("", |job| &*job.user);
        let next = next.entry(user).or_insert_with(|| copies.beside_clones_of_user(user));
        *next = next.saturating_add(1);
        *next
    };
    let turns = all.iter().map(|proposal| if is_copy(proposal) { turn(proposal) } else { 0 }).collect::<Vec<_>>();
    let mut by_turn: Vec<_> = turns.into_iter().zip(all).collect();
    by_turn.sort_by_key(|(turn, _)| *turn);
    by_turn.into_iter().map(|(_, proposal)| proposal).collect()
}
