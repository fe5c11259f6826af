//! Which upstream output a downstream clone reads: contention-avoidance cloning, contention cloning, and delay assignment (Dolly, NSDI'13, §4).

use crate::model::{Assignment, Time};

/// A finished upstream clone's output.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Output {
    /// When it was finished.
    pub finished: Time,
    /// Clones of the reader's group that read it or have read it.
    pub readers: u32,
}

/// What a downstream clone does about one upstream clone group at a time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Step {
    /// It reads the output at that place.
    From(usize),
    /// It waits for an output of its own, until that instant at most, where there is one.
    Wait(Option<Time>),
}

/// What a downstream clone does that looks for the output of one upstream clone group, of which these are finished, at `now`. It waits since the first of them was
/// finished, or since it began itself, if that was later.
pub fn read_from(assignment: Assignment, outputs: &[Output], began: Time, now: Time) -> Step {
    let earliest = |by: fn(&Output) -> (u32, Time)| outputs.iter().enumerate().min_by_key(|(_, output)| by(output));
    let Some((first, output)) = earliest(|output| (0, output.finished)) else { return Step::Wait(None) };
    let exclusive = outputs.iter().enumerate().filter(|(_, output)| output.readers == 0);
    let own = exclusive.min_by_key(|(_, output)| output.finished).map(|(place, _)| place);
    match (assignment, own) {
        (Assignment::Contention, _) => Step::From(first),
        (_, Some(place)) => Step::From(place),
        (Assignment::Avoidance, None) => Step::Wait(None),
        (Assignment::Delay { omega }, None) => {
            let until = output.finished.max(began) + omega;
            let shared = earliest(|output| (output.readers, output.finished)).map_or(first, |(place, _)| place);
            if now < until { Step::Wait(Some(until)) } else { Step::From(shared) }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Millis;

    const DELAY: Assignment = Assignment::Delay { omega: Millis(3_000) };

    fn reads(assignment: Assignment, outputs: &[(u64, u32)], now: u64) -> Step {
        let outputs: Vec<_> =
            outputs.iter().map(|(at, readers)| Output { finished: Time(*at), readers: *readers }).collect();
        read_from(assignment, &outputs, Time(1_000), Time(now))
    }

    #[test]
    fn in_figure_4_one_downstream_clone_waits_for_the_straggling_upstream_clone_and_the_other_way_shares() {
        // U1's first clone is finished and read by D1's other clone; its second straggles.
        let one = [(10_000, 1)];
        assert_eq!(reads(Assignment::Avoidance, &one, 60_000), Step::Wait(None));
        assert_eq!(reads(Assignment::Contention, &one, 10_000), Step::From(0));
    }

    #[test]
    fn a_delayed_clone_takes_an_output_of_its_own_at_once_and_shares_the_least_read_one_after_omega() {
        assert_eq!(reads(DELAY, &[(10_000, 1), (11_000, 0)], 11_000), Step::From(1));
        assert_eq!(reads(DELAY, &[(10_000, 1)], 12_999), Step::Wait(Some(Time(13_000))));
        assert_eq!(reads(DELAY, &[(10_000, 2), (11_000, 1)], 13_000), Step::From(1));
        assert_eq!(reads(DELAY, &[(10, 1)], 3_999), Step::Wait(Some(Time(4_000))), "it began at 1 s itself");
    }

    #[test]
    fn without_an_output_all_wait_and_among_several_of_its_own_the_first_is_read() {
        for assignment in [Assignment::Avoidance, Assignment::Contention, DELAY] {
            assert_eq!(reads(assignment, &[], 9), Step::Wait(None));
            assert_eq!(reads(assignment, &[(20_000, 0), (10_000, 0)], 20_000), Step::From(1));
        }
    }
}
