//! Jobs that are left alone beside those that may be acted on, by intention to treat: each counts on the side it was drawn to, whatever was done to it.

mod scatter;
#[cfg(test)]
mod tests;

use super::Interval;
use super::bins::bin;
use drover_core::model::Millis;
use scatter::{Stratum, half_width};
use std::collections::BTreeMap;

/// A job of a trial.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Trial<'a> {
    /// Its name: it is set against jobs of the same.
    pub name: &'a str,
    /// What its side was drawn under: it is set against jobs of the same draw, as with another share both sides have jobs of other times.
    pub draw: &'a str,
    /// Its tasks: it is set against jobs of the same bin.
    pub tasks: u32,
    /// How long it took.
    pub took: Millis,
    /// It was left alone.
    pub held_out: bool,
}

/// What a trial shows.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Effect {
    /// Mean difference of the logarithms of job times between the sides, with its 95 % interval: below 0 where jobs that may be acted on are sooner. `None` where no stratum tells how both sides scatter.
    pub log: Option<Interval>,
    /// Jobs that may be acted on and are compared.
    pub acted: usize,
    /// Jobs left alone that are.
    pub left: usize,
    /// Strata, of one name, one bin and one draw each, with jobs on both sides, and two on one.
    pub strata: usize,
}

/// Draw, name and bin of jobs that are set against each other.
type Kind = (String, String, Option<String>);

/// Jobs of a trial, as far as its effect goes by them: logarithms of their times, seconds, on each side.
#[derive(Debug, Clone, Default)]
pub struct Trials(BTreeMap<Kind, [Vec<f64>; 2]>);

impl Effect {
    /// Jobs that each side is to have before anything is said: of fewer the interval is too narrow, as a side's scatter is then as much luck as its mean.
    pub const NEEDED: usize = 10;

    /// Are there so many?
    pub fn is_enough(&self) -> bool {
        self.acted.min(self.left) >= Effect::NEEDED
    }
}

impl Trials {
    /// Takes one more in.
    pub fn add(&mut self, job: Trial<'_>) {
        if job.took.0 > 0 {
            let kind = (job.draw.to_owned(), job.name.to_owned(), bin(job.tasks));
            self.0.entry(kind).or_default()[usize::from(job.held_out)].push(job.took.as_secs_f64().ln());
        }
    }

    /// Mean difference of the logarithms of job times, seconds, between jobs that a policy may act on and those held out, of one name, one bin of sizes and one draw each, with its 95 % interval.
    /// Jobs without a counterpart say nothing, and of one job a side nobody knows how they scatter.
    pub fn effect(&self) -> Effect {
        let strata: Vec<Stratum> = self.0.values().filter_map(|[acted, left]| Stratum::of(acted, left)).collect();
        let weights: f64 = strata.iter().map(Stratum::weight).sum();
        let mean = strata.iter().map(|one| one.weight() * one.difference()).sum::<f64>() / weights;
        let within = |half: f64| Interval { mean, low: mean - half, high: mean + half };
        Effect {
            log: half_width(&strata).map(|half| within(half / weights)),
            acted: strata.iter().map(|one| one.acted.jobs).sum(),
            left: strata.iter().map(|one| one.left.jobs).sum(),
            strata: strata.len(),
        }
    }
}

/// The effect that these show.
pub fn effect<'a>(jobs: impl IntoIterator<Item = Trial<'a>>) -> Effect {
    let mut trials = Trials::default();
    jobs.into_iter().for_each(|job| trials.add(job));
    trials.effect()
}

/// Of logarithms of ratios: by what share, above -1, something is changed.
pub fn as_shares(logs: Interval) -> Interval {
    Interval { mean: logs.mean.exp_m1(), low: logs.low.exp_m1(), high: logs.high.exp_m1() }
}
