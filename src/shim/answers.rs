//! What shims answer to actions.

use super::acting::Acting;
use super::batch::Late;
use super::outbox::{News, decision_of};
use super::session::Session;
use super::told::Told;
use super::wire::{self, Request};
use drover_core::model::{AckFact, Answer, Fact};

impl Acting {
    /// Takes the answers of a request.
    pub fn take(&self, session: &mut Session, request: &Request<'_>, told: &mut Told) {
        for ack in &request.acks {
            if let Err(reason) = self.take_one(session, ack, told) {
                told.refuse(reason);
            }
        }
        let held = request.native.held;
        self.metrics.native_held.inc_by(held.saturating_sub(session.native_held));
        session.native_held = session.native_held.max(held);
    }

    fn take_one(&self, session: &mut Session, ack: &wire::Ack<'_>, told: &mut Told) -> Result<(), &'static str> {
        let job = session.profile.job();
        let (incarnation, decision) = decision_of(&ack.id).ok_or("foreign_action")?;
        let is_own = incarnation == self.identity.incarnation;
        let is_expected = || self.earlier.get().is_some_and(|all| all.contains(&(job, ack.id.clone().into_owned())));
        if !is_own && !is_expected() {
            return Err("foreign_action");
        }
        let answer = Answer::parse(&ack.outcome).ok_or("unknown_outcome")?;
        let mut attempts = Vec::with_capacity(ack.attempts.len());
        for number in &ack.attempts {
            match number.index().filter(|number| session.numbers_of_its_am(*number)) {
                Some(number) => attempts.push(number),
                None => told.refuse("bad_attempt_number"),
            }
        }
        let fact = AckFact { job, decision, answer, attempts };
        if !is_own {
            told.late.push(Late { incarnation: incarnation.to_owned(), ack: fact });
            return Ok(());
        }
        match session.outbox.answered(decision, answer, &fact.attempts) {
            News::New => {
                self.metrics.answered(answer);
                told.own.push(Fact::Acked(fact));
                Ok(())
            }
            News::Repeated => Ok(()),
            News::Unknown => Err("unknown_action"),
        }
    }
}
