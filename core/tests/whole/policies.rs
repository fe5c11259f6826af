//! What holds of every policy, whatever the phase.

use crate::common::*;
use drover_core::engine::EngineParams;
use drover_core::estimate::Estimator;
use drover_core::estimate::calibration::Spreads;
use drover_core::model::*;
use drover_core::policy::view::ViewParams;
use drover_core::policy::{Judged, LateParams, MantriParams, PolicyName, TailParams, Thresholds, View};
use proptest::prelude::*;

/// A phase of maps, and when it is looked at.
#[derive(Debug, Clone)]
struct Phase {
    maps: Vec<(u32, Vec<Run>)>,
    waiting: u32,
    seconds: u32,
}

impl Phase {
    /// What a policy says of it once it was heard of every second, with all times and all constants that are times `scale` times as long.
    fn judged(&self, policy: PolicyName, scale: u64) -> Vec<Judged> {
        let (mut script, id) = (Script::new(EngineParams::default()), job_id(1));
        script.open_job(id, self.maps.len() as u32 + self.waiting, 0, at(0.0));
        script.say(at(0.0), Fact::ShimSession(id, true));
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
            judge_native_copies: true,
            slow_factor: late.slow_factor,
        };
        let job = script.engine.cluster().job(id).unwrap();
        let view = View::new(job, TaskKind::Map, at(f64::from(self.seconds) * scale as f64), &params);
        let thresholds = Thresholds { late: &late, tail: &TailParams::default(), mantri: &mantri };
        let judged = policy.judge(&view, &thresholds);
        assert_eq!(judged, policy.judge(&view, &thresholds), "the same view, another answer");
        judged
    }
}

/// Maps with a copy or more: run times of a few seconds, every third up to eight times as long, and launches that all differ.
fn phases() -> impl Strategy<Value = Phase> {
    let copies = prop::collection::vec((2u32..10, 0u32..12), 1..5);
    let maps = prop::collection::vec((copies, 1u32..9), 3..12);
    (maps, 0u32..2, 2u32..16).prop_map(|(maps, waiting, seconds)| {
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
        Phase { maps: maps.into_iter().enumerate().map(one).collect(), waiting, seconds }
    })
}

/// Those whose constants that are times can all be set; Hadoop's own have theirs built in.
fn scalable() -> impl Strategy<Value = PolicyName> {
    use PolicyName::{Drover, Dryad, Late, LateEarly, Mantri, MapReduce};
    prop::sample::select(vec![Late, LateEarly, MapReduce, Dryad, Mantri, Drover])
}

fn said(judged: &Judged) -> (Verdict, Action, u32) {
    (judged.verdict, judged.action, judged.attempt.number)
}

proptest! {
    #[test]
    fn tasks_are_judged_by_what_they_are_and_not_by_their_order(phase in phases(), policy in scalable()) {
        let last = phase.maps.len() as u32 - 1;
        let turned = phase.maps.iter().map(|(index, runs)| (last - index, runs.clone())).collect();
        let straight = phase.judged(policy, 1);
        let mut other = Phase { maps: turned, ..phase }.judged(policy, 1);
        other.reverse();
        prop_assert_eq!(straight.len(), other.len());
        for (a, b) in straight.iter().zip(&other) {
            prop_assert_eq!((said(a), a.numbers, &a.rule), (said(b), b.numbers, &b.rule));
        }
    }

    #[test]
    fn a_phase_that_is_slower_throughout_is_judged_alike(phase in phases(), policy in scalable()) {
        let [once, twice] = [1, 2].map(|scale| phase.judged(policy, scale));
        prop_assert_eq!(once.iter().map(said).collect::<Vec<_>>(), twice.iter().map(said).collect::<Vec<_>>());
        for (a, b) in once.iter().zip(&twice) {
            let times = |judged: &Judged| [judged.numbers.time_left, judged.numbers.fresh_copy];
            for (a, b) in times(a).into_iter().zip(times(b)) {
                let doubled = a.map(|a| 2 * a.0);
                prop_assert!(doubled.zip(b).is_none_or(|(a, b)| a.abs_diff(b.0) <= 20), "{:?} {:?}", doubled, b);
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
