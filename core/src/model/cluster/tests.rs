use super::apply::{JOBS_MAX, name};
use super::*;
use crate::model::{AppAttemptId, Capabilities, JobPhase, Source, TaskKind, TaskState};

fn job_id(number: u32) -> JobId {
    format!("job_1_{number:04}").parse().unwrap()
}

/// An observation of a job's master, or of the RM.
fn seen(channel: Channel, seq: u64, received: u64, fact: Fact) -> Observation {
    let app = fact.job().filter(|_| channel != Channel::Rm).map(|job| job.0);
    let source = Source { channel, app, principal: None, incarnation: 1 };
    Observation { source, seq, at: Time(received + 500), received: Time(received), fact }
}

fn tasks(job: JobId) -> Fact {
    Fact::Tasks { job, complete: true, tasks: vec![TaskFact::of(job.task(TaskKind::Map, 0))] }
}

fn hold(scope: Scope, until: Option<u64>) -> Hold {
    Hold { scope, reason: "look".into(), by: "ann".into(), since: Time(1), until: until.map(Time) }
}

/// A cluster with one job of Ann's, in the queue that its own word and the RM's call this.
fn cluster(queue: &str) -> ClusterState {
    let mut cluster = ClusterState::default();
    cluster.apply(&seen(Channel::Am, 1, 10, tasks(job_id(1)))).unwrap();
    let job = cluster.job_mut(job_id(1)).unwrap();
    (job.user, job.queue) = ("ann".into(), queue.into());
    cluster
}

#[test]
fn a_hold_covers_its_queue_by_either_name_its_user_its_job_or_all_and_until_its_end() {
    let holds_in = |of_job: &str, scope: Scope| {
        let mut cluster = cluster(of_job);
        cluster.apply(&seen(Channel::Rm, 1, 5, Fact::Held(hold(scope, Some(100))))).unwrap();
        [99, 100].map(|now| cluster.hold_of(cluster.job(job_id(1)).unwrap(), Time(now)).is_some())
    };
    let holds = |scope| holds_in("root.prod", scope);
    let queue = |name: &str| Scope::Queue(name.into());
    assert_eq!(holds_in("prod", queue("root.prod")), [true, false], "told by the last part of it");
    for scope in [Scope::Cluster, queue("root.prod"), queue("prod"), Scope::User("ann".into()), Scope::Job(job_id(1))] {
        assert_eq!(holds(scope.clone()), [true, false], "{scope:?}");
    }
    for scope in [queue("root"), queue("root.test"), Scope::User("bob".into()), Scope::Job(job_id(2))] {
        assert_eq!(holds(scope.clone()), [false, false], "{scope:?}");
    }
}

#[test]
fn what_the_rm_has_said_of_owner_and_queue_stands_also_while_a_listing_lacks_the_job_or_names_none() {
    let mut cluster = ClusterState::default();
    let said = |queue: &str| {
        let attempt = AppAttemptId { app: job_id(1).0, number: 1 };
        let (name, user, queue) = (String::new(), "ann".to_owned(), queue.to_owned());
        let state = Some(JobPhase::Running);
        Fact::Job(JobFact {
            job: job_id(1),
            attempt,
            name,
            user,
            queue,
            state,
            started: Time(1),
            maps: 1,
            reduces: 0,
            uber: false,
        })
    };
    let listed = |queue: &str| {
        let (user, queue, allocated) = ("ann".to_owned(), queue.to_owned(), Resources::default());
        let (name, app) = (String::new(), job_id(1).0);
        Fact::Apps(vec![AppFact { app, user, queue, name, started: Time(1), containers: 1, allocated, label: None }])
    };
    let facts = [said("default"), listed("root.prod"), Fact::Apps(Vec::new()), said("default"), listed("")];
    let queues: Vec<String> = (1..)
        .zip(facts)
        .map(|(seq, fact)| {
            let channel = if matches!(fact, Fact::Apps(_)) { Channel::Rm } else { Channel::Am };
            cluster.apply(&seen(channel, seq, 10 * seq, fact)).unwrap();
            cluster.job(job_id(1)).unwrap().queue.clone()
        })
        .collect();
    assert_eq!(queues, ["default", "root.prod", "root.prod", "root.prod", "root.prod"]);
}

#[test]
fn what_an_application_held_as_nodes_were_told_is_known_until_they_are_told_again_and_so_of_queues() {
    let mut cluster = ClusterState::default();
    let mut at = 0;
    let mut tell = |fact| {
        at += 10;
        cluster.apply(&seen(Channel::Rm, at, at, fact)).unwrap();
        cluster.held_most.values().map(|held| held.map(|held| held.memory_mb)).collect::<Vec<_>>()
    };
    let apps = |memory_mb| {
        let [user, queue, name] = ["alice", "q", "j"].map(str::to_owned);
        let (app, allocated) = (job_id(1).0, Resources { memory_mb, vcores: 1 });
        Fact::Apps(vec![AppFact { app, user, queue, name, started: Time(1), containers: 1, allocated, label: None }])
    };
    let (nodes, queues) = (|| Fact::Nodes(Vec::new()), || Fact::Queues(Vec::new()));
    assert_eq!(tell(apps(100)), [[100, 100]]);
    assert_eq!([tell(nodes()), tell(queues())], [[[100, 100]], [[100, 100]]], "as they were told");
    assert_eq!([tell(apps(20)), tell(apps(10))], [[[100, 100]], [[100, 100]]]);
    assert_eq!([tell(nodes()), tell(apps(30))], [[[10, 100]], [[30, 100]]]);
    assert_eq!([tell(queues()), tell(apps(5))], [[[30, 30]], [[30, 30]]]);
    assert_eq!(tell(Fact::Apps(Vec::new())), [[0; 2]; 0]);
}

#[test]
fn a_hold_whose_end_has_come_is_forgotten_with_the_next() {
    let mut cluster = ClusterState::default();
    let users = ["ann", "bob", "cay"].map(|user| Scope::User(user.into()));
    for (seq, (user, received)) in users.iter().zip([5, 99, 100]).enumerate() {
        let until = (seq == 0).then_some(100);
        cluster.apply(&seen(Channel::Rm, seq as u64 + 1, received, Fact::Held(hold(user.clone(), until)))).unwrap();
        assert_eq!(cluster.holds.contains_key(&users[0]), received < 100, "at {received}");
    }
}

#[test]
fn a_jobs_queue_is_found_by_its_path_or_by_the_last_part_of_it() {
    let queue = QueueFact::open;
    for (of_job, found) in [("root.a.x", Some("root.a.x")), ("x", Some("root.a.x")), ("a", None), ("y", Some("y"))] {
        let mut cluster = cluster(of_job);
        let queues = Fact::Queues(vec![queue("y"), queue("root.a.x"), queue("root.b.z")]);
        cluster.apply(&seen(Channel::Rm, 1, 5, queues)).unwrap();
        let job = cluster.job(job_id(1)).unwrap();
        assert_eq!(cluster.queue_of(job).map(|queue| queue.name.as_str()), found, "{of_job}");
    }
}

#[test]
fn news_is_of_tasks_alone_and_the_newest_sets_the_jobs_clock() {
    let mut cluster = cluster("q");
    let job = |cluster: &ClusterState| {
        let job = cluster.job(job_id(1)).unwrap();
        (job.heard, job.clock_offset_ms)
    };
    assert_eq!((job(&cluster), cluster.job_count()), ((Time(10), 500), 1));
    cluster.apply(&seen(Channel::Am, 2, 20, Fact::ShimSession(job_id(1), true))).unwrap();
    assert_eq!(job(&cluster), (Time(10), 500), "that a session is open says nothing of tasks");
    let skewed = Observation { at: Time(7), ..seen(Channel::Shim, 3, 10, tasks(job_id(1))) };
    cluster.apply(&skewed).unwrap();
    assert_eq!(job(&cluster), (Time(10), -3), "of two at one instant the later told");
    cluster.apply(&seen(Channel::Shim, 4, 9, tasks(job_id(1)))).unwrap();
    assert_eq!(job(&cluster), (Time(10), -3), "older news");
}

#[test]
fn a_job_that_hides_its_tasks_does_so_until_they_are_told() {
    let mut cluster = cluster("q");
    let hidden = [Fact::Hidden(job_id(1)), tasks(job_id(1))].map(|fact| {
        let seq = 2 + u64::from(matches!(fact, Fact::Tasks { .. }));
        cluster.apply(&seen(Channel::Am, seq, 20, fact)).unwrap();
        cluster.job(job_id(1)).unwrap().hidden
    });
    assert_eq!(hidden, [true, false]);
}

#[test]
fn what_can_be_done_over_rest_counts_only_where_no_shim_says_what_can() {
    let (id, mut cluster, mut seq) = (job_id(1), cluster("q"), 1);
    let mut can = |channel, fact| {
        seq += 1;
        cluster.apply(&seen(channel, seq, 20, fact)).unwrap();
        let can = cluster.job(id).unwrap().can;
        (can.duplicate, can.restart)
    };
    let by_rest = || Fact::Can(id, Capabilities { restart: true, ..Capabilities::NONE });
    let by_shim = Fact::Can(id, Capabilities { duplicate: true, ..Capabilities::NONE });
    assert_eq!(can(Channel::Am, by_rest()), (false, true));
    can(Channel::Shim, Fact::ShimSession(id, true));
    assert_eq!(can(Channel::Shim, by_shim), (true, false));
    assert_eq!(can(Channel::Am, by_rest()), (true, false), "a listing that was under way");
    assert_eq!(can(Channel::Shim, Fact::ShimSession(id, false)), (false, false));
    assert_eq!(can(Channel::Am, by_rest()), (false, true));
}

#[test]
fn a_listing_that_was_under_way_as_a_shim_began_to_speak_undoes_no_end_that_the_shim_told() {
    use crate::model::TaskState::{Running, Succeeded};
    let id = job_id(1);
    let says = |state| {
        let task = TaskFact { state: Some(state), ..TaskFact::of(id.task(TaskKind::Map, 0)) };
        Fact::Tasks { job: id, complete: true, tasks: vec![task] }
    };
    let session = |open| (Channel::Shim, 30, Fact::ShimSession(id, open));
    let (listed, told) = ((Channel::Am, 40, says(Running)), (Channel::Shim, 35, says(Succeeded)));
    let needs = (Channel::Am, 50, Fact::Needs { job: id, maps: 9, reduces: 0, native_copies: 0 });
    // The listing comes before the shim's first word, between that and its session's start, or after both.
    for order in [
        [listed.clone(), session(true), told.clone()],
        [session(true), listed.clone(), told.clone()],
        [session(true), told, listed.clone()],
    ] {
        let mut cluster = cluster("q");
        let mut seq = 1;
        let mut apply = |(channel, at, fact)| {
            seq += 1;
            cluster.apply(&seen(channel, seq, at, fact)).unwrap();
            let job = cluster.job(id).unwrap();
            (job.task(id.task(TaskKind::Map, 0)).unwrap().state, job.heard, job.needs)
        };
        let state = order.into_iter().map(&mut apply).last().unwrap().0;
        assert_eq!(state, Succeeded);
        let (before, after) = (apply(session(true)), apply(needs.clone()));
        assert_eq!(before, after, "nor is it news of the shim's");
        apply(session(false));
        assert_eq!(apply((Channel::Am, 60, says(Running))), (Running, Time(60), [0, 0]), "nobody else speaks");
    }
}

#[test]
fn a_job_is_complete_by_the_sources_that_still_speak_for_it_and_for_as_many_tasks_as_they_have_listed() {
    let (id, mut cluster) = (job_id(1), ClusterState::default());
    let mut seq = 0;
    let mut complete = |channel, fact| {
        seq += 1;
        cluster.apply(&seen(channel, seq, seq, fact)).unwrap();
        cluster.job(id).unwrap().is_complete()
    };
    let of = |maps| JobFact {
        job: id,
        attempt: "appattempt_1_0001_000001".parse().unwrap(),
        name: "job".into(),
        user: "ann".into(),
        queue: "q".into(),
        state: None,
        started: Time(1),
        maps,
        reduces: 0,
        uber: false,
    };
    let told = |maps| Fact::Job(of(maps));
    assert!(complete(Channel::Am, tasks(id)), "all there are, as far as anybody knows");
    assert!(!complete(Channel::Am, told(3)), "one of three");
    let beyond = [(TaskKind::Map, 3), (TaskKind::Reduce, 0)];
    for (kind, index) in beyond {
        let rows = vec![TaskFact::of(id.task(TaskKind::Map, 0)), TaskFact::of(id.task(kind, index))];
        let listing = Fact::Tasks { job: id, complete: true, tasks: rows };
        assert!(!complete(Channel::Am, listing), "of three maps there is no {kind:?} {index}");
    }
    assert!(complete(Channel::Am, tasks(id)), "it says that there are no others");
    assert!(!complete(Channel::Am, told(4)), "the job has grown");
    assert!(complete(Channel::Shim, tasks(id)));
    assert!(!complete(Channel::Shim, Fact::ShimSession(id, false)), "and REST's listing is of three");
    assert!(complete(Channel::Am, tasks(id)));
    assert!(!complete(Channel::Am, Fact::Hidden(id)));
    assert!(complete(Channel::Shim, tasks(id)));
    let second = JobFact { attempt: "appattempt_1_0001_000002".parse().unwrap(), ..of(4) };
    assert!(!complete(Channel::Am, Fact::Job(second)), "another AM has listed nothing yet");
}

#[test]
fn a_job_that_nobody_lists_is_lost_once_nothing_was_heard_of_it_for_long() {
    let mut cluster = cluster("q");
    assert_eq!([10, 11].map(|before| cluster.lost_jobs(Time(before))), [vec![], vec![job_id(1)]]);
    let app = AppFact {
        app: job_id(1).0,
        user: "ann".into(),
        queue: "q".into(),
        name: "job".into(),
        started: Time(1),
        containers: 1,
        allocated: Resources::default(),
        label: None,
    };
    cluster.apply(&seen(Channel::Rm, 1, 20, Fact::Apps(vec![app]))).unwrap();
    assert_eq!(cluster.lost_jobs(Time(11)), []);
}

#[test]
fn a_job_whose_end_waits_to_be_read_is_not_lost_and_that_end_is_not_dropped() {
    let mut cluster = cluster("q");
    let ending = |seq, jobs: &[JobId]| seen(Channel::Rm, seq, 20, Fact::Ending(jobs.to_vec()));
    cluster.apply(&ending(1, &[job_id(1), job_id(2)])).unwrap();
    assert_eq!(cluster.lost_jobs(Time(1_000_000)), []);
    assert_eq!(cluster.job_count(), 1, "none that is not known is made");
    let mut read = cluster.clone();
    let end = EndFact { job: job_id(1), state: None, started: None, finished: None, attempts: Vec::new() };
    assert_eq!(read.apply(&seen(Channel::History, 1, 1_000_000, Fact::Ended(end))), Ok(Changed::Ended(job_id(1))));
    cluster.apply(&ending(2, &[job_id(2)])).unwrap();
    assert_eq!(cluster.lost_jobs(Time(1_000_000)), [job_id(1)], "nobody is about to read it any more");
}

#[test]
fn what_is_forgotten_of_a_job_is_its_own_source_too_and_no_others() {
    let mut cluster = cluster("q");
    cluster.apply(&seen(Channel::Am, 7, 20, tasks(job_id(2)))).unwrap();
    cluster.forget(job_id(1));
    assert_eq!(cluster.apply(&seen(Channel::Am, 1, 30, tasks(job_id(1)))), Ok(Changed::Job(job_id(1))));
    assert_eq!(cluster.apply(&seen(Channel::Am, 7, 30, tasks(job_id(2)))), Err(Dropped::StaleSequence));
}

#[test]
fn a_node_that_is_listed_no_more_is_forgotten_though_another_is_listed_twice() {
    let mut cluster = ClusterState::default();
    let node = |host: &str| NodeFact::usable(host, Resources::default(), Resources::default());
    let mut list = |seq, hosts: &[&str]| {
        let nodes = hosts.iter().map(|host| node(host)).collect();
        cluster.apply(&seen(Channel::Rm, seq, 5, Fact::Nodes(nodes))).unwrap();
        cluster.nodes.keys().map(|host| host.to_string()).collect::<Vec<_>>()
    };
    assert_eq!(list(1, &["b", "a"]), ["a", "b"]);
    assert_eq!(list(2, &["b", "a"]), ["a", "b"]);
    assert_eq!(list(3, &["b", "b"]), ["b"]);
    assert_eq!(list(4, &["c", "b"]), ["b", "c"]);
}

#[test]
fn a_node_that_started_again_on_another_port_is_usable_though_the_rm_lists_what_it_was_as_lost() {
    let row = |state: &str, memory_mb| {
        let total = Resources { memory_mb, vcores: 1 };
        let (usable, state) = (state == "RUNNING", state.into());
        NodeFact { usable, state, ..NodeFact::usable("a", total, Resources::default()) }
    };
    for (rows, expected) in [
        ([row("RUNNING", 7), row("LOST", 0)], (true, "RUNNING")),
        ([row("SHUTDOWN", 0), row("RUNNING", 7)], (true, "RUNNING")),
        ([row("DECOMMISSIONING", 7), row("LOST", 0)], (false, "DECOMMISSIONING")),
    ] {
        let mut cluster = ClusterState::default();
        // The second time the host is known.
        for seq in [1, 2] {
            cluster.apply(&seen(Channel::Rm, seq, 5, Fact::Nodes(rows.to_vec()))).unwrap();
            let node = &cluster.nodes["a"];
            assert_eq!((node.usable, &*node.state, node.total.memory_mb), (expected.0, expected.1, 7));
            assert!(!node.is_given_up());
        }
    }
    assert!(row("LOST", 0).is_given_up() && row("UNHEALTHY", 0).is_given_up());
}

#[test]
fn of_hosts_that_nobody_lists_ten_thousand_are_known_by_name() {
    let (mut hosts, mut nodes) = (Names::default(), ByName::default());
    for number in 0..10_000 {
        assert!(name(&mut hosts, &nodes, &format!("h{number}")).is_some());
    }
    assert_eq!((name(&mut hosts, &nodes, "more"), name(&mut hosts, &nodes, "h7").is_some()), (None, true));
    let listed = NodeFact::usable("listed", Resources::default(), Resources::default());
    nodes.insert(listed.host.clone(), listed);
    assert!(name(&mut hosts, &nodes, "listed").is_some());
}

#[test]
fn each_reason_to_drop_has_a_label_of_its_own() {
    let labels: BTreeSet<_> = Dropped::ALL.into_iter().map(Dropped::label).collect();
    assert_eq!(labels.len(), Dropped::ALL.len());
    assert!(labels.iter().all(|label| !label.is_empty() && label.bytes().all(|b| b.is_ascii_lowercase() || b == b'_')));
}

#[test]
fn beyond_as_many_jobs_as_may_be_no_other_is_taken_in_and_of_ended_ones_the_first_is_forgotten() {
    let id = |number: usize| JobId(AppId { cluster: 1, seq: number as u32 });
    let mut full = ClusterState::default();
    for number in 0..JOBS_MAX {
        full.apply(&seen(Channel::Am, 1, 10, Fact::Hidden(id(number)))).unwrap();
    }
    assert_eq!(full.apply(&seen(Channel::Am, 1, 10, Fact::Hidden(id(JOBS_MAX)))), Err(Dropped::TooManyJobs));
    assert_eq!(full.apply(&seen(Channel::Am, 2, 10, Fact::Hidden(id(3)))), Ok(Changed::Job(id(3))));
    let end = |number| {
        Fact::Ended(EndFact { job: id(number), state: None, started: None, finished: None, attempts: Vec::new() })
    };
    // The one of the largest number is the first to end.
    let last = JOBS_MAX - 1;
    for (seq, number) in (1..).zip(std::iter::once(last).chain(0..last)) {
        full.apply(&seen(Channel::Rm, seq, 10, end(number))).unwrap();
        full.forget(id(number));
    }
    for number in [0, last] {
        assert_eq!(full.apply(&seen(Channel::Am, 1, 20, Fact::Hidden(id(number)))), Err(Dropped::UnknownJob));
    }
    let one_more = id(JOBS_MAX);
    full.apply(&seen(Channel::Am, 1, 20, Fact::Hidden(one_more))).unwrap();
    full.apply(&seen(Channel::Rm, JOBS_MAX as u64 + 1, 20, end(JOBS_MAX))).unwrap();
    assert_eq!(full.apply(&seen(Channel::Am, 1, 20, Fact::Hidden(id(0)))), Err(Dropped::UnknownJob));
    assert_eq!(full.apply(&seen(Channel::Am, 1, 20, Fact::Hidden(id(last)))), Ok(Changed::Job(id(last))));
}

#[test]
fn a_maps_place_is_the_racks_of_its_splits_hosts_as_far_as_the_resource_manager_lists_them() {
    let mut cluster = ClusterState::default();
    let node = |host: &str, rack: &str| {
        let none = Resources::default();
        NodeFact { rack: rack.into(), ..NodeFact::usable(host, none, none) }
    };
    let nodes = vec![node("n0", "/a"), node("n1", "/b"), node("n2", "/b")];
    cluster.apply(&seen(Channel::Rm, 1, 5, Fact::Nodes(nodes))).unwrap();
    let mut place = |seq, hosts: &[&str]| {
        let id = job_id(1).task(TaskKind::Map, 0);
        let hosts = hosts.iter().map(|host| (*host).into()).collect();
        let tasks = vec![TaskFact { hosts, ..TaskFact::of(id) }];
        cluster.apply(&seen(Channel::Shim, seq, 10, Fact::Tasks { job: job_id(1), complete: true, tasks })).unwrap();
        let place = cluster.job(job_id(1)).unwrap().task(id).unwrap().place;
        place.map(|place| cluster.places.racks(place).to_vec())
    };
    assert_eq!((place(1, &[]), place(2, &["elsewhere"])), (None, None));
    let both = Some(vec!["/a".to_owned(), "/b".to_owned()]);
    assert_eq!((place(3, &["n2", "n1", "n0"]), place(4, &["n0"])), (both.clone(), both), "a split does not move");
}

#[test]
fn what_a_known_task_has_written_is_learned_from_its_counters_alone_and_of_no_other() {
    let mut cluster = cluster("q");
    let of = |index| job_id(1).task(TaskKind::Map, index);
    let known = vec![TaskFact::of(of(0))];
    let fact = Fact::Tasks { job: job_id(1), complete: false, tasks: known };
    cluster.apply(&seen(Channel::Am, 100, 20, fact)).unwrap();
    let counters = Counters { written: Some(crate::model::Bytes(7)), ..Counters::default() };
    let told = |index| AttemptFact { counters, ..AttemptFact::of(of(index).attempt(0)) };
    let attempts = [0, 900].map(told).to_vec();
    cluster.apply(&seen(Channel::Am, 101, 20, Fact::Attempts { job: job_id(1), attempts })).unwrap();
    let job = cluster.job(job_id(1)).unwrap();
    assert_eq!([0, 900].map(|index| job.outputs.of(of(index)).0), [7, 0]);
}

#[test]
fn what_a_shim_tells_later_counts_though_its_ams_clock_was_set_back_meanwhile() {
    let mut cluster = cluster("q");
    let id = job_id(1);
    let is = |state| {
        let task = TaskFact { state: Some(state), ..TaskFact::of(id.task(TaskKind::Map, 0)) };
        Fact::Tasks { job: id, complete: true, tasks: vec![task] }
    };
    cluster.apply(&seen(Channel::Shim, 2, 20_000, Fact::ShimSession(id, true))).unwrap();
    cluster.apply(&seen(Channel::Shim, 3, 20_000, is(TaskState::Running))).unwrap();
    let later = Observation { at: Time(17_000), ..seen(Channel::Shim, 4, 21_000, is(TaskState::Succeeded)) };
    cluster.apply(&later).unwrap();
    let state = |cluster: &ClusterState| cluster.job(id).unwrap().task(id.task(TaskKind::Map, 0)).unwrap().state;
    assert_eq!(state(&cluster), TaskState::Succeeded);
    let again = Observation { at: Time(18_000), ..seen(Channel::Shim, 5, 22_000, is(TaskState::Running)) };
    cluster.apply(&again).unwrap();
    assert_eq!(state(&cluster), TaskState::Running, "its output was lost");
}

#[test]
fn a_clock_that_was_set_forward_and_is_put_right_keeps_nothing_from_what_is_launched_then() {
    let mut cluster = cluster("q");
    let id = job_id(1);
    let set = |cluster: &ClusterState| cluster.job(id).unwrap().clock_set.get();
    for (seq, (received, at)) in (2..).zip([(100_000, 3_700_000), (110_000, 110_000)]) {
        let told = Observation { at: Time(at), ..seen(Channel::Shim, seq, received, Fact::ClockSet(id)) };
        cluster.apply(&told).unwrap();
        assert_eq!(set(&cluster), Some(Time(at)));
    }
}
