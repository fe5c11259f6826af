//! Mantri's time of a new copy, as a distribution (Mantri, OSDI'10, §5.5).

use super::distribution::{Distribution, Times};
use super::stats::{median_of_sorted, sum_up};

/// Mantri §5.5, eq. 3: t_new = processRate · locationFactor · d + schedLag, where processRate, Δtime/Δdata, is drawn from the phase's tasks.
#[derive(Debug, Clone, PartialEq)]
pub struct NewCopy {
    /// Equally likely times of a task with the phase's typical input, seconds.
    rates: Distribution,
    /// Each of these is one task's.
    whole: bool,
    /// schedLag, seconds.
    lag: f64,
    /// locationFactor of the machine that it would get.
    location: f64,
    evidence: usize,
    /// Earlier runs of the job speak, too.
    earlier: bool,
}

impl NewCopy {
    /// As many equally likely times as a phase of any size is summed up in.
    const TIMES_MAX: usize = 100;

    /// From the tasks' times, seconds, each for the phase's typical input, of which `evidence` tasks are known; `lag` seconds pass from a decision to what these count.
    pub fn new(rates: Vec<f64>, evidence: usize, lag: f64, location: f64) -> NewCopy {
        let whole = rates.len() <= Self::TIMES_MAX;
        let rates = Distribution::new(sum_up(rates, Self::TIMES_MAX));
        NewCopy { rates, whole, lag, location, evidence, earlier: false }
    }

    /// With what so many tasks of earlier runs of the job showed.
    pub fn with_earlier(self, rates: impl Iterator<Item = f64>, tasks: usize) -> NewCopy {
        let rates: Vec<f64> = self.rates.ascending().iter().copied().chain(rates).collect();
        let whole = self.whole && rates.len() <= Self::TIMES_MAX;
        let rates = Distribution::new(sum_up(rates, Self::TIMES_MAX));
        NewCopy { rates, whole, evidence: self.evidence + tasks, earlier: true, ..self }
    }

    /// What it rests on beside the phase, in words; empty if on nothing.
    pub fn words(&self) -> String {
        let earlier = if self.earlier { "; t_new with the job's earlier runs" } else { "" };
        let shows = format!("{:.2}", self.location);
        let location = if shows == "1.00" { String::new() } else { format!("; locationFactor {shows} (§5.5, eq. 3)") };
        format!("{earlier}{location}")
    }

    /// The median task's time with the phase's typical input, seconds; `None` without any.
    pub fn typical(&self) -> Option<f64> {
        median_of_sorted(self.rates.ascending())
    }

    /// The median time of `begun` tasks, seconds, of which those that are not known count as slower than those that are: the fast tell first. `None` where half are not.
    pub fn typical_of(&self, begun: usize) -> Option<f64> {
        let middle = (self.rates.ascending().len() * self.evidence.max(begun)).checked_div(2 * self.evidence)?;
        self.rates.ascending().get(middle).copied()
    }

    /// What passes before its work, seconds.
    pub fn lag(&self) -> f64 {
        self.lag
    }

    /// How many tasks it rests on.
    pub fn evidence(&self) -> usize {
        self.evidence
    }

    /// Where among the times one task's own is. `None` where it is not among them, and where there are so many that one makes no difference.
    pub fn place(&self, own: f64) -> Option<usize> {
        let place = self.rates.ascending().binary_search_by(|rate| rate.total_cmp(&own));
        place.ok().filter(|_| self.whole)
    }

    /// t_new: equally likely times, seconds, of a task whose input is `ratio` times the typical one. Without the time at its `own` place: a copy does not share its
    /// original's fate, and in a small phase a straggler's own time would make its copy's the longer, the further it falls behind.
    pub fn times(&self, ratio: f64, own: Option<usize>) -> Times<'_> {
        self.rates.of_task(self.location * ratio, self.lag, own)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_copys_time_grows_with_its_data_and_its_machine_and_its_lag_does_not() {
        let copy = NewCopy::new(vec![6.0, 4.0], 2, 1.5, 1.0);
        assert_eq!(
            (copy.times(1.0, None).all(), copy.times(3.0, None).all(), copy.evidence()),
            (vec![5.5, 7.5], vec![13.5, 19.5], 2)
        );
        assert_eq!(NewCopy::new(Vec::new(), 0, 1.5, 1.0).times(1.0, None).all(), Vec::<f64>::new());
        let slow = NewCopy::new(vec![6.0, 4.0], 2, 1.5, 2.0);
        assert_eq!((slow.times(1.0, None).all(), slow.typical()), (vec![9.5, 13.5], Some(5.0)));
    }

    #[test]
    fn a_tasks_own_time_is_left_out_once_and_in_a_large_phase_not_at_all() {
        let copy = NewCopy::new(vec![6.0, 4.0, 6.0], 3, 1.0, 1.0);
        assert_eq!(copy.times(1.0, copy.place(4.0)).all(), [7.0, 7.0]);
        assert_eq!(copy.times(1.0, copy.place(6.0)).all(), [5.0, 7.0]);
        assert_eq!((copy.place(5.0), copy.times(1.0, None).all().len()), (None, 3));
        let (most, more) = (NewCopy::new(vec![4.0; 100], 100, 0.0, 1.0), NewCopy::new(vec![4.0; 101], 101, 0.0, 1.0));
        assert_eq!((most.place(4.0).is_some(), more.place(4.0)), (true, None));
        let earlier = NewCopy::new(vec![4.0], 1, 0.0, 1.0).with_earlier([5.0; 100].into_iter(), 100);
        assert_eq!(earlier.place(4.0), None);
    }

    #[test]
    fn the_median_of_those_that_have_begun_is_not_that_of_the_fast_ones_that_tell_first() {
        let of = |known: f64, begun| {
            let rates: Vec<f64> = (1..=known as u32).map(f64::from).collect();
            NewCopy::new(rates, known as usize, 0.0, 1.0).typical_of(begun)
        };
        assert_eq!([of(3.0, 3), of(3.0, 5), of(3.0, 6)], [Some(2.0), Some(3.0), None], "half must be known");
        assert_eq!(of(5.0, 2), Some(3.0), "earlier runs tell of more than have begun");
        assert_eq!(of(0.0, 4), None);
        let summed_up = of(1_000.0, 1_400).unwrap();
        assert!((summed_up - 700.0).abs() <= 10.0, "{summed_up}");
    }

    #[test]
    fn what_it_rests_on_beside_the_phase_is_told() {
        let alone = NewCopy::new(vec![6.0], 1, 0.0, 1.001);
        assert_eq!(alone.words(), "");
        let both = NewCopy::new(vec![6.0], 1, 0.0, 0.5).with_earlier([2.0, 4.0].into_iter(), 7);
        assert_eq!(both.words(), "; t_new with the job's earlier runs; locationFactor 0.50 (§5.5, eq. 3)");
        assert_eq!((both.evidence(), both.times(1.0, None).all()), (8, vec![1.0, 2.0, 3.0]));
    }

    #[test]
    fn a_large_phase_is_summed_up_with_its_mean_and_its_tail() {
        let rates: Vec<f64> = (1..=1_000).map(f64::from).collect();
        let times = NewCopy::new(rates, 1_000, 0.0, 1.0).times(1.0, None).all();
        assert_eq!((times.len(), times[0], times[99]), (100, 5.5, 995.5));
        assert!((times.iter().sum::<f64>() / 100.0 - 500.5).abs() < 1e-9);
    }
}
