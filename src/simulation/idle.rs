//! Policies that did nothing, and why, as far as that is known: their numbers are those of `none`, and would pass for what they can do.

use super::grid::Played;
use drover_core::engine::EngineParams;
use drover_core::model::{Capabilities, CloneScheme};
use drover_core::policy::PolicyName;
use drover_core::sim::{Actor, Outcome, Scenario};

/// A sentence for each policy that did nothing, and one for what nothing comes of. Of `none` and the ideals nobody expects anything.
pub fn idle(scenario: &Scenario, cast: &[(String, Actor)], played: &[Played]) -> Vec<String> {
    let can = scenario.hadoop.can;
    let of = |(nth, (name, actor)): (usize, &(String, Actor))| {
        let Actor::Policy(params) = actor else { return None };
        if params.policy == PolicyName::None {
            return None;
        }
        let mut runs = played.iter().filter(|one| one.policy == nth).map(|one| &one.outcome).peekable();
        let why = lacks(params, can).or_else(|| {
            let decided = runs.peek().is_none() || runs.any(|outcome| has_acted(params.policy, can, outcome));
            (!decided).then(|| format!("decided nothing in any run{}", unmet(params)))
        });
        why.map(|why| format!("{name} {why}"))
    };
    cast.iter().enumerate().filter_map(of).chain(unknown(can)).collect()
}

/// What `hadoop.can` names to no avail.
fn unknown(can: Capabilities) -> Option<String> {
    let named: Vec<&str> = [(can.avoid, "avoid"), (can.rerun, "rerun")]
        .iter()
        .filter(|(named, _)| *named)
        .map(|(_, name)| *name)
        .collect();
    (!named.is_empty()).then(|| format!("hadoop.can names {}, which is not simulated", named.join(" and ")))
}

/// What it cannot do without, and is not there.
fn lacks(params: &EngineParams, can: Capabilities) -> Option<String> {
    let whole_jobs = params.policy == PolicyName::Dolly && params.dolly.scheme == CloneScheme::Job;
    let acts = can.duplicate || can.restart;
    let lacking = match params.policy {
        PolicyName::Blacklist => {
            return Some("does nothing here: machines that jobs keep off are not simulated, but for copies".into());
        }
        PolicyName::Mantri | PolicyName::Drover => (!acts).then_some("both duplicate and restart"),
        _ if whole_jobs && !can.job_clones => Some("job_clones"),
        _ => (!can.duplicate).then_some("duplicate"),
    };
    lacking.map(|lacking| format!("can do nothing here: hadoop.can lacks {lacking}"))
}

/// Has it done anything, or tried to? What orders tasks or places reduces does so where it can.
fn has_acted(policy: PolicyName, can: Capabilities, outcome: &Outcome) -> bool {
    let decided = outcome.decided;
    // Copies of whole jobs are told as attempts of their own tasks, of which all but one were wasted.
    let whole_jobs = policy == PolicyName::Dolly && can.job_clones;
    let kept = || outcome.jobs.iter().any(|job| job.kept != Default::default() || (whole_jobs && job.wasted_ms > 0));
    let arranges = policy.takes_measures() && (can.order || can.place_reduces);
    arranges || decided.copies + decided.restarts + decided.withdrawals + decided.in_vain > 0 || kept()
}

/// What it may have waited for.
fn unmet(params: &EngineParams) -> &'static str {
    if params.policy.only_clones() {
        ": it clones on odds that tasks have shown (dolly.min_evidence) or that are set (dolly.prior), and within dolly.beta and dolly.tau of the cluster"
    } else {
        ""
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::simulation::{Grid, Silent, play};
    use std::sync::atomic::AtomicBool;

    /// What is said of each policy on one slow node of four.
    fn said(can: &str, cast: Vec<EngineParams>) -> Vec<String> {
        let text = format!(
            "[cluster]\nnodes = 4\nmemory_mb = 16384\n[hadoop]\n{can}\n[[trouble]]\nnodes = [1]\nslower = 9\n[[jobs]]\nname = \"a\"\nmaps = {{ tasks = 12, work = 30 }}\n"
        );
        let scenario: Scenario = toml::from_str(&text).unwrap();
        let policies: Vec<(String, Actor)> =
            cast.into_iter().map(|params| (params.policy.label().to_owned(), params.into())).collect();
        let grid = Grid { scenario: &scenario, policies, seeds: 1..3 };
        let played = play(&grid, &AtomicBool::new(false), &Silent).played;
        idle(&scenario, &grid.policies, &played)
    }

    fn of(policy: PolicyName) -> EngineParams {
        EngineParams { policy, ..EngineParams::default() }
    }

    #[test]
    fn a_policy_that_cannot_act_is_told_with_what_it_lacks_and_one_that_acts_is_not() {
        let [late, drover, none] = [PolicyName::Late, PolicyName::Drover, PolicyName::None];
        assert_eq!(said("", vec![of(none), of(late), of(drover)]), [""; 0]);
        let restart = said("can = { restart = true }", vec![of(none), of(late)]);
        assert_eq!(restart, ["late can do nothing here: hadoop.can lacks duplicate"]);
        let neither = said("can = { avoid = true }", vec![of(none), of(drover), of(PolicyName::Blacklist)]);
        assert_eq!(neither[0], "drover can do nothing here: hadoop.can lacks both duplicate and restart");
        assert!(neither[1].starts_with("blacklist does nothing here: machines that jobs keep off"), "{neither:?}");
        assert_eq!(neither[2], "hadoop.can names avoid, which is not simulated");
    }

    #[test]
    fn clones_that_lack_odds_or_whole_jobs_are_told_and_those_of_running_tasks_need_no_more_than_copies() {
        let mut set = of(PolicyName::Dolly);
        (set.dolly.prior, set.dolly.beta) = (0.1, 1.0);
        assert_eq!(said("", vec![set.clone()]), [""; 0]);
        let unset = said("", vec![of(PolicyName::Dolly)]);
        assert!(unset[0].starts_with("dolly decided nothing in any run: it clones on odds"), "{unset:?}");
        set.dolly.scheme = CloneScheme::Job;
        assert_eq!(said("", vec![set.clone()]), ["dolly can do nothing here: hadoop.can lacks job_clones"]);
        assert_eq!(said("can = { duplicate = true, job_clones = true }", vec![set]), [""; 0]);
    }

    #[test]
    fn where_nothing_is_amiss_a_policy_that_has_nothing_to_do_says_so() {
        let text = "[cluster]\nnodes = 4\n[[jobs]]\nname = \"a\"\nmaps = { tasks = 4, work = 30 }\n";
        let scenario: Scenario = toml::from_str(text).unwrap();
        let policies = vec![("late 1s".to_owned(), of(PolicyName::Late).into())];
        let grid = Grid { scenario: &scenario, policies, seeds: 1..2 };
        let played = play(&grid, &AtomicBool::new(false), &Silent).played;
        assert_eq!(idle(&scenario, &grid.policies, &played), ["late 1s decided nothing in any run"]);
        assert_eq!(idle(&scenario, &grid.policies, &[]), [""; 0], "where none was played nobody knows");
    }
}
