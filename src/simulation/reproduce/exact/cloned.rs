//! Dolly's formulas (HotCloud'12, §3.1; NSDI'13, §3.1, §3.2, §4.2), with what they give by hand.

use super::exact;
use crate::simulation::reproduce::{Effort, Finding};
use drover_core::estimate::straggle::{Scheme, clones_per_task, groups_with_at_least};
use drover_core::sim::Stuck;

const CLONES: &str = "dolly.clones";

/// What eqs. 1 to 3 and those of §3.1 give, and clones where floating point has one too many.
pub(super) fn clones(_: Effort) -> Result<Vec<Finding>, Stuck> {
    let needed = |tasks, p, epsilon, published| {
        let quantity = format!("clones of each of {tasks} tasks at p = {p}, ε = {epsilon}");
        exact(CLONES, &quantity, published, clones_per_task(tasks, p, epsilon).map(f64::from), "clones", 0)
    };
    // Ψ counts at least d, so eq. 2's "exactly d" is Ψ(n,c,d) − Ψ(n,c,d+1), where it prints d − 1.
    let psi = |tasks, clones, least, published| {
        let quantity = format!("eq. 1: Ψ({tasks}, {clones}, {least}) at p = .1, by hand");
        exact(CLONES, &quantity, published, groups_with_at_least(tasks, clones, least, 0.1), "probability", 6)
    };
    let straggles = |scheme: Scheme, what: &str, tasks, published| {
        let quantity = format!("{what}: straggles, {tasks} tasks of 2 clones at p = .1, by hand");
        exact(CLONES, &quantity, published, scheme.straggle_probability(tasks, 2, 0.1), "probability", 6)
    };
    Ok(vec![
        needed(1, 0.1, 0.1, 1.0),
        needed(10, 0.1, 0.05, 3.0),
        // (1 − .9²)².
        straggles(Scheme::Job, "§3.1, clones of the job", 2, 0.0361),
        // 1 − (1 − .1²)².
        straggles(Scheme::Task, "§3.1, clones of tasks", 2, 0.0199),
        // (1 − .1²)², and (.9²)².
        psi(2, 2, 1, 0.9801),
        psi(2, 2, 2, 0.6561),
        // Exactly one clone is free with .99 − .81, and then .9 of the downstream tasks; both with .81, and then .99.
        straggles(Scheme::Cac, "eq. 2, corrected, CAC", 1, 1.0 - (0.18 * 0.9 + 0.81 * 0.99)),
        straggles(Scheme::Cac, "eq. 2, corrected, CAC", 2, 1.0 - ((0.9801 - 0.6561) * 0.81 + 0.6561 * 0.9801)),
        straggles(Scheme::Cc, "eq. 3, CC", 1, 1.0 - 0.99 * 0.99),
        straggles(Scheme::Cc, "eq. 3, CC", 2, 1.0 - 0.9801 * 0.9801),
    ])
}

/// "increases by over 10% and 30%" with three clones, for 10 and 20 tasks. p is not printed; .078 gives both.
pub(super) fn fig5(_: Effort) -> Result<Vec<Finding>, Stuck> {
    let of = |tasks, published| {
        let straggles = |scheme: Scheme| scheme.straggle_probability(tasks, 3, 0.078);
        let points = straggles(Scheme::Cac).zip(straggles(Scheme::Cc)).map(|(cac, cc)| 100.0 * (cac - cc));
        exact("dolly.fig5", &format!("more often with CAC, {tasks} tasks, p = .078"), published, points, "points", 0)
    };
    Ok(vec![of(10, 13.0), of(20, 30.0)])
}
