//! What the estimates of an attempt's time left are made from.

use crate::model::{Bytes, Intake, Millis, Phase, Time, Track};

/// What the estimate is made from.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Sample {
    /// Launch.
    pub launched: Time,
    /// Launch, or for a reduce the end of the maps if that was later; for a map that may have waited on its node when it no longer did.
    pub started: Time,
    /// Progress so far.
    pub track: Track,
    /// Phase it says it is in.
    pub phase: Option<Phase>,
    /// When its second and third phases were entered, where seen.
    pub entered: [Option<Time>; 2],
    /// Newest news of its job, the AM's clock: silence is counted up to here.
    pub heard: Time,
    /// How long an attempt may be silent between two reports before it counts as standing still.
    pub rhythm: Millis,
    /// How far its bytes tell that it has come, where they do.
    pub reading: Option<Reading>,
}

impl Sample {
    /// Has it been silent for longer than its reporting rhythm allows?
    pub fn is_silent(&self) -> bool {
        self.stood(self.started).is_some()
    }

    /// When it last told anything new; its start before that. That its task had done nothing was told while that waited, too, which is no word of the attempt's.
    pub fn last_word(&self) -> Time {
        self.track.at().map_or(self.started, |at| at.max(self.started))
    }

    /// When it will have been, if nothing comes and the job is heard of as late after the fact as now.
    pub fn silent_at(&self, now: Time) -> Time {
        self.last_word() + self.rhythm + now.since(self.heard)
    }

    /// How long it has stood still, where it told something `at` that time, too; `None` within its rhythm.
    pub(super) fn stood(&self, at: Time) -> Option<Millis> {
        Some(self.heard.since(at.max(self.last_word()))).filter(|silent| *silent > self.rhythm)
    }
}

/// Seconds left of what had `left` to go at its last report, so long ago. Within its reporting rhythm an attempt is taken to have gone on as before, beyond it to have stood still since (Mantri §5.5): nobody knows
/// when such a one goes on, however little it lacks, and it is given as long again as it has `stood`, at least.
pub(super) fn seconds_left(left: f64, stood: Option<Millis>, ago: Millis) -> f64 {
    match stood {
        Some(stood) => left.max(stood.as_secs_f64()),
        None => (left - ago.as_secs_f64()).max(0.0),
    }
}

/// What an attempt has to read, and how far it has come.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Reading {
    /// d.
    pub(super) size: Bytes,
    /// Its newest report: what it had read, and when, the AM's clock.
    pub(super) newest: (Bytes, Time),
    /// When that much was first told of.
    pub(super) since: Time,
    /// The oldest report of the moving average; `None` where its launch is.
    pub(super) oldest: Option<(Bytes, Time)>,
}

impl Reading {
    /// From an attempt's newest reports, the newest first. `None` where they tell of no bytes, or of all.
    pub fn of<'a>(size: Bytes, mut reports: impl Iterator<Item = &'a Intake>) -> Option<Reading> {
        let told = |report: &Intake| Some((report.bytes, report.at.get()?));
        let report = reports.next()?;
        let newest = told(report).filter(|(bytes, _)| bytes.0 > 0 && *bytes < size)?;
        let oldest = reports.filter(|report| report.bytes < newest.0).last().and_then(told);
        Some(Reading { size, newest, since: report.since.get().unwrap_or(newest.1), oldest })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_has_read_nothing_yet_or_all_there_is_tells_no_pace() {
        let reads = |bytes| {
            let mut report = Intake { bytes: Bytes(bytes), ..Intake::default() };
            report.at.earliest(Some(Time(7)));
            Reading::of(Bytes(10), [report].iter()).map(|reading| reading.newest)
        };
        assert_eq!([0, 1, 9, 10].map(reads), [None, Some((Bytes(1), Time(7))), Some((Bytes(9), Time(7))), None]);
    }

    #[test]
    fn its_silence_tells_a_rhythm_after_its_last_report_and_as_much_later_as_the_job_is_heard_of() {
        let at = |seconds: u64| Time(1_000 * seconds);
        let mut track = Track::default();
        let sample = |track| Sample {
            launched: at(1),
            started: at(2),
            track,
            phase: None,
            entered: [None; 2],
            heard: at(6),
            rhythm: Millis(13_000),
            reading: None,
        };
        assert_eq!(sample(track).silent_at(at(8)), at(17), "since its start");
        track.add(0.5, at(5));
        assert_eq!(sample(track).silent_at(at(8)), at(20));
    }
}
