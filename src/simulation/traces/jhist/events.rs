//! What is read of a history's events. Fields that older Hadoops do not write are optional; all else of an event is passed over.

use drover_core::model::Resources;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

/// An event that says something of a workload.
#[derive(Debug)]
pub(super) enum Event {
    Submitted(Submitted),
    Inited(Inited),
    QueueChanged(QueueChanged),
    TaskStarted(TaskStarted),
    AttemptStarted(AttemptStarted),
    AttemptEnded(AttemptEnded, Outcome),
    JobEnded(JobEnded, Outcome),
    /// Of no use here.
    Other,
    /// Of a kind that no Hadoop has.
    Unknown,
}

/// Kinds of which nothing is read (`EventType` of Hadoop 2 and 3).
const OTHERS: [&str; 8] = [
    "JOB_PRIORITY_CHANGED",
    "JOB_STATUS_CHANGED",
    "JOB_INFO_CHANGED",
    "TASK_FINISHED",
    "TASK_FAILED",
    "TASK_UPDATED",
    "NORMALIZED_RESOURCE",
    "AM_STARTED",
];

/// How a job or an attempt ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Outcome {
    Succeeded,
    /// Failed, or killed.
    Lost,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Submitted {
    #[serde(rename = "jobid")]
    pub(super) job: String,
    pub(super) job_name: String,
    pub(super) user_name: String,
    pub(super) submit_time: i64,
    pub(super) job_queue_name: Option<String>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Inited {
    #[serde(rename = "jobid")]
    pub(super) job: Option<String>,
    pub(super) total_maps: i64,
    pub(super) total_reduces: i64,
}

/// The ResourceManager may have put it into another queue than it asked for.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct QueueChanged {
    #[serde(rename = "jobid")]
    pub(super) job: String,
    pub(super) job_queue_name: String,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct TaskStarted {
    #[serde(rename = "taskid")]
    pub(super) task: String,
    pub(super) task_type: String,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct AttemptStarted {
    #[serde(rename = "attemptId")]
    pub(super) id: String,
    pub(super) task_type: String,
    pub(super) start_time: i64,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct AttemptEnded {
    #[serde(rename = "attemptId")]
    pub(super) id: String,
    pub(super) task_type: String,
    pub(super) finish_time: i64,
    #[serde(default)]
    pub(super) shuffle_finish_time: i64,
    #[serde(default)]
    pub(super) sort_finish_time: i64,
    pub(super) hostname: Option<String>,
    pub(super) counters: Option<Counters>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct JobEnded {
    #[serde(rename = "jobid")]
    pub(super) job: Option<String>,
    pub(super) total_counters: Option<Counters>,
}

#[derive(Debug, Deserialize)]
pub(super) struct Counters {
    groups: Vec<Group>,
}

#[derive(Debug, Deserialize)]
struct Group {
    counts: Vec<Count>,
}

#[derive(Debug, Deserialize)]
struct Count {
    name: String,
    value: i64,
}

impl Event {
    /// One as it was written.
    pub(super) fn of(event: Value) -> Result<Event, String> {
        let Value::Object(mut event) = event else { return Err("is no event: no object".into()) };
        let (kind, body) = (event.remove("type"), event.remove("event"));
        let Some(Value::String(kind)) = kind else { return Err("is no event: it has no type".into()) };
        let body = body.ok_or_else(|| format!("{kind}: has no event"))?;
        let parsed = match kind.as_str() {
            "JOB_SUBMITTED" => read(body).map(Event::Submitted),
            "JOB_INITED" => read(body).map(Event::Inited),
            "JOB_QUEUE_CHANGED" => read(body).map(Event::QueueChanged),
            "JOB_FINISHED" => read(body).map(|job| Event::JobEnded(job, Outcome::Succeeded)),
            "JOB_FAILED" | "JOB_KILLED" | "JOB_ERROR" => read(body).map(|job| Event::JobEnded(job, Outcome::Lost)),
            "TASK_STARTED" => read(body).map(Event::TaskStarted),
            attempt => match attempt.split_once("_ATTEMPT_") {
                Some((_, "STARTED")) => read(body).map(Event::AttemptStarted),
                Some((_, "FINISHED")) => read(body).map(|attempt| Event::AttemptEnded(attempt, Outcome::Succeeded)),
                Some((_, "FAILED" | "KILLED")) => read(body).map(|attempt| Event::AttemptEnded(attempt, Outcome::Lost)),
                _ if OTHERS.contains(&attempt) => Ok(Event::Other),
                _ => Ok(Event::Unknown),
            },
        };
        parsed.map_err(|error| format!("{kind}: {error}"))
    }
}

fn read<T: DeserializeOwned>(body: Value) -> Result<T, serde_json::Error> {
    serde_json::from_value(body)
}

impl Counters {
    /// A counter by Hadoop's name for it, which is that of one group only for those that are asked for.
    pub(super) fn of(&self, name: &str) -> Option<u64> {
        let mut all = self.groups.iter().flat_map(|group| &group.counts);
        all.find(|count| count.name == name).and_then(|count| u64::try_from(count.value).ok())
    }

    /// What a task read: of a map its split, of a reduce what it shuffled. `FILE_BYTES_READ` would count spills, too.
    pub(super) fn input(&self, is_reduce: bool) -> Option<u64> {
        let names: &[&str] = if is_reduce { &["REDUCE_SHUFFLE_BYTES"] } else { &["BYTES_READ", "HDFS_BYTES_READ"] };
        let told = || names.iter().filter_map(|name| self.of(name));
        told().find(|bytes| *bytes > 0).or_else(|| told().next())
    }

    /// What a container of `MAPS` or of `REDUCES` had: the job's counters have its memory and cores by time, and the time.
    pub(super) fn size(&self, kind: &str) -> Option<Resources> {
        let time = self.of(&format!("MILLIS_{kind}")).filter(|millis| *millis > 0)?;
        let of = |what: &str| Some((self.of(&format!("{what}_MILLIS_{kind}"))?.saturating_add(time / 2) / time).max(1));
        Some(Resources { memory_mb: of("MB")?, vcores: of("VCORES")?.try_into().ok()? })
    }
}
