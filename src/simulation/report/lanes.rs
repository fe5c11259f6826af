//! A swim-lane picture of one job: its attempts as bars, a lane a task, under each policy.

use super::axis::Axis;
use super::plot::{self, Canvas, Fault, Frame};
use crate::simulation::watched::Panel;
use drover_core::model::{Millis, TaskKind};
use drover_core::sim::{AttemptRow, End};
use plotters::prelude::*;
use plotters::style::text_anchor::HPos;
use std::collections::BTreeMap;

/// Tasks that are shown at most: those that ended last under the first policy.
pub const TASKS: usize = 32;

const WIDTH: u32 = 1_000;
/// Height of a bar and of what is around the bars of a panel, pixels.
const BAR: u32 = 16;
const AROUND: u32 = 100;
const LEFT: i32 = 80;
/// Size of the text in and beside bars, as [`plot::TEXT`].
const SMALL: i32 = 14;

type Task = (TaskKind, u32);

/// How a bar is coloured: by what became of the attempt. Apart in grey, too.
const LOOKS: [(&str, RGBColor); 6] = [
    ("succeeded", RGBColor(0, 114, 178)),
    ("original, overtaken by a copy", RGBColor(230, 159, 0)),
    ("copy that lost or was withdrawn", RGBColor(240, 228, 66)),
    ("killed for another in its place", RGBColor(213, 94, 0)),
    ("lost with its node", BLACK),
    ("failed, or killed with its job", RGBColor(95, 15, 80)),
];

/// The look of attempts that failed, which is in the legend only where there are any.
const FAILED: usize = 5;

fn look(row: &AttemptRow) -> usize {
    match row.end {
        End::Succeeded => 0,
        End::Overtaken | End::Spare if row.is_copy => 2,
        End::Overtaken | End::Spare => 1,
        End::Withdrawn => 2,
        End::Restarted | End::MadeWay | End::Preempted => 3,
        End::Lost => 4,
        End::Failed | End::JobFailed => FAILED,
    }
}

/// Draws the panels below one another, on one scale of time.
pub fn draw(job: &str, panels: &[Panel]) -> Result<String, Fault> {
    let tasks = panels.first().map(|panel| last(&panel.rows)).unwrap_or_default();
    let longest = panels.iter().map(|panel| panel.took.as_secs_f64()).fold(0.0, f64::max);
    let lanes: Vec<Vec<Vec<AttemptRow>>> = panels.iter().map(|panel| lanes(&panel.rows, &tasks)).collect();
    let heights: Vec<u32> = lanes.iter().map(|lanes| bars(lanes) as u32 * BAR + AROUND).collect();
    let fails = panels.iter().flat_map(|panel| &panel.rows).any(|row| look(row) == FAILED);
    let looks = if fails { &LOOKS[..] } else { &LOOKS[..FAILED] };
    let names: Vec<String> =
        looks.iter().map(|(name, _)| (*name).to_owned()).chain(["a copy has a black edge".into()]).collect();
    let (places, top) = plot::legend(&names, WIDTH as i32);
    plot::svg((WIDTH, top as u32 + heights.iter().sum::<u32>()), |canvas| {
        for (nth, ((x, y), name)) in places.into_iter().zip(&names).enumerate() {
            let colour = looks.get(nth).map_or(WHITE, |(_, colour)| *colour);
            bar(canvas, [(x - 8, y - 6), (x + 8, y + 6)], colour, nth >= looks.len())?;
            canvas.draw(&plot::label(name, (x + 14, y), HPos::Left, BLACK, plot::TEXT))?;
        }
        let mut rest = canvas.split_vertically(top).1;
        for ((panel, lanes), height) in panels.iter().zip(&lanes).zip(&heights) {
            let (own, below) = rest.split_vertically(*height as i32);
            let of = panel.rows.iter().map(|row| (row.kind, row.task)).collect::<std::collections::BTreeSet<_>>().len();
            let least = if panel.dropped > 0 { "at least " } else { "" };
            let shown =
                if of > tasks.len() { format!(", {} of {least}{of} tasks", tasks.len()) } else { String::new() };
            let took = panel.took.as_secs_f64();
            let title = format!("{job} under {}: {took:.1} s{shown}", panel.policy);
            draw_panel(canvas, &own, &title, panel, lanes, longest)?;
            rest = below;
        }
        Ok(())
    })
}

fn draw_panel(
    canvas: &Canvas<'_>,
    own: &Canvas<'_>,
    title: &str,
    panel: &Panel,
    lanes: &[Vec<AttemptRow>],
    longest: f64,
) -> Result<(), Fault> {
    let frame = Frame { title, x_title: "since the job's arrival, seconds", y_title: "", left: LEFT };
    let chart = plot::chart(own, &frame, Axis::linear(0.0, longest * 1.02), Axis::rows(bars(lanes) as f64))?;
    let area = chart.plotting_area();
    let since = |at: Millis| (at.0.saturating_sub(panel.arrived.0)) as f64 / 1e3;
    let mut above = 0;
    for lane in lanes {
        let rows = rows_of(lane);
        let Some(first) = lane.first() else { continue };
        let middle = area.map_coordinate(&(0.0, above as f64 + rows.len().max(1) as f64 / 2.0));
        let name = if first.kind == TaskKind::Map { "map" } else { "reduce" };
        let name = format!("{name} {}", first.task);
        canvas.draw(&plot::label(&name, (middle.0 - 6, middle.1), HPos::Right, BLACK, SMALL))?;
        for (nth, row) in rows.iter().enumerate() {
            for attempt in row {
                let corner = |at: Millis, row: usize| area.map_coordinate(&(since(at), row as f64));
                let corners = [corner(attempt.launched, above + nth), corner(attempt.ended, above + nth + 1)];
                draw_attempt(canvas, corners, attempt)?;
            }
        }
        above += rows.len();
    }
    Ok(())
}

/// A bar, with its node's name where that fits.
fn draw_attempt(canvas: &Canvas<'_>, corners: [(i32, i32); 2], attempt: &AttemptRow) -> Result<(), Fault> {
    let [(left, top), (right, bottom)] = corners;
    let right = right.max(left + 2);
    let look = look(attempt);
    bar(canvas, [(left, top + 1), (right, bottom - 1)], LOOKS[look].1, attempt.is_copy)?;
    let node = format!("n{}", attempt.node);
    if plot::width(&node) <= right - left {
        let colour = if matches!(look, 1 | 2) { BLACK } else { WHITE };
        canvas.draw(&plot::label(&node, ((left + right) / 2, (top + bottom) / 2), HPos::Center, colour, SMALL))?;
    }
    Ok(())
}

fn bar(canvas: &Canvas<'_>, corners: [(i32, i32); 2], colour: RGBColor, edge: bool) -> Result<(), Fault> {
    canvas.draw(&Rectangle::new(corners, colour.filled()))?;
    if edge {
        canvas.draw(&Rectangle::new(corners, BLACK.stroke_width(1)))?;
    }
    Ok(())
}

/// The tasks that ended last, in order of kind and index.
fn last(rows: &[AttemptRow]) -> Vec<Task> {
    let mut ends: BTreeMap<Task, Millis> = BTreeMap::new();
    for row in rows {
        let end = ends.entry((row.kind, row.task)).or_default();
        *end = row.ended.max(*end);
    }
    let mut by_end: Vec<(Millis, Task)> = ends.into_iter().map(|(task, end)| (end, task)).collect();
    by_end.sort_by(|a, b| b.cmp(a));
    let mut tasks: Vec<Task> = by_end.into_iter().take(TASKS).map(|(_, task)| task).collect();
    tasks.sort_unstable();
    tasks
}

/// The attempts of each of the tasks, in order of their launches.
fn lanes(rows: &[AttemptRow], tasks: &[Task]) -> Vec<Vec<AttemptRow>> {
    let of = |task: &Task| {
        let mut lane: Vec<AttemptRow> = rows.iter().filter(|row| (row.kind, row.task) == *task).copied().collect();
        lane.sort_by_key(|row| (row.launched, row.number));
        lane
    };
    tasks.iter().map(of).collect()
}

/// A task's attempts, in as many rows as run at a time.
fn rows_of(lane: &[AttemptRow]) -> Vec<Vec<AttemptRow>> {
    let mut rows: Vec<Vec<AttemptRow>> = Vec::new();
    for attempt in lane {
        let free = rows.iter_mut().find(|row| row.last().is_none_or(|before| before.ended <= attempt.launched));
        match free {
            Some(row) => row.push(*attempt),
            None => rows.push(vec![*attempt]),
        }
    }
    rows
}

/// How many rows all lanes take.
fn bars(lanes: &[Vec<AttemptRow>]) -> usize {
    lanes.iter().map(|lane| rows_of(lane).len()).sum::<usize>().max(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(task: u32, number: u32, from: u64, to: u64) -> AttemptRow {
        AttemptRow {
            kind: TaskKind::Map,
            task,
            number,
            is_copy: number > 0,
            node: 3,
            launched: Millis(from),
            ended: Millis(to),
            end: End::Succeeded,
        }
    }

    #[test]
    fn attempts_that_run_at_a_time_do_not_hide_one_another_and_others_share_a_row() {
        let lane = [row(0, 0, 0, 100), row(0, 1, 50, 80), row(0, 2, 80, 90)];
        assert_eq!(rows_of(&lane), [vec![lane[0]], vec![lane[1], lane[2]]]);
        assert_eq!(bars(&[lane.to_vec(), vec![]]), 2);
    }

    #[test]
    fn of_many_tasks_those_that_ended_last_are_shown() {
        let rows: Vec<AttemptRow> = (0..100).map(|task| row(task, 0, 0, 1_000 - u64::from(task))).collect();
        assert_eq!(last(&rows), (0..TASKS as u32).map(|task| (TaskKind::Map, task)).collect::<Vec<_>>());
    }

    #[test]
    fn bars_of_different_ends_differ_in_grey() {
        for (nth, (name, one)) in LOOKS.iter().enumerate() {
            assert!(
                LOOKS[..nth].iter().all(|(_, other)| (plot::grey(*one) - plot::grey(*other)).abs() > 25.0),
                "{name}"
            );
        }
    }

    #[test]
    fn each_end_has_a_colour_and_a_copy_that_lost_is_not_taken_for_an_original() {
        let of = |end, is_copy| look(&AttemptRow { end, is_copy, ..row(0, 0, 0, 1) });
        assert_eq!([of(End::Overtaken, false), of(End::Overtaken, true), of(End::Withdrawn, true)], [1, 2, 2]);
        assert_eq!([of(End::Spare, false), of(End::Spare, true)], [1, 2]);
        assert_eq!([of(End::Succeeded, true), of(End::Restarted, false), of(End::Lost, true)], [0, 3, 4]);
    }
}
