//! A third copy of a task, the second duplicate beside the first (§5.1, footnote 6: never more than three).

use super::*;

/// Which words on copies reach the engine.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Words {
    /// Each at once.
    All,
    /// None.
    None,
    /// Each seven seconds late, and three times over.
    LateAndOften,
}

/// What came of the last map: when it was copied beside how many attempts, and the ends of its copies.
#[derive(Debug, Default)]
struct Told {
    decided: Vec<(u32, Decision)>,
    ends: Vec<CopyOutcome>,
    most_attempts: usize,
}

impl Told {
    fn live(&self) -> Vec<u32> {
        self.decided.iter().map(|(_, decision)| decision.live).collect()
    }
}

/// Four maps took five seconds each; the last takes four minutes, and so does each copy of it, but for the second, which takes as long as that.
fn play(params: EngineParams, second_takes: f64, words: Words) -> Told {
    let copies_only = Capabilities { duplicate: true, ..Capabilities::NONE };
    let mut phase = Phase::as_set(params, 5, beside_four_of_5_s(alone(240.0))).can(copies_only);
    let (id, mut told, mut answers) = (phase.id, Told::default(), Vec::new());
    for second in 1..90 {
        let now = at(second.into());
        answers.retain(|(due, ack): &(u32, AckFact)| {
            if *due <= second {
                let seen = phase.script.observation(Channel::Own, Some(id.0), now, Fact::Acked(ack.clone()));
                phase.script.engine.observe(&seen).unwrap();
            }
            *due > second
        });
        phase.tell(second);
        let pass = phase.script.decide(now);
        told.ends.extend(pass.copies);
        for decision in pass.decisions {
            if decision.mode == Mode::Advise {
                told.decided.push((second, decision));
                continue;
            }
            let sent = Fact::Sent { job: id, decision: decision.id };
            let seen = phase.script.observation(Channel::Own, Some(id.0), now, sent);
            phase.script.engine.observe(&seen).unwrap();
            let runs = &mut phase.maps[4];
            runs.push(run(f64::from(second) + 1.0, if runs.len() == 2 { second_takes } else { 240.0 }));
            let attempts = vec![runs.len() as u32 - 1];
            let ack = AckFact { job: id, decision: decision.id, answer: Answer::Applied, attempts };
            let due: &[u32] = match words {
                Words::All => &[1],
                Words::None => &[],
                Words::LateAndOften => &[7, 9, 20],
            };
            answers.extend(due.iter().map(|late| (second + late, ack.clone())));
            told.decided.push((second, decision));
        }
        let task = phase.script.engine.cluster().job(id).unwrap().task(id.task(TaskKind::Map, 4)).unwrap();
        told.most_attempts = told.most_attempts.max(task.unended().count());
    }
    told
}

fn paper(policy: PolicyName) -> EngineParams {
    let paper = EngineParams::paper(policy);
    EngineParams { govern: GovernParams { mode: Mode::Act, ..paper.govern }, ..paper }
}

#[test]
fn a_task_whose_first_copy_is_slow_too_has_another_beside_it_and_never_a_fourth_attempt() {
    for words in [Words::All, Words::None, Words::LateAndOften] {
        let told = play(paper(PolicyName::Mantri), 240.0, words);
        assert_eq!((told.live(), told.most_attempts), (vec![1, 2], 3), "{words:?}");
        assert!(told.decided.iter().all(|(_, decision)| decision.action == Action::Duplicate), "{:?}", told.decided);
        assert_eq!(told.ends, [], "all of them run");
        let [first, second] = [0, 1].map(|nth: usize| told.decided[nth].0);
        // The first may start, and be answered, until its deadline and the grace are over: before, an attempt that nobody named is nobody's.
        let lost = GovernParams::default().deadline + GovernParams::default().answer_grace;
        assert_eq!(words == Words::None, Millis(u64::from(second - first) * 1_000) > lost, "{words:?}");
    }
}

#[test]
fn each_of_two_copies_has_one_end_and_its_own_attempt_whatever_words_were_lost_or_repeated() {
    for words in [Words::All, Words::None, Words::LateAndOften] {
        let told = play(paper(PolicyName::Mantri), 12.0, words);
        let ends: Vec<_> = told.ends.iter().map(|end| (end.decision, end.end, &end.attempts[..], end.winner)).collect();
        let ids: Vec<_> = told.decided.iter().map(|(_, decision)| decision.id).collect();
        let expected = [(ids[0], CopyEnd::Lost, &[1][..], Some(2)), (ids[1], CopyEnd::Won, &[2], Some(2))];
        assert_eq!(ends, expected, "{words:?}");
    }
}

#[test]
fn with_drovers_guards_the_papers_third_copy_is_mantris_to_decide_too() {
    let params = EngineParams { late: LateParams::default(), ..paper(PolicyName::Drover) };
    let told = play(params, 240.0, Words::All);
    assert_eq!((told.live(), told.most_attempts), (vec![1, 2], 3));
    assert!(told.decided[1].1.rule.contains("Mantri"), "{}", told.decided[1].1.rule);
}

#[test]
fn unless_it_is_set_otherwise_and_in_advice_a_task_has_one_copy_at_a_time() {
    let adapted = EngineParams { policy: PolicyName::Mantri, mantri: MantriParams::paper(), ..acting() };
    assert_eq!(play(adapted, 240.0, Words::All).live(), [1]);
    assert_eq!(play(EngineParams::paper(PolicyName::Mantri), 240.0, Words::All).live(), [1], "in advice");
    let paper = paper(PolicyName::Mantri);
    let one_by_one = GovernParams { copies_per_task: 8, ..paper.govern.clone() };
    assert_eq!(play(EngineParams { govern: one_by_one, ..paper.clone() }, 240.0, Words::All).live(), [1]);
    for most in [1, 2] {
        let mantri = MantriParams { copies_max: most, ..paper.mantri };
        assert_eq!(play(EngineParams { mantri, ..paper.clone() }, 240.0, Words::All).live().len(), most as usize - 1);
    }
}
