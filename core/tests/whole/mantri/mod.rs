//! Mantri's Pseudocode 1, line by line, over scripted phases.

use crate::common::*;
use drover_core::engine::EngineParams;
use drover_core::estimate::Estimator;
use drover_core::govern::GovernParams;
use drover_core::model::*;
use drover_core::policy::view::ViewParams;
use drover_core::policy::{Judged, LateParams, MantriParams, PolicyName, TailParams, Thresholds, View};

/// A phase of maps that a shim tells of, looked at each second up to the eighth.
struct Phase {
    script: Script,
    id: JobId,
    maps: Vec<Vec<Run>>,
    mantri: MantriParams,
    now: u32,
}

fn run(launched: f64, takes: f64) -> Run {
    Run { launched, takes }
}

fn alone(takes: f64) -> Vec<Run> {
    vec![run(0.0, takes)]
}

impl Phase {
    /// Of so many maps in all, these.
    fn new(total: u32, maps: Vec<Vec<Run>>) -> Phase {
        Phase::under(EngineParams::default(), total, maps)
    }

    fn under(params: EngineParams, total: u32, maps: Vec<Vec<Run>>) -> Phase {
        let params = EngineParams { policy: PolicyName::Mantri, ..params };
        let (mut script, id) = (Script::new(params), job_id(1));
        script.open_job(id, total, 0, at(0.0));
        script.say(at(0.0), Fact::ShimSession(id, true));
        Phase { script, id, maps, mantri: MantriParams::default(), now: 8 }
    }

    fn tell(&mut self, second: u32) {
        let now = f64::from(second);
        let seen = (0..).zip(&self.maps).map(|(index, runs)| runs_of(self.id.task(TaskKind::Map, index), runs, now));
        let (mut tasks, attempts): (Vec<_>, Vec<_>) = seen.unzip();
        let waiting = self.maps.len() as u32..self.script.engine.cluster().job(self.id).unwrap().totals.unwrap()[0];
        let waits =
            |index| TaskFact { state: Some(TaskState::Scheduled), ..TaskFact::of(self.id.task(TaskKind::Map, index)) };
        tasks.extend(waiting.map(waits));
        self.script.tasks(self.id, at(now), tasks);
        self.script.attempts(self.id, at(now), attempts.concat());
    }

    /// What the policy says of the last of the maps.
    fn last(mut self) -> Judged {
        (1..=self.now).for_each(|second| self.tell(second));
        let params =
            ViewParams { estimator: Estimator::default(), start_lag: Millis(1_000), judge_native_copies: true };
        let job = self.script.engine.cluster().job(self.id).unwrap();
        let view = View::new(job, TaskKind::Map, at(self.now.into()), &params);
        let (late, tail) = (LateParams::default(), TailParams::default());
        let thresholds = Thresholds { late: &late, tail: &tail, mantri: &self.mantri };
        PolicyName::Mantri.judge(&view, &thresholds).pop().unwrap()
    }

    /// What the engine decides of it in two passes at last, and its verdict then.
    fn decided(&mut self) -> (Vec<(Action, Mode)>, Verdict) {
        (1..self.now).for_each(|second| self.tell(second));
        let mut decided = Vec::new();
        for second in [self.now, self.now + 1] {
            self.tell(second);
            decided.extend(self.script.decide(at(second.into())).decisions);
        }
        let task = self.id.task(TaskKind::Map, self.maps.len() as u32 - 1);
        let of_last = decided.iter().filter(|decision| decision.task == task);
        let verdict = self.script.engine.cluster().job(self.id).unwrap().task(task).unwrap().verdict;
        (of_last.map(|decision| (decision.action, decision.mode)).collect(), verdict.unwrap())
    }

    fn can(mut self, can: Capabilities) -> Phase {
        self.script.say(at(0.0), Fact::Can(self.id, can));
        self
    }
}

/// Four maps of five seconds each, and one more.
fn beside_four_of_5_s(last: Vec<Run>) -> Vec<Vec<Run>> {
    [vec![alone(5.0); 4], vec![last]].concat()
}

fn of(judged: &Judged) -> (Verdict, Action, &str) {
    let rule = judged.rule.as_deref().unwrap_or_default();
    let line = rule.split("line ").nth(1).map_or("", |rest| rest.split([' ', ':']).next().unwrap());
    (judged.verdict, judged.action, line)
}

#[test]
fn line_5_a_task_that_waits_makes_a_restart_of_what_is_a_copy_when_none_does() {
    // E(t_new) = (4 · 5 + 40) / 5 + 1 s = 13 s; t_rem = 32 s.
    let slow = || beside_four_of_5_s(alone(40.0));
    let waiting = Phase::new(6, slow()).last();
    assert_eq!(of(&waiting), (Verdict::Decided, Action::Restart, "6"));
    let near = |told: Option<Millis>, seconds: f64| (told.unwrap().as_secs_f64() - seconds).abs() < 0.01;
    assert!(near(waiting.numbers.time_left, 32.0) && near(waiting.numbers.fresh_copy, 13.0), "{:?}", waiting.numbers);
    assert!((waiting.rank - 19.0).abs() < 0.01, "what would benefit the most comes first");
    assert_eq!(of(&Phase::new(5, slow()).last()), (Verdict::Decided, Action::Duplicate, "10"));
}

#[test]
fn line_5_reduces_whose_containers_are_asked_for_wait_for_slots_too() {
    let mut phase = Phase::new(5, beside_four_of_5_s(alone(40.0)));
    let needs = Fact::Needs { job: phase.id, maps: 0, reduces: 1, native_copies: 0 };
    phase.script.say(at(1.0), needs);
    assert_eq!(of(&phase.last()), (Verdict::Decided, Action::Restart, "6"));
}

#[test]
fn line_6_a_task_that_a_new_copy_would_only_just_beat_is_left() {
    // At 8 s of 18 it needs 10 s; E(t_new) = 38 / 5 + 1 s = 8.6 s, and Delta is a second.
    let left = |takes, waiting: u32| Phase::new(5 + waiting, beside_four_of_5_s(alone(takes))).last();
    assert_eq!(of(&left(18.0, 1)).0, Verdict::Decided);
    assert_eq!(of(&left(17.0, 1)), (Verdict::GainTooSmall, Action::Duplicate, ""), "9 s to 8.4");
    assert_eq!(of(&left(12.0, 1)).0, Verdict::NoGain);
    assert_eq!(of(&left(18.0, 0)).0, Verdict::GainTooSmall, "line 10 asks for three periods");
}

#[test]
fn line_6_stops_at_three_restarts() {
    let killed = |times: u32| {
        let mut phase = Phase::new(6, beside_four_of_5_s(alone(40.0)));
        let task = phase.id.task(TaskKind::Map, 4);
        let before = (0..times).map(|n| AttemptFact {
            state: Some(AttemptState::Killed),
            started: Some(at(0.0)),
            finished: Some(at(0.4)),
            ..AttemptFact::of(task.attempt(10 + n))
        });
        let before = before.collect();
        phase.script.attempts(phase.id, at(0.5), before);
        phase.last()
    };
    assert_eq!(of(&killed(2)), (Verdict::Decided, Action::Restart, "6"));
    assert_eq!(of(&killed(3)), (Verdict::Decided, Action::Duplicate, "7"), "a copy saves resources all the same");
}

/// Half of the finished took two seconds, half twenty times as long: by their mean a new copy is no better.
fn bimodal(last: Vec<Run>) -> Vec<Vec<Run>> {
    [vec![alone(2.0); 3], vec![alone(40.0); 2], vec![last]].concat()
}

#[test]
fn line_7_copies_where_one_is_likely_to_save_resources_though_no_restart_pays() {
    // t_new is 3 s for half of the tasks, and its mean 18.7 s; t_rem = 12 s.
    let saves = Phase::new(7, bimodal(alone(20.0))).last();
    assert_eq!(of(&saves), (Verdict::Decided, Action::Duplicate, "7"));
    assert_eq!(saves.numbers.saves_probability, Some(0.5));
    assert_eq!(of(&Phase::new(6, bimodal(alone(20.0))).last()).0, Verdict::NoGain, "on free slots the mean counts");
    let mut cautious = Phase::new(7, bimodal(alone(20.0)));
    cautious.mantri.delta = 0.5;
    assert_eq!(of(&cautious.last()).0, Verdict::NoGain, "not more probable than delta");
}

#[test]
fn line_7_asks_more_of_a_second_copy_than_of_a_first() {
    // t_new = 6 s for most. A first copy must be twice as fast, a second one and a half times.
    let with = |copies: Vec<Run>| Phase::new(6, beside_four_of_5_s(copies)).last().numbers.saves_probability;
    assert_eq!(with(alone(19.0)), Some(0.0), "11 s are left, and 12 asked for");
    assert_eq!(with(vec![run(0.0, 19.0), run(4.0, 40.0)]), Some(0.8), "9 asked for");
}

#[test]
fn line_10_wants_a_gain_of_more_than_rho_periods() {
    // E(t_new) = (20 + takes) / 5 + 1 s, t_rem = takes − 8 s.
    let left = |takes| of(&Phase::new(5, beside_four_of_5_s(alone(takes))).last()).0;
    assert_eq!((left(19.9), left(20.1)), (Verdict::GainTooSmall, Verdict::Decided));
    let mut bold = Phase::new(5, beside_four_of_5_s(alone(19.9)));
    bold.mantri.rho = 2.0;
    assert_eq!(of(&bold.last()).0, Verdict::Decided);
}

/// Three copies of the last map, the third launched at that second.
fn three(third: f64) -> Vec<Vec<Run>> {
    beside_four_of_5_s(vec![run(0.0, 60.0), run(1.0, 20.0), run(third, 90.0)])
}

#[test]
fn line_3_withdraws_the_slowest_of_three_once_it_has_run_for_a_period() {
    let pruned = Phase::new(5, three(3.0)).last();
    assert_eq!((of(&pruned), pruned.attempt.number), ((Verdict::Decided, Action::Withdraw, "3"), 2));
    let young = Phase::new(5, three(7.5)).last();
    assert_eq!(of(&young).0, Verdict::AlreadyCopied, "it has only begun");
    let two = beside_four_of_5_s(vec![run(0.0, 60.0), run(1.0, 20.0)]);
    assert_ne!(of(&Phase::new(5, two).last()).1, Action::Withdraw);
}

#[test]
fn a_copy_launched_within_the_period_is_given_time() {
    let copied = |second| of(&Phase::new(5, beside_four_of_5_s(vec![run(0.0, 80.0), run(second, 80.0)])).last()).0;
    assert_eq!((copied(7.5), copied(6.5)), (Verdict::AlreadyCopied, Verdict::Decided));
}

#[test]
fn a_task_ends_with_its_fastest_copy() {
    let copied = Phase::new(5, beside_four_of_5_s(vec![run(0.0, 80.0), run(3.0, 8.0)])).last();
    assert_eq!((of(&copied).0, copied.numbers.time_left), (Verdict::NoGain, Some(Millis(3_000))));
}

#[test]
fn of_two_copies_the_slower_is_the_one_to_restart() {
    let both_slow = beside_four_of_5_s(vec![run(0.0, 60.0), run(1.0, 90.0)]);
    let restart = Phase::new(6, both_slow).last();
    assert_eq!((restart.action, restart.attempt.number), (Action::Restart, 1));
}

#[test]
fn a_task_with_more_data_is_set_against_a_copy_with_as_much() {
    let mut phase = Phase::new(5, beside_four_of_5_s(alone(25.0)));
    let inputs = |index| TaskFact {
        input: Some(Bytes(if index == 4 { 500 } else { 100 })),
        ..TaskFact::of(phase.id.task(TaskKind::Map, index))
    };
    let inputs = (0..5).map(inputs).collect();
    phase.script.tasks(phase.id, at(0.0), inputs);
    let judged = phase.last();
    assert_eq!(of(&judged).0, Verdict::NoGain);
    assert!(judged.numbers.fresh_copy.unwrap().0.abs_diff(26_000) <= 25, "{:?}", judged.numbers);
}

#[test]
fn where_bytes_are_counted_t_rem_goes_by_them_and_the_rule_says_so() {
    let judged = |bytes: Option<fn(u64) -> u64>| {
        let mut phase = Phase::new(5, beside_four_of_5_s(alone(40.0)));
        let task = phase.id.task(TaskKind::Map, 4);
        let split = TaskFact { input: Some(Bytes(1_000)), ..TaskFact::of(task) };
        phase.script.tasks(phase.id, at(0.0), vec![split]);
        for second in 1..=8 {
            let mut row = AttemptFact::of(task.attempt(0));
            row.counters.read = bytes.map(|bytes| Bytes(bytes(second)));
            phase.script.attempts(phase.id, at(second as f64), vec![row]);
        }
        phase.last()
    };
    let by_score = judged(None);
    assert!(by_score.rule.as_deref().unwrap().ends_with("t_rem by progress score, where bytes do not tell"));
    let by_bytes = judged(Some(|second| 10 * second));
    assert_eq!(by_bytes.numbers.time_left, Some(Millis(92_000)), "10 of 1000 bytes a second");
    assert!(by_bytes.rule.as_deref().unwrap().ends_with("line 10: t_rem - E(t_new) > rho Delta; t_rem by bytes read"));
}

#[test]
fn a_task_that_never_moves_is_let_be_while_it_need_not_have_reported_and_has_no_end_after() {
    let at = |now| {
        let mut still = Phase::new(5, beside_four_of_5_s(alone(f64::INFINITY)));
        still.now = now;
        still.last()
    };
    assert_eq!(at(8).verdict, Verdict::Silent);
    let judged = at(20);
    assert_eq!((of(&judged), judged.numbers.time_left), ((Verdict::Decided, Action::Duplicate, "10"), None));
    assert_eq!(judged.rank, f64::INFINITY);
}

#[test]
fn a_phase_is_judged_before_any_of_its_tasks_has_finished() {
    let early = |now| {
        let mut phase = Phase::new(5, beside_four_of_5_s(alone(40.0)));
        phase.now = now;
        phase.last().verdict
    };
    assert_eq!((early(1), early(2)), (Verdict::TooFewFinished, Verdict::Decided), "two reports make a pace");
    let mut few = Phase::new(3, vec![alone(5.0), alone(40.0)]);
    few.now = 4;
    assert_eq!(few.last().verdict, Verdict::TooFewFinished, "one pace is no distribution");
}

#[test]
fn a_first_report_is_no_pace_where_more_are_asked_for() {
    let young = || Phase::new(5, beside_four_of_5_s(vec![run(7.5, 40.0)]));
    let mut paper = young();
    paper.mantri = MantriParams::paper();
    assert_eq!((young().last().verdict, paper.last().verdict), (Verdict::TooFewReports, Verdict::Decided));
}

#[test]
fn no_copy_of_a_task_that_commits_is_withdrawn_or_killed() {
    for maps in [three(3.0), beside_four_of_5_s(alone(40.0))] {
        let mut phase = Phase::new(6, maps);
        let attempt = phase.id.task(TaskKind::Map, 4).attempt(0);
        let commits = AttemptFact { state: Some(AttemptState::CommitPending), ..AttemptFact::of(attempt) };
        phase.script.attempts(phase.id, at(7.0), vec![commits]);
        assert_eq!(phase.last().verdict, Verdict::Committing);
    }
}

fn acting() -> EngineParams {
    EngineParams { govern: GovernParams { mode: Mode::Act, ..Default::default() }, ..Default::default() }
}

const COPIES_ONLY: Capabilities =
    Capabilities { duplicate: true, restart: false, withdraw: false, avoid: false, place: false };
const ALL: Capabilities = Capabilities { duplicate: true, restart: true, withdraw: true, avoid: false, place: false };

#[test]
fn a_restart_is_advised_and_never_decided_on_where_it_cannot_be_done() {
    let phase = |params, can| Phase::under(params, 6, beside_four_of_5_s(alone(40.0))).can(can).decided();
    assert_eq!(phase(EngineParams::default(), Capabilities::default()).0, [(Action::Restart, Mode::Advise)]);
    assert_eq!(phase(acting(), COPIES_ONLY), (vec![], Verdict::CannotRestart));
    assert_eq!(phase(acting(), ALL), (vec![(Action::Restart, Mode::Act)], Verdict::CopyInFlight));
}

#[test]
fn a_restart_asks_for_no_container_beyond_the_one_it_gives_back() {
    let waiting = |maps| {
        let mut phase = Phase::new(7, maps);
        let needs = Fact::Needs { job: phase.id, maps: 1, reduces: 0, native_copies: 0 };
        phase.script.say(at(0.5), needs);
        phase.decided()
    };
    let restarted = [beside_four_of_5_s(alone(5.0)), vec![alone(40.0)]].concat();
    assert_eq!(waiting(restarted).0, [(Action::Restart, Mode::Advise)]);
    assert_eq!(waiting(bimodal(alone(20.0))), (vec![], Verdict::ContainersWaiting), "a copy does");
}

#[test]
fn a_restart_makes_a_busy_cluster_no_busier() {
    let busy = |total| {
        let govern = GovernParams { busy_above: 0.5, ..Default::default() };
        let params = EngineParams { govern, ..Default::default() };
        let mut phase = Phase::under(params, total, beside_four_of_5_s(alone(40.0)));
        let [total, allocated] = [8192, 6144].map(|memory_mb| Resources { memory_mb, vcores: 32 });
        let told = ClusterFact { total, allocated, active_nodes: 4, ..ClusterFact::default() };
        phase.script.say(at(0.5), Fact::Cluster(told));
        phase.decided()
    };
    assert_eq!(busy(6).0, [(Action::Restart, Mode::Advise)]);
    assert_eq!(busy(5), (vec![], Verdict::ClusterBusy), "a copy does");
}

#[test]
fn a_copy_too_many_is_withdrawn_once_where_it_can_be_and_else_refused_by_name() {
    for params in [EngineParams::default(), acting()] {
        let mode = params.govern.mode;
        let refused = Phase::under(params.clone(), 5, three(3.0)).can(COPIES_ONLY).decided();
        assert_eq!(refused, (vec![], Verdict::CannotWithdraw));
        let mut phase = Phase::under(params, 5, three(3.0)).can(ALL);
        assert_eq!(phase.decided(), (vec![(Action::Withdraw, mode)], Verdict::AlreadyCopied));
        assert_eq!(phase.script.engine.copies_in_flight(), 0, "it is no copy");
    }
}

#[test]
fn advice_names_the_line_the_attempt_and_the_numbers() {
    let mut phase = Phase::new(6, beside_four_of_5_s(alone(40.0)));
    (1..8).for_each(|second| phase.tell(second));
    let decision = phase.script.decide(at(8.0)).decisions.pop().unwrap();
    assert_eq!(
        (decision.policy.as_str(), decision.attempt.number, decision.host.as_deref()),
        ("mantri", 0, Some("nm1"))
    );
    assert!(decision.rule.starts_with("Mantri §5.1, Pseudocode 1 line 6: t_rem > E(t_new) + Delta; t_rem by"));
    let numbers = decision.numbers;
    assert_eq!((numbers.win_probability, numbers.saves_probability), (Some(0.8), Some(0.8)));
}
