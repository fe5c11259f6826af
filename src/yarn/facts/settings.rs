//! The few properties of a job's configuration that matter here; nothing else of it is kept.

use super::container::{container, memory_mb, vcores};
use super::properties::Properties;
use super::{Reason, Refused};
use crate::shown::printable;
use crate::yarn::wire::job::Conf;
use drover_core::model::{JobSettings, Labels, Millis, Mode, Resources};

/// A job with `mapreduce.task.timeout=0` reports only when it is asked to: as good as never. One day.
const NEVER: Millis = Millis(86_400_000);

/// How often every task of Hadoop 2.7 reports (`Task.PROGRESS_INTERVAL`).
const FIXED: Millis = Millis(3_000);

/// What a job's configuration says that matters here to a Hadoop of that version; Hadoop's defaults for what it does not say.
pub fn settings(wire: &Conf, hadoop: Option<&str>, refused: &mut Refused) -> JobSettings {
    let mut p = Properties::of(wire, refused);
    let default = JobSettings::default();
    JobSettings {
        map_speculation: p.read("mapreduce.map.speculative").unwrap_or(default.map_speculation),
        reduce_speculation: p.read("mapreduce.reduce.speculative").unwrap_or(default.reduce_speculation),
        report_interval: report_interval(&mut p, hadoop),
        mode: mode(&mut p),
        committer: p.text("mapred.output.committer.class").map(printable),
        committer_factory: p.committer_factory().map(printable),
        output_format: output_format(&mut p).map(printable),
        speculator: p.text("yarn.app.mapreduce.am.job.speculator.class").map(printable),
        map_container: container(&mut p, "map", default.map_container),
        reduce_container: container(&mut p, "reduce", default.reduce_container),
        slow_start: slow_start(&mut p).unwrap_or(default.slow_start),
        labels: labels(&p).into(),
        opportunistic_maps: p
            .read::<i64>("mapreduce.job.num-opportunistic-maps-percent")
            .map_or(0, |n| n.clamp(0, 100) as u8),
        attempts_max: [("map", 0), ("reduce", 1)]
            .map(|(kind, nth)| attempts_max(&mut p, kind, default.attempts_max[nth])),
    }
}

/// With none allowed the first that fails is one too many all the same.
fn attempts_max(p: &mut Properties<'_>, kind: &str, default: u32) -> u32 {
    let most = p.read::<i64>(&format!("mapreduce.{kind}.maxattempts"));
    most.map_or(default, |most| most.clamp(1, u32::MAX.into()) as u32)
}

fn labels(p: &Properties<'_>) -> Labels {
    let [map, reduce, job] =
        ["map", "reduce", "job"].map(|of| p.text(&format!("mapreduce.{of}.node-label-expression")).map(printable));
    Labels { map, reduce, job }
}

/// What containers of maps and of reduces ask for, where it says so.
pub fn sizes(wire: &Conf, refused: &mut Refused) -> [Option<Resources>; 2] {
    let mut p = Properties::of(wire, refused);
    ["map", "reduce"].map(|kind| {
        let vcores = vcores(&mut p, kind).unwrap_or(1);
        memory_mb(&mut p, kind).map(|memory_mb| Resources { memory_mb, vcores })
    })
}

/// The interval set, else 1 % of the task timeout (`MRJobConfUtil.getTaskProgressReportInterval`); on 2.7 neither counts.
fn report_interval(p: &mut Properties<'_>, hadoop: Option<&str>) -> Millis {
    if hadoop.is_some_and(|version| version.starts_with("2.7.")) {
        return FIXED;
    }
    let set = p.read::<u64>("mapreduce.task.progress-report.interval");
    let interval = set.unwrap_or_else(|| p.read::<u64>("mapreduce.task.timeout").unwrap_or(600_000) / 100);
    if interval == 0 { NEVER } else { Millis(interval) }
}

/// A mode that cannot be understood is some wish for caution: nothing is done to such a job.
fn mode(p: &mut Properties<'_>) -> Option<Mode> {
    let word = p.text("drover.mode")?.to_ascii_lowercase();
    let mode = Mode::parse(&word);
    if mode.is_none() {
        p.refused.add(Reason::BadProperty);
    }
    Some(mode.unwrap_or(Mode::Advise))
}

/// The API in which the job is written decides which of the two properties holds: the reducer's where there is one.
fn output_format<'p>(p: &'p mut Properties<'_>) -> Option<&'p str> {
    let has_reduces = p.read::<i64>("mapreduce.job.reduces").unwrap_or(1) > 0;
    let api = if has_reduces { "mapred.reducer.new-api" } else { "mapred.mapper.new-api" };
    let (new, old) = ("mapreduce.job.outputformat.class", "mapred.output.format.class");
    let is_new = p.read::<bool>(api).unwrap_or(p.text(old).is_none());
    let (first, second) = if is_new { (new, old) } else { (old, new) };
    p.text(first).or_else(|| p.text(second))
}

fn slow_start(p: &mut Properties<'_>) -> Option<f32> {
    let share = p.read::<f32>("mapreduce.job.reduce.slowstart.completedmaps")?;
    if (0.0..=1.0).contains(&share) {
        return Some(share);
    }
    p.refused.add(Reason::BadProperty);
    None
}
