//! Every table of the ledger, declared once. File, rows, documentation and exports follow from here.

use super::cell::Cell;
use super::schema::{Column, Record, Table, cell, tables};
use drover_core::model::{Millis, Time};
use rusqlite::types::Value;

tables! {
    /// Decisions, with the numbers that each rests on.
    DecisionRow = "decisions", key "incarnation, decision" {
        /// When, the service's clock.
        at_ms: Time,
        /// The process that decided.
        incarnation: String,
        /// Its number within that process; with it the id of the action.
        decision: u64,
        /// When, the clock of the job's ApplicationMaster.
        am_at_ms: Time,
        /// The job.
        job: String,
        /// The task.
        task: String,
        /// The attempt that is slow.
        attempt: String,
        /// `map` or `reduce`.
        kind: String,
        /// The job's owner.
        user: String,
        /// The job's queue.
        queue: String,
        /// Host of the slow attempt, where known.
        host: Option<String>,
        /// `duplicate`, `restart` or `withdraw`.
        action: String,
        /// The policy that proposed it.
        policy: String,
        /// The rule, by the paper's name.
        rule: String,
        /// `advise`: said; `act`: to be done.
        mode: String,
        /// Hadoop's own speculator had copied the task before.
        natively_copied: bool,
        /// How many copies.
        copies: u32,
        /// They are clones: of a task that had not shown to be slow.
        clones: bool,
        /// Of a restart, how many it made of its task: 1 for the first. Absent of copies, and in rows of before version 6.
        restart: Option<u32>,
        /// Hosts that they were to keep off, separated by spaces.
        avoid: String,
        /// Hosts on which they were to be asked for, the best first, likewise.
        prefer: String,
        /// When it is too late to start them, the service's clock.
        deadline_ms: Time,
        /// Progress score of the slow attempt, 0–1.
        score: f64,
        /// How long it had run.
        elapsed_ms: Millis,
        /// Its progress rate, score per second.
        rate_per_second: f64,
        /// The rate below which a task was slow, score per second.
        slow_below_per_second: Option<f64>,
        /// Its time left, as estimated.
        time_left_ms: Option<Millis>,
        /// One standard deviation of that, as past predictions of the estimator have shown it.
        time_left_spread_ms: Option<Millis>,
        /// A fresh copy's time, as expected.
        fresh_copy_ms: Option<Millis>,
        /// One standard deviation of that.
        fresh_copy_spread_ms: Option<Millis>,
        /// Probability that the copy would finish first, 0–1.
        win_probability: Option<f64>,
        /// Probability that the copies would use less in all, 0–1 (Mantri).
        saves_probability: Option<f64>,
        /// Time left less a fresh copy's time, as expected.
        gain_ms: Option<Millis>,
        /// What the copy was expected to cost.
        cost_container_seconds: Option<f64>,
        /// Copies that the tightest budget counted.
        budget_used: Option<u32>,
        /// Its cap.
        budget_cap: Option<u32>,
        /// Why the task was slow: `data`, `node`, `network` or `unknown`.
        cause: Option<String>,
    }

    /// Actions that were put into an answer to a shim.
    SentRow = "sent", key "incarnation, decision" {
        /// When, the service's clock.
        at_ms: Time,
        /// The process that sent it.
        incarnation: String,
        /// The decision that it carries out.
        decision: u64,
    }

    /// Shims' answers to actions. An action has more than one where its copy was moved.
    AnswerRow = "answers", key "incarnation, decision, answer, attempts" {
        /// When, the service's clock.
        at_ms: Time,
        /// The process that had sent the action.
        incarnation: String,
        /// The decision that it carries out.
        decision: u64,
        /// The shim's answer, by the protocol's label.
        answer: String,
        /// Numbers of the attempts that are its copies, separated by spaces.
        attempts: String,
    }

    /// What became of decisions: copies and restarts that were asked for, and advice, but of clones, by what it would have come to.
    OutcomeRow = "outcomes", key "incarnation, decision" {
        /// When it was known, the service's clock.
        at_ms: Time,
        /// The process that decided.
        incarnation: String,
        /// The decision.
        decision: u64,
        /// `won`, `lost`, `failed`, `refused`, `moot` or `unknown`; of advice `would_have_won`, `would_have_lost` or `natively_copied`.
        outcome: String,
        /// The same as finely as it is known: the label of `drover_copies_ended_total`.
        end: String,
        /// The shim's last answer, where there was one.
        answer: Option<String>,
        /// Numbers of the attempts that were copies, separated by spaces.
        attempts: String,
        /// Number of the attempt that succeeded, where known.
        winner: Option<u32>,
        /// Its host, where known.
        host: Option<String>,
        /// Hosts on which copies were launched, one for each, where known, separated by spaces.
        hosts: String,
        /// How many of these are on the rack of a host to prefer, and no such host, as the ResourceManager listed racks; absent where no process saw the end that had decided, and in rows of before version 6.
        near_preferred: Option<u32>,
        /// When the task ended, the clock of the job's ApplicationMaster; of copies that failed, were refused or are moot, when that was noticed.
        ended_ms: Time,
        /// When the slow attempt would have ended as predicted at the decision, or that which a clone outran as predicted then, the same clock.
        predicted_end_ms: Option<Time>,
        /// One standard deviation of that prediction.
        predicted_spread_ms: Option<Millis>,
        /// Of one that won: predicted end less actual end. Of advice: what a copy of average luck would have gained.
        gained_ms: Option<i64>,
        /// Where the slow attempt itself ended: predicted end less actual end, the prediction's error.
        prediction_error_ms: Option<i64>,
        /// Container time that the copies held, launch to end, summed.
        container_ms: Millis,
        /// Of that, what the copy that won held; absent where none did, and in rows of before version 3.
        winner_container_ms: Option<Millis>,
        /// Of advice: probability that the copy would have finished first, 0–1.
        would_have_won: Option<f64>,
    }

    /// Jobs that could be acted on, each with its side of the hold-out, settled once.
    EnrolmentRow = "enrolments", key "job" {
        /// When it could first be acted on, the service's clock.
        at_ms: Time,
        /// The job.
        job: String,
        /// Its name.
        name: String,
        /// Its name with a `#` for each number: what its stratum goes by. Empty where it was given none and is called by its jar: all such jobs of one bin of sizes are set against each other.
        stratum: String,
        /// Its owner.
        user: String,
        /// Its queue.
        queue: String,
        /// Its maps.
        maps: u32,
        /// Its reduces.
        reduces: u32,
        /// It is left to Hadoop's own speculator, to compare with.
        held_out: bool,
        /// The policy in force.
        policy: String,
        /// Share of jobs that was held out when its side was drawn, 0–1; absent in rows of before version 3.
        share: Option<f64>,
        /// The salt it was drawn with, a number as text; likewise.
        salt: Option<String>,
    }

    /// Jobs that have ended.
    JobRow = "jobs", key "job" {
        /// When its end was known, the service's clock.
        at_ms: Time,
        /// The job.
        job: String,
        /// Its name.
        name: String,
        /// Its owner.
        user: String,
        /// Its queue.
        queue: String,
        /// Its maps.
        maps: u32,
        /// Its reduces.
        reduces: u32,
        /// `succeeded`, `failed`, `killed` …, where known.
        state: Option<String>,
        /// Start, the ApplicationMaster's clock.
        started_ms: Option<Time>,
        /// End, the same clock.
        ended_ms: Option<Time>,
        /// From start to end.
        took_ms: Option<Millis>,
        /// Left to Hadoop's own speculator, to compare with, as drawn when it was first seen.
        held_out: Option<bool>,
        /// The policy in force at its end; of a job that ended while no service watched it, the one of when it could first be acted on.
        policy: String,
        /// Decisions to act on its tasks that were taken.
        decided: u32,
        /// Of these, the ones whose copy won.
        won: u32,
        /// Copies that Hadoop's own speculator launched, where a shim told; over REST the most attempts beside the first that were seen at once.
        native_copies: u64,
        /// Last end of its maps without the copies that won, as predicted, less their actual last end.
        map_gain_ms: i64,
        /// The same of its reduces.
        reduce_gain_ms: i64,
    }

    /// What was settled about the clones of a phase, as of its job's end.
    ClonePlanRow = "clone_plans", key "job, kind" {
        /// When the job's end was known, the service's clock.
        at_ms: Time,
        /// The job.
        job: String,
        /// `map` or `reduce`.
        kind: String,
        /// The job's owner.
        user: String,
        /// The job's queue.
        queue: String,
        /// Copies of each task, the first attempt included; 1 where it was not cloned.
        clones: u32,
        /// How many of its tasks had them.
        tasks: u32,
        /// The verdict that says why it was not cloned, if so.
        refused: Option<String>,
        /// Its clones were to give way to others.
        gave_way: bool,
    }

    /// Measures beside copies that were weighed where they can be taken.
    MeasureRow = "measures", key "incarnation, at_ms, job, measure, plan" {
        /// When, the service's clock.
        at_ms: Time,
        /// The process that weighed it.
        incarnation: String,
        /// The number of the order that carries it out, where one does: that of its answers.
        decision: Option<u64>,
        /// The job.
        job: String,
        /// The job's owner.
        user: String,
        /// The job's queue.
        queue: String,
        /// `order`, `place`, `replicate`, `precompute`, `avoid` or `rerun`.
        measure: String,
        /// `decided`, or the verdict that says why not.
        verdict: String,
        /// `advise`: said; `act`: to be done.
        mode: String,
        /// The policy in force.
        policy: String,
        /// What is to be done, as JSON; empty where it was refused before that was reckoned.
        plan: String,
    }

    /// What is known of nodes' health, day by day.
    NodeRow = "nodes", key "at_ms, node" {
        /// When, the service's clock.
        at_ms: Time,
        /// The node.
        node: String,
        /// Probability that a task there straggles, 0–1, by windows of five minutes.
        straggles: Option<f64>,
        /// The same by windows of an hour.
        straggles_hourly: Option<f64>,
        /// How many times longer tasks take there for their data.
        location_factor: Option<f64>,
        /// Probability that a finished map's output is lost, 0–1.
        loses_output: Option<f64>,
        /// Tasks that the hourly probability rests on.
        evidence: Option<f64>,
        /// Its work is below LATE's SlowNodeThreshold.
        slow: bool,
    }

    /// What services ran under: at a start, where something is otherwise than the last row, then once a day, and when the configuration is read again and changed.
    SettingsRow = "settings", key "incarnation, at_ms" {
        /// When, the service's clock.
        at_ms: Time,
        /// The process.
        incarnation: String,
        /// Drover's version, with its revision where the build knows it.
        version: String,
        /// Settings that have a say in what is seen, decided and done, each by its key with the value in force, as JSON: all but those of what is only listened on, logged and kept.
        settings: String,
    }

    /// How often tasks straggle anywhere in the cluster, hour by hour.
    StragglerRow = "stragglers", key "at_ms" {
        /// When, the service's clock.
        at_ms: Time,
        /// Probability that a task straggles, 0–1; absent before any task has shown it.
        probability: Option<f64>,
        /// Tasks that it rests on.
        evidence: f64,
    }

    /// How good each estimator has proved to be in all jobs, hour by hour.
    CalibrationRow = "calibration", key "at_ms, estimator, kind, point" {
        /// When, the service's clock.
        at_ms: Time,
        /// The estimator.
        estimator: String,
        /// `map` or `reduce`.
        kind: String,
        /// The progress it was predicted at: `quarter`, `half`, `three_quarters`.
        point: String,
        /// Predictions it rests on; older ones count less.
        predictions: u32,
        /// Median of |predicted − actual| / actual.
        median_error: Option<f64>,
        /// Mean of (predicted − actual) / actual.
        bias: Option<f64>,
        /// Share of predicted intervals that held the actual time, 0–1.
        coverage: Option<f64>,
        /// One standard deviation of a prediction as measured, as a share of it.
        spread: Option<f64>,
    }
}
