//! What is known of one machine: how often and how far its tasks fall behind (Dolly, NSDI'13 §2.1.2; Mantri, OSDI'10, §5.5), and how often it loses their outputs (§5.3).

use super::pace::Pace;
use super::windows::{Average, Idle, Odds};
use serde::{Deserialize, Serialize};

/// A task that ran longer than this many typical ones of its phase counts as that long, and so likewise for a shorter one: no task alone decides what a machine's pace is.
const PACE_MAX: f64 = 10.0;

/// How many typical ones a task counts as on its machine.
pub fn pace(factor: f64) -> f64 {
    factor.clamp(1.0 / PACE_MAX, PACE_MAX)
}

/// What few tasks have shown of a machine, drawn towards what holds of any: that weighs as much as ten tasks.
pub fn drawn(shown: f64, tasks: f64, of_any: f64) -> f64 {
    const WEIGHT: f64 = 10.0;
    (shown * tasks + of_any * WEIGHT) / (tasks + WEIGHT)
}

/// What odds of a machine tell a user's jobs, drawn likewise; `None` where they rest on nothing, or on another user's jobs alone.
pub fn drawn_odds(odds: &Odds, user: &str, of_any: f64) -> Option<f64> {
    let known = Some(odds).filter(|odds| odds.holds_for(user))?;
    Some(drawn(known.probability()?, known.evidence(), of_any))
}

/// What is known of one machine.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Machine {
    /// Stragglers, by windows of the length the odds were made with.
    #[serde(flatten)]
    straggles: Odds,
    /// Stragglers, by the hour.
    #[serde(default)]
    hourly: Odds,
    /// Mean pace of the same tasks, by the hour.
    #[serde(default)]
    pace: Average,
    /// Outputs lost, by the day.
    #[serde(default)]
    lost: Odds,
}

impl Machine {
    /// p_m: that a task on it straggles.
    pub fn straggles(&self) -> &Odds {
        &self.straggles
    }

    /// The same by the hour.
    pub fn hourly(&self) -> &Odds {
        &self.hourly
    }

    /// locationFactor (Mantri §5.5, eq. 3): how many times longer it takes for its tasks' data than their phases typically do; more than 1 is slower. It rests on what
    /// [`Machine::hourly`] does. `None` without any task.
    pub fn location_factor(&self) -> Option<f64> {
        self.pace.mean()
    }

    /// The same in the last hour that is over and had tasks.
    pub fn last_location_factor(&self) -> Option<f64> {
        self.pace.last()
    }

    /// r (Mantri §5.3): that the output of a map that succeeded on it is lost before the job ends.
    pub fn loses_output(&self) -> &Odds {
        &self.lost
    }

    /// Counts one more task on it.
    pub(super) fn add(&mut self, windows: &Windows, idle: Idle, pace: &Pace, user: &str) {
        self.straggles.close_until(windows.machine, idle);
        self.straggles.add(windows.machine, pace.straggled, user);
        self.hourly.add(windows.hour, pace.straggled, user);
        self.pace.add(windows.hour, self::pace(pace.factor));
    }

    /// Counts one more output on it.
    pub(super) fn add_output(&mut self, windows: &Windows, lost: bool, user: &str) {
        self.lost.add(windows.day, lost, user);
    }

    /// Ends the windows before these.
    pub(super) fn close_until(&mut self, windows: &Windows, idle: Idle) {
        self.straggles.close_until(windows.machine, idle);
        self.hourly.close_until(windows.hour, Idle::Nothing);
        self.pace.close_until(windows.hour);
        self.lost.close_until(windows.day, Idle::Nothing);
    }

    /// Nothing is left of what was known of it.
    pub(super) fn is_spent(&self) -> bool {
        self.straggles.is_spent() && self.hourly.is_spent() && self.lost.is_spent()
    }
}

/// Numbers of the windows that an instant lies in.
pub(super) struct Windows {
    /// Of the odds' own length.
    pub machine: u64,
    /// Of an hour.
    pub hour: u64,
    /// Of a day.
    pub day: u64,
}

#[cfg(test)]
mod tests {
    use super::super::pace::tests::host;
    use super::*;

    #[test]
    fn what_ten_tasks_have_shown_of_a_machine_counts_for_half() {
        assert_eq!([0.0, 10.0, 90.0].map(|tasks| drawn(3.0, tasks, 1.0)), [1.0, 2.0, 2.8]);
    }

    #[test]
    fn no_task_counts_as_more_than_ten_times_faster_or_slower_than_typical() {
        let factor = |factor| {
            let mut machine = Machine::default();
            let windows = Windows { machine: 1, hour: 1, day: 1 };
            machine.add(&windows, Idle::Nothing, &Pace { host: host(1), factor, straggled: false }, "ann");
            machine.location_factor().unwrap()
        };
        assert_eq!([0.01, 0.5, 1.0, 9.0, f64::INFINITY].map(factor), [0.1, 0.5, 1.0, 9.0, 10.0]);
    }
}
