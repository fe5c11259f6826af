//! Who may have how many copies, and when none.

use crate::common::*;
use drover_core::engine::EngineParams;
use drover_core::govern::GovernParams;
use drover_core::model::*;
use std::collections::BTreeMap;

/// Two jobs of alice's in one queue, one of bob's in another: sixteen maps each, one node in four ten times slower. The script after the pass at ten seconds.
fn three_jobs(govern: GovernParams) -> Script {
    three_jobs_beside(0, govern)
}

/// The same beside a fourth, of alice's in the same queue, of so many maps that Hadoop's own speculator has all copied.
fn three_jobs_beside(native: u32, govern: GovernParams) -> Script {
    let mut script = Script::new(EngineParams { govern, ..EngineParams::default() });
    let jobs = [("alice", "root.etl"), ("alice", "root.etl"), ("bob", "root.adhoc")];
    for (n, (user, queue)) in (1..).zip(jobs) {
        script.open_job_of(user, queue, job_id(n), 16, 0, at(0.0));
    }
    if native > 0 {
        script.open_job_of("alice", "root.etl", job_id(4), native, 0, at(0.0));
    }
    for second in 1..=10 {
        let now = at(f64::from(second));
        for n in 1..=3 {
            let slow = |index: u32| if index % 4 == 1 { 10.0 } else { 1.0 };
            let (tasks, attempts) = equal_maps(job_id(n), 16, 4.0, &slow, f64::from(second), 0);
            script.tasks(job_id(n), now, tasks);
            script.attempts(job_id(n), now, attempts);
        }
        let copied = (0..native).map(|index| job_id(4).task(TaskKind::Map, index));
        let copied = copied.map(|task| runs_of(task, &[Run { launched: 0.0, takes: 100.0 }; 2], f64::from(second)));
        let (tasks, attempts): (Vec<_>, Vec<_>) = copied.unzip();
        if native > 0 {
            script.tasks(job_id(4), now, tasks);
            script.attempts(job_id(4), now, attempts.concat());
        }
        script.decide(now);
    }
    script
}

/// How many tasks of each user have each verdict.
fn verdicts(script: &Script) -> BTreeMap<(String, Verdict), usize> {
    let mut found = BTreeMap::new();
    for job in script.engine.cluster().jobs() {
        for candidate in script.engine.candidates(job.id) {
            *found.entry((job.user.clone(), candidate.verdict)).or_default() += 1;
        }
    }
    found
}

fn count(script: &Script, user: &str, verdict: Verdict) -> usize {
    verdicts(script).get(&(user.to_owned(), verdict)).copied().unwrap_or(0)
}

#[test]
fn a_users_jobs_together_have_no_more_copies_than_the_users_share() {
    let script = three_jobs(GovernParams { user_cap: 0.3, ..GovernParams::default() });
    for (user, refused) in [("alice", 5), ("bob", 1)] {
        let seen = (count(&script, user, Verdict::CopyInFlight), count(&script, user, Verdict::UserCap));
        assert_eq!(seen, (3, refused), "{user}: {:?}", verdicts(&script));
    }
}

#[test]
fn copies_that_hadoop_has_launched_itself_count_for_their_user_and_queue() {
    for govern in [
        GovernParams { user_cap: 0.3, ..GovernParams::default() },
        GovernParams { queue_cap: 0.3, ..GovernParams::default() },
    ] {
        let script = three_jobs_beside(2, govern);
        assert_eq!(count(&script, "alice", Verdict::CopyInFlight), 1, "three are allowed: {:?}", verdicts(&script));
        assert_eq!(count(&script, "bob", Verdict::CopyInFlight), 3);
    }
}

#[test]
fn where_the_clusters_share_is_too_small_for_all_users_take_turns() {
    let few = |cluster_floor| GovernParams { cluster_cap: 0.0, cluster_floor, ..GovernParams::default() };
    for (most, of_alice, of_bob) in [(4, 2, 2), (7, 4, 3), (10, 6, 4)] {
        let script = three_jobs(few(most));
        let copies = ["alice", "bob"].map(|user| count(&script, user, Verdict::CopyInFlight));
        assert_eq!(copies, [of_alice, of_bob], "{most}: {:?}", verdicts(&script));
    }
}

#[test]
fn a_job_has_no_more_native_copies_than_the_resource_manager_gave_it_containers() {
    let mut script = three_jobs_beside(40, GovernParams { cluster_cap: 1.0, ..GovernParams::default() });
    let native = |script: &Script| script.engine.budgets().cluster.0;
    assert_eq!(native(&script), 40 + 12);
    let app = |n: u32| {
        let of = script.engine.cluster().job(job_id(n)).unwrap();
        let (user, queue, name) = (of.user.clone(), of.queue.clone(), of.name.clone());
        let (containers, allocated) = (if n == 4 { 5 } else { 17 }, Resources::default());
        AppFact { app: of.id.0, user, queue, name, started: at(0.0), containers, allocated, label: None }
    };
    let apps = (1..=4).map(app).collect();
    script.say(at(11.0), Fact::Apps(apps));
    assert_eq!(native(&script), 5 + 12);
}

#[test]
fn a_queues_jobs_together_have_no_more_copies_than_the_queues_share() {
    let script = three_jobs(GovernParams { queue_cap: 0.3, ..GovernParams::default() });
    assert_eq!(count(&script, "alice", Verdict::QueueCap), 5, "{:?}", verdicts(&script));
    assert_eq!(count(&script, "bob", Verdict::QueueCap), 1);
}

#[test]
fn even_the_smallest_share_is_one_copy() {
    let script = three_jobs(GovernParams { user_cap: 0.0, ..GovernParams::default() });
    let copies = ["alice", "bob"].map(|user| count(&script, user, Verdict::CopyInFlight));
    assert_eq!(copies, [1, 1]);
}

#[test]
fn a_cluster_fuller_than_copies_may_find_it_gets_none() {
    let mut script = Script::new(EngineParams {
        govern: GovernParams { busy_above: 0.5, ..GovernParams::default() },
        ..EngineParams::default()
    });
    let id = job_id(1);
    script.open_job(id, 16, 0, at(0.0));
    let total = Resources { memory_mb: 8192, vcores: 32 };
    let mut verdict = |used: u64, now: f64| {
        let allocated = Resources { memory_mb: used, vcores: 1 };
        let fact = ClusterFact { total, allocated, active_nodes: 4, ..ClusterFact::default() };
        script.say(at(now), Fact::Cluster(fact));
        let slow = |index: u32| if index == 1 { 10.0 } else { 1.0 };
        let (tasks, attempts) = equal_maps(id, 16, 4.0, &slow, now, 0);
        script.tasks(id, at(now), tasks);
        script.attempts(id, at(now), attempts);
        script.decide(at(now));
        script.engine.candidates(id)[0].verdict
    };
    let fuller = (1..=12).map(|second| verdict(4097, f64::from(second))).last();
    assert_eq!(fuller, Some(Verdict::ClusterBusy));
    assert_eq!(verdict(4096, 13.0), Verdict::Decided);
}

/// Copies decided on for a job of eight maps, two of them slow, that has filled its queue when the ResourceManager tells of its room, the only time: two nodes of four
/// containers each. Two more containers are waited for then, by the job itself, which has since begun with all.
fn after_room_was_told_once(ends: bool) -> Vec<Decision> {
    let id = job_id(1);
    let mut script = Script::new(EngineParams::default());
    script.open_job(id, 8, 0, at(0.0));
    let full = Resources { memory_mb: 512, vcores: 8 };
    let total = Resources { memory_mb: 1024, vcores: 16 };
    let totals =
        ClusterFact { total, allocated: total, active_nodes: 2, containers_pending: 2, ..ClusterFact::default() };
    script.say(at(0.5), Fact::Cluster(totals));
    script.say(at(0.5), Fact::Nodes(vec![NodeFact::usable("nm1", full, full), NodeFact::usable("nm2", full, full)]));
    let user = QueueUser { user: "alice".into(), used_mb: 1024, limit_mb: 1024 };
    let queue = QueueFact {
        used_capacity: 1.0,
        containers_pending: 2,
        user_capacity: Some(1.0),
        user_share: Some(0.5),
        users: vec![user],
        ..QueueFact::open("root.default")
    };
    script.say(at(0.5), Fact::Queues(vec![queue]));
    let slow = |index: u32| if !ends || index % 4 == 1 { 10.0 } else { 1.0 };
    let mut decisions = Vec::new();
    for second in 1..12 {
        let (tasks, mut attempts) = equal_maps(id, 8, 4.0, &slow, f64::from(second), 0);
        for attempt in &mut attempts {
            attempt.host = Some(format!("nm{}", attempt.index % 2 + 1).into());
            // The last two began after the telling.
            let late = attempt.index >= 6;
            attempt.started = Some(at(if late { 0.6 } else { 0.0 }));
        }
        script.tasks(id, at(second.into()), tasks);
        script.attempts(id, at(second.into()), attempts);
        decisions.extend(script.decide_alone(at(second.into())).decisions);
    }
    decisions
}

#[test]
fn room_that_tasks_have_left_since_the_resource_manager_told_of_it_is_seen_at_once() {
    let tasks: Vec<u32> = after_room_was_told_once(true).iter().map(|decision| decision.task.index).collect();
    assert_eq!(tasks, [1, 5]);
    assert_eq!(after_room_was_told_once(false), vec![]);
}

#[test]
fn one_nodes_tasks_together_have_no_more_copies_in_flight_than_a_node_may_cause() {
    let script = three_jobs(GovernParams { node_copies: 5, ..GovernParams::default() });
    let seen = |verdict| count(&script, "alice", verdict) + count(&script, "bob", verdict);
    assert_eq!((seen(Verdict::CopyInFlight), seen(Verdict::NodeCap)), (5, 7), "{:?}", verdicts(&script));
}

#[test]
fn no_more_copies_are_decided_on_in_a_minute_than_may_be_and_the_next_ones_after_it() {
    let mut script = three_jobs(GovernParams { copies_per_minute: Some(5), ..GovernParams::default() });
    let seen = |script: &Script, verdict| count(script, "alice", verdict) + count(script, "bob", verdict);
    assert_eq!(
        (seen(&script, Verdict::CopyInFlight), seen(&script, Verdict::MinuteCap)),
        (5, 7),
        "{:?}",
        verdicts(&script)
    );
    let mut later = Vec::new();
    for second in 11..=75 {
        // They go on slower than before, and do not end.
        for n in 1..=3 {
            let slow = |index: u32| if index % 4 == 1 { 100.0 } else { 1.0 };
            let (tasks, attempts) = equal_maps(job_id(n), 16, 4.0, &slow, f64::from(second), 0);
            script.tasks(job_id(n), at(second.into()), tasks);
            script.attempts(job_id(n), at(second.into()), attempts);
        }
        later.extend(script.decide(at(second.into())).decisions.into_iter().map(|decision| decision.at));
    }
    let first = later.first().copied().unwrap();
    assert!(at(60.0) <= first && first <= at(71.0), "{later:?}");
    assert!(later.iter().filter(|when| when.since(first) < Millis(60_000)).count() <= 5, "{later:?}");
}

#[test]
fn by_default_a_bad_node_is_cured_as_without_budgets_by_node_and_minute() {
    let decided = |govern| {
        let mut script = Script::new(EngineParams { govern, ..EngineParams::default() });
        play(&mut script, 64, 4.0, &one_node_in_four, 40)
    };
    let boundless =
        GovernParams { node_copies: u32::MAX, copies_per_minute: Some(u32::MAX), ..GovernParams::default() };
    let tasks =
        |all: Vec<(u32, Decision)>| all.into_iter().map(|(at, decision)| (at, decision.task)).collect::<Vec<_>>();
    let by_default = tasks(decided(GovernParams::default()));
    assert!(by_default.len() >= 8, "{by_default:?}");
    assert_eq!(by_default, tasks(decided(boundless)));
}

/// The verdicts on the slow tasks of a job of alice's, in a queue of which any user may have so much at most, and each is sure of such a share.
fn with_a_user_limit(most: Option<f32>, share: Option<f32>, users: &[QueueUser]) -> (usize, Vec<Verdict>) {
    let mut script = Script::new(EngineParams::default());
    let queue = QueueFact {
        used_capacity: 0.2,
        user_capacity: most,
        user_share: share,
        users: users.to_vec(),
        ..QueueFact::open("root.default")
    };
    script.say(at(0.0), Fact::Queues(vec![queue]));
    let decided = play(&mut script, 16, 4.0, &one_node_in_four, 20).len();
    (decided, script.engine.candidates(job_id(1)).iter().map(|c| c.verdict).collect())
}

fn user(user: &str, used_mb: u64, limit_mb: u64) -> QueueUser {
    QueueUser { user: user.into(), used_mb, limit_mb }
}

#[test]
fn a_job_that_lacked_room_is_looked_at_when_there_is_more_and_not_when_there_is_as_little() {
    let (id, total) = (job_id(1), Resources { memory_mb: 65_536, vcores: 64 });
    let told = |allocated_mb| {
        let allocated = Resources { memory_mb: allocated_mb, vcores: 16 };
        Fact::Cluster(ClusterFact { total, allocated, active_nodes: 4, ..ClusterFact::default() })
    };
    let govern = GovernParams { busy_above: 0.5, ..GovernParams::default() };
    let mut script = Script::new(EngineParams { govern, ..EngineParams::default() });
    script.open_job(id, 16, 0, at(0.0));
    script.say(at(0.0), told(40_000));
    let news = (0..20).map(|second| (at(second.into()), equal_maps(id, 16, 4.0, &one_node_in_four, second.into(), 0)));
    for (now, (tasks, attempts)) in news {
        script.tasks(id, now, tasks);
        script.attempts(id, now, attempts);
        assert_eq!(script.decide(now).decisions.len(), 0);
    }
    let verdicts = script.engine.candidates(id).into_iter().map(|c| c.verdict).collect::<Vec<_>>();
    assert_eq!(verdicts, [Verdict::ClusterBusy; 4]);
    script.say(at(19.0) + Millis(100), told(40_000));
    assert_eq!(script.decide(at(19.0) + Millis(200)).jobs_evaluated, 0);
    script.say(at(19.0) + Millis(300), told(20_000));
    let pass = script.decide(at(19.0) + Millis(400));
    assert_eq!((pass.jobs_evaluated, pass.decisions.len()), (1, 4));
}

#[test]
fn a_user_above_its_limit_has_no_headroom_though_queue_and_cluster_have() {
    let (decided, verdicts) = with_a_user_limit(None, None, &[user("bob", 0, 2048), user("alice", 2049, 2048)]);
    assert_eq!((decided, verdicts), (0, vec![Verdict::NoHeadroom; 4]));
    let (decided, _) = with_a_user_limit(None, None, &[user("bob", 2048, 2048), user("alice", 1024, 2048)]);
    assert_eq!(decided, 4);
    let (decided, _) = with_a_user_limit(Some(0.0), None, &[user("bob", 0, 2048)]);
    assert_eq!(decided, 0, "a user that is not listed has what any one may use");
}

#[test]
fn a_limit_that_moves_along_with_what_is_used_leaves_room() {
    // As recorded of Hadoop 3.4.3: a queue beyond its promised share tells of what is used and the smallest container.
    let moving = [user("alice", 2048, 2048 + 64)];
    assert_eq!(with_a_user_limit(Some(1.0), Some(1.0), &moving).0, 4, "each user may have the whole queue");
    let (decided, _) = with_a_user_limit(Some(1.0), Some(0.25), &moving);
    assert!(decided > 0, "the scheduler gives a container to whoever is not above the limit");
    assert_eq!(with_a_user_limit(Some(0.25), Some(1.0), &moving).0, 0, "but never more than a user may have in all");
}
