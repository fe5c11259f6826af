//! How many jobs had ended after how long: one curve a policy.

use super::axis::Axis;
use super::plot::{self, Fault, Frame};
use plotters::prelude::*;

/// Steps of a curve that are drawn at most: more are finer than a pixel.
const STEPS: usize = 500;
const SIZE: (u32, u32) = (840, 480);

/// Draws the shares of jobs that took at most so many seconds, by policy.
pub fn draw(times: &[(String, Vec<f64>)]) -> Result<String, Fault> {
    let curves: Vec<Vec<(f64, f64)>> = times.iter().map(|(_, times)| steps(times)).collect();
    let all = || curves.iter().flatten().map(|(seconds, _)| *seconds);
    let x = Axis::of_times(all().fold(f64::INFINITY, f64::min), all().fold(0.0, f64::max));
    plot::svg(SIZE, |canvas| {
        let names: Vec<_> = times.iter().map(|(name, _)| name.clone()).enumerate().collect();
        let below = plot::policies(canvas, &names, SIZE.0 as i32)?;
        let (_, rest) = canvas.split_vertically(below);
        let frame = Frame {
            title: "Jobs that had ended",
            x_title: "from arrival to end, seconds",
            y_title: "share of jobs, percent",
            left: 60,
        };
        let chart = plot::chart(&rest, &frame, x, Axis::linear(0.0, 100.0))?;
        for (nth, curve) in curves.iter().enumerate() {
            let style = ShapeStyle::from(plot::colour(nth)).stroke_width(2);
            chart.plotting_area().draw(&PathElement::new(curve.clone(), style))?;
            // Markers at other heights for each policy, so that curves which coincide show all of theirs.
            let heights = (0..4).map(|mark| 15.0 + 22.0 * f64::from(mark) + (nth % 7) as f64 * 3.0);
            for at in heights.filter_map(|height| curve.iter().find(|(_, share)| *share >= height)) {
                plot::mark(canvas, chart.plotting_area().map_coordinate(at), nth)?;
            }
        }
        Ok(())
    })
}

/// The steps of a distribution: seconds, and the share, percent, of those that took at most as long.
fn steps(times: &[f64]) -> Vec<(f64, f64)> {
    let mut sorted = times.to_vec();
    sorted.sort_by(f64::total_cmp);
    let count = sorted.len();
    let kept = (1..=count.min(STEPS)).map(|step| step * count / count.min(STEPS));
    let mut below = 0.0;
    let corners = kept.flat_map(|rank| {
        let (seconds, share) = (sorted[rank - 1], 100.0 * rank as f64 / count as f64);
        [(seconds, std::mem::replace(&mut below, share)), (seconds, share)]
    });
    corners.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_curve_rises_by_one_job_at_each_jobs_time() {
        assert_eq!(steps(&[7.0, 3.0]), [(3.0, 0.0), (3.0, 50.0), (7.0, 50.0), (7.0, 100.0)]);
        assert_eq!(steps(&[]), []);
    }

    #[test]
    fn a_curve_of_many_jobs_is_thinned_and_still_ends_at_all_of_them() {
        let many: Vec<f64> = (0..10_007).map(f64::from).collect();
        let thin = steps(&many);
        assert_eq!((thin.len(), thin.last()), (2 * STEPS, Some(&(10_006.0, 100.0))));
    }
}
