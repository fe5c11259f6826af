//! Rows of what is decided, sent, answered and seen to its end.

use super::{Open, predicted};
use crate::ledger::draw::Draw;
use crate::ledger::schema::{Record, Row};
use crate::ledger::tables::{AnswerRow, ClonePlanRow, DecisionRow, EnrolmentRow, MeasureRow, OutcomeRow, SentRow};
use crate::ledger::wording::{ended_itself, reckoned, spaced, word};
use crate::span::{plausible, plausible_ms};
use drover_core::model::{
    AckFact, Answer, ClonePlan, CopyEnd, CopyOutcome, Decision, Job, JobKind, Measure, Millis, TaskKind, Time,
    VirtualOutcome,
};

/// A decision, with its job's owner and queue where the job is known.
pub fn decision(incarnation: &str, decision: &Decision, job: Option<&Job>) -> Row {
    let numbers = &decision.numbers;
    let row = DecisionRow {
        at_ms: decision.at,
        incarnation: incarnation.to_owned(),
        decision: decision.id,
        am_at_ms: decision.am_at,
        job: decision.job.to_string(),
        task: decision.task.to_string(),
        attempt: decision.attempt.to_string(),
        kind: decision.task.kind.label().to_owned(),
        user: job.map_or_else(String::new, |job| job.user.clone()),
        queue: job.map_or_else(String::new, |job| job.queue.clone()),
        host: decision.host.clone(),
        action: decision.action.label().to_owned(),
        policy: decision.policy.clone(),
        rule: decision.rule.clone(),
        mode: decision.mode.label().to_owned(),
        natively_copied: decision.natively_copied,
        copies: decision.copies,
        clones: decision.clones,
        restart: decision.restart(),
        avoid: decision.avoid.join(" "),
        prefer: decision.prefer.join(" "),
        deadline_ms: decision.deadline,
        score: numbers.score,
        elapsed_ms: numbers.elapsed,
        rate_per_second: numbers.rate,
        slow_below_per_second: numbers.slow_below,
        time_left_ms: numbers.time_left,
        time_left_spread_ms: numbers.time_left_spread,
        fresh_copy_ms: numbers.fresh_copy,
        fresh_copy_spread_ms: numbers.fresh_copy_spread,
        win_probability: numbers.win_probability,
        saves_probability: numbers.saves_probability,
        gain_ms: numbers.gain,
        cost_container_seconds: numbers.cost_container_seconds,
        budget_used: numbers.budget.map(|(used, _)| used),
        budget_cap: numbers.budget.map(|(_, cap)| cap),
        cause: decision.cause.as_ref().map(|cause| cause.kind.label().to_owned()),
    };
    row.row()
}

/// An action that was put into an answer to a shim.
pub fn sent(at: Time, incarnation: &str, decision: u64) -> Row {
    SentRow { at_ms: at, incarnation: incarnation.to_owned(), decision }.row()
}

/// A shim's answer.
pub fn answer(at: Time, incarnation: &str, ack: &AckFact) -> Row {
    let row = AnswerRow {
        at_ms: at,
        incarnation: incarnation.to_owned(),
        decision: ack.decision,
        answer: ack.answer.label().to_owned(),
        attempts: spaced(&ack.attempts),
    };
    row.row()
}

/// What became of a copy or restart that was asked for.
pub fn copied(at: Time, incarnation: &str, outcome: &CopyOutcome, open: Option<&Open>) -> Row {
    let prediction = predicted(outcome, open);
    let (slow, predicted) = (open.map(|open| open.slow), prediction.map(|(end, _)| end));
    let (gained_ms, prediction_error_ms) = reckoned(outcome.end, outcome.winner, slow, predicted, outcome.at);
    let row = OutcomeRow {
        at_ms: at,
        incarnation: incarnation.to_owned(),
        decision: outcome.decision,
        outcome: word(outcome.end).to_owned(),
        end: outcome.end.label().to_owned(),
        answer: outcome.answer.map(Answer::label).map(str::to_owned),
        attempts: spaced(&outcome.attempts),
        winner: outcome.winner,
        host: outcome.host.clone(),
        hosts: outcome.hosts.join(" "),
        near_preferred: Some(outcome.landed.near),
        ended_ms: outcome.at,
        predicted_end_ms: predicted,
        predicted_spread_ms: prediction.and_then(|(_, spread)| spread),
        gained_ms,
        prediction_error_ms,
        container_ms: plausible(outcome.cost).unwrap_or_default(),
        winner_container_ms: plausible(outcome.winner_cost).filter(|_| outcome.end == CopyEnd::Won),
        would_have_won: None,
    };
    row.row()
}

/// What became of advice.
pub fn advised(at: Time, incarnation: &str, outcome: &VirtualOutcome, open: Option<&Open>) -> Row {
    let prediction = open.and_then(|open| open.prediction);
    let gain = plausible_ms(i64::try_from(outcome.gain.0).unwrap_or(i64::MAX));
    let alone = !outcome.natively_copied;
    let error = prediction.and_then(|(end, _)| plausible_ms(end.ms_after(outcome.ended)));
    let row = OutcomeRow {
        at_ms: at,
        incarnation: incarnation.to_owned(),
        decision: outcome.decision,
        outcome: outcome.label().to_owned(),
        end: outcome.label().to_owned(),
        answer: None,
        attempts: String::new(),
        winner: outcome.winner,
        host: None,
        hosts: String::new(),
        near_preferred: None,
        ended_ms: outcome.ended,
        predicted_end_ms: prediction.map(|(end, _)| end),
        predicted_spread_ms: prediction.and_then(|(_, spread)| spread),
        gained_ms: gain.filter(|_| alone),
        prediction_error_ms: error.filter(|_| ended_itself(outcome.winner, open.map(|open| open.slow))),
        container_ms: Millis(0),
        winner_container_ms: None,
        would_have_won: Some(outcome.would_have_won),
    };
    row.row()
}

/// A job that could be acted on; `None` while its name, owner, size or side is not known. One that was given no name is enrolled like any other, as its side was drawn like any other's.
pub fn enrolment(at: Time, job: &Job, drawn: Option<&Draw>, policy: &str) -> Option<Row> {
    let [maps, reduces] = job.totals.filter(|_| !job.name.is_empty() && !job.user.is_empty())?;
    let row = EnrolmentRow {
        at_ms: at,
        job: job.id.to_string(),
        name: job.name.clone(),
        stratum: JobKind::of(job).map(|kind| kind.name).unwrap_or_default(),
        user: job.user.clone(),
        queue: job.queue.clone(),
        maps,
        reduces,
        held_out: job.held_out?,
        policy: policy.to_owned(),
        share: drawn.map(|drawn| drawn.share),
        salt: drawn.map(|drawn| drawn.salt.to_string()),
    };
    Some(row.row())
}

/// What was settled about the clones of a job's phase.
pub fn clone_plan(at: Time, job: &Job, kind: TaskKind, plan: &ClonePlan) -> Row {
    let row = ClonePlanRow {
        at_ms: at,
        job: job.id.to_string(),
        kind: kind.label().to_owned(),
        user: job.user.clone(),
        queue: job.queue.clone(),
        clones: plan.clones,
        tasks: plan.tasks,
        refused: plan.refused.map(|verdict| verdict.label().to_owned()),
        gave_way: plan.gives_way,
    };
    row.row()
}

/// A measure beside copies.
pub fn measure(at: Time, incarnation: &str, measure: &Measure, job: Option<&Job>, policy: &str) -> Row {
    let plan = measure.plan.as_ref().and_then(|plan| serde_json::to_string(plan).ok());
    let row = MeasureRow {
        at_ms: at,
        incarnation: incarnation.to_owned(),
        decision: measure.order.map(|order| order.decision),
        job: measure.job.to_string(),
        user: job.map_or_else(String::new, |job| job.user.clone()),
        queue: job.map_or_else(String::new, |job| job.queue.clone()),
        measure: measure.kind.label().to_owned(),
        verdict: measure.verdict.label().to_owned(),
        mode: measure.mode.label().to_owned(),
        policy: policy.to_owned(),
        plan: plan.unwrap_or_default(),
    };
    row.row()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ledger::schema::Record;
    use rusqlite::types::Value;

    #[test]
    fn a_job_that_was_given_no_name_is_enrolled_on_the_side_it_was_drawn_to_and_one_not_known_yet_is_not() {
        let stratum = |name: &str, user: &str| {
            let mut job = Job::new("job_1_0001".parse().unwrap());
            (job.name, job.user, job.totals, job.held_out) = (name.into(), user.into(), Some([2, 1]), Some(true));
            let at = EnrolmentRow::TABLE.columns.iter().position(|one| one.name == "stratum").unwrap();
            enrolment(Time(7), &job, None, "late").map(|row| row.values[at].clone())
        };
        let told = ["daily 7", "streamjob12.jar"].map(|name| stratum(name, "ann"));
        assert_eq!(told, ["daily #", ""].map(|text| Some(Value::Text(text.into()))));
        assert_eq!([stratum("", "ann"), stratum("a.jar", "")], [None, None]);
    }
}
