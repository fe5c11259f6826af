//! `--sweep` of `drover simulate`: a setting, and the values that it is to have by turns.

use super::entry::Entry;
use crate::simulation::told::Sweep;
use drover_core::policy::PolicyName;
use drover_core::sim::Actor;

/// So many values at most: plots have that many places.
const VALUES: usize = 12;

/// Does any setting change what is done?
pub fn changes(policy: Entry) -> bool {
    matches!(policy, Entry::Policy(policy) if policy != PolicyName::None)
}

/// Why a sweep would show nothing; `None` where it shows something. Each of the policies has as many places in the cast as it is run for.
pub fn idle(sweep: &Sweep, policies: &[Entry], cast: &[(String, Actor)]) -> Option<String> {
    let Some(first) = policies.iter().position(|policy| changes(*policy)) else {
        return Some(format!(
            "--sweep {sweep}: no policy is run that settings change; name one by --policy, other than none and ideals"
        ));
    };
    let params = cast.iter().skip(first).filter_map(|(_, actor)| match actor {
        Actor::Policy(params) => Some(params),
        Actor::Ideal(_) => None,
    });
    let all: Vec<_> = params.take(sweep.values.len()).collect();
    let same = |nth: usize| all[..nth].iter().position(|other| *other == all[nth]).map(|other| (other, nth));
    let (one, other) = (0..all.len()).find_map(same)?;
    let [one, other] = [one, other].map(|nth| &sweep.values[nth]);
    Some(format!(
        "--sweep {sweep}: {one} and {other} mean the same in a simulation; give values that differ, of a setting that policies mind"
    ))
}

/// What is not for a setting to say in a simulation, and what to say instead.
const ELSEWHERE: [(&str, &str); 3] = [
    ("policy", "name policies by --policy"),
    ("govern.holdout", "say --holdout SHARE"),
    ("mode", "policies act in a simulation; --policy none does not"),
];

/// Why a setting would not be heeded; `None` where it is.
pub fn unheeded(key: &str) -> Option<String> {
    let (key, instead) = ELSEWHERE.into_iter().find(|(known, _)| *known == key.trim())?;
    Some(format!("{key} cannot be set here: {instead}"))
}

/// `KEY=VALUE,VALUE`, for the command line; whether the setting can have them is seen when it is given them.
pub fn parse(text: &str) -> Result<Sweep, String> {
    let (setting, values) = text.split_once('=').ok_or("say KEY=VALUE,VALUE, as in govern.cluster_cap=0.05,0.1,0.2")?;
    let values: Vec<String> = values.split(',').map(|value| value.trim().to_owned()).collect();
    if values.len() < 2 || values.len() > VALUES || values.iter().any(String::is_empty) {
        return Err(format!("a sweep has from 2 to {VALUES} values, with commas between them"));
    }
    if let Some(twice) =
        values.iter().enumerate().find_map(|(nth, value)| values[..nth].contains(value).then_some(value))
    {
        return Err(format!("{twice} is there twice"));
    }
    Ok(Sweep { setting: setting.trim().to_owned(), values })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sweep_is_a_setting_and_two_values_at_least_none_of_them_twice() {
        let sweep = parse("late.min_reports=1, 2,3").unwrap();
        assert_eq!(
            (sweep.setting.as_str(), sweep.values.len(), sweep.to_string().as_str()),
            ("late.min_reports", 3, "late.min_reports=1,2,3")
        );
        let many = format!("a={}", (0..13).map(|nth| nth.to_string()).collect::<Vec<_>>().join(","));
        for bad in ["late.min_reports", "a=1", "a=1,", "a=1,2,1", &many] {
            assert!(parse(bad).is_err(), "{bad}");
        }
    }
}
