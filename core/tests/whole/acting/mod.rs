//! Copies that are asked for: what is decided, what holds budget, how lost words are made good.

mod caps;
mod chance;
mod copies;
mod refusals;
mod rest;
mod who;
mod world;

use crate::common::*;
use drover_core::engine::{EngineParams, Pass};
use drover_core::govern::GovernParams;
use drover_core::model::*;

const MAPS: u32 = 16;

fn one_node_in_four(index: u32) -> f64 {
    if index % 4 == 1 { 10.0 } else { 1.0 }
}

/// A copy: task, number, state, launch.
type Copied = (u32, u32, AttemptState, Option<f64>);

/// A job of equal maps with a shim that can duplicate, one node in four slow.
struct Play {
    script: Script,
    id: JobId,
}

impl Play {
    fn new(params: EngineParams) -> Play {
        let (mut script, id) = (Script::new(params), job_id(1));
        script.open_job(id, MAPS, 0, at(0.0));
        script.say(at(0.0), Fact::ShimSession(id, true));
        script.say(at(0.0), Fact::Can(id, Capabilities { duplicate: true, ..Capabilities::default() }));
        Play { script, id }
    }

    fn own(&mut self, second: f64, fact: Fact) {
        let app = fact.job().map(|job| job.0);
        let seen = self.script.observation(Channel::Own, app, at(second), fact);
        self.script.engine.observe(&seen).unwrap();
    }

    /// What is to be seen of the originals, and of copies.
    fn look(&mut self, second: f64, copies: &[Copied]) -> Pass {
        self.see(second, &one_node_in_four, copies)
    }

    /// The same where other maps are slow.
    fn see(&mut self, second: f64, slow: &dyn Fn(u32) -> f64, copies: &[Copied]) -> Pass {
        let (tasks, mut attempts) = equal_maps(self.id, MAPS, 4.0, slow, second, 0);
        for (index, number, state, started) in copies {
            let id = self.id.task(TaskKind::Map, *index).attempt(*number);
            let host = started.map(|_| "nm3".into());
            let started = started.map(at);
            let finished = state.is_final().then_some(at(second));
            attempts.push(AttemptFact { state: Some(*state), started, finished, host, ..AttemptFact::of(id) });
        }
        self.script.tasks(self.id, at(second), tasks);
        self.script.attempts(self.id, at(second), attempts);
        self.script.decide(at(second))
    }

    /// Plays to the first decisions.
    fn decided(&mut self) -> Vec<Decision> {
        (0..10).map(|second| self.look(second.into(), &[]).decisions).find(|found| !found.is_empty()).unwrap()
    }

    fn answer(&mut self, second: f64, decision: u64, answer: Answer, attempts: &[u32]) {
        let ack = AckFact { job: self.id, decision, answer, attempts: attempts.to_vec() };
        self.own(second, Fact::Acked(ack));
    }

    fn verdict(&self, index: u32) -> Option<Verdict> {
        let task = self.id.task(TaskKind::Map, index);
        self.script.engine.candidates(self.id).into_iter().find(|c| c.attempt.task == task).map(|c| c.verdict)
    }
}
