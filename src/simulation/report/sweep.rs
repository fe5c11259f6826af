//! How much less than under the baseline jobs take on average, by the values of a setting: one line a policy.

use super::axis::Axis;
use super::gain::{error_bar, height};
use super::plot::{self, Fault, Frame};
use crate::simulation::summary::PolicySummary;
use crate::simulation::told::Sweep;
use crate::stats::Interval;
use plotters::prelude::*;

const SIZE: (u32, u32) = (840, 480);

/// Draws every policy that was run under all values; `None` where nothing was compared.
pub fn draw(sweep: &Sweep, baseline: &str, policies: &[PolicySummary]) -> Result<Option<String>, Fault> {
    let lines: Vec<_> =
        sweep.policies(policies).into_iter().map(|policy| (policy, line(sweep, policy, policies))).collect();
    let all = || lines.iter().flat_map(|(_, line)| line.iter().map(|(_, of)| of));
    if all().next().is_none() {
        return Ok(None);
    }
    let title = format!("Less than under {baseline}, with the same luck: jobs' mean");
    let frame =
        Frame { title: &title, x_title: &sweep.setting, y_title: "reduction, percent (bars: 95 % interval)", left: 60 };
    let (x, y) = (Axis::named(sweep.values.iter().cloned()), height(all()));
    let drawn = plot::svg(SIZE, |canvas| {
        let names: Vec<_> = lines.iter().map(|(policy, _)| (*policy).to_owned()).enumerate().collect();
        let below = plot::policies(canvas, &names, SIZE.0 as i32)?;
        let (_, rest) = canvas.split_vertically(below);
        let chart = plot::chart(&rest, &frame, x, y.clone())?;
        let area = chart.plotting_area();
        area.draw(&PathElement::new([(-0.5, 0.0), (sweep.values.len() as f64 - 0.5, 0.0)], BLACK))?;
        for (nth, (_, line)) in lines.iter().enumerate() {
            // A little apart, so that no bar hides another.
            let beside = 0.3 * ((nth as f64 + 0.5) / lines.len() as f64 - 0.5);
            let at = |place: usize, value: f64| (place as f64 + beside, y.within(value));
            let means: Vec<_> = line.iter().map(|(place, of)| at(*place, of.mean)).collect();
            area.draw(&PathElement::new(means, ShapeStyle::from(plot::colour(nth)).stroke_width(2)))?;
            for (place, of) in line {
                let pixel = |value: f64| area.map_coordinate(&at(*place, value));
                error_bar(canvas, pixel(of.low), pixel(of.high), plot::colour(nth))?;
                plot::mark(canvas, pixel(of.mean), nth)?;
            }
        }
        Ok(())
    });
    drawn.map(Some)
}

/// A policy's reductions of the mean, each at the place of its value; the baseline itself has none.
fn line(sweep: &Sweep, policy: &str, all: &[PolicySummary]) -> Vec<(usize, Interval)> {
    let of = |name: &str| all.iter().find(|one| one.policy == name)?.against.as_ref()?.jobs.get("mean").copied();
    sweep.of(policy).enumerate().filter_map(|(place, (name, _))| Some((place, of(&name)?))).collect()
}
