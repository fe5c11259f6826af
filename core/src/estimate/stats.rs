//! Robust statistics of small samples.

/// The `share` quantile (0–1) by linear interpolation between order statistics; `values` are left in another order. `None` when there are none.
pub fn quantile(values: &mut [f64], share: f64) -> Option<f64> {
    let last = values.len().checked_sub(1)?;
    // Splits, or start-ups, are often all the same; where they are not, that shows at once.
    let first = values[0];
    if values.iter().all(|value| *value == first) {
        return Some(first);
    }
    let place = share.clamp(0.0, 1.0) * last as f64;
    let (_, below, rest) = values.select_nth_unstable_by(place.floor() as usize, f64::total_cmp);
    let above = rest.iter().copied().min_by(f64::total_cmp).unwrap_or(*below);
    Some(*below + (above - *below) * place.fract())
}

/// The median; `values` are left in another order.
pub fn median(values: &mut [f64]) -> Option<f64> {
    quantile(values, 0.5)
}

/// The same of values that are ascending.
pub fn median_of_sorted(values: &[f64]) -> Option<f64> {
    let place = 0.5 * values.len().checked_sub(1)? as f64;
    let [below, above] = [place.floor(), place.ceil()].map(|place| values[place as usize]);
    Some(below + (above - below) * place.fract())
}

/// Median, and the standard deviation that the median absolute deviation stands for under a normal law (factor 1.4826): one straggler moves neither.
pub fn robust_mean_spread(values: &mut [f64]) -> Option<(f64, f64)> {
    const MAD_TO_SIGMA: f64 = 1.4826;
    let centre = median(values)?;
    let mut deviations: Vec<f64> = values.iter().map(|value| (value - centre).abs()).collect();
    Some((centre, MAD_TO_SIGMA * median(&mut deviations)?))
}

/// At most `most` values that stand for all, ascending: the means of equal parts of them, which keep the mean of all.
pub fn sum_up(mut values: Vec<f64>, most: usize) -> Vec<f64> {
    values.sort_unstable_by(f64::total_cmp);
    let (all, parts) = (values.len(), values.len().min(most));
    let part = |n: usize| &values[n * all / parts..(n + 1) * all / parts];
    (0..parts).map(|n| part(n).iter().sum::<f64>() / part(n).len() as f64).collect()
}

/// Probability that a normal variable of that mean and spread is above zero; a spread of zero gives 0, ½ or 1.
pub fn probability_positive(mean: f64, spread: f64) -> f64 {
    if spread > 0.0 { normal_cdf(mean / spread) } else { 0.5 + 0.5 * if mean == 0.0 { 0.0 } else { mean.signum() } }
}

/// The standard normal distribution function, within 7.5e-8 (Abramowitz and Stegun, 26.2.17).
fn normal_cdf(z: f64) -> f64 {
    const B: [f64; 5] = [0.319_381_530, -0.356_563_782, 1.781_477_937, -1.821_255_978, 1.330_274_429];
    let t = 1.0 / (1.0 + 0.231_641_9 * z.abs());
    let density = (-0.5 * z * z).exp() / (2.0 * std::f64::consts::PI).sqrt();
    let tail = density * B.iter().rev().fold(0.0, |sum, b| (sum + b) * t);
    if z >= 0.0 { 1.0 - tail } else { tail }
}

/// A standard normal draw that the seed alone decides.
pub fn normal_draw(seed: u64) -> f64 {
    // Box and Muller's transform.
    let [radius, angle] = [uniform_draw(seed, 1), uniform_draw(seed, 2)];
    (-2.0 * (1.0 - radius).ln()).sqrt() * (2.0 * std::f64::consts::PI * angle).cos()
}

/// The `n`th draw of a seed, uniform from 0 to below 1 (SplitMix64).
pub fn uniform_draw(seed: u64, n: u64) -> f64 {
    (mixed(seed.wrapping_add(n.wrapping_mul(0x9E37_79B9_7F4A_7C15))) >> 11) as f64 / (1u64 << 53) as f64
}

/// A number whose every bit depends on all bits of another (SplitMix64's output function).
pub fn mixed(mut x: u64) -> u64 {
    x = (x ^ (x >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    x = (x ^ (x >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    x ^ (x >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_interpolate() {
        assert_eq!(quantile(&mut [4.0, 1.0, 3.0, 2.0], 0.5), Some(2.5));
        assert_eq!(quantile(&mut [1.0, 2.0, 3.0, 4.0, 5.0], 0.25), Some(2.0));
        assert_eq!(quantile(&mut [7.0], 0.9), Some(7.0));
        assert_eq!(quantile(&mut [], 0.5), None);
    }

    #[test]
    fn the_median_of_what_is_sorted_is_the_median() {
        let mut all = Vec::new();
        for more in [1.0, 2.5, 2.5, 4.0, 9.0] {
            assert_eq!(median_of_sorted(&all), median(&mut all.clone()));
            all.push(more);
        }
        assert_eq!(median_of_sorted(&all), Some(2.5));
    }

    #[test]
    fn one_straggler_moves_neither_centre_nor_spread() {
        let (centre, spread) = robust_mean_spread(&mut [5.0, 5.2, 4.8, 5.1, 50.0]).unwrap();
        assert!((centre - 5.1).abs() < 1e-9 && spread < 0.2, "{centre} {spread}");
    }

    #[test]
    fn probabilities_match_the_normal_table() {
        for (z, p) in [(0.0, 0.5), (1.0, 0.841_344_7), (-1.0, 0.158_655_3), (1.96, 0.975_002_1), (-8.0, 0.0)] {
            assert!((probability_positive(z, 1.0) - p).abs() < 1e-6, "{z}");
        }
        assert_eq!(probability_positive(3.0, 0.0), 1.0);
        assert_eq!(probability_positive(-3.0, 0.0), 0.0);
        assert_eq!(probability_positive(0.0, 0.0), 0.5);
    }

    #[test]
    fn draws_depend_on_the_seed_alone_and_look_normal() {
        assert_eq!(normal_draw(7), normal_draw(7));
        let draws: Vec<f64> = (0..10_000).map(normal_draw).collect();
        let mean = draws.iter().sum::<f64>() / 1e4;
        let variance = draws.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / 1e4;
        assert!(mean.abs() < 0.05 && (variance - 1.0).abs() < 0.05, "{mean} {variance}");
    }

    #[test]
    fn a_probability_is_that_of_the_mean_in_spreads() {
        assert!((probability_positive(2.0, 4.0) - 0.691_462_5).abs() < 1e-6);
    }

    #[test]
    fn draws_are_splitmix64s_and_box_and_mullers() {
        // The outputs that SplitMix64 is checked by, of the seed 1234567.
        let outputs: [u64; 3] = [6_457_827_717_110_365_317, 3_203_168_211_198_807_973, 9_817_491_932_198_370_423];
        for (n, output) in (1..).zip(outputs) {
            assert_eq!(uniform_draw(1_234_567, n), (output >> 11) as f64 / (1u64 << 53) as f64);
        }
        // √(−2 ln(1 − 0.350080)) · cos(2π · 0.173644)
        assert!((normal_draw(1_234_567) - 0.428_487_900_7).abs() < 1e-9);
    }
}
