//! What is wrong with a scenario, key by key, and the rules that hold of many of them.

use super::super::super::dist::Dist;
use super::ARRIVES_MAX;

/// What one part of a task takes at most, seconds: a year.
pub(super) const TAKES_MAX: f64 = 365.0 * 24.0 * 3_600.0;
/// How many times longer anything takes at most.
pub(super) const FACTOR_MAX: f64 = 1e6;
const TOO_LATE: &str = "is more than 100 years (3153600000 s)";

/// What is wrong with a scenario: the key, and what it wants.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{key}: {wants}")]
pub struct Fault {
    /// The key, as the file names it.
    pub key: String,
    /// What is wrong, and what would be right.
    pub wants: String,
}

/// Collects what is wrong under a key.
pub(super) struct Faults {
    pub(super) under: String,
    pub(super) found: Vec<Fault>,
}

impl Faults {
    pub(super) fn unless(&mut self, holds: bool, key: &str, wants: &str) {
        if !holds {
            let key = if self.under.is_empty() { key.to_owned() } else { format!("{}.{key}", self.under) };
            self.found.push(Fault { key, wants: wants.to_owned() });
        }
    }

    /// A law whose values are none below `least`.
    pub(super) fn law(&mut self, dist: &Dist, least: f64, key: &str) {
        match dist.fault() {
            Some(fault) => self.unless(false, key, &fault),
            None => self.unless(dist.range().0 >= least, key, &format!("must not give values below {least}")),
        }
    }

    /// A law whose values are all above zero.
    pub(super) fn factor(&mut self, dist: &Dist, key: &str) {
        match dist.fault() {
            Some(fault) => self.unless(false, key, &fault),
            None => {
                self.unless(dist.range().0 > 0.0, key, "must give values above 0 only");
                self.unless(dist.most() <= FACTOR_MAX, key, "gives values above 1,000,000");
            }
        }
    }

    /// A law of seconds that something takes which a task waits for.
    pub(super) fn takes(&mut self, dist: &Dist, key: &str) {
        self.law(dist, 0.0, key);
        let few = dist.fault().is_some() || dist.most() <= TAKES_MAX;
        self.unless(few, key, "gives more than a year (31536000 s): give it less, or a law a bound");
    }

    /// A law of seconds from one instant to another.
    pub(super) fn arrives(&mut self, dist: &Dist, key: &str) {
        self.law(dist, 0.0, key);
        self.unless(dist.fault().is_some() || dist.most() <= ARRIVES_MAX.as_secs_f64(), key, TOO_LATE);
    }

    /// An instant, seconds from the start.
    pub(super) fn at(&mut self, at: f64, key: &str) {
        self.unless(at >= 0.0 && at.is_finite(), key, "must not be below 0");
        self.unless(!at.is_finite() || at <= ARRIVES_MAX.as_secs_f64(), key, TOO_LATE);
    }

    /// How much there is of something that may have no limit: so little that nothing would ever end is a mistake.
    pub(super) fn limit(&mut self, most: f64, key: &str) {
        let sound = most == 0.0 || (1.0 / FACTOR_MAX..=f64::MAX).contains(&most);
        self.unless(sound, key, "must be 0.000001 at least, or 0 for no limit");
    }

    /// How often something comes, that need not come at all.
    pub(super) fn often(&mut self, every: f64, key: &str) {
        let sound = every == 0.0 || (every >= 0.01 && every.is_finite());
        self.unless(sound, key, "must be 0.01 s at least, or 0 for none");
    }

    pub(super) fn share(&mut self, share: f64, key: &str) {
        self.unless((0.0..=1.0).contains(&share), key, "must be from 0 to 1");
    }
}
