//! How likely a cloned job is to straggle, and how many clones keep that below a risk: Dolly, HotCloud'12 §3.1 and NSDI'13 §3 and §4.2.
//!
//! p is the probability that a task straggles, n the number of tasks of a phase, c the number of clones of each; c counts every copy, for clones are
//! indistinguishable (NSDI'13 §5.1). All probabilities here are of straggling; 1 − (1 − (1 − p)^n)^c and (1 − p^c)^n, as the formulas are quoted at times, are those of
//! a job without a straggler. p and ε are taken as the decimals that people write, and every answer is exact: a probability is the floating-point number
//! nearest to the true one, and a count is decided by comparing whole decimals. (1 − p^c)^n has exactly c·n times the places of p, as a last digit other than 0
//! stays one, so it can tie only with an ε of as many places, all of which are computed; without a tie, places are added until the two differ.

use super::exact::{Bounds, Scale, settle};

/// How a job is cloned, and what its downstream clones read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scheme {
    /// Every task is cloned; the first clone of each counts.
    Task,
    /// The whole job is cloned; its first clone counts.
    Job,
    /// Contention-avoidance cloning: n upstream and n downstream tasks; each upstream clone feeds one downstream clone of each task.
    Cac,
    /// Contention cloning: n upstream and n downstream tasks; all downstream clones read the upstream clone that ends first.
    Cc,
}

/// More clones than this no cluster has room for.
pub const CLONES_MAX: u32 = 1 << 30;

/// The sums of CAC and CC are made for no more clones than this: many times what the paper's figures show.
pub const SUMMED_MAX: u32 = 100;

impl Scheme {
    /// Every scheme.
    pub const ALL: [Scheme; 4] = [Scheme::Task, Scheme::Job, Scheme::Cac, Scheme::Cc];

    /// Stable label.
    pub fn label(self) -> &'static str {
        match self {
            Scheme::Task => "task",
            Scheme::Job => "job",
            Scheme::Cac => "cac",
            Scheme::Cc => "cc",
        }
    }

    /// The formula, and where it stands.
    pub fn rule(self) -> &'static str {
        match self {
            Scheme::Task => "1 − (1 − p^c)^n, NSDI'13 §3.1",
            Scheme::Job => "(1 − (1 − p)^n)^c, NSDI'13 §3.1",
            Scheme::Cac => "1 − Σ d=1..c [Ψ(n,c,d) − Ψ(n,c,d+1)] (1 − p^d)^n, NSDI'13 eq. 2",
            Scheme::Cc => "1 − Ψ(n,c,1) (1 − p^c)^n, NSDI'13 eq. 3",
        }
    }

    /// Probability that a job of `tasks` tasks (of as many in each of its two phases, under CAC and CC) and `clones` clones each straggles.
    /// `None` for what is no job (no task, no clone, no probability), and beyond [`Scheme::clones_max`].
    pub fn straggle_probability(self, tasks: u32, clones: u32, p: f64) -> Option<f64> {
        let known = tasks > 0 && (1..=self.clones_max()).contains(&clones) && (0.0..=1.0).contains(&p);
        known.then(|| settle(&[p], |scale| self.straggles(tasks, clones, &scale.decimal(p), scale).value()))
    }

    /// The most clones its formula is computed for.
    pub fn clones_max(self) -> u32 {
        match self {
            Scheme::Task | Scheme::Job => CLONES_MAX,
            Scheme::Cac | Scheme::Cc => SUMMED_MAX,
        }
    }

    fn straggles(self, n: u32, c: u32, p: &Bounds, scale: Scale) -> Bounds {
        match self {
            // It is free of stragglers if every task has a clone that is: (1 − p^c)^n.
            Scheme::Task => p.pow(c).complement().pow(n).complement(),
            // It straggles if every clone of the job has a task that does.
            Scheme::Job => p.complement().pow(n).complement().pow(c),
            Scheme::Cac => {
                let psi = psi(n, c, p, scale);
                // Printed as Ψ(n,c,d) − Ψ(n,c,d−1); Ψ counts "at least d", so exactly d is this.
                let exactly = |d: u32| &psi[d as usize] - &psi[d as usize + 1];
                let fine = |d: u32| &exactly(d) * &p.pow(d).complement().pow(n);
                (1..=c).fold(scale.whole(0), |sum, d| &sum + &fine(d)).complement()
            }
            Scheme::Cc => (&psi(n, c, p, scale)[1] * &p.pow(c).complement().pow(n)).complement(),
        }
    }

    /// Whether it straggles with a probability of at most `epsilon`, where floating-point numbers tell beyond doubt: they are off by less than a part in 10¹¹ for so few clones.
    fn clearly_at_most(self, n: u32, c: u32, p: f64, epsilon: f64) -> Option<bool> {
        const FEW: u32 = 1_000;
        const DOUBT: f64 = 1e-6;
        let nearly = match self {
            Scheme::Task => -(f64::from(n) * (-p.powi(c as i32)).ln_1p()).exp_m1(),
            Scheme::Job => (-(f64::from(n) * (-p).ln_1p()).exp_m1()).powi(c as i32),
            Scheme::Cac | Scheme::Cc => return None,
        };
        let sure = c <= FEW && nearly > f64::MIN_POSITIVE / DOUBT && (nearly / epsilon - 1.0).abs() > DOUBT;
        sure.then_some(nearly < epsilon)
    }

    /// The fewest clones with which the job straggles with a probability of at most `epsilon`.
    fn fewest(self, tasks: u32, p: f64, epsilon: f64) -> Option<u32> {
        let known = tasks > 0 && (0.0..1.0).contains(&p) && epsilon > 0.0 && epsilon < 1.0;
        let enough = |c: u32| {
            let at_most =
                |scale: Scale| self.straggles(tasks, c, &scale.decimal(p), scale).at_most(&scale.decimal(epsilon));
            self.clearly_at_most(tasks, c, p, epsilon).unwrap_or_else(|| settle(&[p, epsilon], at_most))
        };
        let doubled = |c: &u32| (*c < CLONES_MAX).then(|| c * 2);
        let mut most = known.then(|| std::iter::successors(Some(1), doubled).find(|c| enough(*c))).flatten()?;
        let mut too_few = most / 2;
        while most - too_few > 1 {
            let between = too_few + (most - too_few) / 2;
            *(if enough(between) { &mut most } else { &mut too_few }) = between;
        }
        Some(most)
    }
}

/// Eq. 1, Ψ(n,c,d): the probability that each of so many upstream groups of clones has at least `least` that do not straggle. `None` for what is no job, and beyond [`SUMMED_MAX`].
pub fn groups_with_at_least(tasks: u32, clones: u32, least: u32, p: f64) -> Option<f64> {
    let known = tasks > 0 && (1..=SUMMED_MAX).contains(&clones) && (0.0..=1.0).contains(&p) && least <= clones;
    known.then(|| settle(&[p], |scale| psi(tasks, clones, &scale.decimal(p), scale)[least as usize].value()))
}

/// Eq. 1, Ψ(n,c,d) at place d, from 0 to c + 1: the probability that each of n upstream clone groups has at least d clones that do not straggle,
/// (Σ i=0..c−d C(c,i) p^i (1−p)^(c−i))^n. From each d to the one below, the sum gets the term of i = c − d more; that of c + 1 has none.
fn psi(n: u32, c: u32, p: &Bounds, scale: Scale) -> Vec<Bounds> {
    let term = |i: u32| &(&scale.whole(binomial(c, i)) * &p.pow(i)) * &p.complement().pow(c - i);
    let mut sum = scale.whole(0);
    let mut psi = vec![sum.clone()];
    for i in 0..=c {
        sum = &sum + &term(i);
        psi.push(sum.pow(n));
    }
    psi.reverse();
    psi
}

/// c over i; of at most [`SUMMED_MAX`], which fits.
fn binomial(c: u32, i: u32) -> u128 {
    (0..i).fold(1, |product, k| product * u128::from(c - k) / u128::from(k + 1))
}

/// NSDI'13 §3.2, Pseudocode 1 line 2: c = ⌈ log(1 − (1 − ε)^(1/n)) / log p ⌉, which is the smallest c with 1 − (1 − p^c)^n ≤ ε (its footnote 3). Decided by that
/// comparison and not by the logarithms, which miss by one where they meet an integer: n = 1, p = ε = .1 is 1, not 2.
/// For p from 0 to below 1 and ε between 0 and 1; `None` otherwise, and beyond [`CLONES_MAX`].
pub fn clones_per_task(tasks: u32, p: f64, epsilon: f64) -> Option<u32> {
    Scheme::Task.fewest(tasks, p, epsilon)
}

/// HotCloud'12, job-level cloning: c = ⌈ log ε / log(1 − (1 − p)^n) ⌉, the smallest c with (1 − (1 − p)^n)^c ≤ ε. As [`clones_per_task`] otherwise.
pub fn job_clones(tasks: u32, p: f64, epsilon: f64) -> Option<u32> {
    Scheme::Job.fewest(tasks, p, epsilon)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn clone_counts_are_exact_where_the_logarithms_meet_an_integer() {
        // One task: 1 − (1 − p^c)^1 ≤ ε is p^c ≤ ε.
        for (p, epsilon, clones) in [
            (0.1, 0.1, 1),
            (0.1, 0.01, 2),
            (0.1, 0.001, 3),
            (0.1, 0.000_000_000_000_1, 13),
            (0.2, 0.008, 3),
            (0.3, 0.0081, 4),
            (0.5, 0.125, 3),
            (0.7, 0.343, 3),
            (0.01, 0.000_001, 3),
            (0.9, 0.9, 1),
        ] {
            assert_eq!(clones_per_task(1, p, epsilon), Some(clones), "{p} {epsilon}");
            assert_eq!(job_clones(1, p, epsilon), Some(clones), "{p} {epsilon}");
            // A little less risk asks for one more, a little more risk for no fewer.
            assert_eq!(clones_per_task(1, p, epsilon * (1.0 - 1e-15)), Some(clones + 1), "{p} {epsilon}");
            assert_eq!(clones_per_task(1, p, epsilon * (1.0 + 1e-15)), Some(clones), "{p} {epsilon}");
        }
        // 1 − .9² = .19; 1 − .99² = .0199; 1 − .9³ = .271; 1 − .5³ = .875 and its square .765625.
        assert_eq!((clones_per_task(2, 0.1, 0.19), clones_per_task(2, 0.1, 0.189_999_999_999_999)), (Some(1), Some(2)));
        assert_eq!((clones_per_task(2, 0.1, 0.0199), clones_per_task(3, 0.1, 0.271)), (Some(2), Some(1)));
        assert_eq!((job_clones(3, 0.5, 0.875), job_clones(3, 0.5, 0.765_625)), (Some(1), Some(2)));
        assert_eq!(job_clones(3, 0.5, 0.765_624_999_999_999), Some(3));
    }

    #[test]
    fn groups_with_enough_clones_are_counted_as_by_hand() {
        // Of two clones one at least is free with 1 − .1², both with .9²; and all have none at least.
        let of = |tasks, clones, least| groups_with_at_least(tasks, clones, least, 0.1);
        assert_eq!([of(1, 2, 1), of(1, 2, 2), of(3, 2, 0)], [Some(0.99), Some(0.81), Some(1.0)]);
        assert_eq!([of(2, 2, 1), of(2, 2, 2)], [Some(0.9801), Some(0.6561)]);
        assert_eq!([of(0, 2, 1), of(1, 0, 0), of(1, 2, 3), of(1, SUMMED_MAX + 1, 1)], [None; 4]);
        assert_eq!(groups_with_at_least(1, 2, 1, 1.5), None);
    }

    #[test]
    fn what_is_no_job_has_no_answer_and_what_needs_too_many_clones_no_count() {
        for (n, p, epsilon) in
            [(0, 0.1, 0.1), (1, 1.0, 0.1), (1, -0.1, 0.1), (1, f64::NAN, 0.1), (1, 0.1, 0.0), (1, 0.1, 1.0)]
        {
            assert_eq!((clones_per_task(n, p, epsilon), job_clones(n, p, epsilon)), (None, None), "{n} {p} {epsilon}");
        }
        assert_eq!((clones_per_task(1000, 0.5, 0.05), job_clones(1000, 0.5, 0.05)), (Some(15), None));
        assert_eq!(clones_per_task(10, 0.0, 0.05), Some(1));
        assert_eq!(Scheme::Cac.straggle_probability(10, SUMMED_MAX + 1, 0.1), None);
        assert_eq!(Scheme::Task.straggle_probability(10, 0, 0.1), None);
        assert_eq!(Scheme::ALL.map(|scheme| scheme.straggle_probability(0, 1, 0.1)), [None; 4]);
        // ln .05 / ln p is some 0.7 · 2^30, and twice that for half of the distance to one.
        assert!(clones_per_task(1, 0.999_999_996, 0.05).is_some_and(|clones| clones < CLONES_MAX));
        assert_eq!(clones_per_task(1, 0.999_999_998, 0.05), None);
        assert!(clones_per_task(u32::MAX, 0.999_999, 1e-300).is_some());
    }

    #[test]
    fn two_tasks_of_two_clones_straggle_as_often_as_by_hand() {
        let of = |scheme: Scheme, n| scheme.straggle_probability(n, 2, 0.1).unwrap();
        // (1 − .9²)², and 1 − (1 − .1²)².
        let by_hand =
            [(of(Scheme::Job, 2), 0.0361), (of(Scheme::Task, 2), 0.0199), (of(Scheme::Cc, 1), 1.0 - 0.99 * 0.99)];
        // Exactly one clone of each group is free with Ψ(n,2,1) − Ψ(n,2,2), and then .9 of each downstream task; both with Ψ(n,2,2), and then .99.
        let one = (of(Scheme::Cac, 1), 1.0 - (0.18 * 0.9 + 0.81 * 0.99));
        let two = (of(Scheme::Cac, 2), 1.0 - ((0.9801 - 0.6561) * 0.81 + 0.6561 * 0.9801));
        for (ours, by_hand) in by_hand.into_iter().chain([one, two, (of(Scheme::Cc, 2), 1.0 - 0.9801 * 0.9801)]) {
            assert!((ours - by_hand).abs() < 1e-12, "{ours} {by_hand}");
        }
    }

    #[test]
    fn probabilities_are_the_nearest_to_the_true_ones() {
        let of = |scheme: Scheme, n, c, p| scheme.straggle_probability(n, c, p).unwrap();
        assert_eq!((of(Scheme::Task, 1, 1, 0.1), of(Scheme::Job, 1, 1, 0.1)), (0.1, 0.1));
        assert_eq!((of(Scheme::Task, 2, 1, 0.1), of(Scheme::Task, 1, 5, 0.1)), (0.19, 0.00001));
        // A chain of two tasks without clones: 1 − .9².
        assert_eq!((of(Scheme::Cac, 1, 1, 0.1), of(Scheme::Cc, 1, 1, 0.1)), (0.19, 0.19));
        for scheme in Scheme::ALL {
            assert_eq!((of(scheme, 7, 3, 0.0), of(scheme, 7, 3, 1.0)), (0.0, 1.0), "{scheme:?}");
        }
        let most = of(Scheme::Cac, 10, SUMMED_MAX, 0.01);
        assert!(most > of(Scheme::Cc, 10, SUMMED_MAX, 0.01) && most < 1e-20, "{most}");
    }

    proptest! {
        #[test]
        fn the_count_is_the_smallest_whose_probability_is_within_the_risk(n in 1..3_000_u32, p in 1..999_u32, e in 1..999_u32) {
            let (p, epsilon) = (f64::from(p) / 1000.0, f64::from(e) / 1000.0);
            for (scheme, count) in [(Scheme::Task, clones_per_task(n, p, epsilon)), (Scheme::Job, job_clones(n, p, epsilon))] {
                let Some(count) = count else { continue };
                let at = |c| scheme.straggle_probability(n, c, p).unwrap();
                prop_assert!(at(count) <= epsilon, "{} {}", at(count), epsilon);
                prop_assert!(count == 1 || at(count - 1) > epsilon, "{} {}", at(count - 1), epsilon);
            }
            let logarithms = ((1.0 - (1.0 - epsilon).powf(1.0 / f64::from(n))).ln() / p.ln()).ceil();
            let count = f64::from(clones_per_task(n, p, epsilon).unwrap());
            prop_assert!((count - logarithms).abs() <= 1.0, "{} {}", count, logarithms);
        }

        #[test]
        fn more_clones_help_and_more_tasks_and_worse_odds_hurt(n in 1..40_u32, c in 1..6_u32, p in 1..99_u32) {
            let p = f64::from(p) / 100.0;
            for scheme in Scheme::ALL {
                let at = |n, c, p| scheme.straggle_probability(n, c, p).unwrap();
                prop_assert!(at(n, c + 1, p) <= at(n, c, p), "{:?}", scheme);
                prop_assert!(at(n + 1, c, p) >= at(n, c, p) && at(n, c, p + 0.01) >= at(n, c, p), "{:?}", scheme);
            }
            let at = |scheme: Scheme| scheme.straggle_probability(n, c, p).unwrap();
            prop_assert!(at(Scheme::Task) <= at(Scheme::Job), "NSDI'13 §3.1: task-level cloning gives the better guarantee");
            prop_assert!(at(Scheme::Cc) <= at(Scheme::Cac), "NSDI'13 §4.2: CAC is the more susceptible");
        }
    }

    #[test]
    fn schemes_are_called_what_answers_call_them_and_name_where_their_formula_stands() {
        assert_eq!(Scheme::ALL.map(Scheme::label), ["task", "job", "cac", "cc"]);
        let places = ["NSDI'13 §3.1", "NSDI'13 §3.1", "NSDI'13 eq. 2", "NSDI'13 eq. 3"];
        assert!(Scheme::ALL.into_iter().zip(places).all(|(scheme, place)| scheme.rule().ends_with(place)));
    }
}
