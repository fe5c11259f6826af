use super::*;
use crate::model::{Bytes, Millis, Resources};
use crate::sim::{TracedJob, TracedPhase, TracedTask, TracedTasks};

fn told(json: &str) -> Vec<String> {
    let scenario: Scenario = serde_json::from_str(json).unwrap();
    scenario.faults().iter().map(ToString::to_string).collect()
}

const JOB: &str = r#"{"name": "a", "maps": {"tasks": 4}}"#;

#[test]
fn a_scenario_of_one_job_is_fine_and_one_of_none_is_not() {
    assert_eq!(told(&format!(r#"{{"jobs": [{JOB}]}}"#)), [""; 0]);
    assert_eq!(told("{}"), ["jobs: there must be one at least"]);
}

#[test]
fn what_of_a_job_cannot_be_or_would_do_nothing_is_named_with_its_key() {
    for (job, key) in [
        (r#"{"name": " ", "maps": {"tasks": 4}}"#, "name"),
        (r#"{"name": "a", "maps": {"tasks": 4, "sort": 5}}"#, "maps.sort"),
        (r#"{"name": "a", "maps": {"tasks": 4, "copy": 5}}"#, "maps.copy"),
        (r#"{"name": "a", "maps": {"tasks": 4, "input_mb": 1e10}}"#, "maps.input_mb"),
        (r#"{"name": "a", "maps": {"tasks": 4, "busy": 1e5}}"#, "maps.busy"),
        (r#"{"name": "a", "maps": {"tasks": 24.6}}"#, "maps.tasks"),
        (r#"{"name": "a", "maps": {"tasks": 4, "vcores": 0}}"#, "maps.vcores"),
        (r#"{"name": "a", "maps": {"tasks": 4}, "count": 5, "arrive": {"every": 1e9}}"#, "arrive.every"),
    ] {
        let faults = told(&format!(r#"{{"jobs": [{job}]}}"#));
        assert!(
            faults.first().is_some_and(|fault| fault.starts_with(&format!("jobs[0].{key}: "))),
            "{job}: {faults:?}"
        );
    }
    let reduces = r#"{"name": "a", "maps": {"tasks": 4}, "reduces": {"tasks": 1, "copy": 5, "sort": 5}}"#;
    assert_eq!(told(&format!(r#"{{"jobs": [{reduces}]}}"#)), [""; 0]);
}

#[test]
fn each_value_that_cannot_be_is_named_with_its_key() {
    let of = |rest: &str| told(&format!(r#"{{"jobs": [{JOB}], {rest}}}"#));
    let first = |rest: &str| of(rest).into_iter().next().unwrap_or_default();
    for (rest, key) in [
        (r#""cluster": {"nodes": 0, "racks": 1}"#, "cluster.nodes"),
        (r#""cluster": {"racks": 5}"#, "cluster.racks"),
        (r#""cluster": {"slower": 0}"#, "cluster.slower"),
        (r#""cluster": {"queues": [{"name": "default", "share": 1.2}]}"#, "cluster.queues.default.share"),
        (r#""cluster": {"queues": [{"name": "other", "share": 1}]}"#, "jobs[0].queue"),
        (r#""hadoop": {"report": 0}"#, "hadoop.report"),
        (r#""hadoop": {"commit": -1}"#, "hadoop.commit"),
        (r#""hadoop": {"kill": {"uniform": {"low": -1, "high": 1}}}"#, "hadoop.kill"),
        (r#""hadoop": {"ask": -0.1}"#, "hadoop.ask"),
        (r#""hadoop": {"ask": 1e300}"#, "hadoop.ask"),
        (r#""hadoop": {"node_heartbeat": -1}"#, "hadoop.node_heartbeat"),
        (r#""hadoop": {"node_heartbeat": 0.009}"#, "hadoop.node_heartbeat"),
        (r#""hadoop": {"node_heartbeat": 1e300}"#, "hadoop.node_heartbeat"),
        (r#""hadoop": {"report": 3, "report_jitter": 3.1}"#, "hadoop.report_jitter"),
        (r#""hadoop": {"report_jitter": {"exponential": {"mean": 1}}}"#, "hadoop.report_jitter"),
        (r#""hadoop": {"fails": {"share": 1.5}}"#, "hadoop.fails.share"),
        (r#""hadoop": {"fails": {"at": {"exponential": {"mean": 0.1}}}}"#, "hadoop.fails.at"),
        (r#""hadoop": {"attempts_max": 0}"#, "hadoop.attempts_max"),
        (r#""hadoop": {"attempts_max": 1001}"#, "hadoop.attempts_max"),
        (r#""hadoop": {"fails": {"share": 0.1}, "can": {"duplicate": true, "reads": true}}"#, "hadoop.fails"),
        (r#""hadoop": {"fails": {"share": 0.1}, "can": {"job_clones": true}}"#, "hadoop.fails"),
        (r#""hadoop": {"can": {"job_clones": true, "replicate": true}}"#, "hadoop.can.job_clones"),
        (
            r#""hadoop": {"can": {"job_clones": true}}, "trouble": [{"nodes": [0], "loses": 0.1}]"#,
            "hadoop.can.job_clones",
        ),
        (r#""slowness": {"attempt": {"uniform": {"low": -1, "high": 2}}}"#, "slowness.attempt"),
        (r#""trouble": [{"nodes": [4]}]"#, "trouble[0].nodes"),
        (r#""cluster": {"memory_mb": 4611686018427387904}"#, "cluster.memory_mb"),
        (r#""cluster": {"vcores": 10001}"#, "cluster.vcores"),
        (r#""cluster": {"kinds": [{"nodes": 1, "memory_mb": 16777217}]}"#, "cluster.kinds[0].memory_mb"),
        (r#""cluster": {"kinds": [{"nodes": 1, "vcores": 10001}]}"#, "cluster.kinds[0].vcores"),
        (r#""trouble": [{"nodes": [0, 0]}]"#, "trouble[0].nodes"),
        (
            r#""cluster": {"queues": [{"name": "default", "share": 0.5}, {"name": "default", "share": 0.5}]}"#,
            "cluster.queues.default",
        ),
        (r#""trouble": [{}]"#, "trouble[0].nodes"),
        (r#""trouble": [{"nodes": [0], "loses": 1.1}]"#, "trouble[0].loses"),
        (r#""trouble": [{"nodes": [0], "slower": 1e300}]"#, "trouble[0].slower"),
        (r#""trouble": [{"nodes": [0], "from": 1e300}]"#, "trouble[0].from"),
        (r#""hadoop": {"start_up": 1e300}"#, "hadoop.start_up"),
        (r#""hadoop": {"remote_slower": 1e300}"#, "hadoop.remote_slower"),
        (r#""hadoop": {"localize": 1e300}"#, "hadoop.localize"),
        (r#""hadoop": {"locality_wait": 1e300}"#, "hadoop.locality_wait"),
        (r#""hadoop": {"report": 1e300}"#, "hadoop.report"),
        (r#""hadoop": {"contention": 1e-300}"#, "hadoop.contention"),
        (r#""cluster": {"network": {"disk_mb_s": 1e-300}}"#, "cluster.network.disk_mb_s"),
        (r#""cluster": {"network": {"others": {"share": 0.5}}}"#, "cluster.network.others.every"),
        (r#""cluster": {"network": {"others": {"foresight": 50}}}"#, "cluster.network.others.every"),
        (r#""hadoop": {"replicas": 0}"#, "hadoop.replicas"),
    ] {
        assert!(first(rest).starts_with(&format!("{key}: ")), "{rest}: {:?}", of(rest));
    }
}

#[test]
fn what_has_no_end_and_what_is_no_number_is_refused() {
    // JSON has neither, TOML has both.
    for bad in [f64::INFINITY, f64::NAN] {
        let mut scenario: Scenario = serde_json::from_str(&format!(r#"{{"jobs": [{JOB}]}}"#)).unwrap();
        let hadoop = &mut scenario.hadoop;
        (hadoop.ask, hadoop.node_heartbeat, hadoop.locality_wait, hadoop.remote_slower) = (bad, bad, bad, bad);
        let keys: Vec<String> = scenario.faults().into_iter().map(|fault| fault.key).collect();
        let all = ["hadoop.ask", "hadoop.node_heartbeat", "hadoop.locality_wait", "hadoop.remote_slower"];
        assert_eq!(keys, all);
    }
}

#[test]
fn a_group_comes_after_one_that_is_there_and_is_as_large() {
    let of = |rest: &str| told(&format!(r#"{{"jobs": [{JOB}, {{"name": "b", "maps": {{"tasks": 1}}, {rest}}}]}}"#));
    assert_eq!(of(r#""after": "a""#), [""; 0]);
    assert_eq!(of(r#""after": ["a"]"#), [""; 0]);
    assert_eq!(of(r#""after": "c""#), ["jobs[1].after: c is no group"]);
    assert_eq!(of(r#""after": ["a", "a"]"#), ["jobs[1].after: a is named twice"]);
    let wants = "jobs[1].count: must be that of a, as the nth job comes after the nth of that";
    assert_eq!(of(r#""after": "a", "count": 2"#), [wants]);
}

#[test]
fn jobs_that_wait_for_themselves_by_any_way_are_told() {
    let of = |after: [&str; 2]| {
        let [a, b] = after.map(|after| format!(r#""maps": {{"tasks": 1}}, "after": {after}"#));
        told(&format!(r#"{{"jobs": [{{"name": "a", {a}}}, {{"name": "b", {b}}}]}}"#))
    };
    assert_eq!(of(["[]", r#""b""#]), ["jobs[1].after: b is this group itself, whose jobs would never begin"]);
    let circle = of([r#""b""#, r#""a""#]);
    assert!(circle.len() == 1 && circle[0].starts_with("jobs[0].after: b stands further down"), "{circle:?}");
}

#[test]
fn a_way_through_a_workflow_has_so_many_phases_and_no_more() {
    let of = |jobs: u32| {
        let job = |nth: u32| {
            let after = nth.checked_sub(1).map_or("[]".into(), |before| format!(r#""j{before}""#));
            format!(r#"{{"name": "j{nth}", "after": {after}, "maps": {{"tasks": 1}}, "reduces": {{"tasks": 1}}}}"#)
        };
        told(&format!(r#"{{"jobs": [{}]}}"#, (0..jobs).map(job).collect::<Vec<_>>().join(",")))
    };
    assert_eq!(of(50), [""; 0]);
    assert_eq!(of(53), ["jobs[50].after: has more than 100 phases come one after the other"]);
}

#[test]
fn what_is_no_name_is_told_with_what_would_be() {
    let bad = format!(r#"{{"jobs": [{JOB}, {{"name": "b", "after": 3}}]}}"#);
    let told = serde_json::from_str::<Scenario>(&bad).unwrap_err().to_string();
    assert!(told.contains("the name of a group of jobs, or a list"), "{told}");
}

#[test]
fn attempts_are_named_as_slow_once_each_and_by_how_much() {
    let of = |slow: &str| {
        told(&format!(r#"{{"jobs": [{{"name": "a", "maps": {{"tasks": 1, "slow": {slow}}}}}]}}"#)).join("; ")
    };
    assert_eq!(of("[[0, 0, 2.5], [0, 1, 0.5]]"), "");
    let wants = "jobs[0].maps.slow: must give factors above 0 only, and 1,000,000 at most";
    assert_eq!([of("[[0, 0, 0]]"), of("[[0, 0, 1e300]]")], [wants; 2]);
    assert_eq!(of("[[0, 0, 2], [0, 0, 3]]"), "jobs[0].maps.slow: names an attempt twice");
    assert_eq!(of("[[1, 0, 2]]"), "jobs[0].maps.slow: names a task that no job has");
    let many: Vec<_> = (0..1_001).map(|attempt| format!("[0, {attempt}, 2]")).collect();
    assert_eq!(of(&format!("[{}]", many.join(","))), "jobs[0].maps.slow: names more than 1,000 attempts");
}

#[test]
fn a_container_that_fits_on_no_node_is_told_and_so_is_a_job_without_tasks() {
    let big = told(r#"{"jobs": [{"name": "a", "maps": {"tasks": 4, "memory_mb": 9000}}]}"#);
    assert_eq!(big, ["jobs[0].maps.memory_mb: a container is larger than a node, and would never be placed"]);
    assert!(told(r#"{"jobs": [{"name": "a"}]}"#)[0].contains("no tasks at all"));
}

#[test]
fn a_container_that_is_too_large_is_told_once_by_its_own_key_and_not_where_no_task_asks_for_it() {
    let of = |cluster: &str, reduces: &str| {
        let maps = r#""maps": {"tasks": 4, "memory_mb": 512}"#;
        let job = format!(r#"{{"name": "a", {maps}, "reduces": {{{reduces}}}}}"#);
        let faults = told(&format!(r#"{{"jobs": [{job}], "cluster": {{{cluster}}}}}"#));
        faults.iter().map(|fault| fault.split(':').next().unwrap_or_default().to_owned()).collect::<Vec<_>>()
    };
    let small = r#""memory_mb": 512"#;
    assert_eq!(of(small, ""), [""; 0], "a job without reduces asks for none of their containers");
    assert_eq!(of(small, r#""tasks": 1"#), ["jobs[0].reduces.memory_mb"]);
    assert_eq!(of("", r#""tasks": 1, "vcores": 9"#), ["jobs[0].reduces.vcores"]);
    assert_eq!(of(r#""memory_mb": 256"#, r#""tasks": 1"#), ["jobs[0].maps.memory_mb", "jobs[0].reduces.memory_mb"]);
    let kind = |kind: &str| format!(r#""kinds": [{{"nodes": 2, {kind}}}]"#);
    assert_eq!(of(&kind(r#""memory_mb": 9000"#), r#""tasks": 1, "memory_mb": 9000"#), [""; 0]);
    let either = kind(r#""memory_mb": 9000, "vcores": 2"#);
    assert_eq!(of(&either, r#""tasks": 1, "memory_mb": 9000, "vcores": 8"#), ["jobs[0].reduces.memory_mb"]);
}

#[test]
fn more_nodes_than_there_can_be_are_refused_without_a_look_at_each() {
    let most = u32::MAX;
    let kinds = format!(r#"{{"nodes": {most}, "memory_mb": 512}}, {{"nodes": {most}, "memory_mb": 512}}"#);
    let faults =
        told(&format!(r#"{{"jobs": [{JOB}], "cluster": {{"nodes": {most}, "memory_mb": 512, "kinds": [{kinds}]}}}}"#));
    let expected = ["cluster.nodes: must be", "cluster.kinds: have more", "jobs[0].maps.memory_mb: a container"];
    assert!(faults.iter().zip(expected).all(|(fault, begins)| fault.starts_with(begins)), "{faults:?}");
    assert_eq!(faults.len(), 3, "{faults:?}");
}

#[test]
fn more_tasks_than_memory_has_room_for_are_told_before_they_are_made() {
    let of = |tasks: &str, count: u64| {
        told(&format!(r#"{{"jobs": [{{"name": "a", "count": {count}, "maps": {{"tasks": {tasks}}}}}]}}"#))
    };
    let many = "jobs[0].maps.tasks: gives more than 2,000,000 tasks to a job";
    for law in ["1e12", r#"{"uniform": {"low": 1, "high": 1e9}}"#, r#"{"lognormal": {"median": 1e6, "sigma": 1}}"#] {
        assert!(of(law, 1).iter().any(|fault| fault == many), "{law}: {:?}", of(law, 1));
    }
    assert_eq!(of("2000000", 1), [""; 0]);
    assert_eq!(of(r#"{"lognormal": {"median": 20, "sigma": 2}}"#, 100_000), [""; 0]);
    assert_eq!(of("2000000", 51), ["jobs: they have more than 100,000,000 tasks together"]);
}

#[test]
fn a_job_of_a_trace_has_no_more_tasks_of_a_kind_than_any_other() {
    let of = |tasks| {
        let task = TracedTask { work: [0.0, 0.0, 1.0], first: 1.0, input: Bytes(0), host: None };
        let phase = |count| TracedPhase {
            tasks: TracedTasks::Alike(count, task),
            size: Resources { memory_mb: 1024, vcores: 1 },
            reads_after_maps: false,
        };
        let (name, user, queue) = ("a".into(), "u".into(), "default".into());
        let job = TracedJob { name, user, queue, arrives: Millis(0), phases: [phase(1), phase(tasks)] };
        let scenario = Scenario { traced: vec![job], ..Scenario::default() };
        scenario.faults().iter().map(ToString::to_string).collect::<Vec<_>>()
    };
    assert_eq!(of(2_000_000), [""; 0]);
    assert_eq!(of(2_000_001), ["jobs: a of the trace has more than 2,000,000 tasks of a kind"]);
}

#[test]
fn a_container_of_a_trace_that_fits_on_no_node_is_told_unless_no_task_asks_for_it() {
    let task = TracedTask { work: [0.0, 0.0, 1.0], first: 1.0, input: Bytes(0), host: None };
    let phase = |count, memory_mb, vcores| TracedPhase {
        tasks: TracedTasks::Alike(count, task),
        size: Resources { memory_mb, vcores },
        reads_after_maps: false,
    };
    let of = |phases| {
        let (name, user, queue) = ("a".into(), "u".into(), "default".into());
        let job = TracedJob { name, user, queue, arrives: Millis(0), phases };
        let scenario = Scenario { traced: vec![job], ..Scenario::default() };
        scenario.faults().iter().map(ToString::to_string).collect::<Vec<_>>()
    };
    assert_eq!(of([phase(1, 8192, 8), phase(0, 9000, 1)]), [""; 0]);
    let of = |memory_mb, vcores| of([phase(1, 1024, 1), phase(1, memory_mb, vcores)]);
    let words = |memory_mb, vcores| {
        format!(
            "a container of a, of the trace, asks for {memory_mb} MiB and {vcores} vcores, more than a node has, and would never be placed"
        )
    };
    assert_eq!(of(9000, 1), [format!("cluster.memory_mb: {}", words(9000, 1))]);
    assert_eq!(of(1, 9), [format!("cluster.vcores: {}", words(1, 9))]);
}

#[test]
fn an_unknown_key_is_told_by_its_name() {
    let unknown = serde_json::from_str::<Scenario>(r#"{"jobs": [], "clutser": {}}"#).unwrap_err().to_string();
    assert!(unknown.contains("`clutser`"), "{unknown}");
}

#[test]
fn a_trouble_of_no_node_and_one_for_good_that_is_to_come_again_are_not_played_as_if_they_were_there() {
    let of = |trouble: &str| {
        told(&format!(r#"{{"cluster": {{"nodes": 40}}, "trouble": [{{"slower": 5, {trouble}}}], "jobs": [{JOB}]}}"#))
    };
    assert_eq!(of(r#""share": 0.01"#), ["trouble[0].share: is of no node: there are 40, and one of them is 0.025"]);
    assert_eq!(of(r#""share": 0.0125"#), [""; 0]);
    assert_eq!(of(r#""share": 0, "nodes": [1], "lasts": 1, "again": 9"#), [""; 0]);
    let again = "trouble[0].again: needs lasts: without it the trouble is for good, and cannot come again";
    assert_eq!(of(r#""nodes": [1], "again": 9"#), [again]);
}

#[test]
fn a_queue_that_is_not_there_is_refused() {
    let queue = |name: &str, queues: &str| {
        let job = format!(r#"{{"name": "a", "queue": "{name}", "maps": {{"tasks": 4}}}}"#);
        told(&format!(r#"{{"cluster": {{"queues": [{queues}]}}, "jobs": [{job}]}}"#))
    };
    assert_eq!(queue("zz", r#"{"name": "zz", "share": 1}"#), [""; 0]);
    assert_eq!(queue("zz", r#"{"name": "a", "share": 1}"#), ["jobs[0].queue: is none of cluster.queues"]);
    assert_eq!(queue("default", ""), [""; 0]);
    let none = "jobs[0].queue: would do nothing: without cluster.queues there is one, default";
    assert_eq!(queue("zz", ""), [none]);
}

#[test]
fn what_comes_after_a_hundred_years_or_takes_more_than_one_would_never_end() {
    let of = |job: &str| told(&format!(r#"{{"jobs": [{{"name": "a", {job}}}]}}"#));
    let late = |key: &str| format!("jobs[0].arrive.{key}: is more than 100 years (3153600000 s)");
    assert_eq!(of(r#""maps": {"tasks": 1}, "arrive": {"at": 3153600000}"#), [""; 0]);
    assert_eq!(of(r#""maps": {"tasks": 1}, "arrive": {"at": 3153600001}"#), [late("at")]);
    assert_eq!(of(r#""maps": {"tasks": 1}, "arrive": {"every": 1e300}"#), [late("every")]);
    let long = "gives more than a year (31536000 s): give it less, or a law a bound";
    assert_eq!(of(r#""maps": {"tasks": 1, "work": 1e300}"#), [format!("jobs[0].maps.work: {long}")]);
    let law = r#"{"pareto": {"least": 10, "shape": 0.5}}"#;
    assert_eq!(of(&format!(r#""reduces": {{"tasks": 1, "copy": {law}}}"#)), [format!("jobs[0].reduces.copy: {long}")]);
}

#[test]
fn jobs_of_a_group_and_of_the_trace_are_told_apart_by_name_and_none_of_the_trace_comes_too_late() {
    let of = |name: &str, arrives: Millis| {
        let task = TracedTask { work: [0.0, 0.0, 1.0], first: 1.0, input: Bytes(0), host: None };
        let size = Resources { memory_mb: 1024, vcores: 1 };
        let phases =
            [1, 0].map(|count| TracedPhase { tasks: TracedTasks::Alike(count, task), size, reads_after_maps: false });
        let [name, user, queue] = [name, "u", "default"].map(str::to_owned);
        let mut scenario: Scenario = serde_json::from_str(&format!(r#"{{"jobs": [{JOB}]}}"#)).unwrap();
        scenario.traced = vec![TracedJob { name, user, queue, arrives, phases }];
        scenario.faults().iter().map(ToString::to_string).collect::<Vec<_>>()
    };
    let mixed = "jobs[0].name: is that of a job of the trace, too, with which its jobs would be mixed";
    assert_eq!((of("b", ARRIVES_MAX), of("a", Millis(0))), (vec![], vec![mixed.to_owned()]));
    let late = "jobs: b of the trace arrives more than 100 years after its start";
    assert_eq!(of("b", ARRIVES_MAX + Millis(1)), [late]);
}
