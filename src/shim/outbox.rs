//! A session's actions: each repeated until it is answered or too late, and each answer passed on once.

use super::reply::{Action, On, What};
use drover_core::model::{Action as Decided, Answer, Decision, JobId, Measure, MeasurePlan, Millis, Time};
use std::collections::BTreeMap;

/// Actions in one answer; the others wait for the next one.
const AT_ONCE: usize = 64;
/// Bounds of the protocol.
const COPIES_MAX: u32 = 8;
const LIVE_MAX: u32 = 16;
/// How often a copy that is given a host to avoid may be moved on. Each takes a third of a second; the places that copies have just left on a slow host are offered first,
/// and may be several.
const MOVES: u32 = 6;

/// What a decision asks of a shim.
#[derive(Debug, Clone, PartialEq)]
pub struct Order {
    /// The decision.
    pub decision: u64,
    /// The job.
    pub job: JobId,
    /// What is to be done.
    pub what: What,
    /// When it is too late, the service's clock.
    pub deadline: Time,
}

impl Order {
    /// What this decision asks; `None` where no shim can do it.
    pub fn of(decision: &Decision) -> Option<Order> {
        let on = On {
            k: decision.task.kind.letter(),
            i: decision.task.index,
            live: decision.live.clamp(1, LIVE_MAX),
            avoid: decision.avoid.iter().take(Decision::HOSTS_MAX).cloned().collect(),
            moves: MOVES,
        };
        let what = match decision.action {
            Decided::Duplicate => What::Duplicate {
                on,
                copies: decision.copies.clamp(1, COPIES_MAX),
                prefer: decision.prefer.iter().take(Decision::HOSTS_MAX).cloned().collect(),
            },
            Decided::Restart => What::Restart {
                on,
                n: decision.attempt.number,
                below: decision.numbers.no_gain_from(),
                restarts: decision.restarts.min(Decision::RESTARTS_MAX),
            },
            Decided::Withdraw => return None,
        };
        Some(Order { decision: decision.id, job: decision.job, what, deadline: decision.deadline })
    }

    /// What this measure asks; `None` where no order carries it out.
    pub fn of_measure(measure: &Measure) -> Option<Order> {
        let order = measure.order?;
        let what = match measure.plan.as_ref()? {
            MeasurePlan::Avoid { hosts, lasts } => What::Avoid { avoid: hosts.clone(), for_ms: lasts.0 },
            MeasurePlan::Rerun { outputs, .. } => {
                let pairs = outputs.iter().map(|output| (output.task.index, output.number));
                What::Rerun { outputs: pairs.collect() }
            }
            _ => return None,
        };
        Some(Order { decision: order.decision, job: measure.job, what, deadline: order.deadline })
    }

    fn action(&self, incarnation: &str, left: Millis) -> Action {
        Action { id: action_id(incarnation, self.decision), what: self.what.clone(), deadline_ms: left.0 }
    }
}

/// The id of a decision's action, unique over all processes of the service.
pub fn action_id(incarnation: &str, decision: u64) -> String {
    format!("{incarnation}-{decision}")
}

/// The process and the decision of an action.
pub fn decision_of(id: &str) -> Option<(&str, u64)> {
    let (incarnation, decision) = id.rsplit_once('-')?;
    Some((incarnation, decision.parse().ok()?))
}

/// What an answer to an action is worth.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum News {
    /// It says something new.
    New,
    /// It was said before.
    Repeated,
    /// The session was never sent such an action, or it is forgotten.
    Unknown,
}

/// The actions of one session, by decision.
#[derive(Debug, Default)]
pub struct Outbox(BTreeMap<u64, Entry>);

#[derive(Debug)]
struct Entry {
    order: Order,
    sent: bool,
    /// What it asks for is settled without it.
    over: bool,
    answer: Option<(Answer, Vec<u32>)>,
}

impl Entry {
    fn is_open(&self, now: Time) -> bool {
        self.answer.is_none() && !self.over && self.order.deadline > now
    }
}

impl Outbox {
    /// Takes an order. False when there are `max` already that are still open; those that are done make room, the oldest first.
    pub fn put(&mut self, order: Order, max: usize, now: Time) -> bool {
        if self.0.len() >= max {
            let done = self.0.iter().find(|(_, entry)| !entry.is_open(now)).map(|(decision, _)| *decision);
            match done {
                Some(decision) => self.0.remove(&decision),
                None => return false,
            };
        }
        self.0.insert(order.decision, Entry { order, sent: false, over: false, answer: None });
        true
    }

    /// The actions for an answer that goes out now, none of which may last longer than the lease; and the decisions that are sent for the first time.
    pub fn due(&mut self, incarnation: &str, lease: Millis, now: Time) -> (Vec<Action>, Vec<u64>) {
        let (mut actions, mut first) = (Vec::new(), Vec::new());
        for entry in self.0.values_mut().filter(|entry| entry.is_open(now)).take(AT_ONCE) {
            let left = entry.order.deadline.since(now).min(lease);
            actions.push(entry.order.action(incarnation, left));
            if !std::mem::replace(&mut entry.sent, true) {
                first.push(entry.order.decision);
            }
        }
        (actions, first)
    }

    /// Sends an order no more: what has become of its copies is known. An answer to one that was sent still counts.
    pub fn call_off(&mut self, decision: u64) {
        if let Some(entry) = self.0.get_mut(&decision) {
            entry.over = true;
        }
    }

    /// Takes note of an answer.
    pub fn answered(&mut self, decision: u64, answer: Answer, attempts: &[u32]) -> News {
        let Some(entry) = self.0.get_mut(&decision).filter(|entry| entry.sent) else { return News::Unknown };
        let known = entry.answer.as_ref();
        // A request may come again after a newer one has moved the copy on.
        let older = known.is_some_and(|(last, _)| *last == Answer::Moved && answer != Answer::Moved);
        if older || known.is_some_and(|(last, numbers)| *last == answer && numbers == attempts) {
            return News::Repeated;
        }
        entry.answer = Some((answer, attempts.to_vec()));
        News::New
    }

    /// Is an action to be sent, or an answer to come?
    pub fn is_waiting(&self, now: Time) -> bool {
        self.0.values().any(|entry| entry.is_open(now))
    }
}

#[cfg(test)]
mod tests {
    use super::super::fixture::decision;
    use super::*;
    use drover_core::model::{AppId, Numbers, TaskKind};

    fn job() -> JobId {
        JobId(AppId { cluster: 1, seq: 1 })
    }

    fn order(decision: u64, deadline: u64) -> Order {
        let on = On { k: 'r', i: 7, live: 1, avoid: vec!["nm2".into()], moves: MOVES };
        Order {
            decision,
            job: job(),
            what: What::Duplicate { on, copies: 1, prefer: vec!["nm3".into()] },
            deadline: Time(deadline),
        }
    }

    #[test]
    fn what_a_shim_can_do_becomes_an_order_and_a_withdrawal_does_not() {
        let task = job().task(TaskKind::Reduce, 7);
        let (time_left, fresh_copy) = (Some(Millis(40_000)), Some(Millis(10_000)));
        let numbers = Numbers { score: 0.2, time_left, fresh_copy, ..Numbers::default() };
        let decided = |action| Decision {
            avoid: vec!["nm2".into()],
            prefer: vec!["nm3".into()],
            deadline: Time(9_000),
            numbers,
            ..decision(task, action, Time(1_000))
        };
        let orders = Decided::ALL.map(|action| Order::of(&decided(action)));
        let What::Duplicate { on, .. } = order(1, 9_000).what else { panic!("a copy") };
        let restart = What::Restart { on, n: 0, below: 0.8, restarts: 0 };
        assert_eq!(orders, [Some(order(1, 9_000)), Some(Order { what: restart, ..order(1, 9_000) }), None]);
    }

    #[test]
    fn what_a_decision_asks_for_beyond_the_protocols_bounds_is_cut_down_to_them() {
        let hosts: Vec<String> = (0..65).map(|n| format!("nm{n}")).collect();
        let asked = |action, times: u32| {
            let (avoid, prefer) = (hosts.clone(), hosts.clone());
            let decided = decision(job().task(TaskKind::Map, 0), action, Time(1_000));
            let decided = Decision { live: 17 * times, copies: 9 * times, restarts: 17 * times, ..decided };
            Order::of(&Decision { avoid, prefer, ..decided }).unwrap().what
        };
        for (times, expected) in [(1, (16, 8)), (0, (1, 1))] {
            let What::Duplicate { on, copies, prefer } = asked(Decided::Duplicate, times) else { panic!("a copy") };
            assert_eq!(((on.live, copies), on.avoid.len(), prefer.len()), (expected, 64, 64));
        }
        let What::Restart { on, restarts, .. } = asked(Decided::Restart, 1) else { panic!("a restart") };
        assert_eq!((on.live, on.avoid.len(), restarts), (16, 64, 16));
    }

    #[test]
    fn one_answer_carries_so_many_actions_at_most_and_the_others_come_once_those_are_answered() {
        let mut outbox = Outbox::default();
        assert!((1..=65).all(|decision| outbox.put(order(decision, 9_000), 100, Time(1_000))));
        let mut due = || outbox.due("ab", Millis(5_000), Time(1_000));
        assert_eq!(due().1, (1..=64).collect::<Vec<_>>());
        assert_eq!((due().0.len(), due().1), (64, vec![]));
        outbox.answered(1, Answer::Applied, &[1]);
        assert_eq!(outbox.due("ab", Millis(5_000), Time(1_000)).1, [65]);
    }

    #[test]
    fn an_action_is_repeated_until_it_is_answered_and_its_first_sending_is_told_once() {
        let mut outbox = Outbox::default();
        assert!(outbox.put(order(17, 9_000), 10, Time(1_000)));
        let (actions, first) = outbox.due("ab", Millis(5_000), Time(1_000));
        assert_eq!((actions[0].id.as_str(), actions[0].deadline_ms, first), ("ab-17", 5_000, vec![17]));
        let (actions, first) = outbox.due("ab", Millis(5_000), Time(8_000));
        assert_eq!((actions[0].id.as_str(), actions[0].deadline_ms, first), ("ab-17", 1_000, vec![]));
        assert!(outbox.is_waiting(Time(8_000)));
        assert_eq!(outbox.answered(17, Answer::Applied, &[1]), News::New);
        assert!(outbox.due("ab", Millis(5_000), Time(8_000)).0.is_empty() && !outbox.is_waiting(Time(8_000)));
    }

    #[test]
    fn what_is_too_late_is_sent_no_more_but_its_answer_still_counts() {
        let mut outbox = Outbox::default();
        outbox.put(order(1, 2_000), 10, Time(1_000));
        outbox.due("ab", Millis(5_000), Time(1_999));
        assert!(outbox.due("ab", Millis(5_000), Time(2_000)).0.is_empty() && !outbox.is_waiting(Time(2_000)));
        assert_eq!(outbox.answered(1, Answer::PastDeadline, &[]), News::New);
        assert_eq!(outbox.answered(1, Answer::PastDeadline, &[]), News::Repeated);
    }

    #[test]
    fn what_is_called_off_is_sent_no_more_but_its_answer_still_counts() {
        let mut outbox = Outbox::default();
        outbox.put(order(1, 9_000), 10, Time(1_000));
        outbox.put(order(2, 9_000), 10, Time(1_000));
        outbox.call_off(2);
        assert_eq!(outbox.due("ab", Millis(5_000), Time(1_000)).1, [1], "the task of the second has ended meanwhile");
        outbox.call_off(1);
        assert!(outbox.due("ab", Millis(5_000), Time(1_000)).0.is_empty() && !outbox.is_waiting(Time(1_000)));
        assert_eq!(outbox.answered(1, Answer::TaskEnded, &[]), News::New);
        outbox.call_off(3);
    }

    #[test]
    fn an_answer_counts_once_and_a_move_is_not_taken_back_by_a_late_repetition() {
        let mut outbox = Outbox::default();
        outbox.put(order(1, 9_000), 10, Time(1_000));
        assert_eq!(outbox.answered(1, Answer::Applied, &[1]), News::Unknown, "it was not sent yet");
        outbox.due("ab", Millis(5_000), Time(1_000));
        assert_eq!(outbox.answered(1, Answer::Applied, &[1]), News::New);
        assert_eq!(outbox.answered(1, Answer::Applied, &[1]), News::Repeated);
        assert_eq!(outbox.answered(1, Answer::Moved, &[2]), News::New);
        assert_eq!(outbox.answered(1, Answer::Applied, &[1]), News::Repeated);
        assert_eq!(outbox.answered(1, Answer::Moved, &[3]), News::New);
        assert_eq!(outbox.answered(2, Answer::Applied, &[1]), News::Unknown);
    }

    #[test]
    fn what_is_done_makes_room_and_what_is_open_does_not() {
        let mut outbox = Outbox::default();
        assert!(outbox.put(order(1, 9_000), 2, Time(0)) && outbox.put(order(2, 3_000), 2, Time(0)));
        assert!(!outbox.put(order(3, 9_000), 2, Time(0)));
        assert!(outbox.put(order(3, 9_000), 2, Time(3_000)), "the second is past its deadline");
        assert!(!outbox.put(order(4, 9_000), 2, Time(3_000)));
        outbox.due("ab", Millis(5_000), Time(3_000));
        outbox.answered(1, Answer::Committing, &[]);
        assert!(outbox.put(order(4, 9_000), 2, Time(3_000)));
    }

    #[test]
    fn an_actions_id_names_its_process_and_decision_and_nothing_else_does() {
        assert_eq!(decision_of(&action_id("ab", 17)), Some(("ab", 17)));
        for id in ["ab17", "ab-", "ab-x", ""] {
            assert_eq!(decision_of(id), None, "{id}");
        }
    }
}
