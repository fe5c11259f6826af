//! What holds of every policy, whatever the phase.

use crate::common::*;
use drover_core::engine::EngineParams;
use drover_core::estimate::Estimator;
use drover_core::estimate::calibration::Spreads;
use drover_core::estimate::phase::PhaseTimes;
use drover_core::model::*;
use drover_core::policy::hadoop::{self, HadoopParams};
use drover_core::policy::hadoop_0_20::{self, Hadoop020Params};
use drover_core::policy::view::{Patience, ViewParams};
use drover_core::policy::{Judged, LateParams, MantriParams, Past, PolicyName, TailParams, Thresholds, View};
use proptest::prelude::*;

/// A phase of maps, and when it is looked at.
#[derive(Debug, Clone)]
struct Phase {
    maps: Vec<(u32, Vec<Run>)>,
    waiting: u32,
    seconds: u32,
    /// For so many seconds then nothing was heard any more.
    silent: u32,
    /// The job's last copy was decided on at that second.
    copied: Option<u32>,
}

impl Phase {
    /// What a policy says of it once it was heard of every second, with all times and all constants that are times `scale` times as long.
    fn judged(&self, policy: PolicyName, scale: u64) -> Vec<Judged> {
        let (mut script, id) = (Script::new(EngineParams::default()), job_id(1));
        script.open_job(id, self.maps.len() as u32 + self.waiting, 0, at(0.0));
        script.say(at(0.0), Fact::ShimSession(id, true));
        let settings = script.engine.cluster().job(id).unwrap().settings.clone().unwrap();
        script.say(at(0.0), Fact::Settings(id, JobSettings { report_interval: Millis(1_000 * scale), ..settings }));
        let stretched = |run: &Run| Run { launched: run.launched * scale as f64, takes: run.takes * scale as f64 };
        for second in 1..=self.seconds {
            let now = f64::from(second) * scale as f64;
            let seen = self.maps.iter().map(|(index, runs)| {
                let runs: Vec<Run> = runs.iter().map(stretched).collect();
                runs_of(id.task(TaskKind::Map, *index), &runs, now)
            });
            let (tasks, attempts): (Vec<_>, Vec<_>) = seen.unzip();
            script.tasks(id, at(now), tasks);
            script.attempts(id, at(now), attempts.concat());
        }
        // Fractions that no sum of the runs meets: at a tie rounding would decide.
        let [start_lag, period, min_age] = [1_013, 1_037, 1_009].map(|ms| Millis(ms * scale));
        let mantri = MantriParams { period: Millis(10_000 * scale), period_min: period, ..MantriParams::default() };
        let late = LateParams { min_age, ..LateParams::default() };
        let params = ViewParams {
            estimator: Estimator::default(),
            spreads: Spreads::UNMEASURED,
            t_rem_spreads: Spreads::UNMEASURED,
            start_lag,
            patience: patience(scale),
            judge_native_copies: true,
            slow_factor: late.slow_factor,
            earlier: PhaseTimes::default(),
        };
        // The AM still speaks: what has said nothing since is silent itself.
        let now = f64::from(self.seconds + self.silent) * scale as f64;
        script.tasks(id, at(now), vec![TaskFact::of(id.task(TaskKind::Map, 0))]);
        let job = script.engine.cluster().job(id).unwrap();
        let looked = f64::from(self.seconds + self.silent) + BESIDE;
        let view = View::new(job, TaskKind::Map, at(looked * scale as f64), &params);
        let last = self.copied.map(|second| at(f64::from(second) * scale as f64));
        let view = View { past: Past { last, ..Past::default() }, ..view };
        let thresholds = Thresholds {
            late: &late,
            tail: &TailParams::default(),
            mantri: &mantri,
            hadoop_0_20: &Hadoop020Params::LATE,
        };
        let judged = judge(policy, &view, &thresholds, scale);
        assert_eq!(judged, judge(policy, &view, &thresholds, scale), "the same view, another answer");
        judged
    }

    /// With its tasks in another order.
    fn permuted(&self, order: &[u32]) -> Phase {
        let place = |index: u32| order[index as usize];
        let mut maps: Vec<_> = self.maps.iter().map(|(index, runs)| (place(*index), runs.clone())).collect();
        maps.sort_by_key(|(index, _)| *index);
        Phase { maps, ..*self }
    }
}

/// Reports may be late for so many times as long.
fn patience(scale: u64) -> Patience {
    let Patience { way, start_up, jitter } = Patience::default();
    let by = |time: Millis| Millis(time.0 * scale);
    Patience { way: by(way), start_up: by(start_up), jitter: by(jitter) }
}

/// How long after the last news a phase is looked at, seconds: what no sum of launches and mean of whole run times comes near to, for at a tie rounding would decide.
const BESIDE: f64 = 0.037;

/// With the constants that are times `scale` times as long. Those of Hadoop's policies are not among the thresholds; a minute is longer than any phase here.
fn judge(policy: PolicyName, view: &View<'_>, thresholds: &Thresholds<'_>, scale: u64) -> Vec<Judged> {
    let stretched = |params: HadoopParams| HadoopParams {
        scan: Millis(params.scan.0 * scale),
        standstill: Millis(params.standstill.0 * scale),
        retry_after_speculate: Millis(params.retry_after_speculate.0 * scale),
        ..params
    };
    match policy {
        PolicyName::Hadoop => hadoop::judge(view, &stretched(HadoopParams::SHIPPED)),
        PolicyName::HadoopTuned => hadoop::judge(view, &stretched(HadoopParams::TUNED)),
        PolicyName::Hadoop020 => {
            hadoop_0_20::judge(view, &Hadoop020Params { min_age: Millis(3_019 * scale), ..Hadoop020Params::LATE })
        }
        other => other.judge(view, thresholds),
    }
}

/// Maps with a copy or more: run times of a few seconds, every third up to eight times as long, and launches that all differ.
fn phases() -> impl Strategy<Value = Phase> {
    let copies = prop::collection::vec((2u32..10, 0u32..12), 1..5);
    let maps = prop::collection::vec((copies, 1u32..9), 3..12);
    let (silent, copied) = (prop_oneof![2 => Just(0), 1 => 1u32..24], prop::option::of(0u32..16));
    (maps, 0u32..2, 2u32..16, silent, copied).prop_map(|(maps, waiting, seconds, silent, copied)| {
        let one = |(index, (copies, slow)): (usize, (Vec<(u32, u32)>, u32))| {
            let slow = if index % 3 == 1 { slow } else { 1 };
            let launch = |n: usize| 0.031 * (index * 4 + n) as f64;
            let run = |(n, (takes, later)): (usize, &(u32, u32))| Run {
                launched: launch(n) + f64::from(*later) * (n > 0) as u32 as f64,
                takes: f64::from(takes * slow),
            };
            // Most tasks have no copy.
            let kept = if index % 2 == 0 { 1 } else { copies.len() };
            (index as u32, copies.iter().take(kept).enumerate().map(run).collect())
        };
        Phase { maps: maps.into_iter().enumerate().map(one).collect(), waiting, seconds, silent, copied }
    })
}

/// Those that judge tasks by their times.
fn by_times() -> impl Strategy<Value = PolicyName> {
    use PolicyName::{Drover, Dryad, Hadoop, Hadoop020, HadoopTuned, Late, LateEarly, Mantri, MapReduce};
    prop::sample::select(vec![Late, LateEarly, Hadoop, HadoopTuned, Hadoop020, MapReduce, Dryad, Mantri, Drover])
}

/// A phase with an order of its tasks.
fn permuted() -> impl Strategy<Value = (Phase, Vec<u32>)> {
    phases().prop_flat_map(|phase| {
        let order: Vec<u32> = (0..phase.maps.len() as u32).collect();
        (Just(phase), Just(order).prop_shuffle())
    })
}

fn said(judged: &Judged) -> (Verdict, Action, u32) {
    (judged.verdict, judged.action, judged.attempt.number)
}

/// What rounding makes of times of so many seconds, milliseconds.
const ROUNDED: u64 = 20;

/// Would a copy end as soon, but for what rounding to milliseconds makes of it?
fn is_a_tie(judged: &Judged) -> bool {
    let times = judged.numbers.time_left.zip(judged.numbers.fresh_copy);
    times.is_some_and(|(left, fresh)| left.0.abs_diff(fresh.0) <= ROUNDED)
}

proptest! {
    #[test]
    fn tasks_are_judged_by_what_they_are_and_not_by_their_order((phase, order) in permuted(), policy in by_times()) {
        let straight = phase.judged(policy, 1);
        let other = phase.permuted(&order).judged(policy, 1);
        prop_assert_eq!(straight.len(), other.len());
        for a in &straight {
            let place = order[a.task.index as usize];
            let b = other.iter().find(|b| b.task.index == place);
            let of = |judged: &Judged| (said(judged), judged.numbers, judged.rule.clone());
            prop_assert_eq!(Some(of(a)), b.map(of));
        }
    }

    #[test]
    fn a_phase_that_is_slower_throughout_is_judged_alike(phase in phases(), policy in by_times()) {
        let [once, twice] = [1, 2].map(|scale| phase.judged(policy, scale));
        prop_assume!(!once.iter().chain(&twice).any(is_a_tie));
        prop_assert_eq!(once.iter().map(said).collect::<Vec<_>>(), twice.iter().map(said).collect::<Vec<_>>());
        for (a, b) in once.iter().zip(&twice) {
            let times = |judged: &Judged| [judged.numbers.time_left, judged.numbers.fresh_copy];
            for (a, b) in times(a).into_iter().zip(times(b)) {
                let doubled = a.map(|a| 2 * a.0);
                prop_assert!(doubled.zip(b).is_none_or(|(a, b)| a.abs_diff(b.0) <= ROUNDED), "{:?} {:?}", doubled, b);
            }
        }
    }

    #[test]
    fn under_late_more_time_left_never_lowers_a_rank(phase in phases(), early in any::<bool>()) {
        let policy = if early { PolicyName::LateEarly } else { PolicyName::Late };
        // No end in sight is the most.
        let left = |judged: &Judged| judged.numbers.time_left.map_or(u64::MAX, |left| left.0);
        let mut judged = phase.judged(policy, 1);
        judged.sort_by_key(left);
        prop_assert!(judged.is_sorted_by(|a, b| a.rank <= b.rank), "{:?}", judged);
    }

    #[test]
    fn mantri_never_wants_a_fourth_copy(phase in phases()) {
        let runs = |index: u32| phase.maps[index as usize].1.iter();
        for judged in phase.judged(PolicyName::Mantri, 1) {
            let copies = runs(judged.task.index).filter(|run| run.launched <= f64::from(phase.seconds)).count();
            if judged.verdict == Verdict::Decided && judged.action == Action::Duplicate {
                prop_assert!(copies < 3, "{} run", copies);
            }
        }
    }

    #[test]
    fn asked_again_before_the_instant_it_named_the_engine_has_nothing_to_add(
        phase in phases(), policy in prop::sample::select(PolicyName::ALL.to_vec()), share in 0.0..1.0,
    ) {
        let (mut script, id) = (Script::new(EngineParams { policy, ..acting() }), job_id(1));
        script.open_job(id, phase.maps.len() as u32 + phase.waiting, 0, at(0.0));
        for second in 1..=phase.seconds {
            let seen = phase.maps.iter().map(|(index, runs)| runs_of(id.task(TaskKind::Map, *index), runs, second.into()));
            let (tasks, attempts): (Vec<_>, Vec<_>) = seen.unzip();
            script.tasks(id, at(second.into()), tasks);
            script.attempts(id, at(second.into()), attempts.concat());
            let pass = script.decide(at(second.into()));
            let verdicts = |script: &Script| {
                let job = script.engine.cluster().job(id).unwrap();
                job.tasks(TaskKind::Map).map(|(_, task)| task.verdict).collect::<Vec<_>>()
            };
            let before = verdicts(&script);
            let until = pass.next.map_or(1.0, |next| (next.since(at(second.into())).as_secs_f64() - 0.001).clamp(0.0, 1.0));
            let again = script.decide(at(f64::from(second) + share * until));
            prop_assert!(again.decisions.is_empty() && again.jobs_evaluated == 0, "{:?}", again.decisions);
            prop_assert_eq!((verdicts(&script), again.next), (before, pass.next));
        }
    }
}
