//! A small phase whose attempts are told one by one, for the tests of all policies; and those of their names.

use super::view::{Patience, ViewParams};
use super::*;
use crate::estimate::calibration::Spreads;
use crate::estimate::phase::PhaseTimes;
use crate::estimate::{Estimator, Left};
use crate::model::{
    AttemptFact, AttemptState, Bytes, ClonePlan, CloneScheme, Job, JobId, Millis, NameId, Names, TaskFact, TaskKind,
    TaskState,
};

pub fn at(seconds: f64) -> Time {
    Time(1_000_000) + Millis::from_secs_f64(seconds)
}

pub fn secs(seconds: f64) -> Millis {
    Millis::from_secs_f64(seconds)
}

pub fn left(mean: f64, spread: f64) -> Option<Left> {
    Some(Left { mean: secs(mean), spread: secs(spread) })
}

/// A host by its number.
pub fn host(number: u32) -> NameId {
    let mut names = Names::default();
    (0..=number).filter_map(|n| names.intern(&n.to_string())).last().unwrap()
}

pub const fn plan(clones: u32, tasks: u32) -> ClonePlan {
    ClonePlan::given(CloneScheme::Task, clones, tasks)
}

/// The tasks of one kind in a job that was launched at 0. All times are seconds.
pub struct Phase {
    pub job: Job,
    kind: TaskKind,
}

impl Phase {
    /// So many maps of a job without reduces.
    pub fn maps(total: u32) -> Phase {
        Phase::of(TaskKind::Map, [total, 0])
    }

    /// So many reduces of a job with one map.
    pub fn reduces(total: u32) -> Phase {
        Phase::of(TaskKind::Reduce, [1, total])
    }

    fn of(kind: TaskKind, totals: [u32; 2]) -> Phase {
        let mut job = Job::new("job_1_0001".parse::<JobId>().unwrap());
        job.totals = Some(totals);
        job.started.earliest(Some(at(0.0)));
        Phase { job, kind }
    }

    pub fn task(&mut self, fact: TaskFact) {
        assert!(self.job.learn_task(&fact, at(0.0), 1_000));
    }

    /// Of the attempt with that number of a task, on a host.
    pub fn attempt(&mut self, (index, number): (u32, u32), on: u32, tell: impl Fn(&mut AttemptFact)) {
        let mut fact = AttemptFact::of(self.job.id.task(self.kind, index).attempt(number));
        tell(&mut fact);
        assert!(self.job.learn_attempt(&fact, Some(host(on)), at(0.0), 1_000));
    }

    /// An attempt that ended in that state.
    pub fn ended(mut self, which: (u32, u32), on: u32, state: AttemptState, [launched, ended]: [f64; 2]) -> Phase {
        self.attempt(which, on, |fact| {
            fact.state = Some(state);
            (fact.started, fact.finished) = (Some(at(launched)), Some(at(ended)));
        });
        self
    }

    /// A task that its first attempt has finished.
    pub fn done(mut self, index: u32, on: u32, run: [f64; 2]) -> Phase {
        let of = TaskFact::of(self.job.id.task(self.kind, index));
        let (state, started, finished) = (Some(TaskState::Succeeded), Some(at(run[0])), Some(at(run[1])));
        self.task(TaskFact { state, started, finished, winner: Some(0), ..of });
        self.ended((index, 0), on, AttemptState::Succeeded, run)
    }

    /// The tasks from the first on have taken so many seconds, on host 0.
    pub fn took(self, seconds: &[f64]) -> Phase {
        (0..).zip(seconds).fold(self, |phase, (index, seconds)| phase.done(index, 0, [0.0, *seconds]))
    }

    /// A running attempt with its reports: (second, score).
    pub fn runs(mut self, which: (u32, u32), on: u32, launched: f64, reports: &[(f64, f32)]) -> Phase {
        self.attempt(which, on, |fact| {
            (fact.state, fact.started) = (Some(AttemptState::Running), Some(at(launched)));
        });
        for (second, score) in reports {
            self.attempt(which, on, |fact| (fact.score, fact.scored_at) = (Some(*score), Some(at(*second))));
        }
        self
    }

    /// An attempt is in that state now.
    pub fn is(mut self, which: (u32, u32), state: AttemptState) -> Phase {
        self.attempt(which, 0, |fact| fact.state = Some(state));
        self
    }

    /// A shim speaks for the job: of its input nothing more will be told.
    pub fn shim(mut self) -> Phase {
        self.job.shim = true;
        self
    }

    /// The length of a task's split.
    pub fn split(mut self, index: u32, bytes: u64) -> Phase {
        let of = TaskFact::of(self.job.id.task(self.kind, index));
        self.task(TaskFact { input: Some(Bytes(bytes)), ..of });
        self
    }

    /// What is to be seen of it then, by someone who has just heard of it; time left as LATE reckons it, and copies that start at once.
    pub fn view(&mut self, now: f64) -> View<'_> {
        self.view_by(now, 1.5)
    }

    /// The same, with a host slow from so many typical runs on.
    pub fn view_by(&mut self, now: f64, slow_factor: f64) -> View<'_> {
        self.job.heard = at(now);
        let params = ViewParams {
            estimator: Estimator::Late,
            spreads: Spreads::UNMEASURED,
            t_rem_spreads: Spreads::UNMEASURED,
            start_lag: Millis(0),
            patience: Patience::default(),
            judge_native_copies: false,
            slow_factor,
            earlier: PhaseTimes::default(),
        };
        View::new(&self.job, self.kind, at(now), &params)
    }
}

fn those(which: impl Fn(PolicyName) -> bool) -> Vec<&'static str> {
    PolicyName::ALL.into_iter().filter(|policy| which(*policy)).map(PolicyName::label).collect()
}

#[test]
fn several_copies_cost_several_times_one_and_what_only_ends_an_attempt_costs_and_wins_nothing() {
    let judged = |live: u32, plan: ClonePlan| {
        let phase = Phase::maps(5).took(&[10.0; 4]);
        let mut phase = (0..live).fold(phase, |phase, number| phase.runs((4, number), number, 10.0, &[(15.0, 0.5)]));
        phase.job.can.withdraw = true;
        let view = View { plan: Some(plan), ..phase.view(20.0) };
        let (late, tail, mantri) = Default::default();
        let of = Thresholds { late: &late, tail: &tail, mantri: &mantri, hadoop_0_20: &Hadoop020Params::LATE };
        PolicyName::Dolly.judge(&view, &of).remove(0)
    };
    let numbers = |judged: Judged| {
        let Numbers { cost_container_seconds, gain, win_probability, .. } = judged.numbers;
        (judged.action, cost_container_seconds, gain.is_some(), win_probability.is_some())
    };
    let cost = |live, clones| numbers(judged(live, plan(clones, 5)));
    assert_eq!(cost(1, 2), (Action::Duplicate, Some(10.0), true, true));
    assert_eq!(cost(1, 4), (Action::Duplicate, Some(30.0), true, true));
    let gives_way = ClonePlan { gives_way: true, ..plan(2, 5) };
    assert_eq!(numbers(judged(2, gives_way)), (Action::Withdraw, None, false, false));
}

#[test]
fn a_policy_is_treated_as_what_it_is() {
    assert_eq!(those(PolicyName::clones), ["dolly", "drover"]);
    assert_eq!(those(PolicyName::only_clones), ["dolly"]);
    let idle = those(|policy| !policy.acts_on_tasks());
    assert_eq!(idle, ["blacklist", "none"]);
    assert_eq!(those(PolicyName::spares_slow_nodes), ["late", "late-early", "drover"]);
    assert_eq!(those(PolicyName::weighs_new_copies), ["late", "late-early", "mantri", "drover"]);
}

#[test]
fn every_policy_names_the_paper_or_the_program_that_its_rule_is_of_and_no_two_the_same_rule() {
    let of = [
        "LATE §4",
        "Mantri §6.3",
        "Hadoop 3.4.3",
        "Hadoop 3.4.3",
        "LATE §2.1",
        "MapReduce §3.6",
        "Mantri §7",
        "Mantri §5.1",
        "NSDI'13 §3.2",
        "Mantri §5.1 by LATE §4",
        "NSDI'13 §2.1.2",
        "none",
    ];
    for (policy, words) in PolicyName::ALL.into_iter().zip(of) {
        assert!(policy.rule().contains(words), "{}: {}", policy.label(), policy.rule());
    }
    let rules: std::collections::BTreeSet<_> = PolicyName::ALL.into_iter().map(PolicyName::rule).collect();
    assert_eq!(rules.len(), PolicyName::ALL.len());
}

#[test]
fn what_is_said_of_ordinary_tasks_is_told_from_what_is_said_of_slow_ones() {
    let says = |verdict| those(move |policy| policy.is_ordinary(verdict));
    let all_but_two = those(|policy| policy != PolicyName::Blacklist);
    assert_eq!(says(Verdict::NotSlow), all_but_two, "a blacklist has its own word for it");
    assert_eq!(says(Verdict::MachineNotListed), ["dolly", "blacklist"]);
    assert_eq!(says(Verdict::NoGain), ["hadoop", "hadoop-tuned", "mantri", "dolly", "drover"]);
    assert_eq!(says(Verdict::CloneBudget), ["dolly"], "it does not look at how slow a task is");
    assert_eq!((says(Verdict::Decided), says(Verdict::MachineListed)), (vec![], vec!["dolly"]));
}
