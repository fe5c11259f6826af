//! Queues that modes and holds name and the cluster has not, or has not any more: nothing is kept from their jobs.

use crate::yarn::facts::queues::tells_all;
use drover_core::engine::Engine;
use drover_core::model::queue_name::Known;
use drover_core::model::{QueueFact, Scope, Time};
use std::collections::BTreeSet;

/// The names that are known to mean no queue.
#[derive(Debug, Default)]
pub(super) struct Named(BTreeSet<String>);

impl Named {
    /// Compares them with a listing, and says once of each that it means no queue. How many they are; `None` where the listing does not tell.
    pub(super) fn compare(&mut self, queues: &[QueueFact], engine: &Engine, now: Time) -> Option<usize> {
        if !tells_all(queues.len()) {
            return None;
        }
        let modes = engine.params().govern.queue_modes.keys();
        let holds = engine.cluster().holds.values().filter(|hold| hold.stands(now));
        let held = holds.filter_map(|hold| match &hold.scope {
            Scope::Queue(name) => Some(name),
            _ => None,
        });
        let known = Known::of(queues.iter().map(|queue| queue.name.as_str()));
        let unknown: BTreeSet<String> = modes.chain(held).filter(|name| !known.has(name)).cloned().collect();
        for queue in unknown.difference(&self.0) {
            tracing::warn!(
                queue,
                "a mode or a hold names this queue and the cluster has none of that name, so that it keeps nothing from being done: was it renamed? \
                 drover doctor tells which are there"
            );
        }
        for queue in self.0.difference(&unknown) {
            tracing::info!(queue, "the cluster has this queue again, or nothing names it any more");
        }
        self.0 = unknown;
        Some(self.0.len())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::service::fixture::{job, seen, watched};
    use drover_core::engine::EngineParams;
    use drover_core::model::{Channel, Fact, Hold, Mode, Observation};

    /// What the service tells the engine of itself, and of the cluster.
    fn told(channel: Channel, seq: u64, fact: Fact) -> Observation {
        let mut told = seen(job(1), seq, 200_000, fact);
        (told.source.channel, told.source.app) = (channel, None);
        told
    }

    #[test]
    fn a_queue_that_is_held_and_is_none_is_counted_while_the_hold_stands() {
        let mut desk = watched();
        let hold = |until| Hold {
            scope: Scope::Queue("etl".into()),
            reason: "it is busy".into(),
            by: "ann".into(),
            since: Time(0),
            until,
        };
        for (seq, until, unknown) in [(1, None, 1), (2, Some(Time(1)), 0)] {
            desk.observe(told(Channel::Own, seq, Fact::Held(hold(until))));
            desk.observe(told(Channel::Rm, seq, Fact::Queues(vec![QueueFact::open("root.default")])));
            assert_eq!(desk.metrics.queues_unknown.get(), unknown);
        }
    }

    #[test]
    fn a_mode_of_a_queue_that_was_renamed_is_counted_until_a_queue_is_of_that_name_again() {
        let mut params = EngineParams::default();
        params.govern.queue_modes = ["etl", "root.ml", "gone"].map(|name| (name.to_owned(), Mode::Off)).into();
        let (engine, mut named) = (Engine::new(params), Named::default());
        let mut told = |queues: &[&str]| {
            let queues: Vec<QueueFact> = queues.iter().map(|name| QueueFact::open(name)).collect();
            named.compare(&queues, &engine, Time(0))
        };
        assert_eq!(told(&["root.etl", "root.ml"]), Some(1));
        assert_eq!(told(&["root.etl-2", "root.ml"]), Some(2));
        assert_eq!(told(&[]), None, "nothing was listed");
        assert_eq!(told(&["root.etl", "root.ml", "root.gone"]), Some(0));
    }
}
