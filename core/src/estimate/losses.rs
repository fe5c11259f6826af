//! How likely machines are to lose outputs, for one user's jobs (Mantri, OSDI'10, §5.3).

use super::machine::{Machine, drawn_odds};
use super::odds::StragglerOdds;
use crate::model::NameId;

/// What is known of losses on machines, for one user's jobs.
#[derive(Debug, Clone, Copy)]
pub struct Losses<'a> {
    odds: &'a StragglerOdds,
    user: &'a str,
    of_any: Option<f64>,
}

impl<'a> Losses<'a> {
    /// One pass over the machines.
    pub fn of(odds: &'a StragglerOdds, user: &'a str) -> Losses<'a> {
        let known = odds.machines().map(|(_, machine)| machine.loses_output()).filter(|lost| lost.holds_for(user));
        let (lost, outputs) = known.fold((0.0, 0.0), |(lost, outputs), odds| {
            (lost + odds.probability().unwrap_or(0.0) * odds.evidence(), outputs + odds.evidence())
        });
        Losses { odds, user, of_any: (outputs > 0.0).then(|| lost / outputs) }
    }

    /// r of any machine; `None` where nothing is known of losses.
    pub fn of_any(&self) -> Option<f64> {
        self.of_any
    }

    /// r (Mantri §5.3) of one machine, 0–1: "estimated for a machine over a long period of time". What few outputs have shown of it is drawn towards any machine's.
    pub fn on(&self, host: NameId) -> Option<f64> {
        let of_any = self.of_any?;
        let own = self.odds.machine(host).map(Machine::loses_output);
        Some(own.and_then(|lost| drawn_odds(lost, self.user, of_any)).unwrap_or(of_any))
    }
}

#[cfg(test)]
mod tests {
    use super::super::lost::tests::{Told, job};
    use super::*;
    use crate::model::{AttemptState, Millis, Time};

    #[test]
    fn a_machines_losses_weigh_by_the_day() {
        use AttemptState::*;
        const HOUR: u64 = 3_600_000;
        let lossy: [Told<'_>; 2] = [(0, 1, 1_000, 5_000, &[Succeeded, Killed]), (1, 2, 9_000, 12_000, &[Succeeded])];
        let mut odds = StragglerOdds::new(Millis(300_000));
        let (lossy, host) = job(1, &lossy);
        odds.learn_losses(&lossy, Time(HOUR));
        odds.learn_losses(&job(1, &[(0, 1, 1_000, 5_000, &[Succeeded])]).0, Time(20 * HOUR));
        let lost = |odds: &StragglerOdds, n| odds.machine(host(n)).unwrap().loses_output().probability();
        assert_eq!((lost(&odds, 1), lost(&odds, 2)), (Some(0.5), Some(0.0)));
        odds.learn_losses(&job(1, &[(0, 1, 1_000, 5_000, &[Succeeded])]).0, Time(30 * HOUR));
        odds.roll(Time(49 * HOUR));
        assert_eq!(lost(&odds, 1), Some(0.25), "(.5 + 0) / 2");
    }

    #[test]
    fn few_outputs_of_a_machine_tell_little_and_one_users_losses_nothing_of_anothers() {
        use AttemptState::*;
        let lossy: [Told<'_>; 2] = [(0, 1, 1_000, 5_000, &[Succeeded, Killed]), (1, 2, 9_000, 12_000, &[Succeeded])];
        let mut odds = StragglerOdds::new(Millis(300_000));
        let (lossy, host) = job(1, &lossy);
        odds.learn_losses(&lossy, Time(1));
        let of = |user, n| Losses::of(&odds, user).on(host(n));
        assert_eq!(Losses::of(&odds, "alice").of_any(), Some(0.5));
        // (1 + 10 · .5) / 11 and (0 + 10 · .5) / 11.
        assert_eq!([1, 2, 3].map(|n| of("alice", n)), [Some(6.0 / 11.0), Some(5.0 / 11.0), Some(0.5)]);
        assert_eq!((of("bob", 1), Losses::of(&odds, "bob").of_any()), (None, None));
    }

    #[test]
    fn any_machines_losses_are_those_of_all_outputs_and_not_the_mean_of_the_machines() {
        use AttemptState::*;
        const LOST: &[AttemptState] = &[Succeeded, Killed];
        let again: Told<'_> = (2, 2, 9_000, 12_000, &[Succeeded]);
        let lossy = [(0, 1, 1_000, 5_000, LOST), (1, 1, 1_000, 5_000, LOST), again];
        let mut odds = StragglerOdds::new(Millis(300_000));
        odds.learn_losses(&job(1, &lossy).0, Time(1));
        assert_eq!(Losses::of(&odds, "alice").of_any(), Some(2.0 / 3.0));
    }
}
