//! Blacklisting as Dolly was compared with (NSDI'13 §2.1.2 and §5.1): no task for a window on machines of which stragglers are to be expected. It copies nothing.
//!
//! ```text
//! 1: after each window (5 minutes or an hour) count each machine's stragglers among its tasks     estimate::odds; estimate::pace: a rate below half the median
//! 2: its p for the next window: half the window's share, half the p before                        estimate::windows, Average::close_until
//! 3: list the machines whose p is above p_b                                                       listed
//! 4: for that window start no task on them                                                        judge, which can only say so; engine::blacklist
//! ```

use super::{Judged, View};
use crate::estimate::odds::StragglerOdds;
use crate::model::{NameId, Verdict, share_of};
use serde::{Deserialize, Serialize};

/// The rule by which machines are listed.
pub const RULE: &str = "Dolly, NSDI'13 §2.1.2: predicted straggler probability above p_b";

/// What gets a machine on the list.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct BlacklistParams {
    /// p_b: predicted probability of straggling (0–1) above which a machine is listed for the window. Table 2: .3, .5 and .7.
    pub above: f64,
    /// Share (0–1) of the cluster's machines that stays below what is listed.
    pub share: f64,
    /// Tasks that the prediction is to rest on.
    pub min_evidence: f64,
    /// Copies of every policy keep off the listed machines.
    pub beside: bool,
}

impl BlacklistParams {
    /// §2.1.2's own constants and nothing else: every machine above p_b is listed (but one is left), whatever its prediction rests on.
    pub fn paper() -> BlacklistParams {
        BlacklistParams { above: 0.3, share: 1.0, min_evidence: 0.0, beside: false }
    }
}

impl Default for BlacklistParams {
    fn default() -> Self {
        BlacklistParams {
            // The best of Table 2.
            above: 0.3,
            // Hadoop's own: from a third on it drops a job's blacklist (yarn.app.mapreduce.am.job.node-blacklisting.ignore-threshold-node-percent).
            share: 0.33,
            min_evidence: 4.0,
            beside: false,
        }
    }
}

/// A listed machine.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Listed {
    /// The machine.
    pub host: NameId,
    /// Probability (0–1) that a task straggles there in this window.
    pub probability: f64,
}

/// The machines that no task of a user's jobs should go to in this window, of `machines` that take containers, which `is_node` knows: the worst first. What one user's jobs show
/// decides about that user's jobs alone.
pub fn listed(
    odds: &StragglerOdds,
    user: &str,
    machines: usize,
    is_node: impl Fn(NameId) -> bool,
    params: &BlacklistParams,
) -> Vec<Listed> {
    let straggles = odds.machines().map(|(host, machine)| (host, machine.straggles()));
    let known = straggles.filter(|(_, odds)| odds.evidence() >= params.min_evidence && odds.holds_for(user));
    let likely = known.filter_map(|(host, odds)| Some(Listed { host, probability: odds.probability()? }));
    let mut listed: Vec<Listed> =
        likely.filter(|machine| machine.probability > params.above && is_node(machine.host)).collect();
    listed.sort_by(|a, b| b.probability.total_cmp(&a.probability).then(a.host.cmp(&b.host)));
    listed.truncate(most(machines, params));
    listed
}

/// How many of so many machines may be listed: one more would reach the share.
pub fn most(machines: usize, params: &BlacklistParams) -> usize {
    (share_of(params.share, machines as u64).ceil() as usize).saturating_sub(1)
}

/// Running tasks stay where they are; whether those to come can be kept off their machine is for the job's capabilities to say.
pub fn judge(view: &View<'_>) -> Vec<Judged> {
    view.contenders
        .iter()
        .map(|contender| {
            let host = contender.task.original().and_then(|attempt| attempt.host);
            let verdict = match host.is_some_and(|host| view.listed.contains(&host)) {
                false => Verdict::MachineNotListed,
                true if view.job.can.avoid => Verdict::MachineListed,
                true => Verdict::CannotAvoid,
            };
            contender.judged(view, verdict)
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::estimate::pace::Pace;
    use crate::model::{Millis, Names, Time};

    const WINDOW: Millis = Millis(300_000);

    fn pace(host: NameId, straggled: bool) -> Pace {
        Pace { host, straggled, factor: if straggled { 3.0 } else { 1.0 } }
    }

    /// Machines by straggled and ordinary tasks in the first window; asked in the second.
    fn odds(machines: &[(u32, u32)]) -> (StragglerOdds, Vec<NameId>) {
        let (mut odds, mut names) = (StragglerOdds::new(WINDOW), Names::default());
        let mut hosts = Vec::new();
        for (number, (slow, fine)) in machines.iter().enumerate() {
            let host = names.intern(&format!("m{number}")).unwrap();
            (0..slow + fine).for_each(|task| odds.add(&pace(host, task < *slow), "ada", Time(0)));
            hosts.push(host);
        }
        odds.roll(Time(WINDOW.0));
        (odds, hosts)
    }

    fn hosts(odds: &StragglerOdds, machines: usize, params: &BlacklistParams) -> Vec<NameId> {
        listed(odds, "ada", machines, |_| true, params).iter().map(|machine| machine.host).collect()
    }

    #[test]
    fn what_can_be_done_about_a_listed_machine_is_for_the_job_to_say() {
        use crate::policy::tests::{Phase, host};
        let verdicts = |avoid| {
            let mut phase = Phase::maps(2).runs((0, 0), 1, 0.0, &[]).runs((1, 0), 2, 0.0, &[]);
            phase.job.can.avoid = avoid;
            let view = View { listed: [host(1)].into(), ..phase.view(5.0) };
            judge(&view).iter().map(|judged| judged.verdict).collect::<Vec<_>>()
        };
        assert_eq!(verdicts(true), [Verdict::MachineListed, Verdict::MachineNotListed]);
        assert_eq!(verdicts(false), [Verdict::CannotAvoid, Verdict::MachineNotListed]);
    }

    #[test]
    fn the_papers_list_holds_every_machine_above_three_tenths_but_one_whatever_little_it_rests_on() {
        let paper = BlacklistParams { above: 0.3, share: 1.0, min_evidence: 0.0, beside: false };
        assert_eq!(BlacklistParams::paper(), paper, "§2.1.2, Table 2");
    }

    #[test]
    fn machines_above_the_bound_are_listed_the_worst_first_and_one_at_the_bound_is_not() {
        let (odds, m) = odds(&[(4, 12), (8, 8), (3, 7), (16, 0)]);
        let at = |above| hosts(&odds, 100, &BlacklistParams { above, ..BlacklistParams::default() });
        assert_eq!(at(0.3), [m[3], m[1]], "three of ten is .3, not above it");
        assert_eq!(at(0.2), [m[3], m[1], m[2], m[0]]);
        assert_eq!(at(1.0), []);
    }

    #[test]
    fn what_is_listed_stays_below_a_third_of_the_machines_where_hadoop_would_drop_the_whole_list() {
        let (odds, m) = odds(&[(8, 8), (9, 7), (10, 6), (11, 5)]);
        let of = |machines| hosts(&odds, machines, &BlacklistParams::default());
        assert_eq!(of(3), [], "one of three is a third");
        assert_eq!(of(4), [m[3]]);
        assert_eq!(of(7), [m[3], m[2]]);
        assert_eq!(of(0), []);
    }

    #[test]
    fn fewer_than_seven_hundredths_of_a_hundred_machines_are_six() {
        let (odds, m) = odds(&[(8, 8); 8]);
        let params = BlacklistParams { share: 0.07, ..BlacklistParams::default() };
        assert_eq!(hosts(&odds, 100, &params), m[..6]);
    }

    #[test]
    fn what_is_no_node_and_what_another_user_alone_has_shown_takes_nobodys_place_on_the_list() {
        let (mut odds, m) = odds(&[(8, 8), (16, 0)]);
        let invented = Names::default().intern("other").unwrap();
        let params = BlacklistParams::default();
        let of = |odds: &StragglerOdds, user| {
            let all = listed(odds, user, 7, |host| host != m[1], &params);
            all.iter().map(|one| one.host).collect::<Vec<_>>()
        };
        assert_eq!(of(&odds, "ada"), [m[0]], "the worst is no node");
        assert_eq!(of(&odds, "bob"), []);
        (0..16).for_each(|_| odds.add(&pace(invented, true), "bob", Time(WINDOW.0)));
        assert_eq!(of(&odds, "ada"), [m[0]]);
    }

    #[test]
    fn a_machine_that_has_run_hardly_a_task_is_not_listed_and_a_listed_one_is_let_in_again_by_its_next_windows() {
        let (mut odds, m) = odds(&[(3, 0), (16, 0)]);
        let params = BlacklistParams::default();
        assert_eq!(hosts(&odds, 100, &params), [m[1]]);
        for window in 1..=2 {
            (0..16).for_each(|_| odds.add(&pace(m[1], false), "ada", Time(window * WINDOW.0)));
            odds.roll(Time((window + 1) * WINDOW.0));
        }
        assert_eq!(hosts(&odds, 100, &params), [], "1, then (1 + 0) / 2, then (.5 + 0) / 2");
    }
}
