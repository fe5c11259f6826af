//! Draws by key: seed, purpose and subject decide a number, whatever else was drawn before. Two policies that meet the same task meet the same luck, so their difference is
//! their own.

use crate::estimate::stats::{mixed, uniform_draw};

/// What a number is drawn for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Purpose {
    /// When a job arrives.
    Arrival = 1,
    /// How many tasks a phase has.
    Tasks,
    /// A task's work.
    Work,
    /// A task's data.
    Data,
    /// How slow an attempt is by itself.
    Luck,
    /// Start-up of an attempt.
    StartUp,
    /// How long an attempt's commit takes.
    Commit,
    /// Whether an attempt reports.
    Report,
    /// Which nodes hold a split.
    Replica,
    /// Which node a container is put on.
    Place,
    /// How slow a node is by itself.
    Node,
    /// When trouble comes and goes.
    Trouble,
    /// What others take of links.
    Others,
    /// Whether an attempt fails, and when.
    Failure,
    /// Which outputs a node loses.
    Loss,
    /// Where an output's replica is.
    Replicate,
    /// How late each of an attempt's reports is.
    Jitter,
    /// How long an attempt's container is held after it was killed.
    Kill,
    /// When a NodeManager reports.
    Heartbeat,
    /// How long a container is on its way.
    Allocate,
    /// Which clone of a reduce asks first for a map's output.
    Polls,
}

/// All draws of one run.
#[derive(Debug, Clone, Copy)]
pub struct Draws(u64);

/// The numbers drawn for one purpose and one subject, one after the other.
#[derive(Debug, Clone, Default)]
pub struct Draw {
    seed: u64,
    drawn: u64,
}

impl Draws {
    /// Those of a seed.
    pub fn new(seed: u64) -> Draws {
        Draws(mixed(seed))
    }

    /// Those for a purpose and a subject, which up to three numbers name.
    pub fn of(&self, purpose: Purpose, subject: [u64; 3]) -> Draw {
        Draw { seed: subject.into_iter().fold(keyed(self.0, purpose as u64), keyed), drawn: 0 }
    }
}

fn keyed(key: u64, part: u64) -> u64 {
    mixed(key ^ mixed(part.wrapping_add(0x9E37_79B9_7F4A_7C15)))
}

impl Draw {
    /// Those for the nth part of the same subject.
    pub fn part(&self, nth: u64) -> Draw {
        Draw { seed: keyed(self.seed, nth), drawn: 0 }
    }

    /// Uniform from 0 to below 1.
    pub fn uniform(&mut self) -> f64 {
        self.drawn += 1;
        uniform_draw(self.seed, self.drawn)
    }

    /// Standard normal (Box and Muller).
    pub fn normal(&mut self) -> f64 {
        let (radius, angle) = (self.uniform(), self.uniform());
        (-2.0 * (1.0 - radius).ln()).sqrt() * (2.0 * std::f64::consts::PI * angle).cos()
    }

    /// One of the numbers below `bound`, which is above zero.
    pub fn below(&mut self, bound: usize) -> usize {
        // The product stays below `bound`, as the draw stays below one.
        ((self.uniform() * bound as f64) as usize).min(bound.saturating_sub(1))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_draw_depends_on_seed_purpose_and_subject_and_on_nothing_drawn_before() {
        let draws = Draws::new(7);
        let first = |purpose, subject| draws.of(purpose, subject).uniform();
        let one = first(Purpose::Luck, [1, 2, 3]);
        draws.of(Purpose::Work, [9, 9, 9]).uniform();
        assert_eq!(first(Purpose::Luck, [1, 2, 3]), one);
        let others = [
            first(Purpose::Work, [1, 2, 3]),
            first(Purpose::Luck, [1, 3, 2]),
            first(Purpose::Luck, [2, 1, 3]),
            Draws::new(8).of(Purpose::Luck, [1, 2, 3]).uniform(),
        ];
        assert!(others.iter().all(|other| *other != one), "{others:?}");
    }

    #[test]
    fn neighbouring_subjects_are_drawn_apart() {
        let draws = Draws::new(1);
        let pairs: Vec<(f64, f64)> = (0..10_000)
            .map(|task| [task, task + 1].map(|task| draws.of(Purpose::Luck, [3, task, 0]).uniform()).into())
            .collect();
        let mean = |of: &dyn Fn(&(f64, f64)) -> f64| pairs.iter().map(of).sum::<f64>() / 1e4;
        let covariance = mean(&|(a, b)| (a - 0.5) * (b - 0.5));
        assert!((mean(&|(a, _)| *a) - 0.5).abs() < 0.01 && covariance.abs() < 0.003, "{covariance}");
    }

    #[test]
    fn what_is_below_a_bound_reaches_each_number_about_as_often() {
        let mut draw = Draws::new(3).of(Purpose::Place, [0; 3]);
        let mut counts = [0; 5];
        (0..10_000).for_each(|_| counts[draw.below(5)] += 1);
        assert!(counts.iter().all(|count| (1_800..2_200).contains(count)), "{counts:?}");
        assert_eq!(draw.below(1), 0);
    }

    #[test]
    fn normal_draws_have_mean_zero_and_spread_one() {
        let mut draw = Draws::new(4).of(Purpose::Work, [0; 3]);
        let all: Vec<f64> = (0..20_000).map(|_| draw.normal()).collect();
        let mean = all.iter().sum::<f64>() / 2e4;
        let variance = all.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / 2e4;
        assert!(mean.abs() < 0.03 && (variance - 1.0).abs() < 0.05, "{mean} {variance}");
    }
}
