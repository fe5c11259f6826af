//! Orders on their way to the shims, and what these do about them.

use super::*;

impl World<'_> {
    /// A decision is to be carried out: never, at once, or later.
    pub fn ask(&mut self, second: f64, decision: &Decision) {
        let task = self.script.engine.cluster().job(decision.job).and_then(|job| job.task(decision.task));
        let newest = task.and_then(|task| task.attempts.last()).map_or(0, |last| last.number as usize + 1);
        self.known.insert(decision.id, newest);
        let late = match self.roll(8) {
            0 => return,
            1 | 2 => self.roll(12),
            _ => 0,
        };
        self.orders.push((second + f64::from(late), decision.clone()));
    }

    /// Sends the orders whose time has come and that still stand. One may get lost, and one that is not known to be answered be sent again.
    pub fn send(&mut self, second: f64) {
        let (due, later) = self.orders.drain(..).partition(|(at, _)| *at <= second);
        self.orders = later;
        let due: Vec<(f64, Decision)> = due;
        for (_, decision) in due {
            let engine = &self.script.engine;
            if !engine.awaits_answer(&decision) || engine.revalidate(&decision).is_err() {
                continue;
            }
            let is_last = self.told_of(decision.task) == [decision.attempt.number];
            if decision.action == Action::Withdraw && is_last {
                self.robbed.push(decision.clone());
            }
            self.own(second, Fact::Sent { job: decision.job, decision: decision.id });
            if self.roll(8) > 0 {
                self.arrives(second, &decision);
            }
            if self.roll(4) == 0 {
                let again = second + 1.0 + f64::from(self.roll(4));
                self.orders.push((again, decision));
            }
        }
    }

    /// An order has reached its shim, whose answer may come late, never, and more than once.
    fn arrives(&mut self, second: f64, decision: &Decision) {
        let ack = match self.answered.get(&decision.id) {
            Some(before) => before.clone(),
            None => self.carried_out(second, decision),
        };
        self.answered.insert(decision.id, ack.clone());
        for _ in 0..self.roll(4) {
            let late = f64::from(self.roll(16));
            self.answers.push((second + late, ack.clone()));
        }
    }

    fn carried_out(&mut self, second: f64, decision: &Decision) -> AckFact {
        let mut ack = AckFact { job: decision.job, decision: decision.id, answer: Answer::Applied, attempts: vec![] };
        if let Some(refusal) = self.refusal(second, decision) {
            return AckFact { answer: refusal, ..ack };
        }
        let named = decision.attempt.number as usize;
        if decision.action != Action::Duplicate {
            self.attempts.get_mut(&decision.task).unwrap()[named].end(AttemptState::Killed, second);
        }
        if decision.action != Action::Withdraw {
            for _ in 0..decision.copies {
                ack.attempts.push(self.start(decision.task, Some(decision.id)));
            }
        }
        self.done.push(decision.clone());
        ack
    }

    /// Why the shim does not do it, if so: by what is really so of the task.
    fn refusal(&mut self, second: f64, decision: &Decision) -> Option<Answer> {
        let attempts = &self.attempts[&decision.task];
        let live = attempts.iter().filter(|real| real.is_live()).count();
        let gone = !attempts[decision.attempt.number as usize].is_live();
        match decision.action {
            _ if at(second) >= decision.deadline => Some(Answer::PastDeadline),
            _ if self.won.contains_key(&decision.task) => Some(Answer::TaskEnded),
            Action::Duplicate if live > decision.live as usize => Some(Answer::TooManyAttempts),
            Action::Restart if gone => Some(Answer::NotRunning),
            Action::Withdraw if gone || live < 2 => Some(Answer::NotRunning),
            _ => (self.roll(8) == 0).then_some(Answer::NoHeadroom),
        }
    }
}
