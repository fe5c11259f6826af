//! The engine's parameters from the settings. What is not set comes from the preset.

use super::settings::Config;
use drover_core::engine::EngineParams;
use drover_core::estimate::Estimator;
use drover_core::govern::GovernParams;
use drover_core::model::CloneScheme;
use drover_core::policy::dolly::{Admission, Reads};
use drover_core::policy::{BlacklistParams, DollyParams, LateParams, MantriParams, PolicyName, TailParams};

/// How the engine is to decide.
pub fn engine_params(config: &Config) -> EngineParams {
    let (top, set) = (&config.top, &config.blacklist);
    let policy = policy(config);
    let base = preset(&top.preset, policy);
    EngineParams {
        policy,
        estimator: chosen(Estimator::ALL, Estimator::label, top.estimator.as_ref(), base.estimator),
        choose_estimator: top.choose_estimator,
        late: late(config, &base.late),
        tail: TailParams {
            near_end: config.tail.near_end.unwrap_or(base.tail.near_end),
            percentile: config.tail.percentile.unwrap_or(base.tail.percentile),
        },
        hadoop_0_20: base.hadoop_0_20,
        mantri: mantri(config, base.mantri),
        // On Hadoop none of these can be taken, so there is nothing to set.
        measures: base.measures,
        dolly: dolly(config, base.dolly),
        blacklist: BlacklistParams {
            above: set.above.unwrap_or(base.blacklist.above),
            share: set.share.unwrap_or(base.blacklist.share),
            min_evidence: set.min_evidence.unwrap_or(base.blacklist.min_evidence),
            beside: set.beside.unwrap_or(base.blacklist.beside),
        },
        govern: govern(config, &base.govern),
        start_lag: config.engine.start_lag,
        // They are of the way of reports and of the start of JVMs, on any Hadoop.
        patience: base.patience,
        look_again: config.engine.look_again,
        seed: config.engine.seed,
    }
}

/// The policy that is set.
pub(super) fn policy(config: &Config) -> PolicyName {
    labelled(PolicyName::ALL, PolicyName::label, &config.top.policy).unwrap_or_default()
}

/// What holds under a preset and a policy where nothing is set.
pub(super) fn preset(name: &str, policy: PolicyName) -> EngineParams {
    match name {
        "paper" => EngineParams::paper(policy),
        "paper-hotcloud" => EngineParams { dolly: DollyParams::paper_hotcloud(), ..EngineParams::paper(policy) },
        _ => EngineParams { policy, ..EngineParams::default() },
    }
}

fn labelled<T: Copy>(all: impl IntoIterator<Item = T>, label: fn(T) -> &'static str, text: &str) -> Option<T> {
    all.into_iter().find(|one| label(*one) == text)
}

fn chosen<T: Copy>(all: impl IntoIterator<Item = T>, label: fn(T) -> &'static str, set: Option<&String>, base: T) -> T {
    set.and_then(|text| labelled(all, label, text)).unwrap_or(base)
}

fn small(number: u64) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}

fn govern(config: &Config, base: &GovernParams) -> GovernParams {
    let (set, act) = (&config.govern, &config.act);
    GovernParams {
        mode: config.top.mode,
        queue_modes: config.modes.queue.clone(),
        user_modes: config.modes.user.clone(),
        policy_modes: config.modes.policy.clone(),
        cluster_cap: set.cluster_cap.unwrap_or(base.cluster_cap),
        cluster_floor: set.cluster_floor.map_or(base.cluster_floor, small),
        job_cap: set.job_cap.unwrap_or(base.job_cap),
        job_floor: set.job_floor.map_or(base.job_floor, small),
        user_cap: set.user_cap,
        queue_cap: set.queue_cap,
        node_copies: set.node_copies.map_or(base.node_copies, small),
        copies_per_minute: set.copies_per_minute.map(small).or(base.copies_per_minute),
        debounce: set.debounce,
        breaker_below: set.breaker_below.unwrap_or(base.breaker_below),
        breaker_least: small(set.breaker_least),
        breaker_rest: set.breaker_rest,
        busy_above: set.busy_above,
        holdout: set.holdout,
        holdout_salt: set.holdout_salt,
        stale_after: set.stale_after,
        waiting_copies: small(act.waiting_copies),
        deadline: act.deadline,
        answer_grace: act.answer_grace,
        try_again: act.try_again,
        copies_per_task: act.copies_per_task.map_or(base.copies_per_task, small),
        futile_copies: act.futile_copies.map_or(base.futile_copies, small),
        cool_down: act.cool_down,
        node_futile_copies: small(act.node_futile_copies),
        node_cool_down: act.node_cool_down.unwrap_or(base.node_cool_down),
        safe_outputs: set.safe_outputs.clone(),
        unsafe_outputs: set.unsafe_outputs.clone(),
    }
}

fn late(config: &Config, base: &LateParams) -> LateParams {
    let set = &config.late;
    LateParams {
        slow_task_percentile: set.slow_task_percentile.unwrap_or(base.slow_task_percentile),
        slow_node_percentile: set.slow_node_percentile.unwrap_or(base.slow_node_percentile),
        node_half_life: set.node_half_life.unwrap_or(base.node_half_life),
        slow_factor: set.slow_factor.unwrap_or(base.slow_factor),
        min_age: set.min_age.unwrap_or(base.min_age),
        min_age_of_typical: set.min_age_of_typical.unwrap_or(base.min_age_of_typical),
        min_reports: set.min_reports.map_or(base.min_reports, small),
        min_finished: set.min_finished.unwrap_or(base.min_finished),
        min_gain: set.min_gain.unwrap_or(base.min_gain),
        min_win_probability: set.min_win_probability.unwrap_or(base.min_win_probability),
        tell_waiting_apart: set.tell_waiting_apart.unwrap_or(base.tell_waiting_apart),
    }
}

fn mantri(config: &Config, base: MantriParams) -> MantriParams {
    let set = &config.mantri;
    MantriParams {
        period: set.period.unwrap_or(base.period),
        period_of_typical: set.period_of_typical.unwrap_or(base.period_of_typical),
        period_min: set.period_min.unwrap_or(base.period_min),
        rho: set.rho.unwrap_or(base.rho),
        delta: set.delta.unwrap_or(base.delta),
        alpha: set.alpha.map_or(base.alpha, small),
        copies_max: set.copies_max.map_or(base.copies_max, small),
        restarts_max: set.restarts_max.map_or(base.restarts_max, small),
        min_reports: set.min_reports.map_or(base.min_reports, small),
        min_evidence: set.min_evidence.map_or(base.min_evidence, small),
    }
}

fn dolly(config: &Config, base: DollyParams) -> DollyParams {
    let set = &config.dolly;
    DollyParams {
        epsilon: set.epsilon.unwrap_or(base.epsilon),
        beta: set.beta.unwrap_or(base.beta),
        tau: set.tau.unwrap_or(base.tau),
        admission: chosen(Admission::ALL, Admission::label, set.admission.as_ref(), base.admission),
        by_machine: set.by_machine.unwrap_or(base.by_machine),
        prior: set.prior.unwrap_or(base.prior),
        min_evidence: set.min_evidence.unwrap_or(base.min_evidence),
        scheme: chosen(CloneScheme::ALL, CloneScheme::label, set.scheme.as_ref(), base.scheme),
        reads: chosen(Reads::ALL, Reads::label, set.reads.as_ref(), base.reads),
        contention: set.contention.or(base.contention),
        exclusive: set.exclusive.or(base.exclusive),
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Sources, load};
    use super::*;

    fn params(set: &[&str]) -> EngineParams {
        let sources = Sources { file: None, set: set.iter().map(ToString::to_string).collect() };
        engine_params(&load(&sources, std::iter::empty()).unwrap().config)
    }

    #[test]
    fn without_settings_the_engine_runs_on_its_own_defaults() {
        assert_eq!(params(&[]), EngineParams::default());
    }

    #[test]
    fn the_paper_preset_gives_way_only_to_what_is_set() {
        let params = params(&["preset=paper", "late.min_age=5s", "policy=hadoop-0.20", "estimator=late"]);
        assert_eq!(params.late, LateParams { min_age: drover_core::model::Millis(5_000), ..LateParams::paper() });
        assert_eq!((params.policy, params.estimator), (PolicyName::Hadoop020, Estimator::Late));
    }

    #[test]
    fn an_estimator_is_chosen_only_where_it_is_asked_for() {
        assert!(!params(&[]).choose_estimator && params(&["choose_estimator=true"]).choose_estimator);
    }

    #[test]
    fn the_paper_preset_brings_each_policys_constants_and_no_budget_that_its_paper_has_not() {
        for policy in PolicyName::ALL {
            let set = format!("policy={}", policy.label());
            assert_eq!(params(&["preset=paper", &set]), EngineParams::paper(policy), "{set}");
        }
        let set =
            ["preset=paper", "policy=mantri", "govern.job_cap=0.5", "dolly.admission=partial", "act.futile_copies=7"];
        let own = params(&set);
        assert_eq!((own.govern.job_cap, own.dolly.admission, own.govern.futile_copies), (0.5, Admission::Partial, 7));
        assert_eq!(own.govern.node_copies, 0);
    }

    #[test]
    fn of_dollys_two_papers_either_may_be_chosen_and_nothing_else_differs() {
        let of = |preset: &str| params(&[&format!("preset={preset}"), "policy=dolly"]);
        let (nsdi, hotcloud) = (of("paper"), of("paper-hotcloud"));
        assert_eq!(hotcloud, EngineParams { dolly: DollyParams::paper_hotcloud(), ..nsdi.clone() });
        assert_ne!(hotcloud, nsdi);
        assert_eq!(params(&["preset=paper-hotcloud", "dolly.tau=0.5"]).dolly.tau, 0.5);
    }

    #[test]
    fn mantris_constants_come_from_the_preset_too() {
        let params = params(&["preset=paper", "mantri.rho=2", "policy=mantri"]);
        assert_eq!(params.mantri, MantriParams { rho: 2.0, ..MantriParams::paper() });
        assert_eq!(params.policy, PolicyName::Mantri);
    }

    #[test]
    fn every_choice_has_its_counterpart_in_the_engine() {
        assert!(super::super::POLICIES.iter().all(|name| PolicyName::ALL.iter().any(|p| p.label() == *name)));
        assert_eq!(super::super::ADMISSIONS, Admission::ALL.map(Admission::label));
        assert_eq!(super::super::CLONE_SCHEMES, CloneScheme::ALL.map(CloneScheme::label));
        assert_eq!(super::super::CLONE_READS, Reads::ALL.map(Reads::label));
        assert!(super::super::ESTIMATORS.iter().all(|name| Estimator::ALL.iter().any(|e| e.label() == *name)));
    }
}
