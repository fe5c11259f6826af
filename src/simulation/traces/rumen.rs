//! Rumen's traces: jobs as JSON, one after the other, with all their attempts.

use super::recorded::{About, Attempt, Recorder, STARTLESS, known};
use super::{BadTrace, Trace};
use serde::Deserialize;
use std::io::Read;
use std::path::Path;

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct LoggedJob {
    #[serde(rename = "jobID")]
    id: String,
    job_name: Option<String>,
    user: Option<String>,
    queue: Option<String>,
    #[serde(default)]
    submit_time: i64,
    #[serde(default)]
    map_tasks: Vec<LoggedTask>,
    #[serde(default)]
    reduce_tasks: Vec<LoggedTask>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct LoggedTask {
    #[serde(rename = "taskID")]
    id: String,
    #[serde(default)]
    input_bytes: i64,
    #[serde(default)]
    attempts: Vec<LoggedAttempt>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct LoggedAttempt {
    #[serde(rename = "attemptID")]
    id: Option<String>,
    result: Option<String>,
    #[serde(default)]
    start_time: i64,
    #[serde(default)]
    finish_time: i64,
    #[serde(default)]
    shuffle_finished: i64,
    #[serde(default)]
    sort_finished: i64,
}

pub(super) fn read(path: &Path, text: impl Read) -> Result<Trace, BadTrace> {
    let wrong = |line, what| BadTrace::Line { path: path.to_owned(), line, what };
    let mut recorder = Recorder::default();
    let jobs = serde_json::Deserializer::from_reader(text).into_iter::<LoggedJob>();
    for (nth, job) in jobs.enumerate() {
        let job = job.map_err(|error| wrong(error.line(), error.to_string()))?;
        record(&mut recorder, job)
            .map_err(|what| BadTrace::Whole { path: path.to_owned(), what: format!("job {}: {what}", nth + 1) })?;
    }
    Ok(recorder.trace())
}

fn record(recorder: &mut Recorder, job: LoggedJob) -> Result<(), String> {
    let submitted = known(job.submit_time);
    recorder
        .job(&job.id, About { name: job.job_name, user: job.user, queue: job.queue, submitted, sizes: [None; 2] })?;
    let maps = job.map_tasks.into_iter().map(|task| (false, task));
    for (is_reduce, task) in maps.chain(job.reduce_tasks.into_iter().map(|task| (true, task))) {
        recorder.task(&job.id, is_reduce, &task.id);
        for (nth, attempt) in task.attempts.into_iter().enumerate() {
            let Some(started) = known(attempt.start_time) else {
                recorder.mend(STARTLESS);
                continue;
            };
            recorder.attempt(Attempt {
                job: job.id.clone(),
                is_reduce,
                task: task.id.clone(),
                id: attempt.id.unwrap_or_else(|| format!("{}_{nth}", task.id)),
                started,
                finished: known(attempt.finish_time),
                stages: [known(attempt.shuffle_finished), known(attempt.sort_finished)],
                input: known(task.input_bytes).unwrap_or(0),
                succeeded: attempt.result.as_deref() == Some("SUCCESS"),
            })?;
        }
    }
    Ok(())
}
