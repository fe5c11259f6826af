//! What Pseudocode 1 does about one running task (Mantri §5.1, lines 5–11).

use super::MantriParams;
use crate::estimate::distribution::Times;

/// A running task, as the pseudocode sees it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Running<'a> {
    /// t_rem, seconds.
    pub t_rem: f64,
    /// t_new: equally likely times of a new copy.
    pub t_new: Times<'a>,
    /// c: its copies that run, one or more.
    pub copies: u32,
    /// How often it has been killed and restarted.
    pub restarts: u32,
    /// It can be restarted at all.
    pub can_restart: bool,
    /// Tasks wait for slots (line 5).
    pub tasks_waiting: bool,
}

/// What to do about it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Choice {
    /// Leave it.
    None,
    /// Start another copy.
    Duplicate,
    /// Kill it and start it anew.
    KillRestart,
}

/// The line that decided.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Rule {
    /// Line 6 holds; where nobody can restart it, and line 7 does not hold.
    Restart,
    /// Line 7 holds.
    SavesResources,
    /// Line 10 holds.
    Gain,
    /// Line 7 or 10 would hold, but for the copies that run.
    CopiesMax,
    /// Line 6 would hold, but for the restarts it has had, and line 7 does not.
    RestartsMax,
    /// Neither line 6 nor line 7 holds.
    NothingSaved,
    /// Line 10 does not hold.
    NoGain,
}

/// The choice's rule, and the numbers it rests on.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Ruling {
    /// The line that decided.
    pub rule: Rule,
    /// E(t_new), seconds.
    pub t_new_mean: f64,
    /// P(t_rem > t_new (c + 1)/c): a further copy would end all of them so soon that they use less in all.
    pub probability: f64,
}

impl Choice {
    /// Stable label.
    pub fn label(self) -> &'static str {
        match self {
            Choice::None => "none",
            Choice::Duplicate => "duplicate",
            Choice::KillRestart => "kill_restart",
        }
    }
}

impl Rule {
    /// What follows from it.
    pub fn choice(self) -> Choice {
        match self {
            Rule::Restart => Choice::KillRestart,
            Rule::SavesResources | Rule::Gain => Choice::Duplicate,
            Rule::CopiesMax | Rule::RestartsMax | Rule::NothingSaved | Rule::NoGain => Choice::None,
        }
    }

    /// In the words of the paper.
    pub fn words(self) -> &'static str {
        match self {
            Rule::Restart => "Mantri §5.1, Pseudocode 1 line 6: t_rem > E(t_new) + Delta",
            Rule::SavesResources => "Mantri §5.1, Pseudocode 1 line 7: P(t_rem > t_new (c+1)/c) > delta",
            Rule::Gain => "Mantri §5.1, Pseudocode 1 line 10: t_rem - E(t_new) > rho Delta",
            Rule::CopiesMax => "Mantri §5.1, footnote 6: the copies of a task are never more than 3",
            Rule::RestartsMax => "Mantri §5.1, Pseudocode 1 line 6: stop at gamma restarts; line 7 does not hold",
            Rule::NothingSaved => "Mantri §5.1, Pseudocode 1 lines 6 and 7: neither holds",
            Rule::NoGain => "Mantri §5.1, Pseudocode 1 line 10 does not hold",
        }
    }
}

/// Strictly more. What floating point adds to sums of decimals is no more.
fn exceeds(a: f64, b: f64) -> bool {
    const ROUNDING: f64 = 1e-12;
    a > b * (1.0 + ROUNDING)
}

/// Pseudocode 1, lines 5–11, for one task. `None` without a t_new to go by.
pub fn choose(task: &Running<'_>, params: &MantriParams) -> Option<Ruling> {
    let Running { t_rem, t_new, copies, restarts, can_restart, tasks_waiting } = *task;
    let t_new_mean = t_new.mean()?;
    let (c, period) = (f64::from(copies.max(1)), params.period.as_secs_f64());
    // Both sides times c, which keeps whole seconds whole.
    let probability = t_new.share(|t_new| exceeds(t_rem * c, t_new * (c + 1.0)));
    let restart_pays = exceeds(t_rem, t_new_mean + period);
    let room = copies < params.copies_max;
    let restart = restart_pays && restarts < params.restarts_max;
    let rule = if tasks_waiting {
        // Line 6. What cannot be done leaves it to line 7, as what may not be done any more does.
        if restart && can_restart {
            Rule::Restart
        // Line 7.
        } else if probability > params.delta {
            if room { Rule::SavesResources } else { Rule::CopiesMax }
        } else if restart {
            Rule::Restart
        } else if restart_pays {
            Rule::RestartsMax
        } else {
            Rule::NothingSaved
        }
    // Line 10. Printed is E(t_new − t_rem) > rho·Delta, which holds when a copy would *lose* time; meant is "the reduction in the job completion time".
    } else if exceeds(t_rem, t_new_mean + params.rho * period) {
        if room { Rule::Gain } else { Rule::CopiesMax }
    } else {
        Rule::NoGain
    };
    Some(Ruling { rule, t_new_mean, probability })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::estimate::distribution::Distribution;
    use crate::model::Millis;
    use proptest::prelude::*;

    /// One that runs alone while others wait.
    fn alone(t_rem: f64, t_new: &Distribution) -> Running<'_> {
        let t_new = t_new.times();
        Running { t_rem, t_new, copies: 1, restarts: 0, can_restart: true, tasks_waiting: true }
    }

    fn of(t_new: &[f64]) -> Distribution {
        Distribution::new(t_new.to_vec())
    }

    fn ruling(t_rem: f64, t_new: &[f64], copies: u32, restarts: u32, tasks_waiting: bool) -> Ruling {
        let t_new = of(t_new);
        let task = Running { copies, restarts, tasks_waiting, ..alone(t_rem, &t_new) };
        choose(&task, &MantriParams::default()).unwrap()
    }

    fn rule(t_rem: f64, t_new: &[f64], copies: u32, restarts: u32, tasks_waiting: bool) -> Rule {
        ruling(t_rem, t_new, copies, restarts, tasks_waiting).rule
    }

    #[test]
    fn each_choice_is_called_what_the_manual_calls_it() {
        let labels = [Choice::None, Choice::Duplicate, Choice::KillRestart].map(Choice::label);
        assert_eq!(labels, ["none", "duplicate", "kill_restart"]);
    }

    #[test]
    fn what_takes_no_time_saves_none() {
        assert_eq!(rule(0.0, &[0.0], 1, 0, true), Rule::NothingSaved);
    }

    #[test]
    fn line_6_restarts_beyond_the_mean_and_a_period_and_not_at_it() {
        assert_eq!(rule(30.0, &[20.0], 1, 0, true), Rule::NothingSaved);
        assert_eq!(rule(30.001, &[20.0], 1, 0, true), Rule::Restart);
        // .1 + .2 is more than .3 in floating point only.
        let params = MantriParams { period: Millis(100), ..MantriParams::default() };
        assert_eq!(choose(&alone(0.1 + 0.2, &of(&[0.2])), &params).unwrap().rule, Rule::NothingSaved);
    }

    #[test]
    fn line_6_stops_at_three_restarts_and_leaves_it_to_line_7() {
        assert_eq!(rule(100.0, &[20.0], 1, 2, true), Rule::Restart);
        assert_eq!(rule(100.0, &[20.0], 1, 3, true), Rule::SavesResources);
        assert_eq!(rule(30.5, &[20.0], 1, 3, true), Rule::RestartsMax);
    }

    #[test]
    fn what_nobody_can_restart_is_left_to_line_7_and_where_that_does_not_hold_to_be_refused() {
        let rule = |t_rem, copies| {
            let t_new = of(&[20.0]);
            let task = Running { copies, can_restart: false, ..alone(t_rem, &t_new) };
            choose(&task, &MantriParams::default()).unwrap().rule
        };
        assert_eq!(
            [rule(100.0, 1), rule(35.0, 1), rule(25.0, 1)],
            [Rule::SavesResources, Rule::Restart, Rule::NothingSaved]
        );
        assert_eq!(rule(100.0, 3), Rule::CopiesMax);
    }

    #[test]
    fn line_7_wants_one_running_copy_to_take_more_than_twice_as_long() {
        // §5.1: "a task with one running copy is duplicated only if t_new is less than half of t_rem".
        assert_eq!(rule(10.0, &[5.0], 1, 0, true), Rule::NothingSaved);
        assert_eq!(rule(10.0, &[4.999], 1, 0, true), Rule::SavesResources);
        // With two running it is two thirds.
        assert_eq!(rule(9.0, &[6.0], 2, 0, true), Rule::NothingSaved);
        assert_eq!(rule(9.0, &[5.999], 2, 0, true), Rule::SavesResources);
        assert_eq!(rule(9.0, &[1.0], 3, 0, true), Rule::CopiesMax);
    }

    #[test]
    fn line_7_wants_a_probability_above_a_quarter_and_not_at_it() {
        let at = ruling(10.0, &[4.0, 9.0, 9.0, 9.0], 1, 0, true);
        assert_eq!((at.rule, at.probability, at.t_new_mean), (Rule::NothingSaved, 0.25, 7.75));
        assert_eq!(rule(10.0, &[4.0, 4.0, 9.0, 9.0], 1, 0, true), Rule::SavesResources);
    }

    #[test]
    fn line_10_duplicates_for_a_gain_and_not_as_printed_for_a_loss() {
        assert_eq!(rule(40.0, &[10.0], 1, 0, false), Rule::NoGain);
        assert_eq!(rule(40.001, &[10.0], 1, 0, false), Rule::Gain);
        assert_eq!(rule(40.001, &[10.0], 3, 0, false), Rule::CopiesMax);
        assert_eq!(rule(10.0, &[100.0], 1, 0, false), Rule::NoGain);
    }

    #[test]
    fn without_a_new_copys_time_there_is_nothing_to_judge_by() {
        assert_eq!(choose(&alone(9.0, &of(&[])), &MantriParams::default()), None);
    }

    proptest! {
        #[test]
        fn scaling_all_times_alike_changes_nothing(
            t_rem in 0..200_u32, t_new in prop::collection::vec(1..100_u32, 1..9), copies in 1..4_u32, restarts in 0..5_u32, waiting: bool, scale in 1..50_u32
        ) {
            let at = |scale: u32| {
                let times: Vec<f64> = t_new.iter().map(|t| f64::from(t * scale) / 10.0).collect();
                let times = Distribution::new(times);
                let task = Running { copies, restarts, tasks_waiting: waiting, ..alone(f64::from(t_rem * scale) / 10.0, &times) };
                choose(&task, &MantriParams { period: Millis(u64::from(scale) * 1000), ..MantriParams::default() }).unwrap().rule
            };
            prop_assert_eq!(at(scale), at(1));
        }

        #[test]
        fn a_task_with_more_time_left_is_never_let_be_where_one_with_less_was_not(
            t_rem in 0.0..200.0_f64, more in 0.0..100.0_f64, t_new in prop::collection::vec(1.0..100.0_f64, 1..9), copies in 1..4_u32, waiting: bool
        ) {
            let (less, more) = (ruling(t_rem, &t_new, copies, 0, waiting), ruling(t_rem + more, &t_new, copies, 0, waiting));
            prop_assert!(less.rule.choice() == Choice::None || more.rule.choice() != Choice::None);
            prop_assert!(less.probability <= more.probability);
        }
    }
}
