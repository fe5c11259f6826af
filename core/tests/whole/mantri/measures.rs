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
