//! What Mantri wants of a job beside copies: decided where it can be done, refused by name where it cannot, and nothing under other policies.

use super::*;
use MeasureKind::{Precompute, Replicate};
use drover_core::policy::MeasureParams;
use proptest::prelude::*;

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
        Able { script, id, now: 20.0 }
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
        let attempt = AttemptFact { host: Some(format!("nm{node}").into()), counters, ..attempt };
        let task = TaskFact { input: Some(Bytes(read)), ..task };
        self.script.say(at(self.now), Fact::Tasks { job: self.id, complete: false, tasks: vec![task] });
        self.script.attempts(self.id, at(self.now), vec![attempt]);
        self
    }

    /// The output of that map is lost, and the map runs again on the fourth node.
    fn loses(mut self, index: u32) -> Able {
        let task = self.id.task(TaskKind::Map, index);
        let lost = AttemptFact { state: Some(AttemptState::Failed), ..AttemptFact::of(task.attempt(0)) };
        let again = running(task, at(self.now + 0.5), 0.1, "nm4");
        let (state, number) = (Some(TaskState::Running), 1);
        let told = vec![TaskFact { state, ..TaskFact::of(task) }];
        let now = at(self.now + 0.6);
        self.script.say(now, Fact::Tasks { job: self.id, complete: false, tasks: told });
        self.script.attempts(self.id, now, vec![lost, AttemptFact { number, ..again }]);
        self
    }

    /// The job has ended, and another of the same user's has begun.
    fn next(mut self, maps: u32, reduces: u32, can: Capabilities) -> Able {
        let (state, finished) = (Some(JobPhase::Succeeded), Some(at(self.now)));
        let end = EndFact { job: self.id, state, started: Some(at(0.0)), finished, attempts: Vec::new() };
        self.script.say(at(self.now + 0.7), Fact::Ended(end));
        let _ = self.decide();
        self.id = job_id(self.id.0.seq + 1);
        self.script.open_job(self.id, maps, reduces, at(self.now));
        self.script.say(at(self.now), Fact::Can(self.id, can));
        self
    }

    /// What a pass decides a second later.
    fn decide(&mut self) -> Vec<MeasurePlan> {
        self.now += 1.0;
        let pass = self.script.decide(at(self.now));
        let is_told = |one: &Measure| one.job == self.id && (one.verdict == Verdict::Decided) == one.plan.is_some();
        assert!(pass.measures.iter().all(is_told));
        pass.measures.into_iter().filter_map(|measure| measure.plan).collect()
    }

    fn verdict(&self, kind: MeasureKind) -> Option<Verdict> {
        self.script.engine.measures(self.id).iter().find(|measure| measure.kind == kind).map(|measure| measure.verdict)
    }

    /// What would be done, where it is told though it cannot be.
    fn advice(&self) -> Vec<MeasurePlan> {
        self.script.engine.measures(self.id).into_iter().filter_map(|measure| measure.plan).collect()
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
    assert_eq!(job.advice(), [MeasurePlan::Order { kind: TaskKind::Map, first: vec![1, 2, 0] }], "told all the same");
    let mut untold = Able::new(PolicyName::Mantri, 3, 0, ORDERS);
    assert_eq!((untold.decide(), untold.verdicts()), (vec![], vec![]), "of no task is anything known");
    let mut untold = untold.waits(0, &[0, 0, 0]);
    assert_eq!((untold.decide(), untold.verdicts()), (vec![], vec![Verdict::DataUnknown]));
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
fn what_was_said_is_forgotten_with_its_policy_and_its_job() {
    let mut job = Able::new(PolicyName::Mantri, 3, 0, ORDERS).waits(0, &[5, 9, 7]);
    assert_eq!(job.decide().len(), 1);
    for policy in [PolicyName::Late, PolicyName::Drover] {
        job.script.engine.set_params(EngineParams { policy, ..job.script.engine.params().clone() });
        assert_eq!(job.decide().len(), usize::from(policy == PolicyName::Drover));
    }
    let kept = |job: &Able| serde_json::to_string(&job.script.engine).unwrap().contains(r#""order":{"job""#);
    let kept_while_it_runs = kept(&job);
    assert!(kept_while_it_runs && !kept(&job.next(3, 0, ORDERS)));
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
    let placed = written(3, PLACES, ["a", "b", "c"], [9, 9, 27]).decide();
    let told = written(3, Capabilities::NONE, ["a", "b", "c"], [9, 9, 27]);
    assert_eq!((told.advice(), placed.len()), (placed, 1), "told all the same, as it would be decided");
    assert_eq!(of(Capabilities::NONE, ["a"; 3], [9; 3]), (0, vec![]));
    assert_eq!(of(PLACES, ["a"; 3], [9; 3]), (0, vec![Verdict::NothingGained]));
    assert_eq!(of(PLACES, ["a", "b", "c"], [0; 3]), (0, vec![Verdict::DataUnknown]));
    let before = Able::new(PolicyName::Mantri, 3, 3, Capabilities::NONE).racks(["a", "b", "c"]);
    assert_eq!(before.verdicts(), [], "no map has ended");
    assert_eq!(of(Capabilities::NONE, ["a", "b", "c"], [0; 3]), (0, vec![]));
    let mut maps_only = written(0, Capabilities::NONE, ["a", "b", "c"], [9; 3]);
    assert_eq!((maps_only.decide(), maps_only.verdicts()), (vec![], vec![]));
}

const REPLICATES: Capabilities = Capabilities { replicate: true, ..Capabilities::NONE };
const PRECOMPUTES: Capabilities = Capabilities { precompute: true, ..Capabilities::NONE };

/// A job of eight maps and a reduce after one of the same user's that lost one output of two, on the first of four nodes.
fn after_a_loss(can: Capabilities) -> Able {
    let before = Able::new(PolicyName::Mantri, 2, 1, can).racks(["a", "a", "b"]).ran(0, 1, 10, 10).ran(1, 2, 10, 10);
    before.links(&[("a", 1.0, 1.0), ("b", 1.0, 1.0)]).loses(0).next(8, 1, can)
}

fn replicated(plans: Vec<MeasurePlan>) -> Vec<u32> {
    let index = |plan| match plan {
        MeasurePlan::Replicate { output, .. } => output.task.index,
        other => panic!("{other:?}"),
    };
    plans.into_iter().map(index).collect()
}

#[test]
fn an_output_on_a_machine_that_loses_them_is_replicated_once_within_a_tenth_of_what_was_read() {
    // Of ten seconds some four are lost on average; 100 bytes a second are moved within a rack.
    let mut job = after_a_loss(REPLICATES).ran(0, 1, 1_000, 100).ran(1, 1, 1_000, 500).ran(2, 1, 1_000, 300);
    let plans = job.decide();
    let MeasurePlan::Replicate { lost, redo, replicate, bytes, .. } = plans[0] else { panic!("{plans:?}") };
    assert_eq!((redo, replicate, bytes), (Millis::from_secs_f64(10.0 * lost), Millis(1_000), Bytes(100)));
    // The second is as dear to move as to lose, and the third would take 300 of the 200 bytes that are left.
    assert_eq!((replicated(plans), replicated(job.decide())), (vec![0], vec![]));
    assert_eq!(job.verdict(Replicate), Some(Verdict::Decided), "whatever was refused beside it");
    let mut more = job.ran(3, 1, 1_000, 300);
    assert_eq!((replicated(more.decide()), more.verdict(Replicate)), (vec![3], Some(Verdict::Decided)));
    let mut spent = more.ran(4, 1, 1_000, 300);
    assert_eq!((replicated(spent.decide()), spent.verdict(Replicate)), (vec![], Some(Verdict::MeasureBudget)));
}

#[test]
fn where_nothing_was_ever_lost_or_no_bandwidth_is_measured_nothing_is_replicated() {
    let racks = |can| Able::new(PolicyName::Mantri, 8, 1, can).racks(["a", "a", "b"]);
    let mut unlost = racks(REPLICATES).links(&[("a", 1.0, 1.0), ("b", 1.0, 1.0)]).ran(0, 1, 1_000, 100);
    assert_eq!((unlost.decide(), unlost.verdict(Replicate)), (vec![], Some(Verdict::DataUnknown)));
    let mut unmeasured = after_a_loss(REPLICATES).links(&[]).ran(0, 1, 1_000, 100);
    assert_eq!((unmeasured.decide(), unmeasured.verdict(Replicate)), (vec![], Some(Verdict::DataUnknown)));
    let mut untold = after_a_loss(REPLICATES).ran(0, 1, 1_000, 0);
    assert_eq!((untold.decide(), untold.verdict(Replicate)), (vec![], Some(Verdict::DataUnknown)));
}

#[test]
fn where_outputs_cannot_be_replicated_that_is_refused_by_name_once_any_was_lost_while_reduces_are_to_read_them() {
    let mut job = after_a_loss(Capabilities::NONE).ran(0, 1, 1_000, 100);
    assert_eq!(job.decide(), vec![]);
    assert_eq!(job.verdict(Replicate), Some(Verdict::CannotReplicate));
    let mut maps_only = after_a_loss(Capabilities::NONE).next(8, 0, Capabilities::NONE).ran(0, 1, 1_000, 100);
    assert_eq!((maps_only.decide(), maps_only.verdict(Replicate)), (vec![], None));
}

/// What is decided of the output of a reduce, which wrote so much after a map that did so.
fn of_a_reduce(reduces_too: bool, map_wrote: u64, wrote: u64) -> Vec<MeasurePlan> {
    let mut job = after_a_loss(REPLICATES);
    let measures = MeasureParams { reduces_too, ..MeasureParams::default() };
    job.script.engine.set_params(EngineParams { measures, ..job.script.engine.params().clone() });
    let mut job = job.ran(0, 1, 9_000, map_wrote);
    let _ = job.decide();
    let reduce = job.id.task(TaskKind::Reduce, 0);
    let (task, attempt) = succeeded(reduce, at(job.now - 10.0), at(job.now));
    let counters = Counters { written: Some(Bytes(wrote)), ..Counters::default() };
    let task = TaskFact { input: Some(Bytes(9_000)), ..task };
    job.script.say(at(job.now), Fact::Tasks { job: job.id, complete: false, tasks: vec![task] });
    job.script.attempts(job.id, at(job.now), vec![AttemptFact { counters, ..attempt }]);
    job.decide()
}

#[test]
fn a_reduces_output_is_replicated_where_others_read_it_and_costs_more_to_lose_for_the_maps_behind_it() {
    assert_eq!(of_a_reduce(false, 900, 700), vec![]);
    let [MeasurePlan::Replicate { output, lost, redo, .. }] = of_a_reduce(true, 900, 700)[..] else {
        panic!("replicated")
    };
    assert_eq!(output.task.kind, TaskKind::Reduce);
    // The map ran on the same machine, and as long.
    assert_eq!(redo, Millis::from_secs_f64(lost * (10.0 + lost * 10.0)));
}

#[test]
fn a_map_whose_output_is_kept_twice_makes_the_loss_of_a_reduces_cost_little_more() {
    let [MeasurePlan::Replicate { output, lost, redo, .. }] = of_a_reduce(true, 100, 400)[..] else {
        panic!("replicated")
    };
    assert_eq!(output.task.kind, TaskKind::Reduce);
    let [alone, behind_one] = [0.0, lost].map(|again| Millis::from_secs_f64(lost * (10.0 + again * 10.0)));
    assert!(alone < redo && redo < behind_one, "{redo:?} beyond {alone:?}, below {behind_one:?}");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(ProptestConfig::default().cases / 16))]

    #[test]
    fn whatever_ends_in_whatever_order_no_more_than_a_tenth_of_what_was_read_is_replicated(
        maps in prop::collection::vec((0u64..2_000, 0u64..400, 1u32..5), 1..24),
    ) {
        let mut job = after_a_loss(REPLICATES);
        job.script.say(at(job.now), Fact::Job(job_fact(job.id, 24, 1)));
        let (mut read, mut copied) = (0, 0);
        for (index, (data, wrote, node)) in (0..).zip(&maps) {
            job = job.ran(index, *node, *data, *wrote);
            read += data;
            for plan in job.decide() {
                let MeasurePlan::Replicate { output, bytes, redo, replicate, .. } = plan else { panic!("{plan:?}") };
                prop_assert_eq!(bytes.0, maps[output.task.index as usize].1);
                prop_assert!(redo > replicate);
                copied += bytes.0;
            }
            prop_assert!(copied * 10 <= read, "{copied} of {read}");
        }
    }
}

/// Forty maps of ten seconds and a reduce: these on the first node, the others on the third.
fn forty(can: Capabilities, policy: PolicyName, first: &[u32]) -> Able {
    let job = Able::new(policy, 40, 1, can).racks(["a", "a", "b"]);
    (0..40).fold(job, |job, index| job.ran(index, if first.contains(&index) { 1 } else { 3 }, 10, 10))
}

#[test]
fn when_a_machine_has_lost_two_outputs_in_quick_succession_others_on_it_are_computed_anew_once() {
    let mut job = forty(PRECOMPUTES, PolicyName::Mantri, &[2, 3, 5, 7]).loses(2);
    assert_eq!(job.decide(), vec![], "one may be chance");
    let mut job = job.loses(3);
    // 5 % of what 38 maps of ten seconds took.
    let [MeasurePlan::Precompute { host, outputs, takes }] = &job.decide()[..] else { panic!("computed anew") };
    assert_eq!((host.as_str(), *takes), ("nm1", Millis(10_000)));
    assert_eq!(outputs, &[job.id.task(TaskKind::Map, 5).attempt(0)]);
    assert_eq!((job.decide(), job.verdict(Precompute)), (vec![], Some(Verdict::Decided)));
    let mut third = job.loses(7);
    assert_eq!(third.decide(), vec![], "nothing else lies there");
    assert_eq!(third.verdict(Precompute), Some(Verdict::NothingGained));
}

#[test]
fn what_a_job_loses_to_which_nothing_can_be_done_counts_for_the_users_others() {
    let mut job = forty(PRECOMPUTES, PolicyName::Mantri, &[2, 3, 5, 7]);
    let able = std::mem::replace(&mut job.id, job_id(2));
    job.script.open_job(job.id, 2, 1, at(0.0));
    let mut job = job.ran(0, 1, 10, 10).ran(1, 1, 10, 10).loses(0).loses(1);
    job.id = able;
    assert!(matches!(&job.decide()[..], [MeasurePlan::Precompute { host, .. }] if host == "nm1"));
}

#[test]
fn two_losses_far_apart_or_on_two_machines_are_no_onset() {
    let mut apart = forty(PRECOMPUTES, PolicyName::Mantri, &[2, 3, 5, 7]).loses(2);
    assert_eq!(apart.decide(), vec![]);
    apart.now += 301.0;
    assert_eq!(apart.loses(3).decide(), vec![]);
    let mut two = forty(PRECOMPUTES, PolicyName::Mantri, &[2, 3, 5, 7]).loses(2).loses(8);
    assert_eq!((two.decide(), two.verdict(Precompute)), (vec![], None));
}

#[test]
fn what_was_computed_anew_in_good_time_and_then_lost_is_no_further_loss() {
    let mut job = forty(PRECOMPUTES, PolicyName::Mantri, &[2, 3, 5]).loses(2).loses(3);
    assert_eq!(job.decide().len(), 1);
    let mut after = job.loses(5);
    assert_eq!((after.decide(), after.verdict(Precompute)), (vec![], Some(Verdict::Decided)));
}

#[test]
fn where_nothing_can_be_computed_anew_that_is_refused_by_name_once_an_output_was_lost() {
    let job = forty(Capabilities::NONE, PolicyName::Drover, &[2, 3, 5, 7]);
    assert_ne!(job.verdict(Precompute), Some(Verdict::CannotPrecompute));
    let mut lost = job.loses(2).loses(3);
    assert_eq!(lost.decide(), vec![]);
    assert_eq!(lost.verdict(Precompute), Some(Verdict::CannotPrecompute));
    let mut other = forty(PRECOMPUTES, PolicyName::Late, &[2, 3, 5, 7]).loses(2).loses(3);
    assert_eq!((other.decide(), other.verdict(Precompute)), (vec![], None));
}

#[test]
fn where_an_earlier_job_lost_nothing_there_is_no_replication_to_refuse() {
    let before = Able::new(PolicyName::Mantri, 2, 1, Capabilities::NONE).racks(["a", "a", "b"]);
    let mut job = before.ran(0, 1, 10, 10).ran(1, 2, 10, 10).next(8, 1, Capabilities::NONE).ran(0, 1, 1_000, 100);
    assert_eq!((job.decide(), job.verdict(Replicate)), (vec![], None));
}

#[test]
fn reduces_that_were_placed_are_not_placed_again_and_those_of_which_too_little_was_known_are_later() {
    let mut placed = written(3, PLACES, ["a", "b", "c"], [300, 300, 300]);
    assert_eq!(placed.decide().len(), 1);
    assert_eq!(placed.ran(2, 3, 1_000, 300).decide(), vec![]);
    let mut untold = written(3, PLACES, ["a", "b", "c"], [0; 3]);
    assert_eq!((untold.decide(), untold.verdicts()), (vec![], vec![Verdict::DataUnknown]));
    assert_eq!((0..3).fold(untold, |job, index| job.ran(index, index + 1, 1_000, 300)).decide().len(), 1);
}

#[test]
fn an_output_is_weighed_once_its_size_is_told_and_before_there_is_any_nothing_is_said() {
    let mut job = after_a_loss(REPLICATES);
    assert_eq!((job.decide(), job.verdict(Replicate)), (vec![], None));
    let mut untold = job.ran(0, 1, 1_000, 0);
    assert_eq!((untold.decide(), untold.verdict(Replicate)), (vec![], Some(Verdict::DataUnknown)));
    let mut told = untold.ran(0, 1, 1_000, 100);
    assert_eq!(replicated(told.decide()), [0]);
    let mut beside = told.ran(1, 1, 1_000, 0);
    assert_eq!((beside.decide(), beside.verdict(Replicate)), (vec![], Some(Verdict::Decided)));
}

#[test]
fn what_is_computed_anew_on_one_machine_is_charged_to_what_may_be_on_the_next() {
    let mut job = forty(PRECOMPUTES, PolicyName::Mantri, &[2, 3, 5, 7]).loses(2).loses(3);
    assert_eq!(job.decide().len(), 1);
    let mut next = job.loses(10).loses(11);
    // 5 % of what 36 maps of ten seconds took are eighteen, of which ten are spent.
    assert_eq!((next.decide(), next.verdict(Precompute)), (vec![], Some(Verdict::MeasureBudget)));
}

#[test]
fn that_nothing_is_known_of_the_tasks_that_wait_is_said_once() {
    let mut job = Able::new(PolicyName::Mantri, 3, 0, ORDERS).waits(0, &[0, 0]);
    assert_eq!(job.script.decide(at(21.0)).measures.len(), 1);
    let mut more = job.waits(2, &[0]);
    assert_eq!(more.script.decide(at(22.0)).measures, []);
}
