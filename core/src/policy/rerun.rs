//! Outputs of maps that are out of reach of the reduces that need them: which to make again, all of a machine's at once.
//!
//! Hadoop takes back one output at a time, after three words of reduces that could not fetch it, and half as many as copy; and all of a machine's once the ResourceManager calls that lost. To
//! make an output again its attempt is killed, so it is gone in that instant: nothing is made again on suspicion.

use crate::model::{
    Attempt, AttemptId, AttemptState, Job, Miss, Mode, NameId, Phase, Task, TaskKind, TaskState, Time, Verdict,
};
use crate::model::{MeasurePlan, Millis};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

/// Of so many outputs a reduce must have missed a machine's for it to be the machine, where more lie there than one.
const SEVERAL: usize = 2;
/// A reduce that still cannot fetch an output says so again within a minute: one that has long not has fetched it.
const WITHIN: Millis = Millis(120_000);
/// Where more than half of a job's maps seem out of reach, it is not their machines that are.
const SHARE: f64 = 0.5;
/// The protocol's limit on what is asked for in one go.
const AT_ONCE: usize = 1_000;

/// What was asked for may have been refused, or have come to some of the outputs only: while the node of an attempt has not told of its container's end, for a minute or more, Hadoop takes no
/// kill of it. So an output that still stands is asked for again by words of reduces that are this much newer, and longer than an order may be on its way.
const AGAIN: Millis = Millis(10_000);
/// So often at most.
const TIMES: u32 = 20;
/// Every word is later.
const ANY: Time = Time(0);

/// Maps that were asked to run again, or are only said to need it.
pub type Asked = BTreeMap<u32, Ask>;

/// How it was asked for one output.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ask {
    /// Only what was asked in [`Mode::Act`] was to be done.
    pub mode: Mode,
    /// The attempt that wrote the output.
    pub attempt: u32,
    /// When last, the AM's clock.
    pub at: Time,
    /// How often in this mode.
    pub times: u32,
}

impl Ask {
    /// An output is asked for, once more where it was before.
    pub fn note(asked: &mut Asked, output: AttemptId, mode: Mode, at: Time) {
        let before = asked.get(&output.task.index).filter(|known| known.mode == mode);
        let times = before.map_or(0, |known| known.times) + 1;
        asked.insert(output.task.index, Ask { mode, attempt: output.number, at, times });
    }

    /// By words later than which it may be asked for this output in that mode, if ever. A map that has run again since never does so twice.
    fn after(&self, output: AttemptId, mode: Mode) -> Option<Time> {
        let failed = mode == Mode::Act && self.attempt == output.number && self.times < TIMES;
        if self.mode < mode { Some(ANY) } else { failed.then_some(self.at + AGAIN) }
    }
}

/// A machine whose outputs are out of reach, or some of them.
#[derive(Debug, Clone, PartialEq)]
pub struct OutOfReach {
    /// The machine.
    pub host: NameId,
    /// The attempts that wrote the outputs, in order of their maps; all of the machine's where `whole`.
    pub outputs: Vec<AttemptId>,
    /// Indices of the reduces that could not fetch them.
    pub missed_by: Vec<u32>,
    /// All of the machine's outputs, those that nobody has missed yet included.
    pub whole: bool,
    /// The ResourceManager has given the machine up.
    pub unusable: bool,
}

impl OutOfReach {
    /// What is to be done about it.
    pub fn plan(&self, host: &str) -> MeasurePlan {
        MeasurePlan::Rerun {
            host: host.to_owned(),
            outputs: self.outputs.clone(),
            missed_by: self.missed_by.clone(),
            whole: self.whole,
            unusable: self.unusable,
        }
    }
}

/// What is told of one machine's outputs by reduces that copy: by reduce, on which hosts those of its attempts run that may have told it, and which outputs it could not fetch, with its
/// newest word on each.
type Words = BTreeMap<u32, (BTreeSet<NameId>, BTreeMap<AttemptId, Time>)>;

/// The outputs of a job that are out of reach at `now`, its AM's clock, of maps that have not been asked for before in that mode, or in vain; one entry a machine. Nothing where no reduce
/// copies: those that are past it need no output any more.
pub fn out_of_reach(
    job: &Job,
    asked: &Asked,
    mode: Mode,
    unusable: impl Fn(NameId) -> bool,
    now: Time,
) -> Vec<OutOfReach> {
    let told = words(job, now);
    if told.is_empty() {
        return Vec::new();
    }
    let mut there: BTreeMap<NameId, Vec<AttemptId>> = BTreeMap::new();
    for (id, task) in job.tasks(TaskKind::Map) {
        if let Some((host, output)) = standing(id.index, task, job).filter(|(host, _)| told.contains_key(host)) {
            there.entry(host).or_default().push(output);
        }
    }
    let after = |output: &AttemptId| asked.get(&output.task.index).map_or(Some(ANY), |ask| ask.after(*output, mode));
    let of = |(host, words): (&NameId, &Words)| {
        let all = there.remove(host).unwrap_or_default();
        let witnesses = Witnesses { words, unusable: unusable(*host), several: all.len().min(SEVERAL) };
        let lost = all.into_iter().filter(|output| after(output).is_some_and(|since| witnesses.lost(output, since)));
        let outputs: Vec<AttemptId> = lost.take(AT_ONCE).collect();
        let missed_by = words.keys().copied().collect();
        let (whole, unusable) = (witnesses.whole(ANY), witnesses.unusable);
        (!outputs.is_empty()).then_some(OutOfReach { host: *host, outputs, missed_by, whole, unusable })
    };
    told.iter().filter_map(of).collect()
}

/// May these maps of a job run again, too?
///
/// # Errors
/// The refusal's name.
pub fn within_budget(job: &Job, asked: &Asked, more: &[AttemptId]) -> Result<(), Verdict> {
    let before = asked.iter().filter(|(_, ask)| ask.mode == Mode::Act).map(|(index, _)| *index);
    let all: BTreeSet<u32> = before.chain(more.iter().map(|output| output.task.index)).collect();
    let bound = (f64::from(job.known(TaskKind::Map)) * SHARE).floor().max(1.0);
    if all.len() as f64 <= bound { Ok(()) } else { Err(Verdict::MeasureBudget) }
}

/// A map's output, and the machine it lies on, where it stands.
fn standing(index: u32, task: &Task, job: &Job) -> Option<(NameId, AttemptId)> {
    let won = task.won().filter(|won| task.state == TaskState::Succeeded && won.state == AttemptState::Succeeded)?;
    Some((won.host?, job.id.task(TaskKind::Map, index).attempt(won.number)))
}

/// What reduces that copy now have told lately of outputs that stand, by machine. Whoever has copied everything has had the outputs of all machines: what was told before does not count.
fn words(job: &Job, now: Time) -> BTreeMap<NameId, Words> {
    let mut told: BTreeMap<NameId, Words> = BTreeMap::new();
    if job.missed.is_empty() {
        return told;
    }
    let all = job.tasks(TaskKind::Reduce).flat_map(|(_, task)| task.attempts.iter());
    let copied = all.filter_map(Attempt::copied).max();
    for (output, Miss { reduce, at }) in job.missed.iter() {
        let is_new = now.since(at) <= WITHIN && copied.is_none_or(|copied| at > copied);
        let Some(readers) = job.task(job.id.task(TaskKind::Reduce, reduce)).and_then(|task| copying(task, at)) else {
            continue;
        };
        let stands = job.task(output.task).and_then(|task| standing(output.task.index, task, job));
        if let Some((host, _)) = stands.filter(|(_, own)| is_new && *own == output) {
            let (hosts, outputs) = told.entry(host).or_default().entry(reduce).or_default();
            hosts.extend(readers);
            outputs.insert(output, at);
        }
    }
    told
}

/// The hosts of a reduce's attempts that ran at that instant, of which any may have told what was heard then; none once one of these has ended, or any has copied everything.
fn copying(reduce: &Task, at: Time) -> Option<BTreeSet<NameId>> {
    let past = |attempt: &Attempt| attempt.phase > Some(Phase::Copy) || attempt.copied().is_some();
    if reduce.state.is_final() || reduce.live().any(past) {
        return None;
    }
    let began = |attempt: &&Attempt| attempt.started.get().is_some_and(|started| started <= at);
    let ran = |attempt: &&Attempt| attempt.finished.get().is_none_or(|finished| finished >= at);
    let told = reduce.attempts.iter().filter(began).filter(ran);
    let hosts = told.map(|attempt| attempt.host.filter(|_| !attempt.state.is_final())).collect::<Option<_>>();
    hosts.filter(|hosts: &BTreeSet<NameId>| !hosts.is_empty())
}

/// Those who have missed outputs of a machine, of which so many are `several`, as all are where fewer lie there.
struct Witnesses<'a> {
    words: &'a Words,
    unusable: bool,
    several: usize,
}

impl Witnesses<'_> {
    /// Is the machine out of reach, by words later than that? A reduce that cannot reach it misses all outputs that it has left to copy there; one whose output is broken misses that one.
    fn whole(&self, since: Time) -> bool {
        self.enough(|missed| missed.values().filter(|at| **at > since).count() >= self.several)
    }

    /// Is this output, with the machine or alone?
    fn lost(&self, output: &AttemptId, since: Time) -> bool {
        self.whole(since) || self.enough(|missed| missed.get(output).is_some_and(|at| *at > since))
    }

    /// Are the reduces that have missed such outputs enough: one beside the ResourceManager's word or else two, whichever of their attempts told it, on different hosts? Those of one may all
    /// suffer from that.
    fn enough(&self, such: impl Fn(&BTreeMap<AttemptId, Time>) -> bool) -> bool {
        let hosts: BTreeSet<&BTreeSet<NameId>> =
            self.words.values().filter(|(_, missed)| such(missed)).map(|(hosts, _)| hosts).collect();
        let apart = || hosts.iter().any(|one| hosts.iter().any(|other| one.is_disjoint(other)));
        !hosts.is_empty() && (self.unusable || apart())
    }
}

#[cfg(test)]
mod tests;
