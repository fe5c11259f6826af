//! Hadoop's job histories (`.jhist`): one, or all of a directory, as the JobHistoryServer keeps them by day.

mod encoding;
mod events;
mod job;
mod schema;
#[cfg(test)]
mod tests;

use super::recorded::Recorder;
use super::{BadTrace, LIMIT, Lines, Overhead, Trace};
use crate::yarn::facts::{Reason, Refused, properties, settings};
use crate::yarn::site::{Site, SiteError};
use crate::yarn::wire::job::{Conf, Property};
use crate::yarn::wire::lenient::{List, Text};
use drover_core::model::{JobId, Resources};
use events::Event;
use job::Job;
use std::fs;
use std::path::{Path, PathBuf};

/// How both encodings begin.
pub(super) const BEGINS: &[u8] = b"Avro-";
/// Histories of a directory, and how deep they may lie: the JobHistoryServer has year, month, day and serial number.
const FILES_MAX: usize = 100_000;
const DEPTH_MAX: usize = 16;

/// The jobs of histories.
#[derive(Default)]
struct Histories {
    recorder: Recorder,
    read: u64,
    /// Of how many there is no conf.
    bare: u64,
}

/// The trace that one history makes.
pub(super) fn one(mut lines: Lines<'_>, overhead: Overhead) -> Result<Trace, BadTrace> {
    let mut all = Histories::default();
    all.read(&mut lines)?;
    Ok(all.trace(overhead))
}

/// The trace that all histories in a directory make.
pub(super) fn directory(dir: &Path, overhead: Overhead) -> Result<Trace, BadTrace> {
    within(dir, overhead, LIMIT)
}

/// The same of so many bytes at most, unpacked.
fn within(dir: &Path, overhead: Overhead, limit: u64) -> Result<Trace, BadTrace> {
    let mut all = Histories::default();
    let (mut files, mut left) = (Vec::new(), limit);
    find(dir, 0, &mut files, &mut all.recorder)?;
    for file in files {
        let mut lines = Lines::open(&file, left, true)?;
        all.read(&mut lines)?;
        left = lines.left();
    }
    let nothing =
        || BadTrace::Whole { path: dir.to_owned(), what: "holds no job histories (.jhist, .jhist.gz)".into() };
    if all.read == 0 { Err(nothing()) } else { Ok(all.trace(overhead)) }
}

/// The histories in a directory and below, by name.
fn find(dir: &Path, depth: usize, found: &mut Vec<PathBuf>, recorder: &mut Recorder) -> Result<(), BadTrace> {
    let whole = |what: String| BadTrace::Whole { path: dir.to_owned(), what };
    let unread = |source| BadTrace::Unread { path: dir.to_owned(), source };
    if depth > DEPTH_MAX {
        return Err(whole(format!("lies more than {DEPTH_MAX} directories deep: is it a link to one above it?")));
    }
    let mut entries = Vec::new();
    for entry in fs::read_dir(dir).map_err(unread)? {
        entries.push(entry.map_err(unread)?.path());
    }
    entries.sort();
    for path in entries {
        let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        let ends = |ends: &[&str]| ends.iter().any(|end| name.ends_with(end));
        if path.is_dir() {
            find(&path, depth + 1, found, recorder)?;
        } else if ends(&[".jhist", ".jhist.gz"]) {
            found.push(path);
        } else if !ends(&["_conf.xml", ".summary"]) && !name.starts_with(['.', '_']) {
            // What Hadoop itself puts beside them, checksums among it, is not worth a word.
            recorder.mend("other files beside the histories: left out");
        }
        if found.len() > FILES_MAX {
            return Err(whole(format!("holds more than {FILES_MAX} job histories: name the directory of a day")));
        }
    }
    Ok(())
}

impl Histories {
    fn read(&mut self, lines: &mut Lines<'_>) -> Result<(), BadTrace> {
        let mut job = Job::new(&mut self.recorder);
        let is_whole = encoding::each(lines, &mut |event| job.event(Event::of(event)?))?;
        let (id, told) = job.close(is_whole).map_err(|what| lines.whole_wrong(what))?;
        let mut refused = Refused::default();
        let conf = conf(lines.path(), id, &mut refused)?;
        let odd = usize::try_from(refused.count(Reason::BadProperty)).unwrap_or(usize::MAX);
        self.recorder.mend_all("properties of confs that are no number: as if they were not set", odd);
        self.read += 1;
        self.bare += u64::from(conf.is_none());
        // Counters tell what the ResourceManager gave; a conf what was asked for.
        let [maps, reduces] = conf.unwrap_or_default();
        self.recorder.sizes(&id.to_string(), [told[0].or(maps), told[1].or(reduces)]);
        Ok(())
    }

    fn trace(self, overhead: Overhead) -> Trace {
        let Histories { recorder, read, bare } = self;
        let mut trace = recorder.trace(overhead);
        if bare > 0 {
            let told = "containers' sizes are those that the job's counters tell";
            trace.assumed.push(format!("beside {bare} of {read} histories lies no conf (JOB_conf.xml): {told}"));
        }
        trace
    }
}

/// What the containers of a job's maps and reduces ask for, by the conf that the JobHistoryServer keeps beside its history.
fn conf(history: &Path, id: JobId, refused: &mut Refused) -> Result<Option<[Option<Resources>; 2]>, BadTrace> {
    let path = history.with_file_name(format!("{id}_conf.xml"));
    if !path.is_file() {
        return Ok(None);
    }
    let site = Site::of_file(&path)?;
    let text = |word: &str| Text(Some(word.to_owned()));
    let property = |key: &&str| Some(site.get(key).transpose()?.map(|found| (text(key), text(&found.value))));
    let told = properties::KEYS.iter().filter_map(property);
    let items = told.map(|told| told.map(|(name, value)| Property { name, value }));
    let items = items.collect::<Result<_, SiteError>>()?;
    Ok(Some(settings::sizes(&Conf { property: List { items, odd: 0 } }, refused)))
}
