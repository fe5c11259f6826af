//! What the papers leave of the budgets.

use super::GovernParams;
use crate::model::Millis;

impl GovernParams {
    /// Limits that no paper knows are lifted; LATE's own is set by [`crate::engine::EngineParams::paper`]. What keeps a job and a cluster from harm stays.
    pub fn paper() -> GovernParams {
        GovernParams {
            cluster_cap: 1.0,
            cluster_floor: 0,
            job_cap: 1.0,
            job_floor: 0,
            node_copies: 0,
            copies_per_minute: Some(0),
            copies_per_task: 0,
            futile_copies: 0,
            node_cool_down: Millis(0),
            breaker_below: 0.0,
            ..GovernParams::default()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_limit_of_drovers_own_binds_a_papers_copies_and_no_copy_of_theirs_is_futile() {
        let paper = GovernParams::paper();
        let shares = [paper.cluster_cap, paper.job_cap, paper.breaker_below];
        assert_eq!(shares, [1.0, 1.0, 0.0]);
        // Where caps are whole a floor would only let more than all be copied; of the others zero means none.
        assert_eq!([paper.cluster_floor, paper.job_floor, paper.node_copies], [0; 3]);
        assert_eq!([paper.copies_per_task, paper.futile_copies], [0; 2]);
        assert_eq!((paper.copies_per_minute, paper.node_cool_down), (Some(0), Millis(0)));
    }
}
