//! Drover's own: small jobs as Dolly, where their clones were admitted; the rest as Mantri, with LATE's guards.
//!
//! ```text
//! 1: of a phase whose clones were admitted (dolly, lines 2 and 3)             judge; engine::clones
//! 2:   each task that has clones is Dolly's, unless they gave way             judge: cloned
//! 3: of all other tasks, LATE (late, lines 4 to 6) leaves the slow; where     reactively; holds_back
//!      it is too early for LATE, as it always is for a phase's only task,
//!      what Mantri decides on that lasts twice as long as the median          straggles
//! 4:   of these Mantri copies what pays (mantri, lines 7 and 10), or          guarded
//! 5:     kills and restarts (mantri, line 6), where that can be done          guarded: possible
//! 6:   where Mantri has seen too few tasks or cannot do as it would, LATE decides, and the rule says why
//! 7: a copy too many (mantri, line 3) is ended whatever LATE says, where it can be
//! ```

use super::{Judged, LateParams, MantriParams, PolicyName, View, dolly, late, mantri};
use crate::estimate::pace::STRAGGLES_BELOW;
use crate::estimate::prior::Prior;
use crate::model::{Action, Capabilities, Verdict};

/// Judges every running task.
pub fn judge(view: &View<'_>, late: &LateParams, mantri: &MantriParams) -> Vec<Judged> {
    let Some(plan) = view.plan.filter(|plan| plan.refused.is_none()) else { return reactively(view, late, mantri) };
    if !plan.gives_way && plan.tasks >= view.total {
        return dolly::judge(view);
    }
    // What has no clones, or whose clones gave way, is watched like any other.
    let cloned = |judged: &Judged| match judged.verdict {
        Verdict::Decided => judged.action != Action::Withdraw || view.job.can.withdraw,
        Verdict::AlreadyCopied => true,
        _ => false,
    };
    let pairs = dolly::judge_running(view).zip(reactively(view, late, mantri));
    let running = pairs.map(|(clones, other)| if cloned(&clones) { clones } else { other });
    running.chain(dolly::judge_waiting(view)).collect()
}

fn reactively(view: &View<'_>, late: &LateParams, mantri: &MantriParams) -> Vec<Judged> {
    let alone = view.total == 1 && view.prior.is_some_and(Prior::speaks_alone);
    // Its peers are those of earlier runs, however few each had.
    let of_earlier = MantriParams { min_evidence: 1, ..*mantri };
    let mantri = if alone { &of_earlier } else { mantri };
    // What LATE advises against Mantri need not weigh, nor what may have nothing more; but for surplus copies.
    let open = |index: usize, guard: &Judged| {
        let settled = holds_back(guard.verdict) || view.past.holds(guard.task);
        !settled || view.contenders[index].task.live().count() > 1
    };
    let can = Capabilities { restart: view.job.can.restart && view.can_restart, ..view.job.can };
    let mut phase = None;
    let mut all = late::judge(view, late);
    for (index, guard) in all.iter_mut().enumerate() {
        if !open(index, guard) {
            continue;
        }
        let phase = phase.get_or_insert_with(|| mantri::Phase::of(view, mantri, alone));
        let early = is_too_early(guard.verdict);
        let straggles = early && straggles(view, index, phase);
        // Most tasks that run are too young for LATE and no stragglers, and Mantri need not weigh what would be left at that.
        if early && !straggles && !phase.has_several(index) {
            continue;
        }
        let judged = phase.judge(index);
        if !early || judged.action == Action::Withdraw || (straggles && judged.verdict == Verdict::Decided) {
            guarded(judged, guard, can);
        }
    }
    all
}

/// Is it too early for LATE, which waits until enough have finished and a task is as old as these became?
fn is_too_early(verdict: Verdict) -> bool {
    matches!(verdict, Verdict::TooYoung | Verdict::TooFewFinished)
}

/// May Mantri, which goes by tasks that are well under way, too, decide on a task that LATE leaves for later? On one that straggles as Dolly has it (NSDI'13, §2.1.2): that lasts twice as long as the median.
/// In a job of a few tasks most of what a copy gains is gone by the time one has finished. What is milder may be but one of a wide spread, and waits for LATE; as does
/// what has reported for less than an eighth of that: a JVM's first steps are slow; and what may have more data than others, as what has been read over REST tells only beside finished peers.
fn straggles(view: &View<'_>, index: usize, phase: &mantri::Phase<'_>) -> bool {
    const SHOWN: f64 = 0.125;
    let contender = &view.contenders[index];
    let data_will_be_told = view.total > 1 && view.input_unknown(contender);
    if data_will_be_told {
        return false;
    }
    let Some(typical) = phase.typical(contender) else { return false };
    let run = (contender.elapsed + phase.left(index).unwrap_or_default()).as_secs_f64();
    let track = contender.sample.track;
    // What has not reported at all may only be late to start on a crowded machine: then its age alone must be twice the median.
    let shown = track.first().is_none() || track.shown_for().as_secs_f64() >= SHOWN * typical;
    run * STRAGGLES_BELOW > typical && shown
}

/// Puts in the guard's place what Mantri decides and LATE does not advise against. What cannot be done is left to LATE, which only ever copies. So is what
/// Mantri has seen too few tasks for, as LATE asks for fewer in a small phase; and what it finds copied, as LATE in advice overlooks copies of Hadoop's own.
fn guarded(judged: Judged, guard: &mut Judged, can: Capabilities) {
    let possible = match judged.action {
        Action::Duplicate => true,
        Action::Restart => can.restart,
        Action::Withdraw => can.withdraw,
    };
    let held_back = judged.action != Action::Withdraw && holds_back(guard.verdict);
    let why = match (judged.verdict, judged.action) {
        (Verdict::TooFewFinished, _) => "too few tasks have finished for Mantri",
        (Verdict::AlreadyCopied, _) => "Mantri counts Hadoop's own copy",
        (Verdict::Decided, Action::Restart) if !possible => "Mantri's restart cannot be done",
        (Verdict::Decided, Action::Withdraw) if !possible => "Mantri's withdrawal cannot be done",
        (Verdict::Decided, _) if held_back => "LATE holds back what Mantri decides",
        _ => {
            *guard = judged;
            return;
        }
    };
    guard.rule = (guard.verdict == Verdict::Decided).then(|| format!("{}; {why}", PolicyName::Late.rule()));
}

/// LATE's guards are what it says of the task. What a copy gains is Mantri's to say, and so is when enough is known to tell that.
fn holds_back(verdict: Verdict) -> bool {
    use Verdict::{AlreadyCopied, Decided, GainTooSmall, NoGain};
    !matches!(verdict, Decided | NoGain | GainTooSmall | AlreadyCopied) && !is_too_early(verdict)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::estimate::prior::Priors;
    use crate::model::{AttemptFact, AttemptState, Bytes, ClonePlan, JobKind, TaskKind};
    use crate::policy::Past;
    use crate::policy::tests::{Phase, at, plan};

    fn judged<'a>(phase: &'a mut Phase, plan: ClonePlan, native: bool) -> Vec<Judged> {
        let view: View<'a> = View { plan: Some(plan), judge_native_copies: native, ..phase.view(2.0) };
        judge(&view, &LateParams::default(), &MantriParams::default())
    }

    fn is_dollys(judged: &Judged) -> bool {
        judged.rule.as_ref().is_some_and(|rule| rule.contains("Dolly"))
    }

    /// Two tasks that are at work, too few to tell.
    fn two() -> Phase {
        Phase::maps(2).runs((0, 0), 0, 0.0, &[(1.0, 0.25)]).runs((1, 0), 0, 0.0, &[(1.0, 0.25)])
    }

    #[test]
    fn of_a_phase_that_is_cloned_in_part_the_rest_is_watched_like_any_other() {
        let of = judged(&mut two(), plan(2, 1), false);
        assert_eq!((of[0].verdict, is_dollys(&of[0])), (Verdict::Decided, true));
        assert_eq!((of[1].verdict, is_dollys(&of[1])), (Verdict::TooFewFinished, false));
        assert!(judged(&mut two(), plan(2, 2), false).iter().all(is_dollys));
    }

    #[test]
    fn a_task_that_has_its_clones_is_not_judged_by_its_pace() {
        let of = judged(&mut two().runs((0, 1), 0, 0.0, &[]), plan(2, 1), true);
        assert_eq!((of[0].verdict, of[1].verdict), (Verdict::AlreadyCopied, Verdict::TooFewFinished));
    }

    #[test]
    fn clones_that_give_way_are_withdrawn_where_they_can_be_and_then_their_tasks_are_watched_like_any_other() {
        let gives_way = ClonePlan { gives_way: true, ..plan(2, 2) };
        let of = |withdraw| {
            let mut phase = two().runs((0, 1), 0, 0.0, &[]);
            phase.job.can.withdraw = withdraw;
            judged(&mut phase, gives_way, true)
        };
        let can = of(true);
        assert_eq!((can[0].verdict, can[0].action), (Verdict::Decided, Action::Withdraw));
        assert_eq!(can[1].verdict, Verdict::TooFewFinished, "its clone is gone");
        assert_eq!(of(false)[0].action, Action::Duplicate);
    }

    #[test]
    fn mantri_decides_where_late_leaves_it_open_and_what_it_cannot_say_is_left_to_late() {
        use Action::{Duplicate, Restart, Withdraw};
        use Verdict::{AlreadyCopied, Decided, GainTooSmall, NoGain, NotSlow, TooFewFinished};
        let blank = judged(&mut two(), plan(2, 1), false).remove(1);
        let of = |verdict, action, rule: &str| Judged { verdict, action, rule: Some(rule.into()), ..blank.clone() };
        let can = Capabilities { withdraw: true, ..Capabilities::default() };
        let late = |why| format!("{}; {why}", PolicyName::Late.rule());
        let (restart, few) = (late("Mantri's restart cannot be done"), late("too few tasks have finished for Mantri"));
        let copied = late("Mantri counts Hadoop's own copy");
        for (mantri, guard, verdict, action, rule) in [
            ((Decided, Duplicate), NotSlow, NotSlow, Duplicate, None),
            ((Decided, Duplicate), NoGain, Decided, Duplicate, Some("m")),
            ((Decided, Withdraw), NotSlow, Decided, Withdraw, Some("m")),
            ((Decided, Restart), Decided, Decided, Duplicate, Some(&*restart)),
            ((TooFewFinished, Duplicate), Decided, Decided, Duplicate, Some(&*few)),
            ((AlreadyCopied, Duplicate), Decided, Decided, Duplicate, Some(&*copied)),
            ((AlreadyCopied, Duplicate), GainTooSmall, GainTooSmall, Duplicate, None),
            ((NoGain, Duplicate), Decided, NoGain, Duplicate, Some("m")),
        ] {
            let mut one = of(guard, Duplicate, "g");
            guarded(of(mantri.0, mantri.1, "m"), &mut one, can);
            assert_eq!((one.verdict, one.action, one.rule.as_deref()), (verdict, action, rule), "{mantri:?} {guard:?}");
        }
    }

    #[test]
    fn what_mantri_would_end_is_ended_where_that_can_be_done_and_else_left_to_late() {
        use Verdict::Decided;
        let blank = judged(&mut two(), plan(2, 1), false).remove(1);
        let of = |action, rule: &str| Judged { verdict: Decided, action, rule: Some(rule.into()), ..blank.clone() };
        for (action, why) in [
            (Action::Restart, "Mantri's restart cannot be done"),
            (Action::Withdraw, "Mantri's withdrawal cannot be done"),
        ] {
            let told = |able| {
                let can = Capabilities { restart: able, withdraw: able, ..Capabilities::default() };
                let mut one = of(Action::Duplicate, "g");
                guarded(of(action, "m"), &mut one, can);
                (one.action, one.rule.unwrap())
            };
            assert_eq!(told(true), (action, "m".to_owned()));
            assert_eq!(told(false), (Action::Duplicate, format!("{}; {why}", PolicyName::Late.rule())));
        }
    }

    #[test]
    fn of_three_copies_the_slowest_is_withdrawn_though_late_finds_the_task_too_young() {
        let one = |phase: Phase, copy: u32| phase.runs((4, copy), copy, 90.0, &[(91.0, 0.2), (93.0, 0.4)]);
        let mut phase = (0..3).fold(Phase::maps(5).took(&[10.0; 4]), one).shim();
        phase.job.can.withdraw = true;
        let late = LateParams { min_age: crate::policy::tests::secs(60.0), ..LateParams::default() };
        let view = View { judge_native_copies: true, ..phase.view(94.0) };
        assert_eq!(late::judge(&view, &late)[0].verdict, Verdict::TooYoung);
        assert_eq!(judge(&view, &late, &MantriParams::default())[0].action, Action::Withdraw);
    }

    #[test]
    fn what_has_a_copy_in_flight_is_weighed_no_more_unless_it_may_have_another() {
        let by = |barred: Option<Verdict>, joins: bool| {
            let mut phase = Phase::maps(5).took(&[10.0; 4]).runs((4, 0), 0, 0.0, &[(20.0, 0.2), (40.0, 0.4)]).shim();
            let task = phase.job.id.task(crate::model::TaskKind::Map, 4);
            let barred = barred.into_iter().map(|verdict| (task, verdict)).collect();
            let view = View { past: Past { barred, joins, ..Past::default() }, ..phase.view(40.0) };
            let judged = judge(&view, &LateParams::default(), &MantriParams::default()).remove(0);
            (judged.verdict, judged.rule.is_some_and(|rule| rule.starts_with("Mantri")))
        };
        let (weighed, unweighed) = ((Verdict::Decided, true), (Verdict::Decided, false));
        assert_eq!([by(None, false), by(None, true)], [weighed; 2]);
        for flies in [Verdict::CopyInFlight, Verdict::AlreadyAdvised] {
            assert_eq!([by(Some(flies), false), by(Some(flies), true)], [unweighed, weighed]);
        }
        assert_eq!(by(Some(Verdict::CoolDown), false), weighed);
    }

    #[test]
    fn the_only_task_of_a_phase_is_copied_where_earlier_runs_tell_that_it_is_slow_and_else_never() {
        let (job, mut priors) = (JobKind { user: "ann".into(), name: "etl".into() }, Priors::default());
        for _ in 0..3 {
            priors.learn(job.clone(), [Prior::new(vec![10.0], Bytes(0), 0.0), None]);
        }
        let earlier = priors.of(&job, TaskKind::Map).unwrap();
        let of = |tasks, prior| {
            let mut phase = Phase::maps(tasks).runs((0, 0), 0, 0.0, &[(20.0, 0.1), (40.0, 0.2)]).shim();
            let view = View { prior, ..phase.view(40.0) };
            judge(&view, &LateParams::default(), &MantriParams::default())[0].verdict
        };
        assert_eq!(of(1, Some(earlier)), Verdict::Decided);
        assert_eq!(of(1, None), Verdict::TooFewFinished);
        assert_eq!(of(8, Some(earlier)), Verdict::TooFewFinished, "its peers will tell");
        let alone = |now: f64, reports: &[(f64, f32)]| {
            let mut phase = Phase::maps(1).runs((0, 0), 0, 0.0, reports).shim();
            let view = View { prior: Some(earlier), ..phase.view(now) };
            judge(&view, &LateParams::default(), &MantriParams::default())[0].verdict
        };
        assert_eq!([alone(19.0, &[]), alone(60.0, &[])], [Verdict::TooFewFinished, Verdict::Decided], "a late start");
        let begun = [(12.0, 0.01), (13.0, 0.012)];
        assert_eq!(alone(13.0, &begun), Verdict::TooFewFinished, "its first steps");
        let mut over_rest = Phase::maps(1).runs((0, 0), 0, 0.0, &[(20.0, 0.1), (40.0, 0.2)]);
        let view = View { prior: Some(earlier), ..over_rest.view(40.0) };
        let verdict = judge(&view, &LateParams::default(), &MantriParams::default())[0].verdict;
        assert_eq!(verdict, Verdict::Decided, "no peer will tell what it has read beside");
    }

    #[test]
    fn the_only_task_of_a_phase_is_not_slow_for_having_five_times_the_data_of_earlier_runs() {
        use crate::estimate::input::Whole;
        use crate::model::Counters;
        let (job, mut priors) = (JobKind { user: "ann".into(), name: "etl".into() }, Priors::default());
        for _ in 0..3 {
            let read = Some(Whole { bytes: 100.0, records: 0.0 });
            let run = Prior::new(vec![10.0], Bytes(0), 0.0).map(|run| run.with_input(read));
            priors.learn(job.clone(), [run, None]);
        }
        let half_read = |bytes: u64| {
            let mut phase = Phase::maps(1).runs((0, 0), 0, 0.0, &[(15.0, 0.3), (20.0, 0.4), (25.0, 0.5)]).shim();
            let id = phase.job.id.task(TaskKind::Map, 0).attempt(0);
            let counters = Counters { read: Some(Bytes(bytes)), ..Counters::default() };
            phase.job.intakes.learn(id, &AttemptFact { counters, ..AttemptFact::of(id) }, at(25.0));
            let view = phase.view(25.0).beside(priors.of(&job, TaskKind::Map), 1.0);
            judge(&view, &LateParams::default(), &MantriParams::default())[0].verdict
        };
        assert_eq!([half_read(50), half_read(250)], [Verdict::Decided, Verdict::TooFewFinished]);
    }

    /// How many of a phase's reduces a copy is decided on, none of which has finished; each takes so many seconds, and has so many bytes where these are told. Its job's
    /// earlier runs took a minute with a hundred bytes.
    fn decided_of(reduces: &[(f64, Option<f64>)]) -> usize {
        use crate::estimate::input::Whole;
        use crate::model::{Counters, TaskFact, TaskState};
        let (job, mut priors, now) = (JobKind { user: "ann".into(), name: "etl".into() }, Priors::default(), 30.0);
        for _ in 0..3 {
            let run = Prior::new(vec![60.0; 4], Bytes(0), 0.0);
            let run = run.map(|run| run.with_input(Some(Whole { bytes: 100.0, records: 0.0 })));
            priors.learn(job.clone(), [None, run]);
        }
        let mut phase = Phase::reduces(reduces.len() as u32).shim();
        let map = TaskFact::of(phase.job.id.task(TaskKind::Map, 0));
        let ended = TaskFact { started: Some(at(0.0)), finished: Some(at(0.1)), winner: Some(0), ..map };
        phase.task(TaskFact { state: Some(TaskState::Succeeded), ..ended });
        for (index, (whole, bytes)) in (0..).zip(reduces) {
            let at_share = |share: f64| (now * share, (now * share / whole) as f32);
            phase = phase.runs((index, 0), index, 0.0, &[0.3, 0.6, 1.0].map(at_share));
            let id = phase.job.id.task(TaskKind::Reduce, index).attempt(0);
            // It copies in its first third.
            let copied = bytes.map(|bytes| Bytes((bytes * (3.0 * now / whole).min(1.0)) as u64));
            let counters = Counters { shuffled: copied, ..Counters::default() };
            phase.job.intakes.learn(id, &AttemptFact { counters, ..AttemptFact::of(id) }, at(now));
        }
        let view = phase.view(now).beside(priors.of(&job, TaskKind::Reduce), 1.0);
        let all = judge(&view, &LateParams::default(), &MantriParams::default());
        all.into_iter().filter(|judged| judged.verdict == Verdict::Decided).count()
    }

    #[test]
    fn in_a_run_with_other_data_than_earlier_ones_reduces_of_whose_data_nothing_is_told_are_as_slow_as_the_others() {
        // A shim's counters are kept of four.
        let of = |bytes: f64| {
            let (told, untold) = ((60.0, Some(bytes)), (60.0, None));
            decided_of(&[told, told, told, told, untold, untold])
        };
        assert_eq!([of(90.0), of(450.0), of(900_000.0), of(2.0)], [0; 4]);
    }

    #[test]
    fn reduces_with_more_data_are_let_be_though_most_of_those_that_tell_of_theirs_have_more() {
        let (ordinary, more, untold) = ((60.0, Some(100.0)), (300.0, Some(500.0)), [(60.0, None); 11]);
        let of = |told: &[(f64, Option<f64>)]| decided_of(&[told, &untold].concat());
        // Those that lag tell of theirs, too.
        let lag: Vec<_> = [[ordinary; 4].as_slice(), &[more; 5]].concat();
        assert_eq!(of(&lag), 0);
        assert_eq!(of(&[ordinary, ordinary, more, more]), 0);
        assert_eq!(of(&[ordinary, ordinary, ordinary, more]), 0);
    }

    #[test]
    fn before_any_task_has_finished_those_under_way_tell_which_is_slow_and_an_ordinary_one_is_let_be() {
        let of = |whole: f64, now: f64, others: &[f64]| {
            let shows = |phase: Phase, index: u32, whole: f64| {
                let at = |second: f64| (second, (second / whole) as f32);
                phase.runs((index, 0), index, 0.0, &[at(1.0), at(now)])
            };
            let slow = shows(Phase::maps(1 + others.len() as u32).shim(), 0, whole);
            let mut phase = (1..).zip(others).fold(slow, |phase, (index, whole)| shows(phase, index, *whole));
            judge(&phase.view(now), &LateParams::default(), &MantriParams::default())[0].verdict
        };
        let (four, two) = ([12.0; 4], [12.0; 2]);
        use Verdict::{Decided, TooFewFinished};
        assert_eq!([of(23.8, 2.6, &four), of(24.2, 2.6, &four)], [TooFewFinished, Decided], "twice the others' run");
        assert_eq!(of(24.2, 2.4, &four), TooFewFinished, "it has reported for less than an eighth of that");
        assert_eq!(of(24.2, 2.6, &two), TooFewFinished, "of two others too little is known");
        // What has not done a tenth tells nothing: here half.
        assert_eq!(of(24.2, 2.6, &[12.0, 12.0, 12.0, 60.0, 60.0, 60.0, 60.0]), TooFewFinished, "the fast tell first");
    }

    #[test]
    fn before_any_task_has_finished_one_that_may_only_have_more_data_is_let_be() {
        let of = |told: fn(Phase) -> Phase| {
            let all = [60.0, 12.0, 12.0, 12.0, 12.0].into_iter().zip(0..);
            let phase = all.fold(Phase::maps(5), |phase, (whole, n)| {
                let at = |second: f64| (second, (second / whole) as f32);
                phase.runs((n, 0), n, 0.0, &[at(2.0), at(11.0)])
            });
            judge(&told(phase).view(11.0), &LateParams::default(), &MantriParams::default())[0].verdict
        };
        fn splits(phase: Phase, first: u64) -> Phase {
            (1..5).fold(phase.split(0, first), |phase, n| phase.split(n, 8))
        }
        assert_eq!(of(|phase| phase), Verdict::TooFewFinished, "over REST it is not told");
        assert_eq!(of(Phase::shim), Verdict::Decided, "nothing more will be told");
        assert_eq!(of(|phase| splits(phase, 8)), Verdict::Decided);
        assert_eq!(of(|phase| splits(phase, 40)), Verdict::TooFewFinished, "it has five times as much");
    }

    #[test]
    fn what_mantri_does_not_decide_before_enough_have_finished_is_told_as_late_finds_it() {
        let mut phase = (0..4).fold(Phase::maps(4), |p, n| p.runs((n, 0), n, 0.0, &[(5.0, 0.4), (6.0, 0.5)])).shim();
        let all = judge(&phase.view(6.0), &LateParams::default(), &MantriParams::default());
        assert!(all.iter().all(|judged| judged.verdict == Verdict::TooFewFinished && judged.rule.is_none()));
    }

    #[test]
    fn a_committing_task_is_let_be_whatever_its_clones() {
        for tasks in [1, 2] {
            let of = judged(&mut two().is((0, 0), AttemptState::CommitPending), plan(2, tasks), false);
            assert_eq!(of[0].verdict, Verdict::Committing);
        }
    }
}
