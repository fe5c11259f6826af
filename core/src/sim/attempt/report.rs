//! What attempts report of themselves, when, and Hadoop's scores in it.

use super::super::dist::Dist;
use super::super::draw::Draw;
use super::super::scenario::Scores;
use super::{Attempt, Stage};
use crate::model::{Millis, TaskKind, Time};

/// What an attempt said last.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Report {
    /// When.
    pub at: Time,
    /// Progress score, 0–1.
    pub score: f32,
    /// What it was at.
    pub stage: Stage,
    /// How many reports there were up to it.
    pub count: u32,
}

impl Report {
    /// Does it tell that a map has mapped all, and sorts?
    pub fn sorts(&self, kind: TaskKind) -> bool {
        kind == TaskKind::Map && self.stage == Stage::Commit
    }
}

/// When attempts report.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Reporting<'a> {
    /// Every so often.
    pub every: Millis,
    /// How much later than that each comes, seconds; never after the next. `None` where none does.
    pub jitter: Option<&'a Dist>,
}

impl Reporting<'_> {
    /// The newest report by now of those that would come from `first` on: how many came before it, and when it came.
    fn newest(self, first: Time, jitter: &Draw, now: Time) -> Option<(u64, Time)> {
        let passed = now.since(first).0 / self.every.0;
        let at = |nth: u64| first + Millis(nth * self.every.0);
        let Some(law) = self.jitter else { return Some((passed, at(passed))) };
        let late = |nth: u64| at(nth) + Millis::from_secs_f64(law.sample(&mut jitter.part(nth)));
        let newest = [Some(passed), passed.checked_sub(1)].into_iter().flatten();
        newest.map(|nth| (nth, late(nth))).find(|(_, at)| *at <= now)
    }
}

/// What a job's scores are made of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Scoring {
    /// The job has reduces: a map sorts for them.
    pub has_reduces: bool,
    /// Of reduces.
    pub of: Scores,
}

/// What Drover has been told of an attempt.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Told {
    /// That it exists.
    pub exists: bool,
    /// That it was launched.
    pub launched: bool,
    /// Its newest report.
    pub report: Option<Time>,
}

impl Attempt {
    /// From then on it reports, each time as much later as is drawn.
    pub fn will_report(&mut self, first: Time, jitter: Draw) {
        (self.reports_from, self.jitter) = (Some(first), jitter);
    }

    /// Takes note of the newest report that has fallen due. To be called before each change of its pace or stage, too: later nobody knows what it said.
    pub fn note_report(&mut self, reporting: Reporting, scoring: Scoring, now: Time) {
        let Some(first) = self.reports_from.filter(|first| *first <= now) else { return };
        let Some((passed, at)) = reporting.newest(first, &self.jitter, now) else { return };
        if self.report.is_some_and(|report| report.at >= at) || at < self.since {
            return;
        }
        let score = self.score(scoring, at);
        self.report = Some(Report { at, score, stage: self.stage, count: passed as u32 + 1 });
    }

    /// Does it ever report?
    pub fn reports(&self) -> bool {
        self.reports_from.is_some()
    }

    /// Says how far it has come, beside its reports.
    pub fn speak(&mut self, scoring: Scoring, now: Time) {
        let count = self.report.map_or(0, |report| report.count) + 1;
        self.report = Some(Report { at: now, score: self.score(scoring, now), stage: self.stage, count });
    }

    /// Hadoop's progress score at an instant of the present stage: a map's is its work's share, two thirds of it where there are reduces, for which it then sorts, which is its commit here
    /// (MapTask); a reduce's a third for each of copy, sort and reduce (ReduceTask).
    fn score(&self, scoring: Scoring, at: Time) -> f32 {
        let share = if self.whole > 0.0 { 1.0 - self.left_at(at) / self.whole } else { 1.0 };
        let score = match (self.kind, self.stage) {
            (_, Stage::Waiting | Stage::StartUp) => 0.0,
            (TaskKind::Map, Stage::Commit) if scoring.has_reduces => (2.0 + share) / 3.0,
            (_, Stage::Commit) => 1.0,
            (TaskKind::Map, _) if scoring.has_reduces => share * 2.0 / 3.0,
            (TaskKind::Map, _) => share,
            (TaskKind::Reduce, Stage::Copy | Stage::Sort) if scoring.of == Scores::Work => 0.0,
            (TaskKind::Reduce, Stage::Work) if scoring.of == Scores::Work => share,
            (TaskKind::Reduce, Stage::Copy) => share / 3.0,
            (TaskKind::Reduce, Stage::Sort) => (1.0 + share) / 3.0,
            (TaskKind::Reduce, Stage::Work) => (2.0 + share) / 3.0,
        };
        score as f32
    }

    /// Share (0–1) of its input that it had read by its newest report.
    pub fn read(&self, scoring: Scoring) -> f64 {
        let Some(report) = self.report else { return 0.0 };
        let score = f64::from(report.score);
        match (self.kind, report.stage) {
            (_, Stage::Waiting | Stage::StartUp) => 0.0,
            (TaskKind::Map, Stage::Work) => score * if scoring.has_reduces { 1.5 } else { 1.0 },
            // Where scores do not tell, none of it.
            (TaskKind::Reduce, Stage::Copy) => 3.0 * score,
            _ => 1.0,
        }
    }
}
