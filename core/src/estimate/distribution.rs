//! Equally likely times, as they are seen of one task after the other: what is asked of them looks at few of them, however many there are.

/// Equally likely times, seconds.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Distribution {
    ascending: Vec<f64>,
    mean: f64,
    /// Sum of the squares of what lies between each and the mean.
    squares: f64,
}

/// Equally likely times of one task, seconds: those of a distribution, each so many times as long, and later by a lag; without one of them where it is the task's own.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Times<'a> {
    of: &'a Distribution,
    factor: f64,
    lag: f64,
    without: Option<usize>,
}

impl Distribution {
    /// Of those times, in any order.
    pub fn new(mut times: Vec<f64>) -> Distribution {
        times.sort_unstable_by(f64::total_cmp);
        let mean = times.iter().sum::<f64>() / times.len().max(1) as f64;
        let squares = times.iter().map(|time| (time - mean).powi(2)).sum();
        Distribution { ascending: times, mean, squares }
    }

    /// All of them, ascending.
    pub fn ascending(&self) -> &[f64] {
        &self.ascending
    }

    /// As they are.
    pub fn times(&self) -> Times<'_> {
        self.of_task(1.0, 0.0, None)
    }

    /// Those of a task: `factor` (0 or more) times as long and `lag` seconds later, without the one at that place.
    pub fn of_task(&self, factor: f64, lag: f64, without: Option<usize>) -> Times<'_> {
        Times { of: self, factor, lag, without: without.filter(|place| *place < self.ascending.len()) }
    }
}

impl Times<'_> {
    /// How many.
    pub fn count(&self) -> usize {
        self.of.ascending.len() - usize::from(self.without.is_some())
    }

    /// Their mean, seconds; `None` of none.
    pub fn mean(&self) -> Option<f64> {
        (self.count() > 0).then(|| self.before_lag() * self.factor + self.lag)
    }

    /// Their standard deviation, seconds; 0 of none.
    pub fn spread(&self) -> f64 {
        let left_out = |time: f64| (time - self.of.mean) * (time - self.before_lag());
        let squares = self.of.squares - self.own().map_or(0.0, left_out);
        (squares.max(0.0) / self.count().max(1) as f64).sqrt() * self.factor
    }

    /// For what share of them, 0–1, that holds; of a time it holds for, it holds for each that is shorter. 0 of none.
    pub fn share(&self, holds: impl Fn(f64) -> bool) -> f64 {
        let place = self.of.ascending.partition_point(|time| holds(time * self.factor + self.lag));
        let count = place - usize::from(self.without.is_some_and(|own| own < place));
        count as f64 / self.count().max(1) as f64
    }

    /// Each of them, seconds, ascending.
    #[cfg(test)]
    pub fn all(&self) -> Vec<f64> {
        let others = self.of.ascending.iter().enumerate().filter(|(place, _)| Some(*place) != self.without);
        others.map(|(_, time)| time * self.factor + self.lag).collect()
    }

    fn own(&self) -> Option<f64> {
        self.without.map(|place| self.of.ascending[place])
    }

    /// The mean of those that are left, before factor and lag.
    fn before_lag(&self) -> f64 {
        match self.own() {
            Some(own) => self.of.mean + (self.of.mean - own) / self.count().max(1) as f64,
            None => self.of.mean,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn of_no_times_nothing_is_told() {
        let (none, one) = (Distribution::default(), Distribution::new(vec![4.0]));
        for times in [none.times(), none.of_task(2.0, 1.0, Some(0)), one.of_task(2.0, 1.0, Some(0))] {
            assert_eq!((times.mean(), times.spread(), times.share(|_| true), times.count()), (None, 0.0, 0.0, 0));
        }
    }

    #[test]
    fn a_tasks_times_are_stretched_and_late_and_lack_its_own() {
        let all = Distribution::new(vec![30.0, 10.0, 20.0]);
        let times = all.of_task(2.0, 1.0, Some(2));
        assert_eq!((times.mean(), times.spread(), times.count()), (Some(31.0), 10.0, 2));
        assert_eq!(
            [20.9, 21.0, 41.0, 41.1, 61.1].map(|than| times.share(|time| time < than)),
            [0.0, 0.0, 0.5, 1.0, 1.0]
        );
        assert_eq!(all.times().share(|time| time <= 20.0), 2.0 / 3.0);
    }

    proptest! {
        #[test]
        fn what_is_told_of_times_is_what_a_look_at_each_of_them_tells(
            seconds in prop::collection::vec(0.0..1_000.0_f64, 1..120), factor in 0.0..8.0_f64, lag in 0.0..9.0_f64, than in 0.0..2_000.0_f64, own: prop::sample::Index, lacks: bool
        ) {
            let all = Distribution::new(seconds);
            let without = lacks.then(|| own.index(all.ascending().len()));
            let times = all.of_task(factor, lag, without);
            let each = times.all();
            let count = each.len().max(1) as f64;
            let mean = each.iter().sum::<f64>() / count;
            let spread = (each.iter().map(|time| (time - mean).powi(2)).sum::<f64>() / count).sqrt();
            let share = each.iter().filter(|time| **time < than).count() as f64 / count;
            prop_assert_eq!((times.count(), times.share(|time| time < than)), (each.len(), share));
            if let Some(told) = times.mean() {
                prop_assert!((told - mean).abs() < 1e-6, "{} {}", told, mean);
                prop_assert!((times.spread() - spread).abs() < 1e-3, "{} {}", times.spread(), spread);
            }
        }
    }
}
