//! How much less than under the baseline jobs take, at their mean and at each percentile, with the interval over seeds.

use super::axis::Axis;
use super::plot::{self, Fault, Frame};
use crate::simulation::summary::PolicySummary;
use crate::simulation::tables::points;
use crate::stats::Interval;
use plotters::prelude::*;

const SIZE: (u32, u32) = (840, 480);

/// Reductions below this, percent, are not shown, lest intervals of few seeds hide all else.
const LOWEST: f64 = -150.0;

/// Draws the policies that were compared; `None` where none was.
pub fn draw(policies: &[PolicySummary]) -> Result<Option<String>, Fault> {
    let compared = policies.iter().enumerate().filter_map(|(nth, one)| Some((nth, one, one.against.as_ref()?)));
    let compared: Vec<_> = compared.collect();
    let Some((_, _, first)) = compared.first() else { return Ok(None) };
    let all = || compared.iter().flat_map(|(_, _, against)| against.jobs.values());
    let title = format!("Less than under {}, with the same luck", first.baseline);
    let frame = Frame {
        title: &title,
        x_title: "mean and percentiles of jobs' times",
        y_title: "reduction, percent (bars: 95 % interval)",
        left: 60,
    };
    let (x, y) = (Axis::named(points().map(str::to_owned)), height(all()));
    let drawn = plot::svg(SIZE, |canvas| {
        let names: Vec<_> = compared.iter().map(|(nth, one, _)| (*nth, one.policy.clone())).collect();
        let below = plot::policies(canvas, &names, SIZE.0 as i32)?;
        let (_, rest) = canvas.split_vertically(below);
        let chart = plot::chart(&rest, &frame, x, y.clone())?;
        let area = chart.plotting_area();
        area.draw(&PathElement::new([(-0.5, 0.0), (points().count() as f64 - 0.5, 0.0)], BLACK))?;
        for (place, (nth, _, against)) in compared.iter().enumerate() {
            let beside = 0.7 * ((place as f64 + 0.5) / compared.len() as f64 - 0.5);
            for (column, point) in points().enumerate() {
                let Some(of) = against.jobs.get(point) else { continue };
                let at = |value: f64| area.map_coordinate(&(column as f64 + beside, y.within(value)));
                error_bar(canvas, at(of.low), at(of.high), plot::colour(*nth))?;
                plot::mark(canvas, at(of.mean), *nth)?;
            }
        }
        Ok(())
    });
    drawn.map(Some)
}

/// An axis of reductions that holds zero, all means and, as far as they are not absurd, their intervals.
pub(super) fn height<'a>(all: impl Iterator<Item = &'a Interval> + Clone) -> Axis {
    let least_mean = all.clone().map(|of| of.mean).fold(0.0, f64::min);
    let least = all.clone().map(|of| of.low.max(LOWEST)).fold(least_mean, f64::min);
    // Nothing can take less than no time.
    let most = all.map(|of| of.high.min(100.0)).fold(0.0, f64::max);
    let margin = (most - least).max(1.0) * 0.05;
    Axis::linear(least - margin, most + margin)
}

/// The interval of one.
pub(super) fn error_bar(
    canvas: &plot::Canvas<'_>,
    low: (i32, i32),
    high: (i32, i32),
    colour: RGBColor,
) -> Result<(), Fault> {
    let style = ShapeStyle::from(colour).stroke_width(2);
    canvas.draw(&PathElement::new([low, high], style))?;
    for (x, y) in [low, high] {
        canvas.draw(&PathElement::new([(x - 5, y), (x + 5, y)], style))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_absurd_interval_of_few_seeds_leaves_the_means_in_sight() {
        let wide =
            [Interval { mean: 20.0, low: -4_000.0, high: 4_040.0 }, Interval { mean: -3.0, low: -5.0, high: -1.0 }];
        let axis = height(wide.iter());
        assert_eq!((axis.within(-4_000.0), axis.within(4_040.0)), (-162.5, 112.5));
        let worse = [Interval { mean: -300.0, low: -310.0, high: -290.0 }];
        assert!(height(worse.iter()).within(-300.0) == -300.0);
    }
}
