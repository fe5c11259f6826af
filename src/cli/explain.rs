//! `drover explain`: why each task was or was not advised on, in words and numbers.

use super::client::{Client, NoAnswer};
use super::output::{self, Exit, Failure};
use super::source::Source;
use super::{Common, cloned, once, story, words};
use crate::api::views::{Counts, DecisionView, JobDetail, TaskView};
use crate::api::{PAGE_MAX, Tasks};
use crate::service::TaskFilter;
use clap::Args;
use drover_core::model::{Action, Bytes, JobId, Millis, TaskId, Verdict};
use serde::Serialize;

const EXAMPLES: &str = "\
Asks the running service; where none runs, looks at the cluster itself for a few seconds.

Examples:
  drover explain job_1795181650543_0021
  drover explain job_1795181650543_0021 task_1795181650543_0021_m_000003
  drover explain job_1795181650543_0021 m_3 --json";

/// `drover explain`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct Command {
    /// The job
    job: JobId,
    /// One of its tasks: its id, or short m_3 or r_0
    task: Option<String>,
    /// Print JSON
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    source: Source,
}

/// What there is to explain.
#[derive(Debug, Serialize)]
struct Subject {
    job: JobDetail,
    tasks: Vec<TaskView>,
}

/// A task's id, in full or in short.
fn task_id(job: JobId, text: &str) -> Option<TaskId> {
    let full = || text.parse::<TaskId>().ok().filter(|id| id.job == job);
    full().or_else(|| format!("task_{}_{}_{text}", job.0.cluster, job.0.seq).parse().ok())
}

impl Command {
    /// Runs it.
    pub async fn run(&self, common: &Common) -> Result<(), Failure> {
        let config = common.load()?.config;
        let wrong = |text: &String| {
            let job = self.job;
            Failure::new(Exit::Usage, format!("\"{text}\" is no task of {job}; write its id, or short m_3 or r_0"))
        };
        let task = self.task.as_ref().map(|text| task_id(self.job, text).ok_or_else(|| wrong(text))).transpose()?;
        let asked = match self.source.client(&config)? {
            Some(client) => self.source.answer(&client, self.ask_service(&client, task).await, true)?,
            None => None,
        };
        let subject = match asked {
            Some(subject) => subject,
            None => {
                let seen = once::look(&config, Some(self.job), &self.source.rounds).await?;
                let filter = TaskFilter { task, running: task.is_none(), after: None, limit: PAGE_MAX };
                let both = seen.job(self.job).zip(seen.tasks(self.job, filter));
                let (job, tasks) =
                    both.ok_or_else(|| Failure::new(Exit::Unknown, format!("{} does not run", self.job)))?;
                Subject { job, tasks }
            }
        };
        if let (Some(task), true) = (task, subject.tasks.is_empty()) {
            return Err(Failure::new(
                Exit::Unknown,
                format!(
                    "{task} is not known; the job has {} maps and {} reduces",
                    subject.job.summary.maps.total, subject.job.summary.reduces.total
                ),
            ));
        }
        match (self.json, task) {
            (true, _) => output::json(&subject),
            (false, Some(_)) => Ok(output::say(&one(&subject))?),
            (false, None) => Ok(output::say(&all(&subject))?),
        }
    }

    async fn ask_service(&self, client: &Client, task: Option<TaskId>) -> Result<Subject, NoAnswer> {
        let job: JobDetail = client.get(&format!("api/v1/jobs/{}", self.job)).await?;
        let which = task.map_or_else(|| "running=true".to_owned(), |task| format!("task={task}"));
        let page: Tasks = client.get(&format!("api/v1/jobs/{}/tasks?{which}&limit={PAGE_MAX}", self.job)).await?;
        Ok(Subject { job, tasks: page.tasks })
    }
}

/// The job as a whole, in sentences.
fn heading(job: &JobDetail) -> String {
    let s = &job.summary;
    let count = |kind: &str, counts: &Counts| match counts.total {
        0 => String::new(),
        total => format!(" Of {total} {kind}, {} have succeeded and {} run.", counts.succeeded, counts.running),
    };
    let name = if s.name.is_empty() { String::new() } else { format!(" \"{}\"", s.name) };
    let who = if s.user.is_empty() { String::new() } else { format!(" of {} in queue {}", s.user, s.queue) };
    let source = match (s.shim, s.launcher.as_str()) {
        (true, "drover") => "its shim speaks for it, and its speculation is Drover's",
        (true, _) => "its shim speaks for it",
        (false, _) => "it is watched over REST",
    };
    let mut text = format!(
        "{}{name}{who}: mode {}, {source}; its newest news is {} old.{}{}",
        s.job,
        s.mode,
        words::span(Millis(s.age_ms)),
        count("maps", &s.maps),
        count("reduces", &s.reduces)
    );
    if let Some(blocked) = &s.blocked {
        text += &format!(" {blocked}.");
    }
    if let Some(hold) = &job.hold {
        text += &format!(" {} is held by {}: {}.", hold.scope, hold.by, hold.reason);
    }
    text.extend(job.clones.iter().map(|plan| format!(" {}", cloned::of(plan))));
    for measure in &job.measures {
        text += &format!(" Beside copies, {}: {}.", measure.verdict, measure.reason);
    }
    if let Some(set) = &job.settings {
        text += &format!(" Its tasks report at most every {}.", words::span(Millis(set.report_interval_ms)));
        if !set.map_speculation || !set.reduce_speculation {
            let off = if set.map_speculation {
                "reduces"
            } else if set.reduce_speculation {
                "maps"
            } else {
                "all tasks"
            };
            text += &format!(" It has speculation switched off for {off}.");
        }
    }
    text
}

/// Every running task, and the words for each verdict.
fn all(subject: &Subject) -> String {
    let mut text = heading(&subject.job) + "\n";
    if subject.tasks.is_empty() {
        return text + "\nNo task runs now.";
    }
    let mut table = output::table(&["task", "node", "at", "ran", "needs", "a copy", "wins", "cause", "verdict"]);
    let time = |ms: Option<u64>| ms.map_or_else(|| "–".into(), |ms| words::span(Millis(ms)));
    for task in &subject.tasks {
        let n = task.numbers.as_ref();
        table.add_row([
            task.task.clone(),
            task.attempts.iter().find_map(|attempt| attempt.node.clone()).unwrap_or_else(|| "?".into()),
            words::share(n.map_or(task.score, |n| n.score)),
            time(n.map(|n| n.elapsed_ms)),
            time(n.and_then(|n| n.time_left_ms)),
            time(n.and_then(|n| n.fresh_copy_ms)),
            n.and_then(|n| n.win_probability).map_or_else(|| "–".into(), words::share),
            task.cause.as_ref().map_or_else(|| "–".into(), |cause| cause.cause.clone()),
            task.verdict.clone().unwrap_or_else(|| "–".into()),
        ]);
    }
    text += &format!("\n{table}\n");
    for verdict in Verdict::ALL {
        let count = subject.tasks.iter().filter(|task| task.verdict.as_deref() == Some(verdict.label())).count();
        if count > 0 {
            text += &format!("\n{} ({count}): {}.", verdict.label(), verdict.words());
        }
    }
    if !subject.job.recent.is_empty() {
        text += &format!("\n\nDecided so far ({}):", subject.job.recent.len());
        for decision in &subject.job.recent {
            text += &format!("\n{}", decided(decision));
        }
    }
    text
}

fn decided(decision: &DecisionView) -> String {
    let node = decision.node.as_deref().map_or_else(String::new, |node| format!(" on {node}"));
    let end = match &decision.end {
        None if decision.copy.is_some() => decision.copy.iter().map(story::of).collect(),
        None => "it still runs".to_owned(),
        Some(end) if end.end == "natively_copied" => "Hadoop's own speculator copied it too".to_owned(),
        Some(end) => format!(
            "it has ended; the copy would have been first with a probability of {}",
            words::share(end.would_have_won)
        ),
    };
    let what = match decision.action.as_str() {
        copy if copy == Action::Duplicate.label() => String::new(),
        other => format!(" to {other}"),
    };
    format!("  {}{node}, {}{what} by {}: {end}.", decision.task, decision.outcome, decision.policy)
}

/// One task, in whole sentences.
fn one(subject: &Subject) -> String {
    let mut text = heading(&subject.job) + "\n";
    for task in &subject.tasks {
        text += &format!("\n{} is {}", task.task, task.state);
        if task.input_bytes > 0 {
            text += &format!(", with {} of input", words::size(Bytes(task.input_bytes)));
        }
        text += ".\n";
        for attempt in &task.attempts {
            let node = attempt.node.as_deref().unwrap_or("a node not known yet");
            let asked = subject.job.recent.iter().filter_map(|decision| decision.copy.as_ref());
            let ours = asked.flat_map(|copy| &copy.attempts).any(|id| *id == attempt.attempt);
            let copy = match (ours, attempt.speculative) {
                (true, _) => ", a copy by Drover",
                (false, true) => ", a copy by Hadoop's own speculator",
                (false, false) => "",
            };
            let at = words::share(attempt.score);
            text += &format!("  {}: {} on {node}, at {at}{copy}\n", attempt.attempt, attempt.state);
        }
        match (&task.verdict, &task.reason) {
            (Some(verdict), Some(reason)) => text += &format!("\n{verdict}: {reason}\n"),
            _ => {
                text += "\nIt does not run, so there is nothing to decide about it.\n";
                let why = task.cause.as_ref().and_then(|cause| cause.reason.as_ref());
                text.extend(why.map(|why| format!("It was slow. {why}\n")));
            }
        }
        for decision in subject.job.recent.iter().filter(|decision| decision.task == task.task) {
            text += &format!("\nWhen it was {} ({}): {}\n", decision.outcome, decision.rule, decision.reason);
            text += &format!("{}\n", decided(decision));
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::service::fixture::{job, seen, summary, watched, watched_under};
    use drover_core::engine::EngineParams;
    use drover_core::model::*;
    use drover_core::policy::{DollyParams, PolicyName};

    fn subject(task: Option<TaskId>) -> Subject {
        let desk = watched();
        let filter = TaskFilter { task, running: task.is_none(), after: None, limit: 10 };
        let detail = desk.job(job(1), Time(121_000)).unwrap();
        Subject { job: detail, tasks: desk.tasks(job(1), filter).unwrap() }
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
        let refused =
            " Beside copies, cannot_order: its tasks that wait are best started with the largest first, which";
        assert!(heading(PolicyName::Mantri).contains(refused), "{}", heading(PolicyName::Mantri));
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
}
