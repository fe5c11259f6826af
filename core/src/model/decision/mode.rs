//! How far Drover may go.

use serde::{Deserialize, Serialize};

/// How far Drover may go. Ordered by caution: of several that apply the smallest wins.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Mode {
    /// Look, say nothing.
    Off,
    /// Say what it would do.
    #[default]
    Advise,
    /// Do it.
    Act,
}

impl Mode {
    /// All modes, most cautious first.
    pub const ALL: [Mode; 3] = [Mode::Off, Mode::Advise, Mode::Act];

    /// `off`, `advise` or `act`.
    pub fn label(self) -> &'static str {
        match self {
            Mode::Off => "off",
            Mode::Advise => "advise",
            Mode::Act => "act",
        }
    }

    /// The mode of that label.
    pub fn parse(label: &str) -> Option<Mode> {
        Mode::ALL.into_iter().find(|mode| mode.label() == label)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_more_cautious_mode_is_the_smaller() {
        assert_eq!(Mode::Act.min(Mode::Advise).min(Mode::Off), Mode::Off);
        assert!(Mode::ALL.iter().all(|m| Mode::parse(m.label()) == Some(*m)));
        assert_eq!(Mode::parse("ACT"), None);
    }
}
