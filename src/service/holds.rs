//! Operators' holds: the engine hears of each, and a small file keeps them for the next start.

mod ended;
mod file;

use super::engine_loop::Busy;
use super::own::Own;
use crate::shown::{printable, shell_word};
use drover_core::model::{Fact, Hold, JobId, Mode, Observation, Scope, Time};
use ended::Ended;
use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, PoisonError};
use std::time::Duration;
use tokio::sync::Mutex;

pub use file::probe;

/// Holds at once; each is some operator's word, so a thousand is a mistake.
const HOLDS_MAX: usize = 1_000;
/// So long whoever holds waits for the disk: less than a request may take.
const KEPT_WITHIN: Duration = Duration::from_secs(3);
/// What could not be kept is tried again after so long.
const KEPT_AGAIN: Duration = Duration::from_secs(30);
/// Who holds what no operator held.
const DROVER: &str = "drover";

/// Why the service does not start.
#[derive(Debug, thiserror::Error)]
#[error(
    "state.dir: {path}: {why}; Drover does not act while it cannot tell what operators have held. Restore the file, or remove it and hold again what is to be held"
)]
pub struct HoldsError {
    /// The file that keeps them.
    pub path: PathBuf,
    /// What is wrong with it.
    pub why: String,
}

/// Why nothing is held or lifted.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Unheld {
    /// A longer hold is in force.
    #[error("{0}")]
    Longer(String),
    /// As many as there may be.
    #[error(
        "there are {HOLDS_MAX} holds already; lift some, or hold more at once: `drover stop` holds the whole cluster, whatever else is held"
    )]
    TooMany,
    /// The engine has stopped.
    #[error(transparent)]
    Busy(#[from] Busy),
}

/// The holds in force, and where they are kept.
#[derive(Debug)]
pub struct Book {
    file: Option<PathBuf>,
    holds: BTreeMap<Scope, Hold>,
}

/// The holds of a running service.
pub struct Holds {
    own: Arc<Own>,
    book: Arc<Mutex<Book>>,
    /// Had by who writes the file.
    writer: Arc<Mutex<()>>,
    unkept: Arc<std::sync::Mutex<Unkept>>,
    ended: Ended,
}

/// Whether what holds now is in the file.
#[derive(Default)]
struct Unkept {
    /// How often it was to be kept.
    asked: u64,
    /// Why it is not.
    why: Option<String>,
}

/// What a scope is called on the command line and in the API: `cluster`, `queue:root.etl`, `user:ann`, `job:job_1_0001`.
pub fn name(scope: &Scope) -> String {
    match scope {
        Scope::Cluster => "cluster".into(),
        Scope::Queue(queue) => format!("queue:{queue}"),
        Scope::User(user) => format!("user:{user}"),
        Scope::Job(job) => format!("job:{job}"),
    }
}

/// The command that ends the hold of the scope of that name, as a shell takes it.
pub fn resume(name: &str) -> String {
    let which = name.split_once(':').map_or_else(String::new, |(of, name)| format!(" --{of} {}", shell_word(name)));
    format!("drover resume{which}")
}

/// The scope of that name.
///
/// # Errors
/// What is wrong with it, in words.
pub fn scope(name: &str) -> Result<Scope, String> {
    let wrong = || format!("\"{}\" is no scope; write cluster, queue:NAME, user:NAME or job:ID", printable(name));
    match name.split_once(':') {
        None if name == "cluster" => Ok(Scope::Cluster),
        Some(("job", id)) => id.parse::<JobId>().map(Scope::Job).map_err(|why| why.to_string()),
        Some((_, rest)) if rest.trim().is_empty() || rest.len() > 255 => Err(wrong()),
        Some((_, rest)) if printable(rest) != rest => Err(format!(
            "\"{}\" is no scope: it has control characters or such as turn the direction of writing",
            printable(name)
        )),
        Some(("queue", queue)) => Ok(Scope::Queue(queue.to_owned())),
        Some(("user", user)) => Ok(Scope::User(user.to_owned())),
        _ => Err(wrong()),
    }
}

/// Would the one end before the other does?
fn ends_sooner(new: &Hold, old: &Hold) -> bool {
    new.until.is_some_and(|until| old.until.is_none_or(|old| until < old))
}

/// Why a hold does not give way to one that ends sooner.
fn held_longer(old: &Hold) -> Unheld {
    let scope = name(&old.scope);
    let at = |until: Time| i64::try_from(until.0).ok().and_then(|ms| jiff::Timestamp::from_millisecond(ms).ok());
    let until = old.until.and_then(at).map_or("it is resumed".to_owned(), |at| format!("{at:.0}"));
    Unheld::Longer(format!(
        "{scope} is held until {until} already, by {}: {}; what ends sooner would cut that short, so nothing has changed. To have it end sooner all the same, `{}` first",
        old.by,
        old.reason,
        resume(&scope)
    ))
}

/// The holds that the directory keeps, also such as have run out.
///
/// # Errors
/// When they cannot be read.
pub fn kept(dir: &Path) -> Result<Vec<Hold>, HoldsError> {
    let path = dir.join(file::FILE);
    file::read(&path).map_err(|why| HoldsError { path, why })
}

/// What stands for holds that nobody can read. Its reason outlasts their file, in whose place it is written, and so names where that lies then.
fn everything(unread: &HoldsError, now: Time) -> Hold {
    let HoldsError { path, why } = unread;
    let name = file::aside(path).and_then(|name| Some(name.file_name()?.to_string_lossy().into_owned()));
    let reason = format!(
        "{} could not be read: {why}; once another is written in its place it lies beside that as {}: look there before you resume",
        path.display(),
        name.unwrap_or_else(|| format!("{}.unread-N", file::FILE))
    );
    Hold { scope: Scope::Cluster, reason, by: DROVER.into(), since: now, until: None }
}

impl Book {
    /// What the directory keeps, less what has run out.
    ///
    /// # Errors
    /// When it cannot be read and `mode` is `act`. In a more cautious mode the whole cluster is then held, lest a change of mode acts on what was held.
    pub fn open(dir: Option<&Path>, mode: Mode, now: Time) -> Result<Book, HoldsError> {
        let Some(dir) = dir else { return Ok(Book { file: None, holds: BTreeMap::new() }) };
        let path = dir.join(file::FILE);
        let holds = match kept(dir) {
            Ok(holds) => holds,
            Err(error) if mode == Mode::Act => return Err(error),
            Err(error) => {
                tracing::error!(path = %path.display(), why = error.why, "the holds cannot be read: everything is held until it is resumed");
                vec![everything(&error, now)]
            }
        };
        let (lasting, over): (Vec<Hold>, Vec<Hold>) = holds.into_iter().partition(|hold| hold.stands(now));
        let holds: BTreeMap<Scope, Hold> = lasting.into_iter().map(|hold| (hold.scope.clone(), hold)).collect();
        // A directory that is another, or a copy that was put back, shows by what it holds.
        tracing::info!(path = %path.display(), holds = holds.len(), "holds kept from before");
        let over = over.iter().map(|hold| (hold, "not held any more: it has run out since"));
        for (hold, says) in holds.values().map(|hold| (hold, "still held")).chain(over) {
            tracing::warn!(
                scope = name(&hold.scope),
                by = hold.by,
                reason = hold.reason,
                since_ms = hold.since.0,
                until_ms = hold.until.map(|at| at.0),
                "{says}"
            );
        }
        Ok(Book { file: Some(path), holds })
    }

    /// The holds as an engine is to hear of them before anything else.
    pub fn told(&self, epoch: u64, now: Time) -> Vec<Observation> {
        let facts = self.holds.values().cloned().map(Fact::Held);
        (1..).zip(facts).map(|(seq, fact)| Own::stamped(epoch, seq, now, fact)).collect()
    }

    fn forget_past(&mut self, now: Time) {
        self.holds.retain(|_, hold| hold.stands(now));
    }
}

/// Holds on their way to the disk.
struct Keeping {
    shown: String,
    written: tokio::task::JoinHandle<io::Result<()>>,
}

impl Keeping {
    /// What to tell the operator when that was not done.
    async fn note(self) -> Option<String> {
        let error = match tokio::time::timeout(KEPT_WITHIN, self.written).await {
            Ok(written) => written.map_err(io::Error::other).and_then(|written| written).err()?,
            Err(_) => io::Error::other("the disk has not answered yet"),
        };
        tracing::error!(path = self.shown, %error, "the holds cannot be kept");
        Some(format!("it cannot be kept for the next start of the service: {}: {error}", self.shown))
    }
}

fn lock(unkept: &std::sync::Mutex<Unkept>) -> std::sync::MutexGuard<'_, Unkept> {
    unkept.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Holds {
    /// The holds of a service that speaks to its engine by `own`.
    pub fn new(own: impl Into<Arc<Own>>, book: Book) -> Holds {
        let (writer, unkept, ended) = (Arc::default(), Arc::default(), Ended::default());
        Holds { own: own.into(), book: Arc::new(Mutex::new(book)), writer, unkept, ended }
    }

    /// Why what holds now would not hold after a restart, though there is a file for it.
    pub fn unkept(&self) -> Option<String> {
        lock(&self.unkept).why.clone()
    }

    /// Tries again and again to keep what could not be kept.
    pub async fn keep_on(&self) {
        loop {
            tokio::time::sleep(KEPT_AGAIN).await;
            // A write that hangs is waited for, and not joined by others.
            if self.unkept().is_none() || self.writer.try_lock().is_err() {
                continue;
            }
            let keeping = self.keep(&*self.book.lock().await);
            if let Some(keeping) = keeping
                && keeping.note().await.is_none()
            {
                tracing::info!("the holds are kept now");
            }
        }
    }

    /// Begins to keep the holds for the next start; `None` where there is nowhere to. Each writes what holds when its turn has come, so that no older state follows a newer one, and does so
    /// though whoever asked for it may have left: nothing is waited for before it has begun. A disk that hangs keeps nobody from the next hold.
    fn keep(&self, book: &Book) -> Option<Keeping> {
        let path = book.file.clone()?;
        let shown = path.display().to_string();
        let (book, writer, unkept) = (self.book.clone(), self.writer.clone(), self.unkept.clone());
        {
            let mut unkept = lock(&unkept);
            (unkept.asked, unkept.why) = (unkept.asked + 1, Some("the disk has not answered yet".to_owned()));
        }
        let whole = async move {
            let writing = writer.lock_owned().await;
            let (holds, asked) = {
                let book = book.lock().await;
                (book.holds.values().cloned().collect(), lock(&unkept).asked)
            };
            let write = move || {
                let written = file::write(&path, holds);
                let mut unkept = lock(&unkept);
                if written.is_err() || unkept.asked == asked {
                    unkept.why = written.as_ref().err().map(|error| format!("{}: {error}", path.display()));
                }
                drop(writing);
                written
            };
            tokio::task::spawn_blocking(write).await.map_err(io::Error::other).and_then(|written| written)
        };
        Some(Keeping { shown, written: tokio::spawn(whole) })
    }

    /// The holds in force.
    pub async fn all(&self, now: Time) -> Vec<Hold> {
        let mut book = self.book.lock().await;
        book.forget_past(now);
        book.holds.values().cloned().collect()
    }

    /// Puts a hold in force, in the place of an earlier one of the same scope that ends no later. The one it replaced, and what the operator is to know besides.
    ///
    /// # Errors
    /// When it would cut another short, there are too many, or the engine has stopped.
    pub async fn hold(&self, hold: Hold, now: Time) -> Result<(Option<Hold>, Option<String>), Unheld> {
        let mut book = self.book.lock().await;
        book.forget_past(now);
        if let Some(old) = book.holds.get(&hold.scope).filter(|old| ends_sooner(&hold, old)) {
            return Err(held_longer(old));
        }
        let is_new = !book.holds.contains_key(&hold.scope) && hold.scope != Scope::Cluster;
        let others = book.holds.len() - usize::from(book.holds.contains_key(&Scope::Cluster));
        if is_new && others >= HOLDS_MAX {
            return Err(Unheld::TooMany);
        }
        self.own.say(now, Fact::Held(hold.clone())).await.map_err(|_| Busy)?;
        tracing::warn!(
            scope = name(&hold.scope),
            by = hold.by,
            reason = hold.reason,
            until_ms = hold.until.map(|at| at.0),
            "held"
        );
        let replaced = book.holds.insert(hold.scope.clone(), hold);
        let keeping = self.keep(&book);
        drop(book);
        let note = match keeping {
            Some(keeping) => keeping.note().await,
            None => Some("it is forgotten when the service starts again: set state.dir to a directory of Drover's own to keep it".into()),
        };
        Ok((replaced, note))
    }

    /// Lifts the hold of that scope; `None` where there is none. What the operator is to know besides.
    ///
    /// # Errors
    /// When the engine has stopped.
    pub async fn lift(&self, scope: &Scope, by: &str, now: Time) -> Result<Option<(Hold, Option<String>)>, Busy> {
        let mut book = self.book.lock().await;
        book.forget_past(now);
        let Some(hold) = book.holds.get(scope).cloned() else { return Ok(None) };
        self.own.say(now, Fact::Lifted(scope.clone())).await.map_err(|_| Busy)?;
        tracing::warn!(scope = name(scope), by, "resumed");
        book.holds.remove(scope);
        // Without a file nothing comes back.
        let keeping = self.keep(&book);
        drop(book);
        let note = if let Some(keeping) = keeping { keeping.note().await } else { None };
        Ok(Some((hold, note)))
    }

    /// Tells the engine of another service, or that it is gone.
    pub async fn rival(&self, epoch: Option<u64>, now: Time) {
        // An engine that has stopped needs no word of it.
        let _ = self.own.say(now, Fact::Rival(epoch)).await;
    }
}

#[cfg(test)]
mod tests;
