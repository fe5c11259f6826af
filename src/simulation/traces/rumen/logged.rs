//! What of Rumen's jobs, tasks and attempts is read, and all names that these have.

use super::keys::{Kind, Noted};
use serde::Deserialize;
use serde::de::IgnoredAny;

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct LoggedJob {
    #[serde(rename = "jobID")]
    pub(super) id: String,
    pub(super) job_name: Option<String>,
    pub(super) user: Option<String>,
    pub(super) queue: Option<String>,
    #[serde(default)]
    pub(super) submit_time: i64,
    pub(super) map_tasks: Option<Vec<Noted<LoggedTask>>>,
    pub(super) reduce_tasks: Option<Vec<Noted<LoggedTask>>>,
    /// Set-up and clean-up.
    #[serde(default)]
    pub(super) other_tasks: Vec<IgnoredAny>,
    outcome: Option<String>,
    #[serde(default)]
    pub(super) total_maps: i64,
    #[serde(default)]
    pub(super) total_reduces: i64,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct LoggedTask {
    #[serde(rename = "taskID")]
    pub(super) id: String,
    pub(super) input_bytes: Option<i64>,
    #[serde(default)]
    pub(super) attempts: Vec<Noted<LoggedAttempt>>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct LoggedAttempt {
    #[serde(rename = "attemptID")]
    pub(super) id: Option<String>,
    pub(super) host_name: Option<String>,
    result: Option<String>,
    #[serde(default)]
    pub(super) start_time: i64,
    #[serde(default)]
    pub(super) finish_time: i64,
    #[serde(default)]
    pub(super) shuffle_finished: i64,
    #[serde(default)]
    pub(super) sort_finished: i64,
    pub(super) hdfs_bytes_read: Option<i64>,
    pub(super) reduce_shuffle_bytes: Option<i64>,
}

impl LoggedJob {
    /// Did it succeed? `None` of one that did not end.
    pub(super) fn succeeded(&self) -> Result<Option<bool>, String> {
        match self.outcome.as_deref().unwrap_or_default() {
            "SUCCESS" => Ok(Some(true)),
            // Rumen has the last where Hadoop told that a job did not end well, though what it had to do was done.
            "FAILED" | "KILLED" | "SUCCEEDED" => Ok(Some(false)),
            "" | "PREP" | "RUNNING" => Ok(None),
            other => Err(format!("outcome: \"{other}\" is none that a job of Rumen's has")),
        }
    }
}

impl LoggedAttempt {
    /// What it read: a map of its split, a reduce of maps' outputs.
    pub(super) fn input(&self, is_reduce: bool) -> Option<u64> {
        let bytes = if is_reduce { self.reduce_shuffle_bytes } else { self.hdfs_bytes_read };
        bytes.and_then(|bytes| u64::try_from(bytes).ok())
    }

    /// Did it succeed? One of which nothing is told did not.
    pub(super) fn succeeded(&self) -> Result<bool, String> {
        match self.result.as_deref().unwrap_or_default() {
            "SUCCESS" => Ok(true),
            "FAILED" | "KILLED" | "" => Ok(false),
            other => Err(format!("result: \"{other}\" is none of SUCCESS, FAILED and KILLED")),
        }
    }
}

impl Kind for LoggedJob {
    const CALLED: &'static str = "job";
    const KNOWN: &'static [&'static str] = &[
        "clusterMapMB",
        "clusterReduceMB",
        "computonsPerMapInputByte",
        "computonsPerMapOutputByte",
        "computonsPerReduceInputByte",
        "computonsPerReduceOutputByte",
        "directDependantJobs",
        "failedMapAttemptCDFs",
        "failedMapperFraction",
        "failedReduceAttemptCDF",
        "finishTime",
        "heapMegabytes",
        "jobID",
        "jobMapMB",
        "jobName",
        "jobProperties",
        "jobReduceMB",
        "jobtype",
        "launchTime",
        "mapTasks",
        "mapperTriesToSucceed",
        "otherTasks",
        "outcome",
        "priority",
        "queue",
        "reduceTasks",
        "relativeTime",
        "submitTime",
        "successfulMapAttemptCDFs",
        "successfulReduceAttemptCDF",
        "totalMaps",
        "totalReduces",
        "user",
    ];
}

impl Kind for LoggedTask {
    const CALLED: &'static str = "task";
    const KNOWN: &'static [&'static str] = &[
        "attempts",
        "finishTime",
        "inputBytes",
        "inputRecords",
        "outputBytes",
        "outputRecords",
        "preferredLocations",
        "startTime",
        "taskID",
        "taskStatus",
        "taskType",
    ];
}

impl Kind for LoggedAttempt {
    const CALLED: &'static str = "attempt";
    // That of virtual memory comes in either spelling, by the version of what writes it.
    const KNOWN: &'static [&'static str] = &[
        "attemptID",
        "clockSplits",
        "combineInputRecords",
        "cpuUsages",
        "fileBytesRead",
        "fileBytesWritten",
        "finishTime",
        "hdfsBytesRead",
        "hdfsBytesWritten",
        "hostName",
        "location",
        "mapInputBytes",
        "mapInputRecords",
        "mapOutputBytes",
        "mapOutputRecords",
        "physMemKbytes",
        "reduceInputGroups",
        "reduceInputRecords",
        "reduceOutputRecords",
        "reduceShuffleBytes",
        "resourceUsageMetrics",
        "result",
        "shuffleFinished",
        "sortFinished",
        "spilledRecords",
        "startTime",
        "vMemKbytes",
        "vmemKbytes",
    ];
}
