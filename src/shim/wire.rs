//! What a shim says: the request of `docs/protocol/exchange.schema.json`.
//!
//! A field that it does not know, as a shim of a later release may send, is read over wherever it stands: whether the two understand each other is for `protocol`
//! alone to say. A value of a row that is out of range costs only that value (`facts` counts it); anything else that is wrong outside the rows refuses the request,
//! because a request that cannot be trusted to be whole must not move the acknowledged version.

use super::lists::{at_most, map_at_most};
use super::reply::{Refusal, Why};
use super::values::{Key, MAX_SAFE, Num, SessionId, Word};
use drover_core::model::{AppAttemptId, AttemptState, JobId, Mode, Phase, TaskKind, TaskState};
use serde::Deserialize;
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt;

/// The protocol that this service speaks.
pub const PROTOCOL: u64 = 1;
const MAX_TEXT: usize = 1024;
const MAX_LABEL: usize = 64;
/// As many as a shim ever sends at once, of all kinds together.
const MAX_ROWS: usize = 20_000;
const MAX_ACKS: usize = 1000;
const MAX_COPIES: usize = 16;
const MAX_DROPPED: usize = 32;
const MAX_SETTINGS: usize = 64;
const MAX_CAN: usize = 16;
/// Hosts of a task's split.
pub const MAX_SPLIT_HOSTS: usize = 16;
/// Reduces that could not fetch an attempt's output.
pub const MAX_MISSES: usize = 8;

/// One request. Strings are borrowed from the body where they can be.
#[derive(Debug, Deserialize)]
pub struct Request<'a> {
    /// Version of the protocol.
    pub protocol: u64,
    /// Version of the shim.
    #[serde(borrow)]
    pub shim: Cow<'a, str>,
    /// The session.
    pub session: SessionId,
    /// Which AM speaks.
    pub attempt: AppAttemptId,
    /// Which job it speaks about.
    pub job: JobId,
    /// Number of the request, from 1.
    pub seq: u64,
    /// The AM's clocks.
    pub clock: Clock,
    /// Highest service epoch the shim has verified.
    pub epoch: u64,
    /// What is left of its lease, milliseconds.
    pub lease_ms: u64,
    /// Who speaks; sent until a 200 answers it.
    #[serde(default, borrow)]
    pub hello: Option<Hello<'a>>,
    /// The rows carry every change after this version …
    pub base: u64,
    /// … up to this one.
    pub upto: u64,
    /// Further changed rows wait.
    pub more: bool,
    /// Hadoop's JobState.
    #[serde(borrow)]
    pub job_state: Cow<'a, str>,
    /// Maps in all.
    pub maps: u32,
    /// Reduces in all.
    pub reduces: u32,
    /// Index, host name, rack.
    #[serde(borrow, deserialize_with = "at_most::<MAX_ROWS, _, _>")]
    pub hosts: Vec<HostRow<'a>>,
    /// Changed tasks.
    #[serde(deserialize_with = "at_most::<MAX_ROWS, _, _>")]
    pub tasks: Vec<TaskRow>,
    /// Changed attempts.
    #[serde(deserialize_with = "at_most::<MAX_ROWS, _, _>")]
    pub attempts: Vec<AttemptRow>,
    /// Containers asked for and not assigned.
    pub needs: Needs,
    /// What Hadoop's own speculator did.
    pub native: Native,
    /// Facts the shim dropped since its session began, by reason.
    #[serde(deserialize_with = "map_at_most::<MAX_DROPPED, _, _>")]
    pub dropped: BTreeMap<String, Num>,
    /// Answers to actions.
    #[serde(borrow, deserialize_with = "at_most::<MAX_ACKS, _, _>")]
    pub acks: Vec<Ack<'a>>,
}

/// The AM's clocks, milliseconds.
#[derive(Debug, Clone, Copy, Deserialize)]
pub struct Clock {
    /// Wall clock, Unix.
    pub am_ms: u64,
    /// Monotonic, since the shim started.
    pub mono_ms: u64,
}

/// Who speaks.
#[derive(Debug, Deserialize)]
pub struct Hello<'a> {
    /// The session's key.
    pub key: Key,
    /// The user the AM runs as.
    #[serde(borrow)]
    pub user: Cow<'a, str>,
    /// The job's queue.
    #[serde(borrow)]
    pub queue: Cow<'a, str>,
    /// The job's name.
    #[serde(borrow)]
    pub name: Cow<'a, str>,
    /// Version of Hadoop.
    #[serde(borrow)]
    pub hadoop: Cow<'a, str>,
    /// Version of Java.
    #[serde(borrow)]
    pub java: Cow<'a, str>,
    /// The job's own wish; a word of a later release counts as `advise`.
    pub mode: Word<Mode>,
    /// Runs its tasks inside the AM.
    pub uber: bool,
    /// Types of actions that it can carry out.
    #[serde(default, borrow, deserialize_with = "at_most::<MAX_CAN, _, _>")]
    pub can: Vec<Cow<'a, str>>,
    /// The settings that matter here, as configured.
    #[serde(deserialize_with = "map_at_most::<MAX_SETTINGS, _, _>")]
    pub settings: BTreeMap<String, String>,
}

/// `[index, host name, rack]`.
#[derive(Debug, Deserialize)]
#[serde(expecting = "[index, host name, rack] in hosts")]
pub struct HostRow<'a>(pub Num, #[serde(borrow)] pub Cow<'a, str>, #[serde(borrow)] pub Cow<'a, str>);

/// A changed task.
#[derive(Debug, Deserialize)]
pub struct TaskRow {
    /// Kind.
    pub k: Word<TaskKind>,
    /// Index.
    pub i: Num,
    /// State.
    pub s: Option<Word<TaskState>>,
    /// Length of its split.
    pub bytes: Option<Num>,
    /// Where the split lies.
    #[serde(default, deserialize_with = "at_most::<MAX_SPLIT_HOSTS, _, _>")]
    pub hosts: Vec<Num>,
}

/// A changed attempt.
#[derive(Debug, Deserialize)]
pub struct AttemptRow {
    /// Kind.
    pub k: Word<TaskKind>,
    /// Index of its task.
    pub i: Num,
    /// Number.
    pub n: Num,
    /// State.
    pub s: Option<Word<AttemptState>>,
    /// Index of its host.
    pub node: Option<Num>,
    /// Launch, the AM's clock.
    pub at: Option<Num>,
    /// Finish, the AM's clock.
    pub fin: Option<Num>,
    /// Asked for by a speculator.
    pub spec: Option<bool>,
    /// Progress score, 0–1.
    pub p: Option<f64>,
    /// Time of the newest status update, the AM's clock.
    pub u: Option<Num>,
    /// Status updates so far.
    pub c: Option<Num>,
    /// Phase.
    pub ph: Option<Word<Phase>>,
    /// End of the shuffle, the task's clock.
    pub shuf: Option<Num>,
    /// End of the sort, the task's clock.
    pub sort: Option<Num>,
    /// Counters that changed.
    pub ctr: Option<CounterRow>,
    /// Of a map: reduces that could not fetch its output, each with when it told so last, the AM's clock.
    #[serde(default, deserialize_with = "at_most::<MAX_MISSES, _, _>")]
    pub miss: Vec<(Num, Num)>,
}

/// Counters that changed.
#[derive(Debug, Default, Deserialize)]
pub struct CounterRow {
    /// Bytes read.
    #[serde(rename = "in")]
    pub read: Option<Num>,
    /// Input records.
    pub rec: Option<Num>,
    /// Bytes written.
    pub out: Option<Num>,
    /// CPU time, milliseconds.
    pub cpu: Option<Num>,
    /// Garbage collection time, milliseconds.
    pub gc: Option<Num>,
    /// Shuffled bytes.
    pub shuf: Option<Num>,
    /// Physical memory, bytes.
    pub mem: Option<Num>,
}

/// Containers asked for and not assigned.
#[derive(Debug, Clone, Copy, Deserialize)]
pub struct Needs {
    /// For maps.
    pub m: u32,
    /// For reduces.
    pub r: u32,
}

/// What Hadoop's own speculator did.
#[derive(Debug, Clone, Copy, Deserialize)]
pub struct Native {
    /// Copies launched.
    pub launched: u64,
    /// Copies it wanted and was held from.
    #[serde(default)]
    pub held: u64,
}

/// An answer to an action.
#[derive(Debug, Deserialize)]
pub struct Ack<'a> {
    /// The action.
    #[serde(borrow)]
    pub id: Cow<'a, str>,
    /// What became of it.
    #[serde(borrow)]
    pub outcome: Cow<'a, str>,
    /// Numbers of the attempts that are its copies.
    #[serde(default, deserialize_with = "at_most::<MAX_COPIES, _, _>")]
    pub attempts: Vec<Num>,
}

/// Reads a request, or says what is wrong with it.
pub fn parse(body: &[u8]) -> Result<Request<'_>, Refusal> {
    #[derive(Deserialize)]
    struct Head {
        protocol: serde_json::Number,
    }
    match serde_json::from_slice::<Request<'_>>(body) {
        Ok(request) if request.protocol != PROTOCOL => Err(other_protocol(body, &request.protocol)),
        Ok(request) => request.check().map(|()| request),
        // Another version may look quite different: only then is the head looked at on its own.
        Err(error) => Err(match serde_json::from_slice::<Head>(body) {
            Ok(head) if head.protocol.as_u64() != Some(PROTOCOL) => other_protocol(body, &head.protocol),
            _ => {
                let words = format!("the request{} is malformed: {}", of_job(body), clip(&error.to_string()));
                Refusal::new(Why::Malformed, words)
            }
        }),
    }
}

fn other_protocol(body: &[u8], version: &dyn fmt::Display) -> Refusal {
    let of_job = of_job(body);
    let words = format!(
        "this service speaks protocol {PROTOCOL}, the shim{of_job} {version}: install the shim of the same release"
    );
    Refusal::new(Why::ProtocolVersion, words)
}

/// Whose it says it is, so that it can be found: behind a proxy all come from one address.
fn of_job(body: &[u8]) -> String {
    #[derive(Deserialize)]
    struct Of {
        job: JobId,
    }
    serde_json::from_slice::<Of>(body).map_or_else(|_| String::new(), |of| format!(" of {}", of.job))
}

/// A message repeats input only in part.
fn clip(text: &str) -> String {
    text.chars().take(200).collect()
}

impl Request<'_> {
    /// How many rows it tells.
    pub fn rows(&self) -> u64 {
        (self.hosts.len() + self.tasks.len() + self.attempts.len()) as u64
    }

    /// The schema's bounds, as far as types do not hold them.
    fn check(&self) -> Result<(), Refusal> {
        let lists = [("hosts", self.hosts.len()), ("tasks", self.tasks.len()), ("attempts", self.attempts.len())];
        if let Some((name, _)) = lists.iter().find(|(_, rows)| *rows > MAX_ROWS) {
            let words = format!("{name} has more than {MAX_ROWS} rows: send fewer rows at once");
            return Err(Refusal::new(Why::TooLarge, words));
        }
        let numbers = [
            ("seq", self.seq),
            ("clock.am_ms", self.clock.am_ms),
            ("clock.mono_ms", self.clock.mono_ms),
            ("epoch", self.epoch),
            ("lease_ms", self.lease_ms),
            ("base", self.base),
            ("upto", self.upto),
            ("native.launched", self.native.launched),
            ("native.held", self.native.held),
        ];
        let mut wrong =
            numbers.iter().find(|(_, n)| *n > MAX_SAFE).map(|(name, _)| format!("{name} is above 2^53 - 1"));
        if self.seq == 0 {
            wrong = Some("seq starts at 1".into());
        } else if self.upto < self.base {
            wrong = Some("upto lies before base".into());
        }
        match wrong.or_else(|| self.too_long()) {
            None => Ok(()),
            Some(words) => Err(Refusal::new(Why::Malformed, words)),
        }
    }

    fn too_long(&self) -> Option<String> {
        let long = |name: &str, text: &str, max: usize| {
            (text.len() > max && text.chars().count() > max).then(|| format!("{name} has more than {max} characters"))
        };
        let many = |name: &str, n: usize, max: usize| (n > max).then(|| format!("{name} has more than {max} entries"));
        let hello = self.hello.as_ref().and_then(|hello| {
            [("user", &hello.user), ("queue", &hello.queue), ("name", &hello.name), ("hadoop", &hello.hadoop)]
                .into_iter()
                .chain([("java", &hello.java)])
                .find_map(|(name, text)| long(&format!("hello.{name}"), text, MAX_TEXT))
                .or_else(|| many("hello.settings", hello.settings.len(), MAX_SETTINGS))
                .or_else(|| many("hello.can", hello.can.len(), MAX_CAN))
                .or_else(|| hello.can.iter().find_map(|word| long("hello.can", word, MAX_LABEL)))
                .or_else(|| hello.settings.values().find_map(|text| long("hello.settings", text, MAX_TEXT)))
        });
        hello
            .or_else(|| long("shim", &self.shim, 64))
            .or_else(|| long("job_state", &self.job_state, 32))
            .or_else(|| many("acks", self.acks.len(), MAX_ACKS))
            .or_else(|| self.acks.iter().find_map(|ack| long("acks.id", &ack.id, MAX_TEXT)))
            .or_else(|| self.acks.iter().find_map(|ack| long("acks.outcome", &ack.outcome, MAX_LABEL)))
            .or_else(|| self.acks.iter().find_map(|ack| many("acks.attempts", ack.attempts.len(), MAX_COPIES)))
            .or_else(|| many("dropped", self.dropped.len(), MAX_DROPPED))
    }
}
