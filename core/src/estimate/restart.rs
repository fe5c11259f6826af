//! Kill and restart: what is left of a heavy tail of tasks' times (Mantri, OSDI'10, appendix A).

/// Mantri appendix A, Proposition 1: a bound on P(R' > r), the probability that a task takes longer than `r` when long ones are killed and restarted; without that it
/// would be P(R > r) = r^−β. All times in units of the shortest task's.
///
/// It holds for tasks that tell `delta` after their start how long they will take, and are killed there where that is more than t_k = t_s + `delta`, however often:
/// so the proof counts restarts. In the tail it does not hold for tasks killed at the age t_k, nor for at most γ = 3 restarts (§5.1). Every t_s > 1 will do; the
/// proof's t_k ≥ Δ / log t_s, which t_k = E R + Δ does not meet for large β, is not needed. `beta` and `t_s` are above 1, `delta` above 0; otherwise `None`.
pub fn tail(r: f64, beta: f64, t_s: f64, delta: f64) -> Option<f64> {
    if !(beta > 1.0 && t_s > 1.0 && delta > 0.0) {
        return None;
    }
    let t_k = t_s + delta;
    Some(if r < t_k { r.max(1.0).powf(-beta) } else { (t_s.powf((r - t_s) / delta - 1.0) * t_k).powf(-beta) })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// P(R > r).
    fn pareto(r: f64, beta: f64) -> f64 {
        r.max(1.0).powf(-beta)
    }

    /// E R.
    fn mean(beta: f64) -> f64 {
        beta / (beta - 1.0)
    }

    /// P(R' > r), exactly, where each of up to `restarts` kills costs `lost`: R' is k times that, and a run of at most t_k, or the one that nothing kills.
    fn exact(r: f64, beta: f64, t_k: f64, lost: f64, restarts: i32) -> f64 {
        let killed = pareto(t_k, beta);
        let ends_late = |kills: i32| {
            let kept = (pareto(r - f64::from(kills) * lost, beta) - killed).max(0.0);
            killed.powi(kills) * kept
        };
        let last = killed.powi(restarts) * pareto(r - f64::from(restarts) * lost, beta);
        (0..restarts).map(ends_late).sum::<f64>() + last
    }

    /// So many restarts that one more changes nothing: r − k Δ is below the shortest task, where the sum's rest is what the last term counts.
    fn without_cap(r: f64, lost: f64) -> i32 {
        (r / lost).ceil() as i32
    }

    #[test]
    fn the_bound_is_the_printed_one() {
        // Table 3's beta = 2: t_s = E R = 2, t_k = 3.
        let at = |r| tail(r, 2.0, 2.0, 1.0).unwrap();
        assert_eq!([at(0.5), at(1.0), at(2.0)], [1.0, 1.0, 0.25]);
        for (r, below) in [(3.0, 9.0), (4.0, 36.0), (5.0, 144.0), (13.0, 9.0 * 4_f64.powi(10))] {
            assert!((at(r) * below - 1.0).abs() < 1e-12, "{r}");
        }
        // Fig. 24: beta = 1.1, t_s = 10, t_k = 11. Below t_k the tail itself; above it P(R > t_s^((r − t_s)/Δ − 1) t_k), which falls by t_s^beta with each Δ.
        let at = |r| tail(r, 1.1, 10.0, 1.0).unwrap();
        assert_eq!((at(10.99), at(11.0)), (pareto(10.99, 1.1), pareto(11.0, 1.1)));
        assert!((at(13.5) / pareto(10_f64.powf(2.5) * 11.0, 1.1) - 1.0).abs() < 1e-12);
        assert!((at(17.25) / at(18.25) - 10_f64.powf(1.1)).abs() < 1e-9);
    }

    #[test]
    fn what_is_out_of_range_has_no_bound() {
        assert!(tail(3.0, 1.0, 2.0, 1.0).is_none() && tail(3.0, 2.0, 1.0, 1.0).is_none());
        assert!(tail(3.0, 2.0, 2.0, 0.0).is_none() && tail(3.0, f64::NAN, 2.0, 1.0).is_none());
    }

    #[test]
    fn proposition_1_does_not_hold_for_tasks_killed_at_the_age_t_k() {
        for beta in [1.1, 1.5, 2.0] {
            let (t_s, t_k) = (mean(beta), mean(beta) + 1.0);
            // Each kill costs t_k, so P(R' > 2 t_k) is that of two kills.
            let (r, restarts) = (2.0 * t_k, without_cap(2.0 * t_k, t_k));
            let (late, bound) = (exact(r, beta, t_k, t_k, restarts), tail(r, beta, t_s, 1.0).unwrap());
            assert!((late / pareto(t_k, beta).powi(2) - 1.0).abs() < 1e-12, "{beta}");
            assert!(late > 3.0 * bound, "{beta} {late} {bound}");
        }
    }

    #[test]
    fn proposition_1_does_not_hold_in_the_tail_for_tasks_restarted_three_times_at_most() {
        for beta in [1.1, 1.5, 2.0] {
            let (t_s, t_k) = (mean(beta), mean(beta) + 1.0);
            let over = |r| exact(r, beta, t_k, 1.0, 3) / tail(r, beta, t_s, 1.0).unwrap();
            let holds = (0..=30).map(|tenth| over(t_k + f64::from(tenth) / 10.0)).all(|ratio| ratio <= 1.0);
            assert!(holds, "{beta}");
            // Beyond that the tail is a polynomial's again.
            let tail_again =
                exact(t_k + 40.0, beta, t_k, 1.0, 3) / pareto(t_k, beta).powi(3) / pareto(t_k + 37.0, beta);
            assert!((tail_again - 1.0).abs() < 1e-12, "{beta}");
            assert!(over(t_k + 10.0) > 2.0 && over(t_k + 40.0) > 1e6 * over(t_k + 10.0), "{beta}");
        }
    }

    /// Does the proposition hold there, without a cap on restarts? It does with equality for r below 1 + Δ, which rounding is not to decide.
    fn holds(r: f64, beta: f64, t_s: f64, delta: f64) -> bool {
        let late = exact(r, beta, t_s + delta, delta, without_cap(r, delta));
        late <= tail(r, beta, t_s, delta).unwrap() * (1.0 + 1e-9)
    }

    #[test]
    fn proposition_1_holds_where_the_proofs_condition_on_t_k_does_not() {
        let (t_s, delta) = (mean(10.0), 1.0);
        assert!(t_s + delta < delta / t_s.ln());
        assert!((10..200).all(|tenth| holds(f64::from(tenth) / 10.0, 10.0, t_s, delta)));
    }

    proptest! {
        #[test]
        fn proposition_1_holds_for_tasks_killed_at_the_first_report_however_often(
            beta in 1.05..6.0_f64, t_s in 1.01..20.0_f64, delta in 0.1..3.0_f64, reports in 1.0..10.0_f64,
        ) {
            for r in [reports, t_s + delta * reports, t_s + delta * reports.floor()] {
                prop_assert!(holds(r, beta, t_s, delta), "{r}");
            }
        }
    }
}
