//! What Dolly's papers say of their formulas (NSDI'13, §3.1, §3.2, §4.2). They print no number that these give but Fig. 5's; what comes out by hand is tested where the formulas stand.

use super::bound;
use crate::simulation::reproduce::{Effort, Finding};
use drover_core::estimate::straggle::{Scheme, clones_per_task, job_clones};
use drover_core::sim::Stuck;

const CLONES: &str = "dolly.clones";
const FIG5: &str = "dolly.fig5";
/// "We aim for an ε of 5%" (§3.2).
const EPSILON: f64 = 0.05;
/// Which §3 does not print.
const P: f64 = 0.1;

/// Fig. 3's jobs: "task-level cloning requires fewer clones than job-level cloning", and "can be at most ε" (footnote 3).
pub(super) fn clones(_: Effort) -> Result<Vec<Finding>, Stuck> {
    let fewer = |tasks| {
        let quantity = format!("§3.1, Fig. 3: clones of the job needed beyond clones of tasks, {tasks} tasks, p = {P}");
        let all = job_clones(tasks, P, EPSILON).map(f64::from).zip(clones_per_task(tasks, P, EPSILON).map(f64::from));
        bound(CLONES, &quantity, None, all.map(|(job, task)| job - task), "clones", |more| more > 0.0)
    };
    let risk = |tasks| {
        let quantity =
            format!("§3.2: risk that {tasks} tasks with as many clones straggle, p = {P}, at most ε = {EPSILON}");
        let clones = clones_per_task(tasks, P, EPSILON);
        let straggles = clones.and_then(|clones| Scheme::Task.straggle_probability(tasks, clones, P));
        bound(CLONES, &quantity, None, straggles, "probability", |risk| risk <= EPSILON)
    };
    Ok([10, 20, 50].into_iter().flat_map(|tasks| [fewer(tasks), risk(tasks)]).collect())
}

/// "increases by over 10% and 30%" with three clones, for 10 and 20 tasks. p is not printed; .08 gives both.
pub(super) fn fig5(_: Effort) -> Result<Vec<Finding>, Stuck> {
    let of = |tasks, over: f64| {
        let straggles = |scheme: Scheme| scheme.straggle_probability(tasks, 3, 0.08);
        let points = straggles(Scheme::Cac).zip(straggles(Scheme::Cc)).map(|(cac, cc)| 100.0 * (cac - cc));
        let quantity = format!("more often with CAC, {tasks} tasks, p = .08: over {over}");
        bound(FIG5, &quantity, Some(over), points, "points", |points| points > over)
    };
    Ok(vec![of(10, 10.0), of(20, 30.0)])
}
