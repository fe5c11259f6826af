//! Machines that a job's new containers are kept off: what its AM was last asked, what it answered, and when there is more to say.

use super::GovernParams;
use crate::model::{Answer, Job, Millis, Mode, NameId, Time};
use serde::{Deserialize, Serialize};

/// What was last said of it to a job.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Avoiding {
    /// The decision.
    pub decision: u64,
    /// The machines, in place of all that were named before.
    pub hosts: Vec<NameId>,
    /// Only said, or asked of the AM.
    pub mode: Mode,
    /// The AM.
    pub incarnation: u64,
    /// When it is too late to begin, the service's clock.
    pub deadline: Time,
    /// When it ends by itself, the service's clock.
    pub until: Time,
    /// The newest answer.
    pub answer: Option<Answer>,
    /// How often the same was refused before.
    #[serde(default)]
    pub refused: u32,
}

impl Avoiding {
    /// What is refused time and again is asked for less and less often: at most at 64 times the first interval.
    const DOUBLINGS_MAX: u32 = 6;

    /// Is there anything new to say to the job at `now`, the service's clock, where these are the machines to avoid? An answer that may be lost is asked for again: the whole list is named
    /// each time, so nothing is done twice.
    pub fn is_over(&self, hosts: &[NameId], mode: Mode, job: &Job, params: &GovernParams, now: Time) -> bool {
        if self.mode != mode || self.incarnation != job.incarnation {
            // A new AM's list is empty, and what an AM does ends with its lease.
            return !hosts.is_empty();
        }
        let changed = self.hosts != hosts;
        if mode != Mode::Act {
            return changed;
        }
        match self.answer {
            None => now > self.deadline + params.answer_grace,
            Some(Answer::Applied) => changed || (!hosts.is_empty() && now >= self.renew_at()),
            Some(_) if changed => now >= self.deadline + params.cool_down,
            Some(_) => !hosts.is_empty() && now >= self.deadline + self.rests(params),
        }
    }

    /// After a refusal.
    fn rests(&self, params: &GovernParams) -> Millis {
        params.cool_down.scaled(f64::from(1_u32 << self.refused.min(Self::DOUBLINGS_MAX)))
    }

    /// How often it will have been refused when these machines are named next.
    pub fn refusals(&self, hosts: &[NameId]) -> u32 {
        let again = self.hosts == hosts && self.answer.is_some_and(|answer| answer != Answer::Applied);
        if again { self.refused + 1 } else { 0 }
    }

    /// Half of its time before it ends.
    fn renew_at(&self) -> Time {
        self.deadline + self.until.since(self.deadline).scaled(0.5)
    }

    /// Takes an answer in; a refusal that comes after it was begun says that it has ended.
    pub fn hear(&mut self, decision: u64, answer: Answer) {
        if self.decision == decision {
            self.answer = Some(answer);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::govern::flight::tests::job;
    use crate::model::{Millis, Names};

    fn host() -> NameId {
        Names::default().intern("nm2").unwrap()
    }

    /// Asked until the eighth second, for until the hundred and eighth.
    fn asked(answer: Option<Answer>) -> Avoiding {
        let (deadline, until) = (Time(8_000), Time(108_000));
        Avoiding {
            decision: 3,
            hosts: vec![host()],
            mode: Mode::Act,
            incarnation: job().incarnation,
            deadline,
            until,
            answer,
            refused: 0,
        }
    }

    /// Is there more to say at that second, of one machine or none?
    fn over(avoiding: &Avoiding, hosts: &[NameId], second: u64) -> bool {
        let params = GovernParams { answer_grace: Millis(5_000), cool_down: Millis(60_000), ..GovernParams::default() };
        avoiding.is_over(hosts, Mode::Act, &job(), &params, Time(second * 1_000))
    }

    #[test]
    fn an_order_whose_answer_may_be_lost_is_given_again_and_not_before() {
        assert_eq!([13, 14].map(|second| over(&asked(None), &[host()], second)), [false, true]);
        assert!(!over(&asked(None), &[], 13), "what is on its way is waited for");
    }

    #[test]
    fn what_is_in_force_is_said_again_when_it_changes_or_half_its_time_is_over() {
        let in_force = asked(Some(Answer::Applied));
        assert_eq!([57, 58].map(|second| over(&in_force, &[host()], second)), [false, true]);
        assert!(over(&in_force, &[], 9), "it is lifted");
        let lifted = Avoiding { hosts: Vec::new(), ..in_force };
        assert!(!over(&lifted, &[], 9_999) && over(&lifted, &[host()], 9));
    }

    #[test]
    fn one_that_is_refused_is_tried_again_after_a_while() {
        let refused = asked(Some(Answer::TooManyNodes));
        assert_eq!([67, 68].map(|second| over(&refused, &[host()], second)), [false, true]);
        let lifted = Avoiding { hosts: Vec::new(), ..refused };
        assert!(!over(&lifted, &[], 9_999), "nothing is left to lift");
    }

    #[test]
    fn what_is_refused_again_and_again_is_tried_less_often_until_it_is_something_else() {
        let refused = |times| Avoiding { refused: times, ..asked(Some(Answer::TooManyNodes)) };
        assert_eq!([127, 128].map(|second| over(&refused(1), &[host()], second)), [false, true]);
        assert_eq!([3_847, 3_848].map(|second| over(&refused(9), &[host()], second)), [false, true]);
        assert!(over(&refused(9), &[], 68), "another list is as new");
        assert_eq!([refused(1).refusals(&[host()]), refused(1).refusals(&[])], [2, 0]);
        assert_eq!(asked(Some(Answer::Applied)).refusals(&[host()]), 0);
    }

    #[test]
    fn another_am_or_mode_begins_with_an_empty_list() {
        let params = GovernParams::default();
        let mut later = job();
        later.incarnation += 1;
        let said = |job: &Job, mode, hosts: &[NameId]| {
            asked(Some(Answer::Applied)).is_over(hosts, mode, job, &params, Time(9_000))
        };
        assert!(said(&later, Mode::Act, &[host()]) && !said(&later, Mode::Act, &[]));
        assert!(said(&job(), Mode::Advise, &[host()]) && !said(&job(), Mode::Advise, &[]));
        let mut advised = Avoiding { mode: Mode::Advise, answer: None, ..asked(None) };
        assert!(!advised.is_over(&[host()], Mode::Advise, &job(), &params, Time(999_000)), "it is said once");
        assert!(advised.is_over(&[], Mode::Advise, &job(), &params, Time(9_000)));
        advised.hear(2, Answer::Applied);
        assert_eq!(advised.answer, None, "the word on another");
    }
}
