//! What Mantri wants of a job beside copies: decided where it can be done, refused by name where it cannot, and nothing under other policies.

use super::*;

/// A job under a policy, to which so much can be done.
struct Able {
    script: Script,
    id: JobId,
    now: f64,
}

impl Able {
    fn new(policy: PolicyName, maps: u32, reduces: u32, can: Capabilities) -> Able {
        let (mut script, id) = (Script::new(EngineParams { policy, ..EngineParams::default() }), job_id(1));
        script.open_job(id, maps, reduces, at(0.0));
        script.say(at(0.0), Fact::Can(id, can));
        Able { script, id, now: 1.0 }
    }

    /// Maps of so much data that wait.
    fn waits(mut self, from: u32, data: &[u64]) -> Able {
        let waits = |(index, data): (u32, &u64)| TaskFact {
            state: Some(TaskState::Scheduled),
            input: Some(Bytes(*data)),
            ..TaskFact::of(self.id.task(TaskKind::Map, index))
        };
        let tasks = (from..).zip(data).map(waits).collect();
        self.script.say(at(self.now), Fact::Tasks { job: self.id, complete: false, tasks });
        self
    }

    /// Four nodes on racks of that name each, the third and fourth on the last.
    fn racks(mut self, names: [&str; 3]) -> Able {
        let nodes = (1..=4).zip([names[0], names[1], names[2], names[2]]).map(|(number, rack): (u32, &str)| NodeFact {
            rack: rack.into(),
            ..NodeFact::usable(&format!("nm{number}"), Resources { memory_mb: 2048, vcores: 8 }, Resources::default())
        });
        self.script.say(at(0.0), Fact::Nodes(nodes.collect()));
        self
    }

    /// Links of these racks, out and in.
    fn links(mut self, links: &[(&str, f64, f64)]) -> Able {
        let fact = |(rack, up, down): &(&str, f64, f64)| RackFact {
            rack: (*rack).into(),
            up_bytes_per_second: *up,
            down_bytes_per_second: *down,
            within_bytes_per_second: 100.0,
        };
        self.script.say(at(0.0), Fact::Racks(links.iter().map(fact).collect()));
        self
    }

    /// A map that took ten seconds on that node, and read and wrote so much.
    fn ran(mut self, index: u32, node: u32, read: u64, wrote: u64) -> Able {
        let (task, attempt) = succeeded(self.id.task(TaskKind::Map, index), at(self.now - 10.0), at(self.now));
        let counters = Counters { written: Some(Bytes(wrote)), ..Counters::default() };
        let attempt = AttemptFact { host: Some(format!("nm{node}")), counters, ..attempt };
        let task = TaskFact { input: Some(Bytes(read)), ..task };
        self.script.say(at(self.now), Fact::Tasks { job: self.id, complete: false, tasks: vec![task] });
        self.script.attempts(self.id, at(self.now), vec![attempt]);
        self
    }

    /// What a pass decides a second later.
    fn decide(&mut self) -> Vec<MeasurePlan> {
        self.now += 1.0;
        let pass = self.script.decide(at(self.now));
        assert!(pass.measures.iter().all(|one| one.verdict == Verdict::Decided && one.job == self.id));
        pass.measures.into_iter().filter_map(|measure| measure.plan).collect()
    }

    fn verdicts(&self) -> Vec<Verdict> {
        self.script.engine.measures(self.id).iter().map(|measure| measure.verdict).collect()
    }
}

const ORDERS: Capabilities = Capabilities { order: true, ..Capabilities::NONE };

#[test]
fn the_largest_waiting_task_is_started_first_and_that_is_said_once_and_again_when_more_is_known() {
    let first = |first| vec![MeasurePlan::Order { kind: TaskKind::Map, first }];
    for policy in [PolicyName::Mantri, PolicyName::Drover] {
        let mut job = Able::new(policy, 4, 0, ORDERS).waits(0, &[5, 9, 7]);
        assert_eq!(job.decide(), first(vec![1, 2, 0]));
        assert_eq!(job.decide(), vec![]);
        let mut more = job.waits(3, &[8]);
        assert_eq!(more.decide(), first(vec![1, 3, 2, 0]));
        assert_eq!(more.verdicts(), [Verdict::Decided]);
    }
}

#[test]
fn where_tasks_cannot_be_ordered_that_is_refused_by_name_unless_hadoop_has_their_order_anyway() {
    let mut job = Able::new(PolicyName::Mantri, 3, 0, Capabilities::NONE).waits(0, &[5, 9, 7]);
    assert_eq!((job.decide(), job.verdicts()), (vec![], vec![Verdict::CannotOrder]));
    let mut sorted = Able::new(PolicyName::Mantri, 3, 0, Capabilities::NONE).waits(0, &[9, 7, 7]);
    assert_eq!((sorted.decide(), sorted.verdicts()), (vec![], vec![]));
}

#[test]
fn other_policies_want_nothing_beside_copies() {
    for policy in PolicyName::ALL.into_iter().filter(|policy| !policy.takes_measures()) {
        for can in [ORDERS, Capabilities::NONE] {
            let mut job = Able::new(policy, 3, 0, can).waits(0, &[5, 9, 7]);
            assert_eq!((job.decide(), job.verdicts()), (vec![], vec![]), "{}", policy.label());
        }
    }
}

#[test]
fn a_job_that_is_left_alone_is_told_nothing() {
    for mode in [Mode::Off, Mode::Advise] {
        let mut job = Able::new(PolicyName::Mantri, 3, 0, ORDERS).waits(0, &[5, 9, 7]);
        let govern = GovernParams { mode, ..GovernParams::default() };
        job.script.engine.set_params(EngineParams { govern, ..job.script.engine.params().clone() });
        assert_eq!((job.decide().len(), job.verdicts().len()), if mode == Mode::Off { (0, 0) } else { (1, 1) });
    }
}

#[test]
fn an_engine_that_is_cut_and_carried_on_says_nothing_twice() {
    let mut job = Able::new(PolicyName::Mantri, 3, 0, ORDERS).waits(0, &[5, 9, 7]);
    assert_eq!(job.decide().len(), 1);
    let cut = serde_json::to_string(&job.script.engine).unwrap();
    job.script.engine = serde_json::from_str(&cut).unwrap();
    assert_eq!((job.decide(), job.verdicts()), (vec![], vec![Verdict::Decided]));
}

const PLACES: Capabilities = Capabilities { place_reduces: true, ..Capabilities::NONE };

/// Three maps that have written so much on three racks, for so many reduces.
fn written(reduces: u32, can: Capabilities, racks: [&str; 3], bytes: [u64; 3]) -> Able {
    let job = Able::new(PolicyName::Mantri, 3, reduces, can).racks(racks);
    (0..).zip(bytes).fold(job, |job, (index, bytes)| job.ran(index, index + 1, 1_000, bytes))
}

#[test]
fn reduces_go_to_the_racks_that_keep_the_slowest_link_fastest_and_that_is_said_once() {
    let mut job = written(3, PLACES, ["a", "b", "c"], [300, 300, 300]);
    let racks = vec![("a".to_owned(), vec![0]), ("b".to_owned(), vec![1]), ("c".to_owned(), vec![2])];
    let place = MeasurePlan::Place { racks, moves: Bytes(600), seconds: None, bound: None };
    assert_eq!((job.decide(), job.decide()), (vec![place], vec![]));
    assert_eq!(job.verdicts(), [Verdict::Decided]);
}

#[test]
fn a_short_phase_sees_the_links_as_they_are_and_a_long_one_sees_them_equal() {
    let links = [("a", 100.0, 10.0), ("b", 100.0, 100.0), ("c", 100.0, 100.0)];
    let of = |bytes: [u64; 3]| written(6, PLACES, ["a", "b", "c"], bytes).links(&links).decide().remove(0);
    let MeasurePlan::Place { racks, seconds, bound, .. } = of([600, 600, 600]) else { panic!("placed") };
    assert_eq!(racks.iter().map(|(rack, _)| rack.as_str()).collect::<Vec<_>>(), ["b", "c"], "a takes little in");
    assert_eq!((seconds, bound), (Some(6.0), Some(6.0)));
    // A minute of all uplinks is 18,000 bytes.
    let MeasurePlan::Place { racks, .. } = of([6_001, 6_000, 6_000]) else { panic!("placed") };
    assert_eq!(racks.iter().map(|(_, reduces)| reduces.len()).collect::<Vec<_>>(), [2, 2, 2]);
}

#[test]
fn reduces_are_placed_once_as_many_maps_have_ended_as_they_wait_for_and_the_others_are_taken_to_write_as_much() {
    let slow_start = |share| {
        let mut job = written(2, PLACES, ["a", "b", "c"], [300, 200, 0]);
        let settings = JobSettings { slow_start: share, ..JobSettings::default() };
        job.script.say(at(1.0), Fact::Job(job_fact(job.id, 6, 2)));
        job.script.say(at(1.0), Fact::Settings(job.id, settings));
        job.decide()
    };
    assert_eq!(slow_start(0.51), vec![], "four of six");
    let MeasurePlan::Place { moves, .. } = slow_start(0.5).remove(0) else { panic!("placed") };
    // 1,500 bytes in all, half for each: to both a's rack is the nearest, or one goes to b's.
    assert!(moves == Bytes(600) || moves == Bytes(750), "{moves:?}");
}

#[test]
fn reduces_that_are_told_how_much_they_read_are_placed_by_it_and_those_that_run_are_left_where_they_are() {
    let mut job = written(3, PLACES, ["a", "b", "c"], [300, 300, 300]);
    let told = |(index, state, bytes): (u32, TaskState, u64)| TaskFact {
        state: Some(state),
        input: Some(Bytes(bytes)),
        ..TaskFact::of(job.id.task(TaskKind::Reduce, index))
    };
    let tasks = [(0, TaskState::Running, 100), (1, TaskState::Scheduled, 600), (2, TaskState::New, 200)].map(told);
    job.script.say(at(1.5), Fact::Tasks { job: job.id, complete: false, tasks: tasks.to_vec() });
    let MeasurePlan::Place { racks, moves, .. } = job.decide().remove(0) else { panic!("placed") };
    let mut placed: Vec<u32> = racks.into_iter().flat_map(|(_, reduces)| reduces).collect();
    placed.sort_unstable();
    assert_eq!((placed, moves), (vec![1, 2], Bytes(533)), "two thirds of 600 and of 200");
}

#[test]
fn where_reduces_cannot_be_placed_that_is_refused_by_name_and_on_one_rack_there_is_nothing_to_refuse() {
    let of = |can, racks, bytes| {
        let mut job = written(3, can, racks, bytes);
        (job.decide().len(), job.verdicts())
    };
    assert_eq!(of(Capabilities::NONE, ["a", "b", "c"], [9; 3]), (0, vec![Verdict::CannotPlace]));
    assert_eq!(of(Capabilities::NONE, ["a"; 3], [9; 3]), (0, vec![]));
    assert_eq!(of(PLACES, ["a"; 3], [9; 3]), (0, vec![Verdict::NothingGained]));
    assert_eq!(of(PLACES, ["a", "b", "c"], [0; 3]), (0, vec![Verdict::DataUnknown]));
    let mut maps_only = written(0, Capabilities::NONE, ["a", "b", "c"], [9; 3]);
    assert_eq!((maps_only.decide(), maps_only.verdicts()), (vec![], vec![]));
}
