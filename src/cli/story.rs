//! What became of a copy or a restart that was asked for, in words.

use crate::api::copy::CopyView;
use crate::words;
use drover_core::model::{Action, Answer, Millis};

/// Why a shim refused, as the end of a sentence.
fn because(answer: Option<Answer>) -> &'static str {
    match answer {
        Some(Answer::NotLeased) => "the job's speculation was not Drover's then",
        Some(Answer::PastDeadline) => "it came too late",
        Some(Answer::UnknownTask) => "the job has no such task",
        Some(Answer::NotRunning) => "the task was not running",
        Some(Answer::TaskEnded) => "the task had succeeded",
        Some(Answer::Committing) => "an attempt was committing its output",
        Some(Answer::TooManyAttempts) => "the task had more attempts than the decision assumed",
        Some(Answer::FailuresSpent) => "the task, and its job, would have failed with its copies",
        Some(Answer::AttemptEnded) => "the attempt did not run any more",
        Some(Answer::TooFar) => "the attempt had come so far that a new one would end no sooner",
        Some(Answer::AnotherAhead) => "another attempt of the task was ahead of it",
        Some(Answer::RestartsSpent) => "the task had been restarted more often than the decision knew of",
        Some(Answer::TooManyNodes) => "Hadoop would drop a blacklist so long",
        Some(Answer::NotRead) => "every reduce had copied all it needs",
        Some(Answer::NoOutput) => "none of the outputs stood there any more, or may be taken",
        Some(Answer::NoHeadroom) => "the job itself waited for containers",
        Some(Answer::SpeculationOff) => "the job has speculation switched off",
        Some(Answer::MalformedAction) => "it could not read what was asked",
        Some(Answer::UnsupportedAction) => "it does not know that action",
        Some(Answer::Failed) => "Hadoop's own code failed",
        Some(Answer::Applied | Answer::Moved) | None => "it did not say why",
    }
}

/// The story so far of what such an action asked for, without a full stop.
pub fn of(action: &str, copy: &CopyView) -> String {
    if action == Action::Restart.label() { of_restart(copy) } else { of_copy(copy) }
}

fn of_restart(copy: &CopyView) -> String {
    let new = copy.attempts.first().map_or("a new attempt", String::as_str);
    let node = copy.winner_node.as_deref().map_or_else(String::new, |node| format!(" on {node}"));
    match copy.state.as_str() {
        "decided" => "its attempt is to be killed with the next answer to its shim".to_owned(),
        "sent" => "its shim was asked to kill its attempt and has not answered yet".to_owned(),
        "applied" => "its attempt was killed, and Hadoop is to start another".to_owned(),
        "moved" => format!("its attempt was killed, and {new} took its place"),
        "won" => format!("its attempt was killed, and {new}, which took its place, finished{node}"),
        "lost" => format!("its attempt was killed, and another than {new}, which took its place, finished first{node}"),
        "died" => format!("its attempt was killed, and {new}, which took its place, failed or was killed, too"),
        "unanswered" => "its shim was asked to kill its attempt, no answer came, and no new one was seen".to_owned(),
        _ => of_copy(copy),
    }
}

fn of_copy(copy: &CopyView) -> String {
    let answer = copy.answer.as_deref().and_then(Answer::parse);
    let copies = match copy.attempts.as_slice() {
        [] => "the copy".to_owned(),
        attempts => attempts.join(", "),
    };
    let moved = if answer == Some(Answer::Moved) { ", after YARN had first given it a host to keep off" } else { "" };
    let winner = || copy.winner.clone().unwrap_or_else(|| "another attempt".into());
    let node = copy.winner_node.as_deref().map_or_else(String::new, |node| format!(" on {node}"));
    let held = copy.container_seconds.map_or_else(String::new, |held| {
        format!("; the copy held a container for {}", words::span(Millis::from_secs_f64(held)))
    });
    match copy.state.as_str() {
        "decided" => "a copy is to be asked for with the next answer to its shim".to_owned(),
        "sent" => "its shim was asked for a copy and has not answered yet".to_owned(),
        "applied" | "moved" => format!("{copies} was added as its copy{moved}"),
        "won" => format!("its copy won: {} finished first{node}{moved}{held}", winner()),
        "lost" => format!("its copy {copies} lost: {} finished first{node}{moved}{held}", winner()),
        "died" => format!("its copy {copies} failed or was killed while the task went on{held}"),
        "refused" => format!("its shim refused: {}", because(answer)),
        "unsent" => "no session of its shim called in time, so it was never asked".to_owned(),
        "unanswered" => "its shim was asked, no answer came, and no copy was seen".to_owned(),
        _ => "what became of its copy was not seen".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use drover_core::model::CopyEnd;

    fn copy(state: &str, answer: Option<&str>) -> CopyView {
        CopyView {
            action: "ab-1".into(),
            state: state.into(),
            answer: answer.map(Into::into),
            copies: 1,
            live: 1,
            avoid: vec!["nm2".into()],
            prefer: Vec::new(),
            deadline_ms: 9,
            sent_ms: None,
            attempts: vec!["attempt_1_0001_m_000003_1".into()],
            winner: Some("attempt_1_0001_m_000003_1".into()),
            winner_node: Some("nm3".into()),
            ended_ms: None,
            container_seconds: Some(4.5),
        }
    }

    #[test]
    fn a_copys_story_tells_who_won_where_and_what_it_cost() {
        assert_eq!(
            of("duplicate", &copy("won", Some("moved"))),
            "its copy won: attempt_1_0001_m_000003_1 finished first on nm3, after YARN had first given it a host to keep off; \
             the copy held a container for 4.5 s"
        );
        assert_eq!(
            of("restart", &copy("refused", Some("committing"))),
            "its shim refused: an attempt was committing its output"
        );
    }

    #[test]
    fn every_state_and_every_refusal_has_a_story_of_its_own() {
        let states = ["decided", "sent", "applied"].into_iter().chain(CopyEnd::ALL.map(CopyEnd::label));
        let states: Vec<_> = states.collect();
        for action in ["duplicate", "restart"] {
            let mut stories: Vec<_> = states.iter().map(|state| of(action, &copy(state, Some("failed")))).collect();
            let refusals = Answer::ALL.into_iter().filter(|answer| !answer.is_applied() && *answer != Answer::Failed);
            stories.extend(refusals.map(|answer| of(action, &copy("refused", Some(answer.label())))));
            let all = stories.len();
            stories.sort();
            stories.dedup();
            assert_eq!(stories.len(), all, "{stories:#?}");
        }
    }
}
