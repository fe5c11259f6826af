//! Whatever words are lost: a property.

use super::*;
use proptest::prelude::*;
use std::collections::BTreeMap;

/// An AM that answers, loses words and ends copies as the dice fall.
struct Chance<'a> {
    dice: std::iter::Cycle<std::slice::Iter<'a, u8>>,
    /// Copies that exist: task, number, state, launch.
    copies: Vec<(u32, u32, AttemptState, Option<f64>)>,
    /// Answers on their way: when they arrive, decision, answer, attempts.
    answers: Vec<(f64, u64, Answer, Vec<u32>)>,
}

impl Chance<'_> {
    fn roll(&mut self, sides: u8) -> u8 {
        self.dice.next().map_or(0, |die| die % sides)
    }

    /// What the shim does with a decision: it may never hear of it, refuse it, or add a copy, and its answer may come late or never.
    fn ask(&mut self, second: f64, decision: &Decision) {
        let index = decision.task.index;
        let unended = 1 + self.copies.iter().filter(|copy| copy.0 == index && !copy.2.is_final()).count();
        let (answer, attempts) = match self.roll(6) {
            0 => return,
            1 => (Answer::NoHeadroom, vec![]),
            _ if unended as u32 > decision.live => (Answer::TooManyAttempts, vec![]),
            _ => {
                let number = 1 + self.copies.iter().filter(|copy| copy.0 == index).count() as u32;
                self.copies.push((index, number, AttemptState::Starting, None));
                (Answer::Applied, vec![number])
            }
        };
        if self.roll(4) > 0 {
            let late = f64::from(self.roll(5));
            self.answers.push((second + late, decision.id, answer, attempts));
        }
    }

    fn turn(&mut self, second: f64) {
        for nth in 0..self.copies.len() {
            let fate = self.roll(8);
            let copy = &mut self.copies[nth];
            match (copy.2, fate) {
                (AttemptState::Starting, 0..4) => (copy.2, copy.3) = (AttemptState::Running, Some(second)),
                (AttemptState::Running, 0) => copy.2 = AttemptState::Failed,
                _ => {}
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(ProptestConfig::default().cases / 2))]

    #[test]
    fn whatever_words_are_lost_no_task_has_more_attempts_than_were_decided_and_every_decision_has_one_end(
        dice in prop::collection::vec(any::<u8>(), 1..200),
        node in 1u32..9,
        minute in 1u32..30,
    ) {
        let govern = GovernParams { node_copies: node, copies_per_minute: Some(minute), ..acting().govern };
        let mut play = Play::new(EngineParams { govern, ..acting() });
        let mut chance = Chance { dice: dice.iter().cycle(), copies: Vec::new(), answers: Vec::new() };
        let (mut decided, mut ended) = (BTreeMap::new(), Vec::new());
        let mut from_node = BTreeMap::new();
        for second in 0..44 {
            let second = f64::from(second);
            chance.turn(second);
            let (due, later) = chance.answers.drain(..).partition(|(at, ..)| *at <= second);
            chance.answers = later;
            let due: Vec<(f64, u64, Answer, Vec<u32>)> = due;
            for (_, decision, answer, attempts) in due {
                play.answer(second, decision, answer, &attempts);
            }
            let pass = play.look(second, &chance.copies);
            ended.extend(pass.copies.iter().map(|end| end.decision));
            prop_assert!(play.script.engine.copies_in_flight() <= 8, "half of 16 tasks");
            for decision in &pass.decisions {
                let unended = chance.copies.iter().filter(|c| c.0 == decision.task.index && !c.2.is_final()).count();
                prop_assert_eq!(unended, 0, "{:?} has a copy that has not ended", decision.task);
                decided.insert(decision.id, decision.task);
                from_node.insert(decision.id, decision.host.clone());
                chance.ask(second, decision);
            }
            for end in &pass.copies {
                from_node.remove(&end.decision);
            }
            for host in from_node.values() {
                let in_flight = from_node.values().filter(|other| *other == host).count();
                prop_assert!(in_flight <= node as usize, "{in_flight} for attempts on {host:?}");
            }
            prop_assert!(decided.len() <= minute as usize, "{} within 44 s", decided.len());
        }
        let end = EndFact {
            job: play.id,
            state: Some(JobPhase::Succeeded),
            started: Some(at(0.0)),
            finished: Some(at(44.0)),
            attempts: vec![],
        };
        play.script.say(at(45.0), Fact::Ended(end));
        ended.extend(play.script.decide(at(45.0)).copies.iter().map(|end| end.decision));
        ended.sort_unstable();
        prop_assert_eq!(ended, decided.into_keys().collect::<Vec<_>>());
    }
}
