//! A generated cluster: running jobs whose tasks' progress moves with time, in the words of Hadoop 3.4.3.

use axum::Router;
use axum::extract::{Path, State};
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use drover::clock;
use std::fmt::Write;
use tokio::io::AsyncReadExt;

const CLUSTER: u64 = 1_795_000_000_000;

#[derive(Clone, Copy)]
struct Size {
    jobs: u32,
    tasks: u32,
    began: u64,
}

/// Serves on a free port of loopback, says its address on standard output, and ends when standard input does.
pub async fn serve(jobs: u32, tasks: u32) {
    let size = Size { jobs, tasks, began: clock::now().0 - 30_000 };
    let job = "/proxy/{app}/ws/v1/mapreduce/jobs/{job}";
    let router =
        Router::new()
            .route("/ws/v1/cluster/info", get(|| async { json(info()) }))
            .route(
                "/ws/v1/cluster/metrics",
                get(|| async { json(r#"{"clusterMetrics":{"totalMB":1000000}}"#.to_owned()) }),
            )
            .route("/ws/v1/cluster/nodes", get(|| async { json(r#"{"nodes":{"node":[]}}"#.to_owned()) }))
            .route(
                "/ws/v1/cluster/scheduler",
                get(|| async { json(r#"{"scheduler":{"schedulerInfo":{}}}"#.to_owned()) }),
            )
            .route("/ws/v1/cluster/apps", get(|State(size): State<Size>| async move { json(apps(size)) }))
            .route(
                job,
                get(|State(size): State<Size>, Path((_, job)): Path<(String, String)>| async move {
                    json(summary(size, &job))
                }),
            )
            .route(&format!("{job}/conf"), get(|| async { json(conf()) }))
            .route(
                &format!("{job}/tasks"),
                get(|State(size): State<Size>, Path((_, job)): Path<(String, String)>| async move {
                    numbered(&job).map_or(StatusCode::NOT_FOUND.into_response(), |seq| json(tasks_of(size, seq)))
                }),
            )
            .route(
                &format!("{job}/tasks/{{task}}/attempts"),
                get(|State(size): State<Size>, Path((_, _, task)): Path<(String, String, String)>| async move {
                    json(attempts(size, &task))
                }),
            )
            .with_state(size);
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.expect("a free port");
    println!("http://{}", listener.local_addr().expect("its address"));
    let parent_gone = async {
        let _ = tokio::io::stdin().read(&mut [0; 1]).await;
    };
    tokio::select! {
        _ = axum::serve(listener, router) => {}
        () = parent_gone => {}
    }
}

fn json(body: String) -> Response {
    ([(header::CONTENT_TYPE, "application/json")], body).into_response()
}

fn numbered(job: &str) -> Option<u32> {
    job.rsplit('_').next()?.parse().ok()
}

fn info() -> String {
    format!(r#"{{"clusterInfo":{{"startedOn":{CLUSTER},"haState":"ACTIVE","hadoopVersion":"3.4.3"}}}}"#)
}

fn apps(size: Size) -> String {
    let elapsed = clock::now().0 - size.began;
    let mut out = String::from(r#"{"apps":{"app":["#);
    for seq in 1..=size.jobs {
        let comma = if seq > 1 { "," } else { "" };
        let _ = write!(
            out,
            r#"{comma}{{"id":"application_{CLUSTER}_{seq:04}","user":"u{}","name":"job {seq}","queue":"root.default","state":"RUNNING","finalStatus":"UNDEFINED","applicationType":"MAPREDUCE","startedTime":{},"finishedTime":0,"elapsedTime":{elapsed},"amContainerLogs":"http://n1:8042/node/containerlogs/container_{CLUSTER}_{seq:04}_01_000001/u","allocatedMB":512000,"allocatedVCores":500,"runningContainers":500}}"#,
            seq % 10,
            size.began,
        );
    }
    out + "]}}"
}

fn summary(size: Size, job: &str) -> String {
    let elapsed = clock::now().0 - size.began;
    format!(
        r#"{{"job":{{"startTime":{},"finishTime":0,"elapsedTime":{elapsed},"id":"{job}","name":"job","user":"u","queue":"root.default","state":"RUNNING","mapsTotal":{},"mapsCompleted":0,"reducesTotal":0,"mapsPending":0,"mapsRunning":{},"runningMapAttempts":{},"uberized":false}}}}"#,
        size.began, size.tasks, size.tasks, size.tasks
    )
}

/// As long as a real one: 1,600 properties, some 300 KB.
fn conf() -> String {
    let mut out = String::from(r#"{"conf":{"path":"job.xml","property":["#);
    for i in 0..1_600 {
        let _ = write!(
            out,
            r#"{{"name":"some.property.of.this.length.{i}","value":"{:060}","source":["job.xml","mapred-default.xml","a/path/to/the/job.xml"]}},"#,
            i
        );
    }
    out + r#"{"name":"mapreduce.map.speculative","value":"true","source":["job.xml"]}]}}"#
}

/// Every task takes between two and ten minutes, and then begins anew.
fn progress(began: u64, now: u64, seq: u32, index: u32) -> f64 {
    let length = 120_000 + u64::from((seq * 7_919 + index * 104_729) % 480) * 1_000;
    ((now - began) % length) as f64 / length as f64 * 100.0
}

fn tasks_of(size: Size, seq: u32) -> String {
    let now = clock::now().0;
    let mut out = String::with_capacity(size.tasks as usize * 240);
    out.push_str(r#"{"tasks":{"task":["#);
    for index in 0..size.tasks {
        let comma = if index > 0 { "," } else { "" };
        let _ = write!(
            out,
            r#"{comma}{{"startTime":{},"finishTime":0,"elapsedTime":{},"progress":{:.5},"id":"task_{CLUSTER}_{seq:04}_m_{index:06}","state":"RUNNING","type":"MAP","successfulAttempt":"","status":"map"}}"#,
            size.began,
            now - size.began,
            progress(size.began, now, seq, index),
        );
    }
    out + "]}}"
}

fn attempts(size: Size, task: &str) -> String {
    let now = clock::now().0;
    let id = task.replacen("task", "attempt", 1);
    format!(
        r#"{{"taskAttempts":{{"taskAttempt":[{{"startTime":{},"finishTime":0,"elapsedTime":{},"progress":5.0,"id":"{id}_0","rack":"/r","state":"RUNNING","status":"map","nodeHttpAddress":"n7:8042","diagnostics":"","type":"MAP","assignedContainerId":"container_{CLUSTER}_0001_01_000005"}}]}}}}"#,
        size.began,
        now - size.began
    )
}
