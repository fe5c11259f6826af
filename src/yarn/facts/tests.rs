mod bounds;

use super::*;
use crate::shown::NAME_MAX;
use crate::yarn::wire::cluster::{Apps, Nodes};
use crate::yarn::wire::decode;
use crate::yarn::wire::job::{Conf, Tasks};
use crate::yarn::wire::scheduler::Scheduler;
use drover_core::model::{JobSettings, Labels, Millis, Mode, Resources};
use serde_json::{Value, json};

fn read<D: crate::yarn::wire::Document>(value: Value) -> D {
    decode(value.to_string().as_bytes()).unwrap()
}

fn settings(pairs: &[(&str, &str)]) -> (JobSettings, Refused) {
    settings_on(None, pairs)
}

fn settings_on(hadoop: Option<&str>, pairs: &[(&str, &str)]) -> (JobSettings, Refused) {
    let property: Vec<Value> = pairs.iter().map(|(k, v)| json!({"name": k, "value": v})).collect();
    let mut refused = Refused::default();
    let wire: Conf = read(json!({"conf": {"property": property}}));
    (settings::settings(&wire, hadoop, &mut refused), refused)
}

#[test]
fn hadoops_defaults_hold_for_what_a_job_does_not_say() {
    assert_eq!(settings(&[]).0, JobSettings::default());
}

#[test]
fn the_reporting_interval_is_the_one_set_or_a_hundredth_of_the_timeout() {
    let interval = |pairs: &[(&str, &str)]| settings(pairs).0.report_interval;
    assert_eq!(interval(&[("mapreduce.task.timeout", "1200000")]), Millis(12_000));
    let both = [("mapreduce.task.timeout", "1200000"), ("mapreduce.task.progress-report.interval", "500")];
    assert_eq!(interval(&both), Millis(500));
    assert!(
        interval(&[("mapreduce.task.timeout", "0")]) > Millis(3_600_000),
        "without a timeout a task need not report"
    );
}

#[test]
fn tasks_of_hadoop_2_7_report_every_three_seconds_whatever_a_job_sets() {
    let interval = |hadoop, pairs: &[(&str, &str)]| settings_on(Some(hadoop), pairs).0.report_interval;
    let set = [("mapreduce.task.progress-report.interval", "500")];
    for pairs in [&[][..], &set, &[("mapreduce.task.timeout", "0")]] {
        assert_eq!(interval("2.7.7", pairs), Millis(3_000));
    }
    for newer in ["2.8.5", "2.10.2", "3.4.3"] {
        assert_eq!((interval(newer, &[]), interval(newer, &set)), (Millis(6_000), Millis(500)));
    }
}

#[test]
fn the_committers_factory_is_the_one_set_or_that_of_the_outputs_scheme_and_hides_behind_no_committer() {
    let of = |pairs: &[(&str, &str)]| {
        let settings = settings(pairs).0;
        (settings.committer, settings.committer_factory)
    };
    let own = |class: &str| Some(class.to_owned());
    let (old, all) = (("mapred.output.committer.class", "Old"), ("mapreduce.outputcommitter.factory.class", "All"));
    let of_tos = ("mapreduce.outputcommitter.factory.scheme.tos", "Tos");
    let to = |at| ("mapreduce.output.fileoutputformat.outputdir", at);
    assert_eq!(of(&[old, all]), (own("Old"), own("All")));
    assert_eq!(of(&[old, of_tos, to("tos://bucket/out")]), (own("Old"), own("Tos")));
    assert_eq!(of(&[all, of_tos, to("tos://bucket/out")]), (None, own("All")), "what is set for all goes first");
    assert_eq!(of(&[of_tos, to("hdfs://nn/out"), ("mapreduce.outputcommitter.factory.class", "")]), (None, None));
    assert_eq!([of(&[of_tos]), of(&[of_tos, to("/out")])], [(None, None), (None, None)]);
}

#[test]
fn the_output_format_is_that_of_the_api_the_job_is_written_in() {
    let format = |pairs: &[(&str, &str)]| settings(pairs).0.output_format.unwrap();
    let (new, old) = (("mapreduce.job.outputformat.class", "New"), ("mapred.output.format.class", "Old"));
    assert_eq!(format(&[new, old, ("mapred.reducer.new-api", "true")]), "New");
    assert_eq!(format(&[new, old, ("mapred.reducer.new-api", "false")]), "Old");
    let map_only = ("mapreduce.job.reduces", "0");
    assert_eq!(
        format(&[new, old, map_only, ("mapred.mapper.new-api", "true"), ("mapred.reducer.new-api", "false")]),
        "New"
    );
    assert_eq!(format(&[old]), "Old");
}

#[test]
fn a_property_that_cannot_be_understood_is_counted_and_never_makes_drover_bolder() {
    let (read, refused) = settings(&[
        ("drover.mode", "acct"),
        ("mapreduce.map.speculative", "perhaps"),
        ("mapreduce.job.reduce.slowstart.completedmaps", "7"),
        ("mapreduce.map.memory.mb", "-1"),
        ("mapreduce.reduce.memory.mb", "2g"),
    ]);
    assert_eq!(read.mode, Some(Mode::Advise));
    assert_eq!((read.slow_start, read.map_container.memory_mb), (0.05, 1024));
    assert_eq!(refused.count(Reason::BadProperty), 4);
    assert_eq!(settings(&[("drover.mode", "OFF")]).0.mode, Some(Mode::Off));
}

#[test]
fn a_container_of_no_set_size_is_as_large_as_its_heap_asks_for_by_hadoop_3s_rule() {
    let map = |size: &str, more: &[(&str, &str)]| {
        let all: Vec<_> = more.iter().copied().chain([("mapreduce.map.memory.mb", size)]).collect();
        let (read, refused) = settings(&all);
        assert!(refused.is_empty());
        read.map_container.memory_mb
    };
    let opts = |value: &'static str| [("mapreduce.map.java.opts", value)];
    for (value, mb) in [
        ("-Xmx1024m", 1_280),
        ("-Xmx4g -XX:+UseSerialGC", 5_120),
        ("-Xmx512m -verbose:gc -Xmx2G", 2_560),
        ("-Xmx819200K", 1_000),
        ("-Xmx104857600", 125),
        ("-Xmx1m", 2),
        ("-Xms4g", 1_024),
        ("-Xmx2t", 1_024),
        ("-Xmx800m -Xmxlarge -Xmx -Xmx1.5g", 1_000),
        ("-Xmx9m -Xmx0", 1_024),
        ("-Xmx99999999999999999999g", 1_024),
        ("-Xmx9999999999g", 1_024),
    ] {
        assert_eq!(map("-1", &opts(value)), mb, "{value}");
    }
    assert_eq!(map("2048", &opts("-Xmx1024m")), 2_048, "a size that is set");
    assert_eq!(settings(&opts("-Xmx4g")).0.map_container.memory_mb, 1_024, "none, as Hadoop 2 may tell");
    let ratio = |ratio| map("-1", &[opts("-Xmx1000m")[0], ("mapreduce.job.heap.memory-mb.ratio", ratio)]);
    assert_eq!(["0.5", "1.0", "0", "-1", "NaN", "1e-30"].map(ratio), [2_000, 1_000, 1_024, 1_024, 1_024, 1_024]);
    let (child, admin) = (("mapred.child.java.opts", "-Xmx400m"), ("mapreduce.admin.map.child.java.opts", "-Xmx80m"));
    assert_eq!(
        (map("-1", &[admin, child]), map("0", &[admin]), map("-1", &[admin, opts("-Xss1m")[0]])),
        (500, 100, 100)
    );
    assert_eq!(map("-1", &[child, opts("-Xss1m")[0]]), 1_024, "those of maps stand in the place of both kinds'");
    let (read, _) = settings(&[child, ("mapreduce.reduce.memory.mb", "-1")]);
    assert_eq!((read.map_container.memory_mb, read.reduce_container.memory_mb), (1_024, 500));
}

#[test]
fn what_a_job_asks_for_by_its_resources_names_counts_in_the_unit_it_stands_in() {
    let map = |name: &str, value: &str| {
        let name = format!("mapreduce.map.resource.{name}");
        let all = [("mapreduce.map.memory.mb", "512"), ("mapreduce.map.cpu.vcores", "2"), (&name, value)];
        let size = settings(&all).0.map_container;
        (size.memory_mb, size.vcores)
    };
    for (value, mb) in [
        ("3072", 3_072),
        ("2Gi", 2_048),
        ("2 Gi", 2_048),
        ("1G", 953),
        ("2097152 Ki", 2_048),
        ("768Mi", 768),
        ("1Ti", 1_048_576),
        ("2 pints", 512),
        ("1.5Gi", 512),
        ("0", 512),
        ("99999999999999999999", 512),
    ] {
        assert_eq!([map("memory-mb", value), map("memory", value)], [(mb, 2); 2], "{value}");
    }
    let vcores = ["4", "4000m", "1k", "0", "4 Mi", "9999P", "four"].map(|value| map("vcores", value).1);
    assert_eq!(vcores, [4, 4, 1_000, 1, 4_194_304, 2, 2]);
}

#[test]
fn secrets_of_a_jobs_configuration_go_nowhere() {
    let (read, _) = settings(&[("fs.s3a.secret.key", "hush"), ("mapreduce.map.memory.mb", "2048")]);
    assert!(!format!("{read:?}").contains("hush"));
    assert_eq!(read.map_container, Resources { memory_mb: 2048, vcores: 1 });
}

#[test]
fn the_run_of_a_master_is_read_from_its_container_with_and_without_an_epoch() {
    let run = |container: &str| {
        let logs = format!("http://n:8042/node/containerlogs/{container}/u");
        let app = json!({"id": "application_7_0021", "amContainerLogs": logs});
        let wire: Apps = read(json!({"apps": {"app": [app]}}));
        cluster::apps(&wire, &mut Refused::default())[0].attempt
    };
    assert_eq!(run("container_7_0021_02_000001"), Some(2));
    assert_eq!(run("container_e17_7_0021_03_000001"), Some(3));
    for other in ["container_7_0022_02_000001", "container_7_0021", "", "container_e17", "container_7_0021_x_1"] {
        assert_eq!(run(other), None, "{other}");
    }
}

#[test]
fn a_fair_schedulers_leaves_are_found_in_the_shapes_of_hadoop_2_and_3() {
    let cluster = json!({"memory": 1000, "vCores": 100});
    let leaf = json!({"queueName": "root.a", "pendingContainers": 3,
        "maxResources": {"memory": 500, "vCores": 10}, "usedResources": {"memory": 250, "vCores": 30}});
    for children in [json!([leaf]), json!({"queue": [leaf]}), json!({"queue": leaf})] {
        let root = json!({"queueName": "root", "clusterResources": cluster, "childQueues": children});
        let wire: Scheduler =
            read(json!({"scheduler": {"schedulerInfo": {"type": "fairScheduler", "rootQueue": root}}}));
        let mut refused = Refused::default();
        let queues = queues::queues(&wire, &mut refused);
        assert_eq!((queues.len(), queues[0].name.as_str(), queues[0].containers_pending), (1, "root.a", 3));
        assert!(queues[0].counts_vcores, "on each node");
        assert_eq!(queues[0].partition, None, "labels or not");
        assert_eq!((queues[0].max_capacity, queues[0].used_capacity), (0.1, 0.3), "of virtual cores the least is left");
        assert!(refused.is_empty());
    }
}

#[test]
fn no_queue_has_more_users_than_the_limit_and_a_user_without_a_limit_tells_nothing() {
    let amount = |mb: u64| json!({"memory": mb, "vCores": 1});
    let user =
        |n: usize| json!({"username": format!("u{n}"), "resourcesUsed": amount(7), "userResourceLimit": amount(9)});
    let mut users: Vec<_> = (0..queues::MAX_USERS + 5).map(user).collect();
    users[0] = json!({"username": "u0", "resourcesUsed": amount(7)});
    let leaf = json!({"queueName": "a", "absoluteCapacity": 50.0, "userLimitFactor": -1.0, "users": {"user": users}});
    let info = json!({"type": "capacityScheduler", "queues": {"queue": [leaf]}});
    let wire: Scheduler = read(json!({"scheduler": {"schedulerInfo": info}}));
    let mut refused = Refused::default();
    let queues = queues::queues(&wire, &mut refused);
    assert_eq!((queues[0].users.len(), queues[0].user_capacity), (queues::MAX_USERS - 1, None));
    assert_eq!(refused.count(Reason::TooMany), 5);
}

#[test]
fn what_a_leafs_parents_leave_it_and_who_waits_to_be_let_in_is_told_and_a_queue_promised_nothing_limits_no_user() {
    let leaf = json!({"queueName": "x", "queuePath": "root.a.b.x", "absoluteMaxCapacity": 100.0, "absoluteUsedCapacity": 1.0,
        "pendingContainers": 30, "numPendingApplications": 29, "absoluteCapacity": 0.0, "userLimitFactor": 1.0});
    let inside = |name: &str, max: f64, used: f64, child: Value| {
        json!({"queueName": name, "absoluteMaxCapacity": max,
        "absoluteUsedCapacity": used, "queues": {"queue": [child]}})
    };
    let root = inside("a", 50.0, 45.0, inside("b", 60.0, 30.0, leaf));
    let wire: Scheduler =
        read(json!({"scheduler": {"schedulerInfo": {"type": "capacityScheduler", "queues": {"queue": [root]}}}}));
    let mut refused = Refused::default();
    let queue = queues::queues(&wire, &mut refused).remove(0);
    assert!((queue.parents_left.unwrap() - 0.05).abs() < 1e-6, "{queue:?}");
    assert_eq!((queue.containers_pending, queue.masters_pending, queue.user_capacity), (30, 29, None));
    assert!(refused.is_empty());
}

#[test]
fn a_capacity_scheduler_counts_virtual_cores_where_it_limits_anything_to_more_than_one_of_them() {
    let told = |masters: u32, user: u32| {
        let of = |vcores: u32| json!({"memory": 4096, "vCores": vcores});
        let user = json!({"username": "u", "resourcesUsed": of(9), "userResourceLimit": of(user)});
        let leaf = json!({"queueName": "x", "AMResourceLimit": of(masters), "users": {"user": user}});
        let other = json!({"queueName": "y", "maxEffectiveCapacity": of(32), "resourcesUsed": of(9)});
        let parent = json!({"queueName": "a", "queues": {"queue": [leaf]}});
        let info = json!({"type": "capacityScheduler", "queues": {"queue": [other, parent]}});
        let queues = queues::queues(&read(json!({"scheduler": {"schedulerInfo": info}})), &mut Refused::default());
        assert_eq!(queues.len(), 2);
        queues.into_iter().map(|queue| queue.counts_vcores).collect::<Vec<_>>()
    };
    // As one that looks at memory alone answers (tests/recorded), though more are used.
    assert_eq!(told(1, 1), [false; 2]);
    assert_eq!(told(0, 0), [false; 2]);
    assert_eq!((told(2, 1), told(1, 2)), (vec![true; 2], vec![true; 2]), "one calculator for all queues");
}

#[test]
fn the_least_allocation_is_told_beside_what_a_capacity_schedulers_root_is_set_to_and_elsewhere_by_nobody() {
    let told = |kind: &str, mb: Value, vcores: Value| {
        let of = |name, least| json!({"name": name, "minimumAllocation": least, "value": 0});
        let kinds = json!({"resourceInformation": [of("gpu", json!(9)), of("memory-mb", mb), of("vcores", vcores)]});
        let root = json!({"configuredMinResource": {"memory": 0, "resourceInformations": kinds}});
        let capacities = json!({"queueCapacitiesByPartition": [{}, root]});
        let info = json!({"type": kind, "queues": {"queue": [{"queueName": "x"}]}, "capacities": capacities});
        let wire = read(json!({"scheduler": {"schedulerInfo": info}}));
        queues::queues(&wire, &mut Refused::default()).remove(0).least
    };
    let of = |memory_mb, vcores| Some(Resources { memory_mb, vcores });
    assert_eq!(told("capacityScheduler", json!(64), json!(1)), of(64, 1));
    assert_eq!(told("capacityScheduler", json!("512"), json!(null)), of(512, 0));
    assert_eq!([json!(0), json!(-5), json!(null)].map(|mb| told("capacityScheduler", mb, json!(1))), [None; 3]);
    for form in ["scheduler.json", "scheduler.xml"] {
        let path = format!("{}/tests/recorded/3.4.3/rm/{form}", env!("CARGO_MANIFEST_DIR"));
        let wire: Scheduler = decode(&std::fs::read(path).unwrap()).unwrap();
        let queues = queues::queues(&wire, &mut Refused::default());
        assert!(queues.len() > 1 && queues.iter().all(|queue| queue.least == of(64, 1)), "{form}: {queues:?}");
    }
}

#[test]
fn where_memory_alone_is_scheduled_a_node_may_use_more_virtual_cores_than_it_has() {
    let wire: Nodes = read(
        json!({"nodes": {"node": [{"nodeHostName": "n", "state": "RUNNING", "usedMemoryMB": 6, "availMemoryMB": 2,
        "usedVirtualCores": 12, "availableVirtualCores": -4}]}}),
    );
    let mut refused = Refused::default();
    let node = cluster::nodes(&wire, &mut refused).remove(0);
    assert_eq!((node.total, node.used.vcores), (Resources { memory_mb: 8, vcores: 8 }, 12));
    assert!(refused.is_empty());
}

#[test]
fn a_fifo_scheduler_is_one_queue_even_with_a_share_that_is_no_number() {
    let wire: Scheduler =
        read(json!({"scheduler": {"schedulerInfo": {"type": "fifoScheduler", "usedCapacity": "NaN"}}}));
    let mut refused = Refused::default();
    let queues = queues::queues(&wire, &mut refused);
    assert_eq!((queues[0].name.as_str(), queues[0].used_capacity), ("default", 0.0));
    assert_eq!(refused.count(Reason::NumberRange), 1);
}

#[test]
fn the_label_of_a_node_is_read_alone_or_in_a_list_and_that_of_what_asks_for_none_is_its_queues() {
    let told = [json!(["gpu"]), json!("gpu"), json!([]), json!(null), json!([7]), json!({"x": 1}), json!([["gpu"]])];
    let labels = told.map(|labels| {
        let wire: Nodes = read(json!({"nodes": {"node": [{"nodeHostName": "n", "nodeLabels": labels}]}}));
        cluster::nodes(&wire, &mut Refused::default()).remove(0).label
    });
    assert_eq!(labels.each_ref().map(Option::as_deref), [Some("gpu"), Some("gpu"), None, None, Some("7"), None, None]);
    let of_app = |label: Value| {
        let app = json!({"id": "application_7_0021", "amNodeLabelExpression": "am", "appNodeLabelExpression": label});
        let wire: Apps = read(json!({"apps": {"app": [app]}}));
        cluster::apps(&wire, &mut Refused::default()).remove(0).fact.label
    };
    let told = [json!("gpu"), json!(""), json!(" "), json!(null)].map(of_app);
    assert_eq!(told.each_ref().map(Option::as_deref), [Some("gpu"), Some(""), Some(""), None]);
    let of_queue = |label: Value| {
        let leaf = json!({"queueName": "x", "defaultNodeLabelExpression": label});
        let info = json!({"type": "capacityScheduler", "queues": {"queue": [leaf]}});
        let wire = read(json!({"scheduler": {"schedulerInfo": info}}));
        queues::queues(&wire, &mut Refused::default()).remove(0).partition
    };
    assert_eq!((of_queue(json!("gpu")), of_queue(json!(null))), (Some("gpu".to_owned()), Some(String::new())));
}

#[test]
fn the_labels_that_a_job_asks_for_are_read_by_kind_of_its_tasks_and_an_empty_one_is_none() {
    let (read, refused) = settings(&[
        ("mapreduce.map.node-label-expression", " gpu "),
        ("mapreduce.reduce.node-label-expression", " "),
        ("mapreduce.job.node-label-expression", "ssd"),
    ]);
    let Labels { map, reduce, job } = *read.labels;
    assert_eq!((map.as_deref(), reduce, job.as_deref()), (Some("gpu"), None, Some("ssd")));
    assert!(refused.is_empty());
}

#[test]
fn how_many_maps_may_wait_on_their_nodes_is_none_where_it_is_not_told_or_is_no_number() {
    let told = |value| settings(&[("mapreduce.job.num-opportunistic-maps-percent", value)]).0.opportunistic_maps;
    assert_eq!(["30", "0", "-1", "1000", "many"].map(told), [30, 0, 0, 100, 0]);
}

#[test]
fn how_many_attempts_may_fail_is_as_shipped_where_it_is_not_told_and_never_none() {
    let told = |value| settings(&[("mapreduce.reduce.maxattempts", value)]).0.attempts_max;
    assert_eq!(["9", "0", "-3", "many"].map(told), [[4, 9], [4, 1], [4, 1], [4, 4]]);
    assert_eq!(settings(&[("mapreduce.map.maxattempts", "1")]).0.attempts_max, [1, 4]);
}

#[test]
fn a_nodemanager_that_cannot_measure_its_machine_reports_no_use_of_it() {
    let node = |usage: Value| {
        let wire: Nodes =
            read(json!({"nodes": {"node": [{"nodeHostName": "n", "state": "LOST", "resourceUtilization": usage}]}}));
        cluster::nodes(&wire, &mut Refused::default()).remove(0)
    };
    let idle = node(json!({"nodePhysicalMemoryMB": 0, "nodeCPUUsage": 0.0}));
    assert_eq!((idle.cpu_used_vcores, idle.memory_used_mb, idle.usable), (None, None, false));
    let used = node(json!({"nodePhysicalMemoryMB": 900, "nodeCPUUsage": 1.5}));
    assert_eq!((used.cpu_used_vcores, used.memory_used_mb), (Some(1.5), Some(900)));
    assert_eq!(node(json!({"nodePhysicalMemoryMB": 900, "nodeCPUUsage": "NaN"})).cpu_used_vcores, None);
}

#[test]
fn times_that_stand_for_not_yet_are_none_and_negative_ones_are_refused() {
    let mut refused = Refused::default();
    for not_yet in [None, Some(0), Some(-1)] {
        assert_eq!(refused.instant(Int(not_yet)), None);
    }
    assert!(refused.is_empty());
    assert_eq!(refused.instant(Int(Some(-5))), None);
    assert_eq!(refused.count(Reason::TimeRange), 1);
    assert_eq!(refused.end(Some(Time(10)), Int(Some(9))), None);
    assert_eq!(refused.end(Some(Time(10)), Int(Some(10))), Some(Time(10)));
    assert_eq!(refused.count(Reason::FinishBeforeStart), 1);
}

#[test]
fn a_task_named_twice_is_counted_and_taken_once() {
    let task = json!({"id": "task_1_0001_m_000000", "state": "RUNNING"});
    let wire: Tasks = read(json!({"tasks": {"task": [task, task]}}));
    let mut refused = Refused::default();
    let seen = job::tasks(&wire, "job_1_0001".parse().unwrap(), &mut refused);
    assert_eq!((seen.tasks.len(), refused.count(Reason::Repeated), seen.complete), (1, 1, false));
}

#[test]
fn an_index_beyond_any_job_and_a_name_without_end_are_not_passed_on() {
    let job: drover_core::model::JobId = "job_1_0001".parse().unwrap();
    let wire: Tasks = read(json!({"tasks": {"task": [{"id": "task_1_0001_m_4294967295"}]}}));
    let mut refused = Refused::default();
    assert!(job::tasks(&wire, job, &mut refused).tasks.is_empty());
    assert_eq!(refused.count(Reason::TooMany), 1);
    let wire = read(json!({"job": {"id": "job_1_0001", "name": "n".repeat(1_000_000)}}));
    let attempt = drover_core::model::AppAttemptId { app: job.0, number: 1 };
    assert_eq!(job::job(&wire, job, attempt, &mut refused).unwrap().fact.name.len(), NAME_MAX);
}
