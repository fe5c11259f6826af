//! Distributions that a scenario names: a plain number, or a table with the name of a law and its parameters.

use super::draw::Draw;
use super::exact;
use serde::de::value::MapAccessDeserializer;
use serde::de::{self, Deserializer, MapAccess, Visitor};
use serde::{Deserialize, Serialize, Serializer};
use std::fmt;

/// A law of random numbers.
#[derive(Debug, Clone, PartialEq)]
pub enum Dist {
    /// Always the same.
    Constant(f64),
    /// One of several.
    Law(Law),
}

/// Laws by name.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Law {
    /// Evenly between two bounds.
    Uniform {
        /// The lower one.
        low: f64,
        /// The upper one.
        high: f64,
    },
    /// Exponential.
    Exponential {
        /// Mean.
        mean: f64,
    },
    /// Normal, with what is below zero drawn as zero.
    Normal {
        /// Mean.
        mean: f64,
        /// Standard deviation.
        sd: f64,
    },
    /// The exponential of a normal law.
    Lognormal {
        /// Median.
        median: f64,
        /// Standard deviation of its logarithm.
        sigma: f64,
    },
    /// Pareto, cut off where a bound is given.
    Pareto {
        /// The least value.
        least: f64,
        /// Shape, β in Mantri's Appendix A.
        shape: f64,
        /// What is beyond it is drawn as it.
        #[serde(default = "unbounded")]
        most: f64,
    },
    /// By quantiles: pairs of a share (0–1) and the value below which that share lies, between which it is even.
    Quantiles(#[serde(deserialize_with = "exact::each")] Vec<(f64, f64)>),
    /// One of several laws, each with its weight.
    Mixture(#[serde(deserialize_with = "exact::each")] Vec<(f64, Dist)>),
}

fn unbounded() -> f64 {
    f64::INFINITY
}

impl Dist {
    /// One number.
    pub fn sample(&self, draw: &mut Draw) -> f64 {
        match self {
            Dist::Constant(value) => *value,
            Dist::Law(law) => law.sample(draw),
        }
    }

    /// The first of a subject's numbers. What is always the same needs none drawn, and most laws of a scenario are.
    pub fn first(&self, draws: impl FnOnce() -> Draw) -> f64 {
        match self {
            Dist::Constant(value) => *value,
            Dist::Law(law) => law.sample(&mut draws()),
        }
    }

    /// What is wrong with its parameters; `None` where nothing is.
    pub fn fault(&self) -> Option<String> {
        match self {
            Dist::Constant(value) => (!value.is_finite()).then(|| format!("{value} is no number to work with")),
            Dist::Law(law) => law.fault(),
        }
    }

    /// The least and the largest value it gives, as far as its law has bounds.
    pub fn range(&self) -> (f64, f64) {
        match self {
            Dist::Constant(value) => (*value, *value),
            Dist::Law(law) => law.range(),
        }
    }
}

impl Law {
    fn sample(&self, draw: &mut Draw) -> f64 {
        match self {
            Law::Uniform { low, high } => low + (high - low) * draw.uniform(),
            Law::Exponential { mean } => -mean * (1.0 - draw.uniform()).ln(),
            Law::Normal { mean, sd } => (mean + sd * draw.normal()).max(0.0),
            Law::Lognormal { median, sigma } => median * (sigma * draw.normal()).exp(),
            Law::Pareto { least, shape, most } => (least * (1.0 - draw.uniform()).powf(-1.0 / shape)).min(*most),
            Law::Quantiles(quantiles) => between(quantiles, draw.uniform()),
            Law::Mixture(laws) => {
                let mut rest = draw.uniform() * laws.iter().map(|(weight, _)| weight).sum::<f64>();
                let chosen = laws.iter().find(|(weight, _)| {
                    rest -= weight;
                    rest < 0.0
                });
                chosen.or(laws.last()).map_or(0.0, |(_, law)| law.sample(draw))
            }
        }
    }

    /// Does every number it names have an end? A bound may be none.
    fn is_finite(&self) -> bool {
        let finite = |all: &[f64]| all.iter().all(|value| value.is_finite());
        match self {
            Law::Uniform { low, high } => finite(&[*low, *high]),
            Law::Exponential { mean } => mean.is_finite(),
            Law::Normal { mean, sd } => finite(&[*mean, *sd]),
            Law::Lognormal { median, sigma } => finite(&[*median, *sigma]),
            Law::Pareto { least, shape, most } => finite(&[*least, *shape]) && !most.is_nan(),
            Law::Quantiles(all) => all.iter().all(|(share, value)| finite(&[*share, *value])),
            Law::Mixture(laws) => laws.iter().all(|(weight, _)| weight.is_finite()),
        }
    }

    fn fault(&self) -> Option<String> {
        if !self.is_finite() {
            return Some("its numbers must be finite".to_owned());
        }
        let ok = |holds: bool, words: &str| (!holds).then(|| words.to_owned());
        match self {
            Law::Uniform { low, high } => ok(low <= high, "`low` must not be above `high`"),
            Law::Exponential { mean } => ok(*mean > 0.0, "`mean` must be above 0"),
            Law::Normal { sd, .. } => ok(*sd >= 0.0, "`sd` must not be below 0"),
            Law::Lognormal { median, sigma } => {
                ok(*median > 0.0 && *sigma >= 0.0, "`median` must be above 0 and `sigma` not below 0")
            }
            Law::Pareto { least, shape, most } => ok(
                *least > 0.0 && *shape > 0.0 && most >= least,
                "`least` and `shape` must be above 0, `most` not below `least`",
            ),
            Law::Quantiles(all) => {
                let ascends = all.windows(2).all(|two| two[0].0 < two[1].0 && two[0].1 <= two[1].1);
                let whole =
                    all.first().is_some_and(|first| first.0 == 0.0) && all.last().is_some_and(|last| last.0 == 1.0);
                ok(ascends && whole, "quantiles must go from share 0 to share 1, and ascend")
            }
            Law::Mixture(laws) => {
                let weights =
                    laws.iter().all(|(weight, _)| *weight >= 0.0) && laws.iter().any(|(weight, _)| *weight > 0.0);
                let inner = || laws.iter().find_map(|(_, law)| law.fault());
                ok(weights, "weights must not be below 0, and one above it").or_else(inner)
            }
        }
    }

    fn range(&self) -> (f64, f64) {
        match self {
            Law::Uniform { low, high } => (*low, *high),
            Law::Exponential { .. } | Law::Normal { .. } => (0.0, f64::INFINITY),
            // Never zero.
            Law::Lognormal { .. } => (f64::MIN_POSITIVE, f64::INFINITY),
            Law::Pareto { least, most, .. } => (*least, *most),
            Law::Quantiles(all) => (all.first().map_or(0.0, |first| first.1), all.last().map_or(0.0, |last| last.1)),
            Law::Mixture(laws) => {
                let ranges = laws.iter().map(|(_, law)| law.range());
                ranges.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), (a, b)| (low.min(a), high.max(b)))
            }
        }
    }
}

/// The value below which that share lies.
fn between(quantiles: &[(f64, f64)], share: f64) -> f64 {
    let above = quantiles.partition_point(|(at, _)| *at <= share).clamp(1, quantiles.len().saturating_sub(1).max(1));
    let [(from, low), (to, high)] = [above - 1, above].map(|place| quantiles.get(place).copied().unwrap_or((1.0, 0.0)));
    if to > from { low + (high - low) * (share - from) / (to - from) } else { low }
}

impl Default for Dist {
    fn default() -> Self {
        Dist::Constant(0.0)
    }
}

impl Serialize for Dist {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Dist::Constant(value) => serializer.serialize_f64(*value),
            Dist::Law(law) => law.serialize(serializer),
        }
    }
}

/// By hand, so that a wrong law is told by its name and not as "no variant fits".
impl<'de> Deserialize<'de> for Dist {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct NumberOrLaw;
        impl<'de> Visitor<'de> for NumberOrLaw {
            type Value = Dist;
            fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.write_str("a number, or a law such as { lognormal = { median = 30, sigma = 0.4 } }")
            }
            fn visit_f64<E: de::Error>(self, value: f64) -> Result<Dist, E> {
                Ok(Dist::Constant(value))
            }
            fn visit_i64<E: de::Error>(self, value: i64) -> Result<Dist, E> {
                Ok(Dist::Constant(value as f64))
            }
            fn visit_u64<E: de::Error>(self, value: u64) -> Result<Dist, E> {
                Ok(Dist::Constant(value as f64))
            }
            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Dist, A::Error> {
                let law = Law::deserialize(MapAccessDeserializer::new(&mut map))?;
                match map.next_key::<String>()? {
                    None => Ok(Dist::Law(law)),
                    Some(other) => Err(de::Error::custom(format!("two laws stand here, {other} is one: give one law"))),
                }
            }
        }
        deserializer.deserialize_any(NumberOrLaw)
    }
}

#[cfg(test)]
mod tests {
    use super::super::draw::{Draws, Purpose};
    use super::*;

    fn of(json: &str) -> Dist {
        serde_json::from_str(json).unwrap()
    }

    #[test]
    fn a_second_law_and_what_a_list_has_too_much_are_refused() {
        for (json, says) in [
            (r#"{"uniform": {"low": 1, "high": 2}, "normal": {"mean": 1, "sd": 0}}"#, "two laws"),
            (r#"{"mixture": [[1, 2, 3]]}"#, "too many elements"),
            (r#"{"quantiles": [[0, 5], [1, 5, 99]]}"#, "too many elements"),
            (r#"{"mixture": [[1]]}"#, "length"),
        ] {
            let error = serde_json::from_str::<Dist>(json).unwrap_err().to_string();
            assert!(error.contains(says), "{json}: {error}");
        }
    }

    fn samples(dist: &Dist) -> Vec<f64> {
        let draws = Draws::new(11);
        let mut all: Vec<f64> = (0..20_000).map(|n| dist.sample(&mut draws.of(Purpose::Work, [n, 0, 0]))).collect();
        all.sort_unstable_by(f64::total_cmp);
        all
    }

    fn mean_and_median(json: &str) -> (f64, f64) {
        let all = samples(&of(json));
        (all.iter().sum::<f64>() / all.len() as f64, all[all.len() / 2])
    }

    #[test]
    fn each_law_has_the_mean_and_the_median_of_its_name() {
        let near = |json: &str, mean: f64, median: f64| {
            let (m, d) = mean_and_median(json);
            assert!((m / mean - 1.0).abs() < 0.03 && (d / median - 1.0).abs() < 0.03, "{json}: {m} {d}");
        };
        near("4", 4.0, 4.0);
        near(r#"{"uniform": {"low": 2, "high": 6}}"#, 4.0, 4.0);
        near(r#"{"exponential": {"mean": 10}}"#, 10.0, 10.0 * 2_f64.ln());
        near(r#"{"normal": {"mean": 10, "sd": 2}}"#, 10.0, 10.0);
        near(r#"{"lognormal": {"median": 30, "sigma": 0.5}}"#, 30.0 * 0.125_f64.exp(), 30.0);
        // Pareto: mean βx/(β − 1), median x·2^(1/β).
        near(r#"{"pareto": {"least": 2, "shape": 3}}"#, 3.0, 2.0 * 2_f64.powf(1.0 / 3.0));
        near(r#"{"quantiles": [[0, 0], [0.5, 10], [1, 30]]}"#, 12.5, 10.0);
        near(r#"{"mixture": [[3, 1], [1, 9]]}"#, 3.0, 1.0);
    }

    #[test]
    fn what_is_beyond_a_bound_is_drawn_as_the_bound() {
        let pareto = samples(&of(r#"{"pareto": {"least": 1, "shape": 1.1, "most": 5}}"#));
        assert_eq!((pareto[0] >= 1.0, pareto[pareto.len() - 1]), (true, 5.0));
        assert_eq!(samples(&of(r#"{"normal": {"mean": 0, "sd": 1}}"#))[0], 0.0);
    }

    #[test]
    fn a_law_that_cannot_be_is_told_what_it_wants() {
        let fault = |json: &str| of(json).fault().unwrap_or_default();
        assert_eq!(fault("1"), "");
        assert!(fault(r#"{"uniform": {"low": 2, "high": 1}}"#).contains("`low`"));
        assert!(fault(r#"{"exponential": {"mean": 0}}"#).contains("`mean`"));
        assert!(fault(r#"{"pareto": {"least": 0, "shape": 1}}"#).contains("`least`"));
        assert!(fault(r#"{"quantiles": [[0, 1], [0.9, 2]]}"#).contains("share 1"));
        assert!(fault(r#"{"mixture": [[1, {"normal": {"mean": 1, "sd": -1}}]]}"#).contains("`sd`"));
        for bad in [f64::INFINITY, f64::NAN] {
            let laws = [
                Law::Normal { mean: 1.0, sd: bad },
                Law::Lognormal { median: bad, sigma: 1.0 },
                Law::Lognormal { median: 1.0, sigma: bad },
                Law::Pareto { least: bad, shape: 1.0, most: f64::INFINITY },
                Law::Pareto { least: 1.0, shape: bad, most: f64::INFINITY },
                Law::Quantiles(vec![(0.0, 1.0), (1.0, bad)]),
                Law::Mixture(vec![(1.0, Dist::Law(Law::Exponential { mean: bad }))]),
                Law::Mixture(vec![(bad, Dist::Constant(1.0))]),
            ];
            for law in laws {
                assert_eq!(law.fault().as_deref(), Some("its numbers must be finite"), "{law:?}");
            }
        }
        let unknown = serde_json::from_str::<Dist>(r#"{"gamma": {"k": 1}}"#).unwrap_err().to_string();
        assert!(unknown.contains("unknown variant `gamma`"), "{unknown}");
        let word = serde_json::from_str::<Dist>(r#""fast""#).unwrap_err().to_string();
        assert!(word.contains("a number, or a law"), "{word}");
    }

    #[test]
    fn a_law_is_written_as_it_is_read_and_knows_its_bounds() {
        for json in [
            "4.0",
            r#"{"uniform":{"low":1.0,"high":2.0}}"#,
            r#"{"mixture":[[1.0,2.0],[1.0,{"exponential":{"mean":3.0}}]]}"#,
        ] {
            assert_eq!(serde_json::to_string(&of(json)).unwrap(), json);
        }
        assert_eq!(of(r#"{"mixture": [[1, 2], [1, {"uniform": {"low": 1, "high": 7}}]]}"#).range(), (1.0, 7.0));
        assert_eq!(of(r#"{"quantiles": [[0, 3], [1, 8]]}"#).range(), (3.0, 8.0));
    }
}
