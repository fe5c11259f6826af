use super::*;
use crate::service::fixture::{job, seen, summary, watched, watched_under};
use drover_core::engine::EngineParams;
use drover_core::model::*;
use drover_core::policy::{DollyParams, PolicyName};

fn subject(task: Option<TaskId>) -> Subject {
    let desk = watched();
    let filter = TaskFilter { task, running: task.is_none(), after: None, limit: 10 };
    let detail = desk.job(job(1), Time(121_000)).unwrap();
    Subject { job: detail, tasks: desk.tasks(job(1), filter).unwrap(), unread: None }
}

#[test]
fn that_a_look_could_not_read_the_job_is_told_as_json_too() {
    #[derive(clap::Parser)]
    struct Line {
        #[command(flatten)]
        command: Command,
    }
    let Line { command } = clap::Parser::parse_from(["explain", "job_1_0001", "--json"]);
    let told = |unread: &[u32]| {
        let unread = unread.iter().map(|number| Unread { job: job(*number), why: "403".into() }).collect();
        let subject = command.looked_at(&once::Seen::of(watched(), unread), None).unwrap();
        serde_json::to_value(subject).unwrap()["unread"].clone()
    };
    assert_eq!(told(&[1, 2]), serde_json::json!([{"job": "job_1_0001", "why": "403"}]));
    assert_eq!(told(&[2]), serde_json::json!([]));
}

#[test]
fn a_job_is_explained_by_its_state_each_running_task_and_the_words_for_each_verdict() {
    let text = all(&subject(None));
    for line in [
        "job_1_0001 \"slow\" of ann in queue root.default: mode advise, it is watched over REST; its newest news is 1.0 s old.",
        "Of 10 maps, 9 have succeeded and 1 run. Its tasks report at most every 500 ms.",
        "unknown  copy_in_flight",
        "copy_in_flight (1): the copy decided on earlier still counts as in flight.",
        "Decided so far (1):\n  task_1_0001_m_000003, advised by drover: it still runs.",
    ] {
        assert!(text.contains(line), "{line}\nis not in\n{text}");
    }
}

#[test]
fn a_decision_without_an_end_is_not_said_to_run_where_its_task_does_not() {
    let mut subject = subject(None);
    let told =
        |subject: &Subject| decided(&subject.job.recent[0], subject.tasks.iter().any(|task| task.verdict.is_some()));
    assert!(told(&subject).ends_with("it still runs."));
    subject.tasks.clear();
    assert!(told(&subject).ends_with("it has ended."));
}

#[test]
fn what_a_policy_wants_beside_copies_and_hadoop_cannot_do_is_told_under_that_policy() {
    let heading = |policy| {
        let mut desk = watched_under(EngineParams { policy, ..EngineParams::default() });
        let waits = |(index, input)| TaskFact {
            state: Some(TaskState::Scheduled),
            input: Some(Bytes(input)),
            ..TaskFact::of(job(1).task(TaskKind::Map, index))
        };
        let tasks = [(8, 2 << 20), (9, 3 << 20)].map(waits).to_vec();
        desk.observe(seen(job(1), 1_000_000, 121_000, Fact::Tasks { job: job(1), complete: false, tasks }));
        heading(&desk.job(job(1), Time(121_000)).unwrap())
    };
    let refused = " Beside copies, cannot_order: its tasks that wait are best started with the largest first, which";
    let text = heading(PolicyName::Mantri);
    assert!(text.contains(refused) && text.contains(" (maps 9, 8)."), "{text}");
    assert!(!heading(PolicyName::Late).contains("Beside copies"));
}

#[test]
fn a_job_whose_tasks_may_not_be_viewed_is_explained_by_what_to_change() {
    let mut desk = watched();
    desk.observe(seen(job(1), 1_000_000, 121_000, Fact::Hidden(job(1))));
    let text = heading(&desk.job(job(1), Time(121_000)).unwrap());
    assert!(text.contains("mapreduce.job.acl-view-job") && text.contains("cluster.user"), "{text}");
    assert_eq!(desk.job(job(1), Time(121_000)).unwrap().summary.blocked.as_deref(), Some(words::HIDDEN));
    let at_last = Fact::Tasks { job: job(1), complete: true, tasks: Vec::new() };
    desk.observe(seen(job(1), 1_000_001, 122_000, at_last));
    assert_eq!(desk.job(job(1), Time(122_000)).unwrap().summary.blocked, None);
}

#[test]
fn what_was_settled_about_clones_is_told_with_what_cannot_be_done_of_it() {
    let mut desk = watched();
    let params = desk.engine.params().clone();
    let dolly = DollyParams { beta: 1.0, tau: 1.0, prior: 0.1, ..DollyParams::default() };
    desk.set_params(Time(122_000), EngineParams { policy: PolicyName::Dolly, dolly, ..params });
    let total = Resources { memory_mb: 1 << 20, vcores: 1_000 };
    let told = Fact::Cluster(ClusterFact { total, active_nodes: 4, ..ClusterFact::default() });
    let source = drover_core::model::Source { channel: Channel::Rm, app: None, principal: None, incarnation: 1 };
    let (at, received) = (Time(122_000), Time(122_000));
    desk.observe(Observation { source, seq: 1, at, received, fact: told });
    let reduce = TaskFact {
        state: Some(TaskState::Running),
        started: Some(Time(122_000)),
        ..TaskFact::of(job(2).task(TaskKind::Reduce, 0))
    };
    let summary = JobFact { maps: 4, reduces: 4, started: Time(122_000), ..summary(job(2)) };
    for (seq, fact) in [
        Fact::Job(summary),
        Fact::Settings(job(2), JobSettings::default()),
        Fact::Tasks { job: job(2), complete: true, tasks: vec![reduce] },
    ]
    .into_iter()
    .enumerate()
    {
        desk.observe(seen(job(2), seq as u64 + 1, 122_000, fact));
    }
    desk.decide(Time(122_000));
    let text = |id| heading(&desk.job(id, Time(122_000)).unwrap());
    assert!(
        text(job(1)).contains(" Its maps have no clones (phase_under_way): tasks of its phase had"),
        "{}",
        text(job(1))
    );
    let both = "4 of its maps have 2 attempts each from their start on. 4 of its reduces have 2 attempts each from their start on. Each is to read \
         an output of its own of each map, and reads the first output of each map (cannot_choose_output: which clone's";
    assert!(text(job(2)).contains(both), "{}", text(job(2)));
}

#[test]
fn a_task_is_explained_in_sentences_with_the_numbers_of_its_decision() {
    let slow = one(&subject(Some(job(1).task(TaskKind::Map, 3))));
    assert!(slow.contains("task_1_0001_m_000003 is running, with 1.0 MiB of input.\n"), "{slow}");
    let decided = slow.split("When it was advised (Mantri §5.1, Pseudocode 1 line 10").nth(1).unwrap();
    assert!(
        decided.contains("A copy is worth starting. It has run for") && decided.contains("a fresh copy would need")
    );
    let ended = one(&subject(Some(job(1).task(TaskKind::Map, 0))));
    assert!(ended.ends_with("It does not run, so there is nothing to decide about it.\n"), "{ended}");
    assert!(slow.contains("Cause: nothing that is known explains it; of "), "{slow}");
    let mut slow_once = subject(Some(job(1).task(TaskKind::Map, 3)));
    (slow_once.tasks[0].verdict, slow_once.tasks[0].reason) = (None, None);
    assert!(one(&slow_once).contains("\nIt was slow. Cause: nothing that is known"));
}

#[test]
fn a_task_is_named_in_full_or_in_short_and_only_within_its_job() {
    let id = job(1).task(TaskKind::Reduce, 3);
    assert_eq!(task_id(job(1), "r_3"), Some(id));
    assert_eq!(task_id(job(1), "task_1_0001_r_000003"), Some(id));
    assert_eq!(task_id(job(1), "task_1_0002_r_000003"), None);
    assert_eq!(task_id(job(1), "3"), None);
}
