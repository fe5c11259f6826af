//! Who asks first: the clones of a reduce poll one list of outputs (Dolly, NSDI'13, §5.1), and where two of them look for a map's at the same instant, chance decides, map by map.

use super::attempt::{AttemptKey, Stage};
use super::draw::Purpose;
use super::job::Job;
use super::task::task_key;
use super::world::World;
use crate::model::Time;
use crate::policy::dolly::Output;

impl World<'_> {
    /// Marks of a map's outputs those that other clones of the reduce take before `key` does, as they look for one now, too, and it is their turn.
    pub(super) fn take_turns(
        &self,
        job: &Job,
        (key, map): (AttemptKey, usize),
        others: &[AttemptKey],
        outputs: &mut [Output],
        now: Time,
    ) {
        let turn = |key: AttemptKey| {
            let attempt = self.attempts.get(key);
            let of_task = [job.of.key(), task_key(attempt.kind, attempt.index), map as u64];
            self.draws.of(Purpose::Polls, of_task).part(attempt.number.into()).uniform()
        };
        let looks = |other: &&AttemptKey| {
            let attempt = self.attempts.get(**other);
            let begins = attempt.stage == Stage::StartUp && attempt.goes_on_until(now) == Some(now);
            (begins || attempt.stage == Stage::Copy) && attempt.reads.get(map).copied().flatten().is_none()
        };
        for _ in others.iter().filter(looks).filter(|other| turn(**other) < turn(key)) {
            let own = outputs.iter_mut().filter(|output| output.readers == 0);
            if let Some(first) = own.min_by_key(|output| output.finished) {
                first.readers += 1;
            }
        }
    }
}
