//! What can stand side by side in a simulation: policies, and ideals to hold them against.

use crate::words::policy;
use drover_core::policy::PolicyName;
use drover_core::sim::Ideal;

/// A policy or an ideal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Entry {
    /// The engine decides.
    Policy(PolicyName),
    /// What nobody can do.
    Ideal(Ideal),
}

impl Entry {
    /// Its name.
    pub fn label(self) -> &'static str {
        match self {
            Entry::Policy(policy) => policy.label(),
            Entry::Ideal(ideal) => ideal.label(),
        }
    }
}

/// The one of that name, for the command line.
pub fn entry(text: &str) -> Result<Entry, String> {
    let ideal = Ideal::ALL.into_iter().find(|ideal| ideal.label() == text).map(Entry::Ideal);
    let ideals = || Ideal::ALL.map(Ideal::label).join(", ");
    ideal.map_or_else(|| policy(text).map(Entry::Policy).map_err(|known| format!("{known}; ideals: {}", ideals())), Ok)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn policies_and_ideals_are_known_by_their_labels_and_who_mistypes_is_told_all_of_them() {
        assert_eq!(entry("late"), Ok(Entry::Policy(PolicyName::Late)));
        for ideal in Ideal::ALL {
            assert_eq!(entry(ideal.label()), Ok(Entry::Ideal(ideal)));
            assert_eq!(serde_json::to_string(&ideal).unwrap(), format!("\"{}\"", ideal.label()));
        }
        let told = entry("lat").unwrap_err();
        assert!(told.contains("late,") && told.contains("oracle"), "{told}");
    }
}
