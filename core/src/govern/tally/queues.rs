//! What queues have left, by what the ResourceManager told of them and what has come and gone since.

use crate::model::{QueueFact, QueueShare, QueueUser};
use std::collections::BTreeMap;

/// What has become of a queue since.
#[derive(Debug, Default)]
pub(super) struct Since {
    /// Memory taken (positive) or given back (negative), MiB, by user.
    pub(super) of_user: BTreeMap<String, i64>,
    /// The same by the label of the nodes that it went to, the empty one for those without.
    pub(super) of_label: BTreeMap<String, i64>,
    /// Of the containers that were waited for those given, as [`super::Tally::given`], by the label that they were asked for with.
    pub(super) given: BTreeMap<String, u32>,
}

/// A share of a cluster's memory, MiB.
fn of_cluster(cluster_mb: u64, share: f32) -> u64 {
    (cluster_mb as f64 * f64::from(share.max(0.0))) as u64
}

/// Containers that were waited for with that label and have been given since.
pub(super) fn given_of(label: &str, since: Option<&Since>) -> u32 {
    since.and_then(|since| since.given.get(label)).copied().unwrap_or(0)
}

/// Memory that a queue's attempts have taken since, MiB: on nodes with a label, with an empty one on those without or, where the scheduler does not go by labels, on all.
pub(super) fn more_of(label: &str, since: Option<&Since>) -> i64 {
    since.and_then(|since| since.of_label.get(label)).copied().unwrap_or(0)
}

/// What a queue may use of so much and does not, where it has taken so much more since, MiB; no more than its parents leave it.
pub(super) fn unused(share: &QueueShare, cluster_mb: u64, more: i64) -> u64 {
    let used = of_cluster(cluster_mb, share.used_capacity).max(share.used_mb).saturating_add_signed(more);
    let left = of_cluster(cluster_mb, share.max_capacity).saturating_sub(used);
    let parents = share.parents_left.map_or(u64::MAX, |left| of_cluster(cluster_mb, left));
    left.min(parents.saturating_add_signed(more.saturating_neg()))
}

/// The same of the nodes with a label for one of its users, where the queue's share of these is told.
pub(super) fn left_by_label(queue: &QueueFact, user: &str, label: &str, total_mb: u64, since: Option<&Since>) -> u64 {
    let Some(share) = queue.by_label.get(label).filter(|_| total_mb > 0) else { return u64::MAX };
    let used = share.users_mb.get(user).copied().unwrap_or(0);
    unused(share, total_mb, more_of(label, since)).min(most_of_user(share, total_mb).saturating_sub(used))
}

/// Containers of that size that may be given to those who wait in a queue: each is a user's, where its users are told, and not of all nodes together.
pub(super) fn containers_left(
    queue: &QueueFact,
    size_mb: u64,
    cluster_mb: u64,
    by_label: bool,
    since: Option<&Since>,
) -> u32 {
    let of_queue = unused(&queue.share(), cluster_mb, more_of("", since)).div_ceil(size_mb);
    let of_user = |user: &QueueUser| left_to_user(queue, user, size_mb, cluster_mb, since).div_ceil(size_mb);
    let of_users = queue.users.iter().map(of_user).fold(0_u64, u64::saturating_add);
    let left = if queue.users.is_empty() || by_label { of_queue } else { of_queue.min(of_users) };
    left.min(u32::MAX.into()) as u32
}

/// What a user may still take of a queue for containers of that size, MiB.
pub(super) fn left_in_queue(
    queue: &QueueFact,
    user: &str,
    size_mb: u64,
    cluster_mb: u64,
    since: Option<&Since>,
) -> u64 {
    let left = unused(&queue.share(), cluster_mb, more_of("", since));
    match queue.users.iter().find(|known| known.user == user) {
        Some(known) => left.min(left_to_user(queue, known, size_mb, cluster_mb, since)),
        None => left.min(most_of_user(&queue.share(), cluster_mb)),
    }
}

/// What any one user may have of a queue, MiB.
fn most_of_user(share: &QueueShare, cluster_mb: u64) -> u64 {
    share.user_capacity.map_or(u64::MAX, |share| of_cluster(cluster_mb, share))
}

/// What a queue's user may still take by what users may, MiB. Hadoop's scheduler refuses a container only to a user who is above the limit already, and where a queue uses more than it is
/// promised, the limit is told as what is used and a little: it moves along (UsersManager.computeUserLimit).
fn left_to_user(queue: &QueueFact, user: &QueueUser, size_mb: u64, cluster_mb: u64, since: Option<&Since>) -> u64 {
    // A limit that moves along with what is used has moved, too, where more is.
    let back = since.and_then(|since| since.of_user.get(&user.user)).copied().unwrap_or(0).min(0);
    let used = user.used_mb.saturating_add_signed(back);
    if used > user.limit_mb {
        return 0;
    }
    let left = most_of_user(&queue.share(), cluster_mb).saturating_sub(used);
    let may_have_all = queue.user_share.is_some_and(|share| share >= 1.0);
    if may_have_all { left } else { left.min((user.limit_mb - used).max(size_mb)) }
}
