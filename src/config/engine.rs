//! The engine's parameters from the settings. What `[late]` and `[mantri]` do not set comes from the preset.

use super::setting::Setting;
use super::settings::Config;
use super::value::{Kind, show_span};
use drover_core::engine::EngineParams;
use drover_core::estimate::Estimator;
use drover_core::govern::GovernParams;
use drover_core::model::CloneScheme;
use drover_core::policy::dolly::{Admission, Reads};
use drover_core::policy::{
    BlacklistParams, DollyParams, LateParams, MantriParams, MeasureParams, PolicyName, TailParams,
};
use serde_json::Value as Json;

/// How the engine is to decide.
pub fn engine_params(config: &Config) -> EngineParams {
    let (top, govern) = (&config.top, &config.govern);
    EngineParams {
        policy: PolicyName::ALL.into_iter().find(|policy| policy.label() == top.policy).unwrap_or_default(),
        estimator: Estimator::ALL.into_iter().find(|e| e.label() == top.estimator).unwrap_or_default(),
        choose_estimator: top.choose_estimator,
        late: late(config),
        tail: TailParams { near_end: config.tail.near_end, percentile: config.tail.percentile },
        mantri: mantri(config),
        // On Hadoop none of these can be taken, so there is nothing to set.
        measures: MeasureParams::default(),
        dolly: dolly(config),
        blacklist: BlacklistParams {
            above: config.blacklist.above,
            share: config.blacklist.share,
            min_evidence: config.blacklist.min_evidence,
            beside: config.blacklist.beside,
        },
        govern: GovernParams {
            mode: top.mode,
            queue_modes: config.modes.queue.clone(),
            user_modes: config.modes.user.clone(),
            policy_modes: config.modes.policy.clone(),
            cluster_cap: govern.cluster_cap,
            cluster_floor: floor(config, govern.cluster_floor, |adapted| adapted.cluster_floor),
            job_cap: govern.job_cap,
            job_floor: floor(config, govern.job_floor, |adapted| adapted.job_floor),
            user_cap: govern.user_cap,
            queue_cap: govern.queue_cap,
            node_copies: small(govern.node_copies),
            copies_per_minute: govern.copies_per_minute.map(small),
            debounce: govern.debounce,
            breaker_below: govern.breaker_below,
            breaker_least: small(govern.breaker_least),
            breaker_rest: govern.breaker_rest,
            busy_above: govern.busy_above,
            holdout: govern.holdout,
            holdout_salt: govern.holdout_salt,
            stale_after: govern.stale_after,
            waiting_copies: small(config.act.waiting_copies),
            deadline: config.act.deadline,
            answer_grace: config.act.answer_grace,
            try_again: config.act.try_again,
            copies_per_task: small(config.act.copies_per_task),
            futile_copies: small(config.act.futile_copies),
            cool_down: config.act.cool_down,
            node_futile_copies: small(config.act.node_futile_copies),
            node_cool_down: config.act.node_cool_down,
            safe_outputs: govern.safe_outputs.clone(),
            unsafe_outputs: govern.unsafe_outputs.clone(),
        },
        start_lag: config.engine.start_lag,
        look_again: config.engine.look_again,
        seed: config.engine.seed,
    }
}

fn small(number: u64) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}

/// The paper has no floor; Hadoop and the default have one.
fn floor(config: &Config, set: Option<u64>, adapted: fn(&GovernParams) -> u32) -> u32 {
    let preset = if config.top.preset == "paper" { 0 } else { adapted(&GovernParams::default()) };
    set.map_or(preset, small)
}

fn preset(name: &str) -> (LateParams, MantriParams) {
    match name {
        "paper" => (LateParams::paper(), MantriParams::paper()),
        _ => Default::default(),
    }
}

fn late(config: &Config) -> LateParams {
    let (set, (base, _)) = (&config.late, preset(&config.top.preset));
    LateParams {
        slow_task_percentile: set.slow_task_percentile.unwrap_or(base.slow_task_percentile),
        slow_node_percentile: set.slow_node_percentile.unwrap_or(base.slow_node_percentile),
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

fn mantri(config: &Config) -> MantriParams {
    let (set, (_, base)) = (&config.mantri, preset(&config.top.preset));
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

fn dolly(config: &Config) -> DollyParams {
    let set = &config.dolly;
    DollyParams {
        epsilon: set.epsilon,
        beta: set.beta,
        tau: set.tau,
        admission: Admission::ALL.into_iter().find(|one| one.label() == set.admission).unwrap_or_default(),
        by_machine: set.by_machine,
        prior: set.prior,
        min_evidence: set.min_evidence,
        scheme: CloneScheme::ALL.into_iter().find(|one| one.label() == set.scheme).unwrap_or_default(),
        reads: Reads::ALL.into_iter().find(|one| one.label() == set.reads).unwrap_or_default(),
        contention: set.contention,
        exclusive: set.exclusive,
    }
}

/// A setting's value in the presets `adapted` and `paper`, for the settings that have one.
pub fn presets(setting: &Setting) -> Option<[String; 2]> {
    let of = |name| {
        let (late, mantri) = preset(name);
        let all = match setting.group {
            "late" => serde_json::to_value(late).ok()?,
            "mantri" => serde_json::to_value(mantri).ok()?,
            _ => return None,
        };
        match (all.get(setting.name)?, setting.kind) {
            (Json::Number(ms), Kind::Span(..)) => ms.as_u64().map(show_span),
            (value, _) => Some(value.to_string()),
        }
    };
    Some([of("adapted")?, of("paper")?])
}

#[cfg(test)]
mod tests {
    use super::super::{SETTINGS, Sources, load};
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
    fn mantris_constants_come_from_the_preset_too() {
        let params = params(&["preset=paper", "mantri.rho=2", "policy=mantri"]);
        assert_eq!(params.mantri, MantriParams { rho: 2.0, ..MantriParams::paper() });
        assert_eq!(params.policy, PolicyName::Mantri);
    }

    #[test]
    fn every_choice_and_every_threshold_has_its_counterpart_in_the_engine() {
        assert!(super::super::POLICIES.iter().all(|name| PolicyName::ALL.iter().any(|p| p.label() == *name)));
        assert_eq!(super::super::ADMISSIONS, Admission::ALL.map(Admission::label));
        assert_eq!(super::super::CLONE_SCHEMES, CloneScheme::ALL.map(CloneScheme::label));
        assert_eq!(super::super::CLONE_READS, Reads::ALL.map(Reads::label));
        assert!(super::super::ESTIMATORS.iter().all(|name| Estimator::ALL.iter().any(|e| e.label() == *name)));
        for (group, fields) in [("late", 10), ("mantri", 10)] {
            let settings: Vec<_> = SETTINGS.iter().filter(|setting| setting.group == group).collect();
            assert_eq!(settings.len(), fields, "{group}");
            for setting in settings {
                for text in presets(setting).unwrap() {
                    assert!(setting.kind.parse(&text).is_ok(), "{}: {text}", setting.key());
                }
            }
        }
    }
}
