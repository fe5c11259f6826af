//! A job's configuration, as its shim tells it, in the engine's terms.

use drover_core::model::{JobSettings, Millis, Mode};
use std::collections::BTreeMap;

/// The settings, and how many values were no values of their key (Hadoop falls back to its default for those that it reads itself, and so do we).
pub fn read(told: &BTreeMap<String, String>, mode: Mode) -> (JobSettings, u64) {
    let mut reader = Reader { told, bad: 0 };
    let mut out = JobSettings { mode: Some(mode), ..JobSettings::default() };
    reader.read("mapreduce.map.speculative", &mut out.map_speculation, boolean);
    reader.read("mapreduce.reduce.speculative", &mut out.reduce_speculation, boolean);
    reader.read("mapreduce.map.memory.mb", &mut out.map_container.memory_mb, number);
    reader.read("mapreduce.reduce.memory.mb", &mut out.reduce_container.memory_mb, number);
    reader.read("mapreduce.map.cpu.vcores", &mut out.map_container.vcores, number);
    reader.read("mapreduce.reduce.cpu.vcores", &mut out.reduce_container.vcores, number);
    reader.read("mapreduce.job.reduce.slowstart.completedmaps", &mut out.slow_start, share);
    // MRJobConfUtil: a hundredth of the task timeout unless set.
    let (mut timeout, mut interval) = (600_000, None);
    reader.read("mapreduce.task.timeout", &mut timeout, number::<u64>);
    reader.read("mapreduce.task.progress-report.interval", &mut interval, |word| number::<u64>(word).map(Some));
    out.report_interval = Millis(interval.unwrap_or(timeout / 100));
    out.committer = reader.text("mapred.output.committer.class");
    out.output_format =
        reader.text("mapreduce.job.outputformat.class").or_else(|| reader.text("mapred.output.format.class"));
    out.speculator = reader.text("yarn.app.mapreduce.am.job.speculator.class");
    (out, reader.bad)
}

struct Reader<'a> {
    told: &'a BTreeMap<String, String>,
    bad: u64,
}

impl Reader<'_> {
    fn text(&self, key: &str) -> Option<String> {
        self.told.get(key).map(|word| word.trim().to_string()).filter(|word| !word.is_empty())
    }

    fn read<T>(&mut self, key: &str, slot: &mut T, parse: impl Fn(&str) -> Option<T>) {
        match self.text(key).map(|word| parse(&word)) {
            Some(Some(value)) => *slot = value,
            Some(None) => self.bad += 1,
            None => {}
        }
    }
}

fn boolean(word: &str) -> Option<bool> {
    [("true", true), ("false", false)].into_iter().find(|(name, _)| word.eq_ignore_ascii_case(name)).map(|(_, b)| b)
}

fn number<T: std::str::FromStr>(word: &str) -> Option<T> {
    word.parse().ok()
}

fn share(word: &str) -> Option<f32> {
    number::<f32>(word).filter(|share| (0.0..=1.0).contains(share))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(pairs: &[(&str, &str)]) -> BTreeMap<String, String> {
        pairs.iter().map(|(k, v)| (k.to_string(), v.to_string())).collect()
    }

    #[test]
    fn what_is_not_told_keeps_hadoops_default() {
        let (settings, bad) = read(&told(&[]), Mode::Advise);
        assert_eq!((settings, bad), (JobSettings { mode: Some(Mode::Advise), ..JobSettings::default() }, 0));
    }

    #[test]
    fn told_settings_are_read_as_hadoop_reads_them() {
        let (settings, bad) = read(
            &told(&[
                ("mapreduce.map.speculative", " FALSE "),
                ("mapreduce.task.timeout", "300000"),
                ("mapreduce.reduce.memory.mb", "2048"),
                ("mapreduce.job.reduce.slowstart.completedmaps", "0.8"),
                ("mapred.output.committer.class", ""),
                ("mapred.output.format.class", "a.B"),
            ]),
            Mode::Off,
        );
        assert_eq!(bad, 0);
        assert!(!settings.map_speculation && settings.reduce_speculation);
        assert_eq!(settings.report_interval, Millis(3_000), "a hundredth of the timeout");
        assert_eq!((settings.reduce_container.memory_mb, settings.slow_start), (2048, 0.8));
        assert_eq!((settings.committer, settings.output_format.as_deref()), (None, Some("a.B")));
        let own = told(&[("mapreduce.task.timeout", "300000"), ("mapreduce.task.progress-report.interval", "500")]);
        assert_eq!(read(&own, Mode::Act).0.report_interval, Millis(500));
    }

    #[test]
    fn a_value_that_is_none_is_counted_and_changes_nothing() {
        let keys =
            ["mapreduce.map.speculative", "mapreduce.map.memory.mb", "mapreduce.job.reduce.slowstart.completedmaps"];
        for (key, word) in keys.into_iter().zip(["yes", "-1", "NaN"]) {
            let (settings, bad) = read(&told(&[(key, word)]), Mode::Advise);
            assert_eq!(bad, 1, "{key}");
            assert_eq!(JobSettings { mode: None, ..settings }, JobSettings::default());
        }
    }
}
