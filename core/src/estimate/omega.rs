//! Delay assignment: how long a downstream clone waits for an upstream output of its own before it shares another's (Dolly, NSDI'13, §4.4).
//!
//! The paper's scenario is that of its Fig. 4: two clones of a downstream task, of which the first began to read at once and the other after a wait of ω.

/// One sample of a transfer, from completed jobs.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Transfer {
    /// B: bandwidth of a read without contention, per second.
    pub bandwidth: f64,
    /// α: the share (0–1) of B that a read gets under contention.
    pub contention: f64,
    /// 1 − p_c: probability of getting an exclusive copy within `waited`.
    pub exclusive: f64,
    /// The wait after which that was seen, seconds. `None`: as long as the read takes.
    pub waited: Option<f64>,
}

/// A downstream task, and what is known of its like.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Downstream<'a> {
    /// r: size of each upstream output, in the unit of the bandwidth.
    pub size: f64,
    /// Upstream outputs it reads: all of them in an all-to-all pattern, one in one-to-one.
    pub outputs: u32,
    /// Samples of transfers.
    pub transfers: &'a [Transfer],
    /// Samples of computation times, seconds, in ascending order.
    pub compute: &'a [f64],
}

/// The wait, and the expected duration of the task with it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Delay {
    /// ω, seconds.
    pub omega: f64,
    /// Expected duration of the downstream task, seconds.
    pub duration: f64,
}

impl Transfer {
    /// r/B.
    fn alone(self, r: f64) -> f64 {
        r / self.bandwidth
    }

    /// Step 1, T_C: the first clone reads alone for ω and shares the rest; the other waits for ω and then shares. Once the first has read all there is nothing to share.
    fn contended(self, r: f64, omega: f64) -> [f64; 2] {
        let omega = omega.min(self.alone(r));
        let shared = (r - self.bandwidth * omega).max(0.0) / (self.contention * self.bandwidth);
        [omega + shared, 2.0 * omega + shared]
    }

    /// Step 1, T_E: the other waits for ω at most, and not once the first is through.
    fn exclusive(self, r: f64, omega: f64) -> [f64; 2] {
        [self.alone(r), self.alone(r) + self.alone(r).min(omega)]
    }

    /// Step 3: "p_c is inversely proportional to ω", through the point that was measured.
    fn p_c(self, r: f64, omega: f64) -> f64 {
        let missed = (1.0 - self.exclusive) * self.waited.unwrap_or_else(|| self.alone(r));
        if missed < omega { missed / omega } else { f64::from(missed > 0.0) }
    }

    /// Step 1: expected time in which each clone reads one upstream output, p_c T_C + (1 − p_c) T_E.
    fn reads(self, r: f64, omega: f64) -> [f64; 2] {
        let (p_c, t_c, t_e) = (self.p_c(r, omega), self.contended(r, omega), self.exclusive(r, omega));
        [0, 1].map(|clone| p_c * t_c[clone] + (1.0 - p_c) * t_e[clone])
    }
}

/// α that the first clone of a task shows by having read for `took` seconds what it reads alone in `alone`, of which a share `missed` (0–1) was shared once it had read for ω:
/// step 1's T_C and T_E, solved for α. `None` where nothing was shared.
pub fn contention(alone: f64, took: f64, missed: f64, omega: f64) -> Option<f64> {
    /// The least that is believed: as little as a setting may say.
    const LEAST: f64 = 0.01;
    let omega = omega.min(alone);
    let shared = missed * (alone - omega);
    let sharing = took - missed * omega - (1.0 - missed) * alone;
    (shared > 0.0).then(|| if sharing > shared { (shared / sharing).max(LEAST) } else { 1.0 })
}

impl Downstream<'_> {
    /// Step 2: the expected duration of the task, min T_i over its clones, where T_i is what clone i reads and then computes. Computation times are drawn for each clone
    /// on its own: were they equal, the clone that reads first would always be the first to end.
    pub fn duration(&self, omega: f64) -> f64 {
        let one = |transfer: &Transfer| {
            let [first, other] = transfer.reads(self.size, omega).map(|read| read * f64::from(self.outputs));
            first + mean_lesser(self.compute, other - first)
        };
        self.transfers.iter().map(one).sum::<f64>() / self.transfers.len() as f64
    }

    /// Step 3: the ω with the shortest expected duration, and the shortest such ω. Beyond the time of a whole read waiting changes nothing: the clones read one after
    /// the other. `None` without samples.
    pub fn delay(&self) -> Option<Delay> {
        // The duration has several valleys, where p_c leaves 1 and where clones change places, so all of the range is looked over before the best place is closed in on.
        const STEPS: u32 = 1_000;
        const ROUNDS: usize = 3;
        if self.transfers.is_empty() || self.compute.is_empty() {
            return None;
        }
        let (mut from, mut to) = (0.0, self.transfers.iter().map(|one| one.alone(self.size)).fold(0.0, f64::max));
        let mut best = Delay { omega: 0.0, duration: self.duration(0.0) };
        for _ in 0..ROUNDS {
            let step = (to - from) / f64::from(STEPS);
            for place in 1..=STEPS {
                let omega = if place == STEPS { to } else { from + step * f64::from(place) };
                let duration = self.duration(omega);
                // What rounding alone makes shorter is not.
                if duration < best.duration * (1.0 - 1e-12) {
                    best = Delay { omega, duration };
                }
            }
            (from, to) = ((best.omega - step).max(from), (best.omega + step).min(to));
        }
        Some(best)
    }
}

/// The mean of min(x, y + later) over all pairs of samples, which are in ascending order.
fn mean_lesser(samples: &[f64], later: f64) -> f64 {
    let (mut below, mut sum_below, mut total) = (0, 0.0, 0.0);
    for x in samples {
        while below < samples.len() && samples[below] + later < *x {
            sum_below += samples[below] + later;
            below += 1;
        }
        total += sum_below + x * (samples.len() - below) as f64;
    }
    total / (samples.len() * samples.len()) as f64
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const TRANSFER: Transfer = Transfer { bandwidth: 50.0, contention: 0.6, exclusive: 0.8, waited: None };

    fn delay(transfer: Transfer, compute: &[f64]) -> Delay {
        Downstream { size: 100.0, outputs: 1, transfers: &[transfer], compute }.delay().unwrap()
    }

    #[test]
    fn reads_take_what_step_1_says() {
        // r = 100 at B = 50 alone, at 30 shared. After a second half of it is left: 50/30 s more.
        let close = |ours: [f64; 2], papers: [f64; 2]| ours.iter().zip(papers).all(|(a, b)| (a - b).abs() < 1e-12);
        assert!(close(TRANSFER.contended(100.0, 1.0), [1.0 + 5.0 / 3.0, 2.0 + 5.0 / 3.0]));
        assert!(close(TRANSFER.exclusive(100.0, 1.0), [2.0, 3.0]));
        assert!(close(TRANSFER.contended(100.0, 9.0), [2.0, 4.0]) && close(TRANSFER.exclusive(100.0, 9.0), [2.0, 4.0]));
        // A fifth is missed at 2 s, so twice that at 1 s, and all at once.
        for (omega, p_c) in [(0.0, 1.0), (0.3, 1.0), (1.0, 0.4), (2.0, 0.2)] {
            assert!((TRANSFER.p_c(100.0, omega) - p_c).abs() < 1e-12, "{omega}");
        }
        assert!(close(TRANSFER.reads(100.0, 1.0), [0.4 * 8.0 / 3.0 + 0.6 * 2.0, 0.4 * 11.0 / 3.0 + 0.6 * 3.0]));
    }

    #[test]
    fn contention_is_what_step_1_would_have_had_for_what_was_read() {
        for (omega, missed) in [(0.0, 1.0), (1.0, 0.4), (1.9, 1.0)] {
            let (contended, exclusive) = (TRANSFER.contended(100.0, omega)[0], TRANSFER.exclusive(100.0, omega)[0]);
            let found = contention(2.0, missed * contended + (1.0 - missed) * exclusive, missed, omega).unwrap();
            assert!((found - TRANSFER.contention).abs() < 1e-9, "{omega} {found}");
        }
        assert_eq!([contention(2.0, 9.0, 0.0, 1.0), contention(2.0, 9.0, 1.0, 3.0)], [None; 2], "nothing was shared");
        assert_eq!(contention(2.0, 1.5, 1.0, 0.0), Some(1.0), "sooner than alone");
        assert_eq!(contention(2.0, 1e9, 1.0, 0.0), Some(0.01));
    }

    #[test]
    fn where_clones_compute_alike_they_read_one_after_the_other() {
        assert_eq!(delay(TRANSFER, &[5.0]), Delay { omega: 2.0, duration: 7.0 });
    }

    #[test]
    fn nothing_is_waited_for_where_contention_costs_nothing() {
        assert_eq!(delay(Transfer { contention: 1.0, ..TRANSFER }, &[1.0, 1.0, 8.0]).omega, 0.0);
        assert_eq!(delay(Transfer { exclusive: 1.0, ..TRANSFER }, &[1.0, 1.0, 8.0]).omega, 0.0);
    }

    #[test]
    fn a_clone_that_may_straggle_makes_a_short_wait_the_best() {
        let found = delay(Transfer { exclusive: 0.95, ..TRANSFER }, &[1.0, 1.0, 1.0, 8.0]);
        assert!((found.omega - 0.843_27).abs() < 1e-4 && (found.duration - 3.687_061).abs() < 1e-6, "{found:?}");
    }

    #[test]
    fn without_samples_there_is_no_answer() {
        assert_eq!(Downstream { size: 1.0, outputs: 1, transfers: &[], compute: &[1.0] }.delay(), None);
        assert_eq!(Downstream { size: 1.0, outputs: 1, transfers: &[TRANSFER], compute: &[] }.delay(), None);
    }

    proptest! {
        #[test]
        fn no_wait_is_better_than_the_one_found(
            mut compute in prop::collection::vec(0.0..20.0_f64, 1..8), alpha in 0.1..1.0_f64, exclusive in 0.0..1.0_f64, tried in 0.0..3.0_f64
        ) {
            compute.sort_unstable_by(f64::total_cmp);
            let transfers = [Transfer { contention: alpha, exclusive, ..TRANSFER }, Transfer { waited: Some(1.0), ..TRANSFER }];
            let task = Downstream { size: 100.0, outputs: 3, transfers: &transfers, compute: &compute };
            let best = task.delay().unwrap();
            // A valley between two of a thousand places is no deeper than the slope there.
            prop_assert!(best.duration <= task.duration(tried) + 0.02, "{:?} {}", best, task.duration(tried));
            prop_assert!((0.0..=2.0).contains(&best.omega) && best.duration == task.duration(best.omega));
        }

        #[test]
        fn the_lesser_of_two_draws_is_that_of_all_pairs(mut samples in prop::collection::vec(0.0..20.0_f64, 1..9), later in 0.0..9.0_f64) {
            samples.sort_unstable_by(f64::total_cmp);
            let pairs = samples.iter().flat_map(|x| samples.iter().map(move |y| x.min(y + later)));
            let mean = pairs.sum::<f64>() / (samples.len() * samples.len()) as f64;
            prop_assert!((mean_lesser(&samples, later) - mean).abs() < 1e-9);
        }
    }

    #[test]
    fn what_is_never_missed_is_not_missed_at_once_either() {
        assert_eq!(Transfer { exclusive: 1.0, ..TRANSFER }.p_c(100.0, 0.0), 0.0);
    }

    #[test]
    fn an_all_to_all_pattern_reads_each_output_and_samples_of_transfers_are_averaged() {
        let all = [TRANSFER, Transfer { bandwidth: 25.0, ..TRANSFER }];
        let task = |transfers| Downstream { size: 100.0, outputs: 3, transfers, compute: &[5.0] }.duration(4.0);
        // Three reads of 2 s, or of 4 s at half the bandwidth, and then the computation.
        assert!((task(&all[..1]) - 11.0).abs() < 1e-9 && (task(&all) - 14.0).abs() < 1e-9);
    }

    #[test]
    fn of_waits_that_make_no_difference_the_shortest_is_taken() {
        assert_eq!(delay(Transfer { contention: 1.0, ..TRANSFER }, &[5.0]).omega, 0.0);
        assert_eq!(
            delay(Transfer { contention: 1.0, bandwidth: 30.0, exclusive: 0.7, waited: None }, &[0.1]).omega,
            0.0
        );
    }
}
