//! Orders on their way to shims: each is looked at again after every pass, and before it is sent.

use drover_core::engine::{Engine, Pass};
use drover_core::model::{Decision, Mode, TaskId, Time, Verdict};
use std::collections::BTreeMap;

/// Orders that are neither answered nor over.
#[derive(Default)]
pub struct Orders {
    open: Vec<Decision>,
    /// Until when an earlier process's order for a task may be carried out unseen, the service's clock.
    earlier: BTreeMap<TaskId, Time>,
}

/// An order that is to be sent no more, and why; `None` where it has been answered or its end is known.
pub type CalledOff = (Decision, Option<Verdict>);

impl Orders {
    /// What is to be sent no more, as of the engine's last pass.
    pub fn review(&mut self, engine: &Engine) -> Vec<CalledOff> {
        let mut off = Vec::new();
        self.open.retain(|order| {
            let waits = engine.awaits_answer(order);
            let why = engine.revalidate(order).err().filter(|_| waits);
            let stands = waits && why.is_none();
            if !stands {
                off.push((order.clone(), why));
            }
            stands
        });
        off
    }

    /// Takes the orders that a pass came to, and names those that still stand, and those that do not: these are never sent, and hold their budget until their deadline and
    /// the answer's grace have passed, as for all that the engine knows they could have been.
    pub fn take<'a>(&mut self, engine: &Engine, pass: &'a Pass) -> (Vec<&'a Decision>, Vec<CalledOff>) {
        let (mut stand, mut off) = (Vec::new(), Vec::new());
        for order in pass.decisions.iter().filter(|decision| decision.mode == Mode::Act) {
            match self.revalidate(engine, order) {
                Ok(()) => stand.push(order),
                Err(why) => off.push((order.clone(), Some(why))),
            }
        }
        self.open.extend(stand.iter().map(|decision| (*decision).clone()));
        (stand, off)
    }

    /// No order for that task is to be sent before then.
    pub fn wait_for(&mut self, task: TaskId, until: Time) {
        let known = self.earlier.entry(task).or_default();
        *known = until.max(*known);
    }

    fn revalidate(&mut self, engine: &Engine, order: &Decision) -> Result<(), Verdict> {
        engine.revalidate(order)?;
        self.earlier.retain(|_, until| order.at < *until);
        if self.earlier.contains_key(&order.task) { Err(Verdict::CopyInFlight) } else { Ok(()) }
    }
}

#[cfg(test)]
mod tests {
    use super::super::fixture::{self, decided, own, tell};
    use super::*;
    use drover_core::model::*;

    /// An engine in mode `act` that has just ordered a copy, the second of that, and the order.
    fn ordered() -> (Engine, u64, Orders, u64) {
        let ((engine, second, pass), mut orders) = (decided(true), Orders::default());
        let id = pass.decisions[0].id;
        let (stand, off) = orders.take(&engine, &pass);
        assert_eq!((stand.iter().map(|order| order.id).collect(), off), (vec![id], vec![]));
        (engine, second, orders, id)
    }

    fn hold() -> Fact {
        let (reason, by) = ("look".into(), "ann".into());
        Fact::Held(Hold { scope: Scope::Cluster, reason, by, since: Time(100_000), until: None })
    }

    fn called_off(orders: &mut Orders, engine: &Engine) -> Vec<(u64, Option<Verdict>)> {
        orders.review(engine).into_iter().map(|(order, why)| (order.id, why)).collect()
    }

    #[test]
    fn an_order_stands_while_nothing_speaks_against_it_and_is_called_off_by_name_when_drover_acts_no_more() {
        let (mut engine, second, mut orders, id) = ordered();
        assert_eq!(called_off(&mut orders, &engine), []);
        own(&mut engine, 3, hold());
        assert_eq!(called_off(&mut orders, &engine), [(id, Some(Verdict::NotActing))]);
        tell(&mut engine, second + 1);
        assert_eq!(called_off(&mut orders, &engine), [], "once");
    }

    #[test]
    fn a_job_that_only_a_hold_keeps_from_drover_is_withheld_and_one_whose_shim_is_lost_is_not() {
        let (mut engine, second, _) = decided(true);
        let jobs = |engine: &Engine| (engine.owned(), engine.withheld().collect::<Vec<_>>());
        assert_eq!(jobs(&engine), (vec![fixture::job(1)], vec![]));
        own(&mut engine, 3, hold());
        tell(&mut engine, second + 1);
        assert_eq!(jobs(&engine), (vec![], vec![fixture::job(1)]));
        own(&mut engine, 4, Fact::Can(fixture::job(1), Capabilities::default()));
        assert_eq!(jobs(&engine), (vec![], vec![]), "a shim that is lost is no hold's doing");
    }

    #[test]
    fn an_order_that_does_not_stand_any_more_when_it_is_taken_is_called_off_by_name_and_never_sent() {
        let ((mut engine, _, pass), mut orders) = (decided(true), Orders::default());
        own(&mut engine, 3, hold());
        let (stand, off) = orders.take(&engine, &pass);
        assert_eq!((stand, off), (vec![], vec![(pass.decisions[0].clone(), Some(Verdict::NotActing))]));
        assert_eq!(called_off(&mut orders, &engine), [], "once");
    }

    #[test]
    fn an_order_waits_for_one_of_an_earlier_process_that_may_still_be_carried_out_and_no_longer() {
        for (until, stands) in [(1, false), (0, true)] {
            let ((engine, _, pass), mut orders) = (decided(true), Orders::default());
            let order = &pass.decisions[0];
            orders.wait_for(order.task, order.at + Millis(until));
            orders.wait_for(fixture::job(1).task(TaskKind::Map, 9), order.at + Millis(1));
            let (stand, off) = orders.take(&engine, &pass);
            assert_eq!((stand.len(), off.len()), (usize::from(stands), usize::from(!stands)));
            assert!(off.iter().all(|(_, why)| *why == Some(Verdict::CopyInFlight)));
        }
    }

    #[test]
    fn an_order_that_is_answered_is_done_with_and_one_that_is_not_is_too_late_in_the_end() {
        for answered in [true, false] {
            let (mut engine, second, mut orders, id) = ordered();
            if answered {
                let ack = AckFact { job: fixture::job(1), decision: id, answer: Answer::Applied, attempts: vec![1] };
                own(&mut engine, 3, Fact::Acked(ack));
                assert_eq!(called_off(&mut orders, &engine), [(id, None)]);
                continue;
            }
            tell(&mut engine, second + 7);
            assert_eq!(called_off(&mut orders, &engine), []);
            tell(&mut engine, second + 8);
            assert_eq!(called_off(&mut orders, &engine), [(id, Some(Verdict::TooLate))]);
        }
    }
}
