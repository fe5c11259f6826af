//! Axes, linear and logarithmic, marked where a person would mark them.

use plotters::coord::ranged1d::{DefaultFormatting, KeyPointHint, Ranged};
use plotters::coord::types::RangedCoordf64;
use std::ops::Range;

/// An axis, with a word at each place that is marked.
#[derive(Debug, Clone, PartialEq)]
pub struct Axis {
    from: f64,
    to: f64,
    is_log: bool,
    marks: Vec<(f64, String)>,
}

/// From that many decades on, an axis is logarithmic.
const DECADES: f64 = 2.0;

impl Axis {
    /// From one number to another, marked at multiples of 1, 2 or 5 times a power of ten, ten of them at most or so.
    pub fn linear(from: f64, to: f64) -> Axis {
        let to = if to > from { to } else { from + 1.0 };
        let step = nice((to - from) / 10.0);
        let decimals = (-step.log10().floor()).clamp(0.0, 9.0) as usize;
        let mark = |nth: i64| (nth as f64 * step, format!("{:.decimals$}", nth as f64 * step));
        // An end that is a multiple itself is one, however it is rounded.
        let multiples = (from / step - 1e-9).ceil() as i64..=(to / step + 1e-9).floor() as i64;
        let marks = multiples.map(mark).collect();
        Axis { from, to, is_log: false, marks }
    }

    /// Of values above zero that span decades: logarithmic, marked at powers of ten, and at twice and five times these where there are few. Of all others: linear, from zero.
    pub fn of_times(least: f64, most: f64) -> Axis {
        let decades = (most / least).log10();
        if least <= 0.0 || decades < DECADES || !decades.is_finite() {
            return Axis::linear(0.0, most * 1.03);
        }
        let (from, to) = (least * 0.9, most * 1.1);
        let steps: &[f64] = if decades > 4.0 { &[1.0] } else { &[1.0, 2.0, 5.0] };
        let powers = from.log10().floor() as i32..=to.log10().ceil() as i32;
        let marks = powers.flat_map(|power| steps.iter().map(move |step| (step * 10_f64.powi(power), power)));
        let marks = marks.filter(|(at, _)| (from..=to).contains(at));
        let marks = marks.map(|(at, power)| (at, format!("{at:.*}", power.min(0).unsigned_abs() as usize))).collect();
        Axis { from, to, is_log: true, marks }
    }

    /// Places 0, 1, 2, …, each by its name.
    pub fn named(names: impl Iterator<Item = String>) -> Axis {
        let marks: Vec<_> = names.enumerate().map(|(nth, name)| (nth as f64, name)).collect();
        Axis { from: -0.5, to: marks.len() as f64 - 0.5, is_log: false, marks }
    }

    /// Rows downwards, without marks.
    pub fn rows(count: f64) -> Axis {
        Axis { from: count, to: 0.0, is_log: false, marks: vec![] }
    }

    /// The nearest that is on it.
    pub fn within(&self, value: f64) -> f64 {
        value.clamp(self.from.min(self.to), self.from.max(self.to))
    }

    /// What is written at a mark.
    pub fn name(&self, at: &f64) -> String {
        self.marks.iter().find(|(mark, _)| mark == at).map_or_else(String::new, |(_, name)| name.clone())
    }
}

/// The least of 1, 2 and 5 times a power of ten that is not below `rough`.
fn nice(rough: f64) -> f64 {
    let power = 10_f64.powf(rough.log10().floor());
    [1.0, 2.0, 5.0, 10.0].into_iter().map(|step| step * power).find(|step| *step >= rough * 0.999).unwrap_or(rough)
}

impl Ranged for Axis {
    type FormatOption = DefaultFormatting;
    type ValueType = f64;

    fn map(&self, value: &f64, pixels: (i32, i32)) -> i32 {
        let scaled = |value: f64| if self.is_log { value.ln() } else { value };
        RangedCoordf64::from(scaled(self.from)..scaled(self.to)).map(&scaled(*value), pixels)
    }

    fn key_points<Hint: KeyPointHint>(&self, hint: Hint) -> Vec<f64> {
        let is_bold = !hint.weight().allow_light_points();
        self.marks.iter().filter(|_| is_bold).map(|(at, _)| *at).collect()
    }

    fn range(&self) -> Range<f64> {
        self.from..self.to
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(axis: &Axis) -> Vec<&str> {
        axis.marks.iter().map(|(_, name)| name.as_str()).collect()
    }

    #[test]
    fn an_axis_of_times_is_logarithmic_only_over_decades() {
        assert_eq!(names(&Axis::of_times(30.0, 300.0)), ["0", "50", "100", "150", "200", "250", "300"]);
        assert_eq!(names(&Axis::of_times(3.0, 300.0)), ["5", "10", "20", "50", "100", "200"]);
        assert_eq!(names(&Axis::of_times(0.02, 3.0)), ["0.02", "0.05", "0.1", "0.2", "0.5", "1", "2"]);
        assert_eq!(names(&Axis::of_times(1.0, 1e5)), ["1", "10", "100", "1000", "10000", "100000"]);
        assert!(!Axis::of_times(0.0, 1e5).is_log, "zero has no place on it");
    }

    #[test]
    fn an_axis_of_one_value_or_below_zero_can_be_drawn() {
        assert!(names(&Axis::linear(0.0, 0.0)).len() > 2);
        assert_eq!(
            names(&Axis::linear(-1.0, 0.6)),
            ["-1.0", "-0.8", "-0.6", "-0.4", "-0.2", "0.0", "0.2", "0.4", "0.6"]
        );
    }

    #[test]
    fn the_middle_of_a_logarithmic_axis_is_the_geometric_mean() {
        let axis = Axis { from: 1.0, to: 100.0, is_log: true, marks: vec![] };
        assert_eq!(axis.map(&10.0, (0, 200)), 100);
        assert_eq!(Axis::rows(4.0).map(&1.0, (400, 0)), 100);
    }
}
