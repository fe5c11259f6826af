use super::*;
use crate::config::{SETTINGS, Sources, load_named};
use std::collections::BTreeSet;

/// Every setting that a preset sets: its value in the papers, and where that stands.
const PAPER: &[(&str, &str, &str)] = &[
    ("estimator", "late", "LATE §4: (1 − ProgressScore) / ProgressRate"),
    ("late.slow_task_percentile", "0.25", "LATE §4: SlowTaskThreshold, the 25th percentile"),
    ("late.slow_node_percentile", "0.25", "LATE §4: SlowNodeThreshold, the 25th percentile"),
    ("late.node_half_life", "0ms", "LATE §4: the sum over all tasks"),
    ("late.slow_factor", "0.0", "LATE §4 goes by the percentile alone"),
    ("late.min_age", "1m", "LATE §2.1 and §4: a minute"),
    ("late.min_age_of_typical", "0.0", "not in LATE"),
    ("late.min_reports", "0", "not in LATE"),
    ("late.min_finished", "0.0", "not in LATE"),
    ("late.min_gain", "0.0", "not in LATE"),
    ("late.min_win_probability", "0.0", "not in LATE"),
    ("late.tell_waiting_apart", "false", "not in LATE"),
    ("tail.near_end", "0.75", "Mantri §7 names a threshold number and no figure"),
    ("tail.percentile", "0.75", "Mantri §7: Dryad's 75th percentile of durations"),
    ("mantri.period", "10s", "Mantri §5: a report every 10 s"),
    ("mantri.period_of_typical", "0.1", "Mantri §5: or a tenth of the task's lifetime"),
    ("mantri.period_min", "0ms", "not in Mantri"),
    ("mantri.rho", "3.0", "Mantri §5.1: rho = 3"),
    ("mantri.delta", "0.25", "Mantri §5.1: delta = .25"),
    ("mantri.alpha", "2", "Mantri §5.1: the two fastest"),
    ("mantri.copies_max", "3", "Mantri §5.1, footnote 6: never more than three copies"),
    ("mantri.restarts_max", "3", "Mantri §5.1: gamma = 3"),
    ("mantri.min_reports", "0", "not in Mantri"),
    ("mantri.min_evidence", "1", "not in Mantri"),
    ("dolly.epsilon", "0.05", "NSDI'13 §3.2: 5 %"),
    ("dolly.beta", "0.05", "NSDI'13 §5.2: 5 %"),
    ("dolly.tau", "0.8", "NSDI'13 §5.2: 80 %"),
    ("dolly.admission", "all-or-nothing", "NSDI'13 §3.3"),
    ("dolly.by_machine", "false", "NSDI'13 §3.2: p of the whole cluster"),
    ("dolly.prior", "0.1", "NSDI'13 prints no p to begin with"),
    ("dolly.min_evidence", "1.0", "NSDI'13 §3.2 prints no least number of tasks"),
    ("dolly.scheme", "task", "NSDI'13 §3.1: clones at the granularity of tasks"),
    ("dolly.reads", "delay", "NSDI'13 §4.4: delay assignment"),
    ("dolly.contention", "0.76", "NSDI'13 §4.3, Fig. 6: transfers take 32 % longer"),
    ("dolly.exclusive", "", "NSDI'13 does not print p_c"),
    ("blacklist.above", "0.3", "NSDI'13 §2.1.2, Table 2: the best of three"),
    ("blacklist.share", "1.0", "NSDI'13 §2.1.2 lists every machine above p_b"),
    ("blacklist.min_evidence", "0.0", "not in NSDI'13"),
    ("blacklist.beside", "false", "NSDI'13 §2.1.2: a scheme of its own"),
    ("govern.cluster_cap", "1.0", "SpeculativeCap is LATE's alone"),
    ("govern.cluster_floor", "0", "Hadoop's own, in no paper"),
    ("govern.job_cap", "1.0", "in no paper"),
    ("govern.job_floor", "0", "Hadoop's own, in no paper"),
    ("govern.node_copies", "0", "in no paper"),
    ("govern.copies_per_minute", "0", "in no paper"),
    ("govern.breaker_below", "0.0", "in no paper"),
    ("act.copies_per_task", "0", "in no paper; how many run at once is Mantri's to say, §5.1"),
    ("act.futile_copies", "0", "in no paper"),
    ("act.node_cool_down", "0ms", "in no paper"),
];

/// What the preset of Dolly's first paper has otherwise.
const HOTCLOUD: &[(&str, &str, &str)] = &[
    ("dolly.beta", "1.0", "HotCloud'12 has no budget beside the ceiling"),
    ("dolly.tau", "0.7", "HotCloud'12, Evaluation: 70 %"),
    ("dolly.admission", "first-come", "HotCloud'12, Pseudocode 1: clone by clone, while U + 1 < tau"),
    ("dolly.by_machine", "true", "HotCloud'12, Pseudocode 1: by the odds of each machine"),
];

fn of(key: &str) -> Presets {
    presets(SETTINGS.iter().find(|setting| setting.key() == key).unwrap()).unwrap()
}

#[test]
fn every_setting_that_a_preset_sets_has_the_papers_value_in_the_preset_paper() {
    for (key, value, section) in PAPER {
        assert_eq!(of(key).paper, *value, "{key}: {section}");
    }
    let set = SETTINGS.iter().filter(|setting| presets(setting).is_some()).map(super::Setting::key);
    let listed = PAPER.iter().map(|(key, ..)| (*key).to_owned());
    assert_eq!(set.collect::<BTreeSet<_>>(), listed.collect::<BTreeSet<_>>());
}

#[test]
fn the_preset_of_dollys_first_paper_has_its_values_and_in_all_else_those_of_the_papers() {
    for (key, ..) in PAPER {
        let Presets { paper, hotcloud, .. } = of(key);
        let own = HOTCLOUD.iter().find(|(own, ..)| own == key);
        assert_eq!(hotcloud, own.map_or(paper.as_str(), |(_, value, _)| value), "{key}: {own:?}");
    }
}

#[test]
fn a_tenth_of_the_slots_bounds_the_copies_where_late_decides_and_no_cap_of_ours_bounds_mantris_or_dollys() {
    let own: Vec<_> = SETTINGS
        .iter()
        .filter_map(|setting| Some((setting.key(), presets(setting)?.own)))
        .filter(|(_, own)| !own.is_empty())
        .collect();
    let tenth = |policy| (policy, "0.1".to_owned());
    assert_eq!(own, [("govern.cluster_cap".to_owned(), ["late", "late-early", "drover"].map(tenth).to_vec())]);
}

fn resolved(set: &[&str], key: &str) -> (String, String) {
    let sources = Sources { file: None, set: set.iter().map(ToString::to_string).collect() };
    let all = load_named(&sources).unwrap().resolved();
    (all[key].value.to_string(), all[key].origin.to_string())
}

#[test]
fn what_is_not_set_is_resolved_to_the_presets_value_and_what_is_set_keeps_its_own() {
    let cap = "govern.cluster_cap";
    for (set, key, value, origin) in [
        (&[][..], cap, "0.1", "preset adapted"),
        (&["policy=late"], cap, "0.1", "preset adapted"),
        (&["preset=paper", "policy=mantri"], cap, "1", "preset paper"),
        (&["preset=paper", "policy=late"], cap, "0.1", "preset paper, policy late"),
        (&["preset=paper", "govern.cluster_cap=0.3"], cap, "0.3", "--set"),
        (&["preset=paper", "govern.cluster_cap="], cap, "0.1", "preset paper, policy drover"),
        (&["preset=paper-hotcloud"], "dolly.tau", "0.7", "preset paper-hotcloud"),
        (&["preset=paper"], "late.min_age", "1m", "preset paper"),
        (&["preset=paper"], "estimator", "late", "preset paper"),
        (&[], "dolly.exclusive", "", "preset adapted"),
        (&[], "state.dir", "", "default"),
        (&[], "rest.timeout", "15s", "default"),
    ] {
        assert_eq!(resolved(set, key), (value.to_owned(), origin.to_owned()), "{set:?} {key}");
    }
}

#[test]
fn each_presets_value_is_one_that_its_setting_allows() {
    for (key, ..) in PAPER {
        let setting = SETTINGS.iter().find(|setting| setting.key() == *key).unwrap();
        let Presets { adapted, paper, hotcloud, own } = of(key);
        for text in [adapted, paper, hotcloud].into_iter().chain(own.into_iter().map(|(_, text)| text)) {
            assert!(setting.kind.parse(&text).is_ok(), "{key}: {text}");
        }
    }
}
