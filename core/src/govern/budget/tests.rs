use super::*;
use crate::govern::flight::tests::{job, map};
use crate::model::QueueShare;

fn sought() -> Sought<'static> {
    Sought { slow: map(0).attempt(0), mode: Mode::Act, avoid: &[] }
}

/// Nothing is in flight, and there is room for a hundred.
fn roomy() -> Room {
    let all = (0, 100);
    let (node, unplaced, free, waiting, busy) = ((0, 64), (0, 8), None, false, false);
    Room { cluster: all, job: all, node, minute: all, user: all, queue: all, busy, free, waiting, unplaced }
}

/// How many copies a job of so many maps may have in flight.
fn job_cap(maps: u32) -> u32 {
    let mut job = job();
    job.totals = Some([maps, 1_000]);
    let (params, flights, mut tally) = (GovernParams::default(), Flights::default(), Tally::default());
    Room::count(&params, &ClusterState::default(), &flights, &job, sought(), &mut tally).job.1
}

#[test]
fn where_the_papers_speak_no_node_no_minute_and_no_part_of_a_job_bounds_its_copies() {
    let mut job = job();
    job.totals = Some([40, 1_000]);
    let mut cluster = ClusterState::default();
    let total = Resources { memory_mb: 50 * 1024, vcores: 50 };
    cluster.totals = Some(crate::model::ClusterFact { total, ..Default::default() });
    let flights = Flights::default();
    let mut tally = Tally::count(&cluster, &flights);
    let mut room = |params| Room::count(&params, &cluster, &flights, &job, sought(), &mut tally);
    let paper = room(GovernParams::paper());
    assert_eq!([paper.cluster.1, paper.job.1, paper.node.1, paper.minute.1], [50, 40, u32::MAX, u32::MAX]);
    let adapted = room(GovernParams::default());
    assert_eq!([adapted.cluster.1, adapted.job.1, adapted.node.1, adapted.minute.1], [10, 10, 64, 100]);
}

#[test]
fn the_clusters_budgets_count_copies_of_ours_and_of_hadoops_and_slots_by_the_largest_containers() {
    use crate::govern::flight::tests::{attempt, cluster, decision, flights};
    use crate::model::{AttemptState, ClusterFact, JobId, JobSettings, Time};
    let params = GovernParams { cluster_floor: 0, ..GovernParams::default() };
    let mut own = job();
    // One of ours is copied, and Hadoop has copied another.
    for number in 0..2 {
        attempt(&mut own, map(0).attempt(number), AttemptState::Running, 1_000, 0);
        attempt(&mut own, map(1).attempt(number), AttemptState::Running, 1_000, 0);
    }
    let mut flights = flights(&[decision(1, map(0), Mode::Act)]);
    flights.minute.roll(Time(10_000));
    let mut large = Job::new(JobId(crate::model::AppId { cluster: 1, seq: 2 }));
    let mut settings = JobSettings::default();
    settings.map_container.memory_mb = 4 * 1_024;
    large.settings = Some(settings);
    let total = Resources { memory_mb: 400 * 1_024, vcores: 400 };
    let totals = Some(ClusterFact { total, ..ClusterFact::default() });
    let of = |jobs: Vec<Job>| {
        let mut cluster = cluster(jobs);
        cluster.totals = totals;
        Budgets::count(&params, &cluster, &flights)
    };
    assert_eq!(of(vec![own.clone()]), Budgets { cluster: (2, 40), minute: (1, 400) });
    assert_eq!(of(vec![own, large]), Budgets { cluster: (2, 10), minute: (1, 100) });
}

#[test]
fn a_job_of_small_containers_has_no_more_copies_than_the_cluster_has_slots_by_what_jobs_containers_take() {
    use crate::govern::flight::tests::cluster;
    use crate::model::{AppFact, ClusterFact, JobSettings, Time};
    let mut job = job();
    job.totals = Some([10_000, 1]);
    let mut settings = JobSettings::default();
    (settings.map_container.memory_mb, settings.reduce_container.memory_mb) = (1, 8 * 1_024);
    job.settings = Some(settings);
    let mut cluster = cluster([job.clone()]);
    let mb = |memory_mb| Resources { memory_mb, vcores: 1 };
    cluster.totals = Some(ClusterFact { total: mb(400 * 1_024), ..ClusterFact::default() });
    let mut caps = || {
        let (params, flights) = (GovernParams::default(), Flights::default());
        let mut tally = Tally::count(&cluster, &flights);
        let mut of = |slow| Room::count(&params, &cluster, &flights, &job, Sought { slow, ..sought() }, &mut tally);
        let reduce = job.id.task(TaskKind::Reduce, 0).attempt(0);
        let caps = [map(0).attempt(0), reduce].map(|slow| of(slow).cluster.1);
        let all = Budgets::count(&params, &cluster, &flights).cluster.1;
        let (user, queue, name) = ("bob".into(), "etl".into(), String::new());
        let (app, allocated) = (crate::model::AppId { cluster: 1, seq: 9 }, mb(8 * 1_024));
        let other = AppFact { app, user, queue, name, started: Time(0), containers: 4, allocated, label: None };
        cluster.apps.insert(app, other);
        (caps, all)
    };
    assert_eq!(caps(), ([40_960, 10], 10), "nothing is told of what any takes at first");
    assert_eq!(caps(), ([20, 10], 20));
}

#[test]
fn a_small_job_may_have_ten_copies_for_half_of_its_tasks_at_most_and_a_large_one_a_quarter_of_them() {
    assert_eq!([1, 2, 4, 5, 19, 20, 40, 41, 400].map(job_cap), [1, 1, 2, 2, 9, 10, 10, 11, 100]);
}

#[test]
fn a_cap_of_so_many_hundredths_of_a_hundred_is_so_many() {
    for k in 1..=100 {
        for round in [f64::floor, f64::ceil] {
            assert_eq!(share(f64::from(k) / 100.0, 100, round), k);
        }
    }
    assert_eq!((share(0.0, 100, f64::floor), share(1.0, 0, f64::ceil)), (1, 1), "one at least");
}

#[test]
fn slots_and_what_is_free_of_a_cluster_without_nodes_told_are_counted_by_virtual_cores_where_the_scheduler_does() {
    let mut cluster = ClusterState::default();
    let of = |vcores| Resources { memory_mb: 400 * 1_024, vcores };
    let allocated = Resources { memory_mb: 1_024, vcores: 97 };
    cluster.totals = Some(crate::model::ClusterFact { total: of(100), allocated, ..Default::default() });
    let room = |cluster: &ClusterState| {
        let (params, flights) = (GovernParams::default(), Flights::default());
        let mut tally = Tally::count(cluster, &flights);
        let room = Room::count(&params, cluster, &flights, &job(), sought(), &mut tally);
        (room.cluster.1, room.free)
    };
    assert_eq!(room(&cluster), (40, Some(399)));
    let queue = crate::model::QueueFact { counts_vcores: true, ..crate::model::QueueFact::open("root.other") };
    cluster.queues.insert(queue.name.clone(), queue);
    assert_eq!(room(&cluster), (10, Some(3)));
}

/// Free containers and slots, where so many nodes of ten places have no label, six are `core`'s, and of each five places are taken; for a job that asks for that label.
fn by_label(without: u32, label: Option<&str>) -> (Option<u32>, u32) {
    by_share(without, label, None)
}

/// The same, where the queue's share of `core`'s nodes is told.
fn by_share(without: u32, label: Option<&str>, share: Option<QueueShare>) -> (Option<u32>, u32) {
    let (cluster, job) = labelled(without, label, share);
    room_of(&cluster, &job)
}

fn labelled(without: u32, label: Option<&str>, share: Option<QueueShare>) -> (ClusterState, Job) {
    use crate::model::{AppFact, ClusterFact, NodeFact, QueueFact, QueueUser, Time};
    let mb = |places: u32| Resources { memory_mb: u64::from(places) * 1_024, vcores: places };
    let job = job();
    let mut cluster = crate::govern::flight::tests::cluster([job.clone()]);
    // The ResourceManager counts nodes without a label alone, and shares are of these.
    cluster.totals = Some(ClusterFact { total: mb(10 * without), allocated: mb(5 * without), ..Default::default() });
    for (number, label) in (0..without).map(|_| None).chain([Some("core"); 6]).enumerate() {
        let node = NodeFact::usable(&format!("n{number}"), mb(10), mb(5));
        cluster.nodes.insert(node.host.clone(), NodeFact { label: label.map(Into::into), ..node });
    }
    let user = QueueUser { user: job.user.clone(), used_mb: 50 * 1_024, limit_mb: 10 * 1_024 };
    let of = QueueFact::open(&job.queue);
    let (partition, users) = (Some(String::new()), vec![user]);
    let by_label = share.map(|share| ("core".to_owned(), share)).into_iter().collect();
    let queue = QueueFact { partition, users, max_capacity: 0.8, used_capacity: 0.5, by_label, ..of };
    cluster.queues.insert(queue.name.clone(), queue);
    let (user, queue, label) = (job.user.clone(), job.queue.clone(), label.map(str::to_owned));
    let (name, allocated) = (String::new(), mb(1));
    let app = AppFact { app: job.id.0, user, queue, name, started: Time(0), containers: 1, allocated, label };
    cluster.apps.insert(app.app, app);
    (cluster, job)
}

fn room_of(cluster: &ClusterState, job: &Job) -> (Option<u32>, u32) {
    let (params, flights) = (GovernParams::paper(), Flights::default());
    let mut tally = Tally::count(cluster, &flights);
    let room = Room::count(&params, cluster, &flights, job, sought(), &mut tally);
    assert_eq!((room.busy, cluster.is_full()), (false, false));
    (room.free, room.cluster.1)
}

#[test]
fn nodes_with_labels_are_room_and_slots_though_the_resource_manager_counts_those_without_alone() {
    assert_eq!(by_label(0, None), (Some(30), 60), "all have one: no share says anything");
    assert_eq!(by_label(10, Some("core")), (Some(30), 160), "shares are of the others");
    assert_eq!(by_label(10, None), (Some(60), 160), "three tenths of what those without have, and what is lent");
}

#[test]
fn what_is_lent_is_room_though_a_queue_may_have_no_more_of_its_own_and_what_is_for_others_is_none() {
    let of_label = |exclusive| {
        let (mut cluster, job) = labelled(10, None, None);
        for node in cluster.nodes.values_mut() {
            node.exclusive = exclusive && node.label.is_some();
        }
        let queue = cluster.queues.values_mut().next().unwrap();
        queue.used_capacity = queue.max_capacity;
        room_of(&cluster, &job).0
    };
    assert_eq!([of_label(false), of_label(true)], [Some(30), Some(0)]);
}

#[test]
fn of_nodes_with_a_label_a_queue_has_its_share_no_more_than_its_parents_leave_it_and_its_user_may_have() {
    // Sixty places, of which thirty are free, and ten are the user's.
    let share = || {
        let users_mb = [(job().user, 10 * 1_024)].into();
        QueueShare { max_capacity: 0.75, used_capacity: 0.5, users_mb, ..QueueShare::default() }
    };
    let free = |share| by_share(10, Some("core"), Some(share)).0;
    assert_eq!(free(share()), Some(15));
    assert_eq!(free(QueueShare { used_mb: 40 * 1_024, ..share() }), Some(5), "by what it uses, where that is more");
    assert_eq!(free(QueueShare { parents_left: Some(0.2), ..share() }), Some(12));
    assert_eq!(free(QueueShare { user_capacity: Some(0.25), ..share() }), Some(5), "a quarter is fifteen places");
    assert_eq!(by_share(0, Some("core"), Some(share())), (Some(15), 60), "all have one");
    assert_eq!(by_share(10, None, Some(share())), by_label(10, None), "of the others its own");
}

#[test]
fn a_cluster_is_busy_above_its_share_and_not_at_it() {
    let of = |memory_mb| Resources { memory_mb, vcores: 1 };
    assert_eq!([29, 30].map(|used| is_above(0.29, of(used), of(100))), [false, true]);
}

#[test]
fn a_tasks_clones_wait_with_others_only_as_many_as_may_and_where_none_waits_they_may_be_more() {
    use crate::govern::bars::tests::proposed;
    let refused = |unplaced, copies| {
        let clones = Judged { budget: Budget::Clones, copies, ..proposed(1) };
        Room { unplaced: (unplaced, 8), ..roomy() }.refusal(&clones)
    };
    assert_eq!([refused(5, 3), refused(0, 9), refused(6, 2)], [None; 3]);
    assert_eq!([refused(6, 3), refused(7, 3), refused(8, 1)], [Some(Verdict::CopiesWaiting); 3]);
}

#[test]
fn the_tightest_budget_is_the_one_that_has_least_left_of_those_that_bind_clones_or_copies() {
    let (cluster, job, node, user, queue) = ((5, 20), (1, 2), (60, 64), (4, 7), (4, 9));
    let room = Room { cluster, job, node, user, queue, ..roomy() };
    assert_eq!(room.tightest(Budget::Copies, None), (1, 2));
    let clones = |cloned| room.tightest(Budget::Clones, Some(cloned));
    assert_eq!(clones((0, 9)), (4, 7), "those are no matter of the job's cap nor of a node's");
    assert_eq!(clones((50, 52)), (50, 52), "but of Dolly's beta");
    assert_eq!(Room { minute: (100, 100), ..room }.tightest(Budget::Copies, None), (100, 100));
}
