//! Counted over the whole cluster.

use super::*;
use crate::govern::flight::tests::{JOB, attempt, cluster, decision, job, map};
use crate::model::{AttemptState, Mode, QueueShare, QueueUser, Resources};
use crate::policy::Budget;
use AttemptState::{Killed, Running};

/// When the ResourceManager has told of all there is.
const TOLD: u64 = 50_000;

fn told(mut job: Job) -> ClusterState {
    job.heard = Time(TOLD + 5_000);
    let mut cluster = cluster([job]);
    (cluster.totals_told, cluster.nodes_told, cluster.queues_told) = (Time(TOLD), Time(TOLD), Time(TOLD));
    cluster
}

fn since(job: Job) -> i64 {
    let tally = Tally::count(&told(job), &Flights::default());
    more_of("", tally.in_queue.get("etl"))
}

#[test]
fn only_what_came_or_went_after_the_resource_manager_told_of_a_queue_is_not_in_what_it_told() {
    const MB: i64 = 1_024;
    let one = |state, started, finished| {
        let mut job = job();
        attempt(&mut job, map(0).attempt(0), state, started, finished);
        since(job)
    };
    assert_eq!([TOLD - 1, TOLD, TOLD + 1].map(|started| one(Running, started, 0)), [0, 0, MB]);
    assert_eq!([TOLD - 1, TOLD, TOLD + 1].map(|finished| one(Killed, 1_000, finished)), [0, 0, -MB]);
    assert_eq!(one(Killed, TOLD + 1, TOLD + 2), 0);
}

#[test]
fn a_time_that_lies_ahead_of_when_its_job_was_heard_takes_and_gives_no_room() {
    let one = |state, started, finished| {
        let mut job = job();
        attempt(&mut job, map(0).attempt(0), state, started, finished);
        since(job)
    };
    let ahead = [15_000, 15_001, 31_536_000_000].map(|ahead| TOLD + ahead);
    assert_eq!(ahead.map(|started| one(Running, started, 0)), [1_024, 0, 0], "heard five seconds after it was told");
    assert_eq!(ahead.map(|finished| one(Killed, 1_000, finished)), [-1_024, 0, 0]);
}

#[test]
fn a_job_gives_back_no_more_than_the_resource_manager_had_given_it() {
    let back = |memory_mb| {
        let mut job = job();
        for index in 0..4 {
            attempt(&mut job, map(index).attempt(0), Killed, 1_000, TOLD + 1);
        }
        let mut cluster = told(job);
        cluster.held_most.insert(JOB.0, [Resources { memory_mb, vcores: 9 }; 2]);
        let tally = Tally::count(&cluster, &Flights::default());
        more_of("", tally.in_queue.get("etl"))
    };
    assert_eq!([5_120, 2_560, 0].map(back), [-4_096, -2_560, -4_096], "of none nothing is told");
}

#[test]
fn containers_that_were_waited_for_are_those_given_since_to_maps_first_attempts_of_jobs_that_ran_then() {
    let given = |job_started: u64, started: u64| {
        let mut job = job();
        job.started.earliest(Some(Time(job_started)));
        for task in [map(0), JOB.task(TaskKind::Reduce, 0)] {
            attempt(&mut job, task.attempt(0), Running, started, 0);
            attempt(&mut job, task.attempt(1), Running, TOLD + 9, 0);
        }
        Tally::count(&told(job), &Flights::default()).given
    };
    assert_eq!([TOLD - 1, TOLD, TOLD + 1].map(|started| given(1_000, started)), [0, 0, 1]);
    assert_eq!([TOLD - 1, TOLD, TOLD + 1].map(|job| given(job, TOLD + 5)), [1, 0, 0]);
}

#[test]
fn hadoops_own_copies_are_tasks_with_more_than_one_attempt_that_no_flight_counts() {
    let mut job = job();
    for index in 0..3 {
        attempt(&mut job, map(index).attempt(0), Running, 1_000, 0);
    }
    for index in 0..2 {
        attempt(&mut job, map(index).attempt(1), Running, 12_000, 0);
    }
    let mut flights = Flights::default();
    flights.add(&decision(1, map(0), Mode::Act), Budget::Copies, &job, 0);
    let tally = Tally::count(&told(job), &flights);
    assert_eq!(TaskKind::ALL.map(|kind| tally.native_in(JOB, kind)), [1, 0]);
    assert_eq!((tally.copies.cluster, tally.copies.of_user("alice")), (2, 2));
}

/// What a user of a queue may still take who uses so much, with a limit of 4,096 MiB and no other.
fn left(used_mb: u64) -> u64 {
    let user = QueueUser { user: "alice".into(), used_mb, limit_mb: 4_096 };
    let queue = QueueFact { users: vec![user], ..QueueFact::open("etl") };
    left_in_queue(&queue, "alice", 1_024, 100_000, None)
}

#[test]
fn what_a_queue_at_its_limit_waits_for_takes_no_others_place_and_what_no_queue_tells_of_takes_everybodys() {
    let queue = |name: &str, max_capacity, used_capacity, containers_pending| {
        let of = QueueFact::open(name);
        (name.to_owned(), QueueFact { max_capacity, used_capacity, containers_pending, ..of })
    };
    let total = Resources { memory_mb: 100 * 1_024, vcores: 100 };
    let totals = ClusterFact { total, containers_pending: 20_010, ..ClusterFact::default() };
    let awaited = |queues: &[(String, QueueFact)]| {
        let mut cluster = ClusterState::default();
        cluster.totals = Some(totals);
        cluster.queues = queues.iter().cloned().collect();
        Tally::default().awaited(&cluster, "", 1_024)
    };
    let etl = queue("root.etl", 1.0, 0.1, 10);
    assert_eq!(awaited(&[queue("root.batch", 0.5, 0.5, 20_000), etl.clone()]), 10);
    assert_eq!(awaited(&[queue("root.batch", 0.5, 0.25, 20_000), etl.clone()]), 35, "there is room for 25");
    assert_eq!(awaited(&[queue("root.batch", 0.5, 0.5, 19_000), etl]), 1_010, "a thousand came since");
    assert_eq!(awaited(&[queue("default", 1.0, 0.9, 0)]), 20_010, "a FIFO queue does not tell");
    assert_eq!(awaited(&[]), 20_010, "nothing is known of queues");
}

#[test]
fn what_waits_for_its_users_limit_its_queues_parent_or_its_application_to_be_let_in_takes_no_others_place() {
    let total = Resources { memory_mb: 100 * 1_024, vcores: 100 };
    let totals = ClusterFact { total, containers_pending: 10_000, ..ClusterFact::default() };
    let awaited = |queue: QueueFact| {
        let mut cluster = ClusterState::default();
        cluster.totals = Some(totals);
        cluster.queues = [(queue.name.clone(), queue)].into();
        Tally::default().awaited(&cluster, "", 1_024)
    };
    let batch = QueueFact { used_capacity: 0.2, containers_pending: 10_000, ..QueueFact::open("root.batch") };
    assert_eq!(awaited(batch.clone()), 80);
    let user = |name: &str, used: u64| QueueUser { user: name.into(), used_mb: used * 1_024, limit_mb: 100 * 1_024 };
    let limited = |users: &[QueueUser]| {
        let user_capacity = Some(0.2);
        awaited(QueueFact { user_capacity, user_share: Some(1.0), users: users.to_vec(), ..batch.clone() })
    };
    assert_eq!(limited(&[user("ann", 20)]), 0, "its only user has all that one may have");
    assert_eq!(limited(&[user("ann", 19), user("bob", 1)]), 20, "the one may have one more, the other nineteen");
    assert_eq!(awaited(QueueFact { parents_left: Some(0.05), ..batch.clone() }), 5);
    assert_eq!(awaited(QueueFact { masters_pending: 9_990, ..batch }), 10);
}

#[test]
fn what_has_been_given_of_what_was_waited_for_makes_no_room_for_what_waits_still() {
    // Two maps have begun since, and one has ended: one place of ten is free, and of four that waited two wait.
    let mut job = job();
    job.started.earliest(Some(Time(1_000)));
    for index in 0..2 {
        attempt(&mut job, map(index).attempt(0), Running, TOLD + 5, 0);
    }
    attempt(&mut job, map(2).attempt(0), Killed, 1_000, TOLD + 4);
    let mut cluster = told(job);
    let etl = QueueFact { used_capacity: 0.8, containers_pending: 4, ..QueueFact::open("etl") };
    cluster.queues = [("etl".to_owned(), etl)].into();
    let total = Resources { memory_mb: 10 * 1_024, vcores: 10 };
    cluster.totals = Some(ClusterFact { total, containers_pending: 4, ..ClusterFact::default() });
    let mut tally = Tally::count(&cluster, &Flights::default());
    assert_eq!((tally.given, tally.awaited(&cluster, "", 1_024)), (2, 1), "there is room for one");
    assert_eq!(tally.awaited(&cluster, "", 512), 2, "there is room for both");
}

#[test]
fn a_user_may_take_what_the_limit_leaves_and_one_container_more_unless_above_it_already() {
    assert_eq!([0, 1_096, 3_500, 4_096, 4_097].map(left), [4_096, 3_000, 1_024, 1_024, 0]);
}

/// A cluster of two nodes of ten places, of which the first is without a label and the second `core`'s, which lends or does not, and a queue that has half of either.
fn of_two(job: Job, exclusive: bool) -> ClusterState {
    let mut cluster = told(job);
    let ten = Resources { memory_mb: 10 * 1_024, vcores: 10 };
    for (host, label) in [("a", None), ("b", Some("core"))] {
        let fact = crate::model::NodeFact::usable(host, ten, Resources::default());
        let exclusive = exclusive && label.is_some();
        let fact = crate::model::NodeFact { label: label.map(Into::into), exclusive, ..fact };
        cluster.nodes.insert(fact.host.clone(), fact);
    }
    let share = QueueShare { max_capacity: 0.5, pending_mb: 9 * 1_024, ..QueueShare::default() };
    let etl = QueueFact { max_capacity: 0.5, containers_pending: 20, ..QueueFact::open("etl") };
    let etl = QueueFact { partition: Some(String::new()), by_label: [("core".to_owned(), share)].into(), ..etl };
    cluster.queues = [("etl".to_owned(), etl)].into();
    cluster.totals = Some(ClusterFact { total: ten, containers_pending: 20, ..ClusterFact::default() });
    cluster
}

#[test]
fn what_waits_for_other_nodes_takes_no_place_of_those_with_a_label_and_what_asks_for_none_may_be_given_what_is_lent() {
    let awaited = |exclusive, label: &str, size_mb| {
        let cluster = of_two(job(), exclusive);
        Tally::count(&cluster, &Flights::default()).awaited(&cluster, label, size_mb)
    };
    assert_eq!(
        [awaited(true, "", 1_024), awaited(false, "", 1_024)],
        [5, 10],
        "half of ten, and of ten that are lent what core's own leave"
    );
    assert_eq!([awaited(true, "core", 1_024), awaited(true, "core", 4_096)], [5, 2], "of nine, and of three");
    assert_eq!(awaited(true, "ssd", 1_024), 0);
}

#[test]
fn what_is_lent_is_lent_once_however_many_queues_wait_for_it() {
    let mut cluster = of_two(job(), false);
    let etl = cluster.queues["etl"].clone();
    let etl = QueueFact { used_capacity: 0.5, by_label: BTreeMap::new(), ..etl };
    cluster.queues =
        ["a", "b", "c"].map(|name| (name.to_owned(), QueueFact { name: name.into(), ..etl.clone() })).into();
    cluster.totals.as_mut().unwrap().containers_pending = 60;
    assert_eq!(Tally::count(&cluster, &Flights::default()).awaited(&cluster, "", 1_024), 10);
}

#[test]
fn where_no_queue_tells_of_labels_whoever_waits_may_wait_for_the_nodes_that_have_one() {
    let mut cluster = of_two(job(), true);
    cluster.queues.values_mut().for_each(|queue| queue.by_label.clear());
    assert_eq!(Tally::count(&cluster, &Flights::default()).awaited(&cluster, "core", 1_024), 5);
}

#[test]
fn what_has_come_since_is_counted_on_the_nodes_that_it_went_to_whatever_it_asked_for() {
    let mut job = job();
    attempt(&mut job, map(0).attempt(0), Running, TOLD + 5, 0);
    let mut cluster = of_two(job, false);
    let on_b = cluster.hosts.intern("b");
    cluster.job_mut(JOB).unwrap().task_mut(map(0)).unwrap().attempts[0].host = on_b;
    let tally = Tally::count(&cluster, &Flights::default());
    let since = tally.in_queue.get("etl");
    assert_eq!([more_of("", since), more_of("core", since)], [0, 1_024]);
}

#[test]
fn what_a_queue_gives_back_on_other_nodes_is_no_room_on_those_with_a_label() {
    let share = QueueShare { max_capacity: 0.5, used_capacity: 0.25, ..QueueShare::default() };
    let queue = QueueFact { by_label: [("core".to_owned(), share)].into(), ..QueueFact::open("root.q") };
    let left = |of_label: &[(&str, i64)]| {
        let of_label: BTreeMap<String, i64> = of_label.iter().map(|(label, mb)| ((*label).into(), *mb)).collect();
        let since = Since { of_label, ..Since::default() };
        left_by_label(&queue, "ann", "core", 100, Some(&since))
    };
    assert_eq!(
        [left(&[]), left(&[("", -20)]), left(&[("", -20), ("core", 5)]), left(&[("core", -5)])],
        [25, 25, 20, 30]
    );
}
