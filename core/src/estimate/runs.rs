//! How long a phase's tasks took, and its attempts to begin their work.

use super::stats::median;
use crate::model::{Bytes, Time, Track};

/// Of a run over a smaller share of a typical split no more than twenty times as much is made.
pub const SHARE_MIN: f64 = 0.05;

/// What a phase's attempts have shown of how long one takes.
#[derive(Debug, Clone, Default)]
pub struct Runs {
    /// Those of finished tasks.
    pub finished: Vec<Run>,
    /// The latest launches of attempts, finished or not.
    start_ups: Vec<StartUp>,
}

/// How long an attempt took to begin its work.
#[derive(Debug, Clone, Copy, PartialEq)]
struct StartUp {
    launched: Time,
    /// Seconds.
    took: f64,
    /// Attempts that were starting beside it, itself included.
    crowd: u32,
}

impl StartUp {
    /// Seconds that one alone might take, at most and at least: whether the crowd was in its way or not. Nobody knows, so the mean of the two is expected.
    fn alone(self) -> (f64, f64) {
        (self.took, self.took / f64::from(self.crowd.max(1)))
    }
}

/// How long a finished task took.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Run {
    /// Its index within its kind.
    pub index: u32,
    /// Its run time, seconds.
    pub whole: f64,
    /// Of that its time at work, seconds, where its reports tell it.
    pub work: Option<f64>,
    /// Its input.
    pub input: Bytes,
}

impl Run {
    /// How long it would have taken over a typical split, seconds, where its own is `share` times one. What is known to be its start-up is the same; where that is not known, a longer
    /// split's may have been all of it, and of a shorter one's no more than so many times as much is made.
    pub fn at_share(&self, share: f64) -> f64 {
        let share = share.max(SHARE_MIN);
        match self.work.map(|work| work.min(self.whole)) {
            Some(work) => self.whole - work + work / share,
            None => self.whole / share.min(1.0),
        }
    }
}

impl Runs {
    /// Takes note of how long an attempt took to begin its work. Its time at work, seconds, if it is `finished`, and its reports tell.
    pub fn add(&mut self, launched: Time, track: &Track, finished: Option<Time>) -> Option<f64> {
        let began = work_began(launched, track, finished)?;
        self.add_start_up(StartUp { launched, took: began.since(launched).as_secs_f64(), crowd: 1 });
        finished.map(|finished| finished.since(began).as_secs_f64())
    }

    /// Do the reports of half of the finished tasks at least tell start-up from work?
    pub fn told(&self) -> bool {
        2 * self.finished.iter().filter(|run| run.work.is_some()).count() >= self.finished.len()
    }

    /// The finished tasks, each with its time, seconds: at work where reports tell it, else whole.
    pub fn own_runs(&self) -> impl Iterator<Item = (f64, &Run)> + Clone {
        let told = self.told();
        self.finished.iter().filter_map(move |run| Some((if told { run.work? } else { run.whole }, run)))
    }

    /// The finished tasks' median time at work, seconds; `None` where reports do not tell it.
    pub fn typical_work(&self) -> Option<f64> {
        self.told().then(|| median(&mut self.finished.iter().filter_map(|run| run.work).collect::<Vec<_>>())).flatten()
    }

    /// From a copy's launch to the begin of what [`Runs::own_runs`] counts, seconds, and its spread: a copy starts beside few others.
    pub fn before_own(&self) -> (f64, f64) {
        if !self.told() {
            return (0.0, 0.0);
        }
        let typical = |of: fn((f64, f64)) -> f64| {
            median(&mut self.start_ups.iter().map(|one| of(one.alone())).collect::<Vec<_>>()).unwrap_or(0.0)
        };
        // The deviation of what lies anywhere between the two.
        (typical(|(most, least)| (most + least) / 2.0), typical(|(most, least)| (most - least) / 12.0_f64.sqrt()))
    }

    /// Has any attempt shown how long it took to begin its work?
    pub fn knows_start_up(&self) -> bool {
        !self.start_ups.is_empty()
    }

    /// Counts who started beside whom, of all that were launched.
    pub fn count_crowds(&mut self, launches: impl Iterator<Item = Time>) {
        self.start_ups.iter_mut().for_each(|one| one.crowd = 0);
        for launched in launches {
            for one in &mut self.start_ups {
                let apart = launched.since(one.launched).max(one.launched.since(launched));
                one.crowd += u32::from(apart.as_secs_f64() < one.took);
            }
        }
    }

    /// Keeps the latest few: a copy starts beside few others, whatever the crowd of the first wave did to each other.
    fn add_start_up(&mut self, seen: StartUp) {
        const LATEST: usize = 5;
        if self.start_ups.len() < LATEST {
            self.start_ups.push(seen);
        } else if let Some(earliest) = self.start_ups.iter_mut().min_by_key(|one| one.launched)
            && earliest.launched < seen.launched
        {
            *earliest = seen;
        }
    }
}

/// When an attempt began its work: as long before its first report as the work told there takes at the pace since. `None` before there is a pace.
pub fn work_began(launched: Time, track: &Track, finished: Option<Time>) -> Option<Time> {
    const LEAST: f64 = 0.1;
    let (first, at) = track.first()?;
    let (score, until) = (finished.map_or(track.score(), |_| 1.0), finished.or(track.at())?);
    let (gained, took) = (score - first, until.since(at));
    (gained >= LEAST).then(|| (at - took.scaled(first / gained)).max(launched))
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    /// Finished tasks that took these whole times, seconds.
    pub fn runs(whole: &[f64]) -> Runs {
        let finished = whole.iter().map(|whole| Run { whole: *whole, ..Run::default() }).collect();
        Runs { finished, ..Runs::default() }
    }

    /// Launched at a second, at work after so many more, done with it in eight.
    pub fn attempt(launched: f64, start_up: f64) -> (Time, Track, Time) {
        let at = |seconds: f64| Time(1_000_000 + (seconds * 1000.0) as u64);
        let mut track = Track::default();
        for half in 1..=16 {
            track.add(half as f32 / 16.0, at(launched + start_up + f64::from(half) / 2.0));
        }
        (at(launched), track, at(launched + start_up + 8.0))
    }

    #[test]
    fn an_attempt_without_a_pace_tells_nothing_and_work_never_begins_before_the_launch() {
        let (mut track, mut seen) = (Track::default(), Runs::default());
        seen.add(Time(1_000), &track, None);
        track.add(0.5, Time(2_000));
        seen.add(Time(1_000), &track, None);
        assert!(seen.start_ups.is_empty());
        let work = seen.add(Time(1_000), &track, Some(Time(9_000)));
        let at_once = StartUp { launched: Time(1_000), took: 0.0, crowd: 1 };
        assert_eq!((seen.start_ups, work), (vec![at_once], Some(8.0)));
    }

    #[test]
    fn reports_tell_start_up_from_work_from_half_of_the_finished_tasks_on() {
        let told = |of: usize, all: usize| {
            let mut seen = runs(&vec![10.0; all]);
            seen.finished[..of].iter_mut().for_each(|run| run.work = Some(8.0));
            seen.told()
        };
        assert_eq!([(1, 2), (1, 3), (2, 4), (2, 5)].map(|(of, all)| told(of, all)), [true, false, true, false]);
        let mut seen = runs(&[10.0, 12.0]);
        seen.finished[0].work = Some(8.0);
        assert_eq!(seen.own_runs().map(|(seconds, run)| (seconds, run.whole)).collect::<Vec<_>>(), [(8.0, 10.0)]);
        seen.finished[0].work = None;
        assert_eq!(seen.own_runs().map(|(seconds, _)| seconds).collect::<Vec<_>>(), [10.0, 12.0]);
        assert!(!seen.knows_start_up());
    }

    #[test]
    fn a_start_up_lies_anywhere_between_what_it_took_and_what_it_would_have_taken_alone() {
        let mut seen = Runs::default();
        let (launched, track, finished) = attempt(0.0, 4.0);
        seen.add(launched, &track, Some(finished));
        assert!(seen.knows_start_up());
        // One that is launched the moment it begins its work is no longer beside it.
        seen.count_crowds([0.0, 1.0, 3.9, 4.0].into_iter().map(|second| attempt(second, 0.0).0));
        let (mean, spread) = seen.before_own();
        let least = 4.0 / 3.0;
        assert!((mean - (4.0 + least) / 2.0).abs() < 1e-9, "{mean}");
        assert!((spread - (4.0 - least) / 12.0_f64.sqrt()).abs() < 1e-9, "{spread}");
    }

    #[test]
    fn the_start_ups_of_the_latest_five_launches_count() {
        let mut seen = Runs::default();
        for (launched, start_up) in
            [(0.0, 9.0), (10.0, 1.0), (20.0, 2.0), (30.0, 3.0), (40.0, 4.0), (50.0, 5.0), (5.0, 9.0)]
        {
            let (launched, track, _) = attempt(launched, start_up);
            seen.add(launched, &track, None);
        }
        let mut kept: Vec<f64> = seen.start_ups.iter().map(|one| one.took).collect();
        kept.sort_unstable_by(f64::total_cmp);
        assert_eq!(kept, [1.0, 2.0, 3.0, 4.0, 5.0]);
    }
}
