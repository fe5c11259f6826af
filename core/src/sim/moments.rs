//! What a law gives on the whole: so that a slip of the pen is told before it fills the memory.

use super::dist::{Dist, Law};
use crate::estimate::stats::probability_positive;

/// Standard deviations from a normal law's mean beyond which one draw in a million lies.
const MILLIONTH: f64 = 4.753_424;

impl Dist {
    /// Its mean, infinite where it has none.
    pub fn mean(&self) -> f64 {
        match self {
            Dist::Constant(value) => *value,
            Dist::Law(law) => law.mean(),
        }
    }

    /// The largest value it gives; of a law without a bound, one beyond which one draw in a million lies.
    pub fn most(&self) -> f64 {
        match self {
            Dist::Constant(value) => *value,
            Dist::Law(law) => law.most(),
        }
    }
}

impl Law {
    fn mean(&self) -> f64 {
        match self {
            Law::Uniform { low, high } => (low + high) / 2.0,
            Law::Exponential { mean } => *mean,
            // What lies below zero is zero.
            Law::Normal { mean, sd } if *sd == 0.0 => mean.max(0.0),
            Law::Normal { mean, sd } => {
                let density = (-0.5 * (mean / sd).powi(2)).exp() / std::f64::consts::TAU.sqrt();
                mean * probability_positive(*mean, *sd) + sd * density
            }
            Law::Lognormal { median, sigma } => median * (sigma * sigma / 2.0).exp(),
            // The integral of the share above x, from 0 to `most`.
            Law::Pareto { least, shape, most } if *shape == 1.0 => least + least * (most / least).ln(),
            Law::Pareto { least, shape, most } => {
                least + least.powf(*shape) * (most.powf(1.0 - shape) - least.powf(1.0 - shape)) / (1.0 - shape)
            }
            Law::Quantiles(all) => all.windows(2).map(|two| (two[1].0 - two[0].0) * (two[0].1 + two[1].1) / 2.0).sum(),
            Law::Mixture(laws) => {
                let weights: f64 = laws.iter().map(|(weight, _)| weight).sum();
                laws.iter().map(|(weight, law)| weight / weights * law.mean()).sum()
            }
        }
    }

    fn most(&self) -> f64 {
        match self {
            Law::Uniform { high, .. } => *high,
            Law::Exponential { mean } => mean * 1e6_f64.ln(),
            Law::Normal { mean, sd } => mean + MILLIONTH * sd,
            Law::Lognormal { median, sigma } => median * (MILLIONTH * sigma).exp(),
            Law::Pareto { least, shape, most } => (least * 1e6_f64.powf(1.0 / shape)).min(*most),
            Law::Quantiles(all) => all.last().map_or(0.0, |last| last.1),
            Law::Mixture(laws) => laws.iter().map(|(_, law)| law.most()).fold(0.0, f64::max),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::draw::{Draws, Purpose};
    use super::*;

    #[test]
    fn each_law_has_the_mean_that_it_draws_and_is_hardly_ever_above_its_most() {
        for law in [
            "4",
            r#"{"uniform": {"low": 2, "high": 6}}"#,
            r#"{"exponential": {"mean": 10}}"#,
            r#"{"normal": {"mean": 1.5, "sd": 0.5}}"#,
            r#"{"normal": {"mean": -1, "sd": 2}}"#,
            r#"{"normal": {"mean": 3, "sd": 0}}"#,
            r#"{"lognormal": {"median": 30, "sigma": 0.5}}"#,
            r#"{"pareto": {"least": 2, "shape": 3}}"#,
            r#"{"pareto": {"least": 2, "shape": 1, "most": 50}}"#,
            r#"{"pareto": {"least": 2, "shape": 0.5, "most": 50}}"#,
            r#"{"quantiles": [[0, 0], [0.5, 10], [1, 30]]}"#,
            r#"{"mixture": [[3, 1], [1, {"uniform": {"low": 8, "high": 10}}]]}"#,
        ] {
            let dist: Dist = serde_json::from_str(law).unwrap();
            let draws = Draws::new(7);
            let drawn: Vec<f64> = (0..20_000).map(|n| dist.sample(&mut draws.of(Purpose::Work, [n, 0, 0]))).collect();
            let mean = drawn.iter().sum::<f64>() / drawn.len() as f64;
            assert!((dist.mean() / mean - 1.0).abs() < 0.03, "{law}: {} {mean}", dist.mean());
            assert!(drawn.iter().all(|value| *value <= dist.most()), "{law}: {}", dist.most());
        }
        let endless: Dist = serde_json::from_str(r#"{"pareto": {"least": 1, "shape": 0.5}}"#).unwrap();
        assert_eq!(endless.mean(), f64::INFINITY);
    }
}
