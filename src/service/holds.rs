//! Operators' holds: the engine hears of each, and a small file keeps them for the next start.

use super::own::Own;
use crate::api::ApiError;
use drover_core::model::{Fact, Hold, JobId, Mode, Observation, Scope, Time};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::Mutex;

/// Holds at once; each is some operator's word, so a thousand is a mistake.
const HOLDS_MAX: usize = 1_000;
/// Version of the file's format.
const FORMAT: u32 = 1;
/// So long whoever holds waits for the disk: less than a request may take.
const KEPT_WITHIN: Duration = Duration::from_secs(3);
const FILE: &str = "holds.json";
/// Who holds what no operator held.
const DROVER: &str = "drover";

/// What the file says.
#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Kept {
    format: u32,
    holds: Vec<Hold>,
}

/// Why the service does not start.
#[derive(Debug, thiserror::Error)]
#[error(
    "state.dir: {path}: {why}; Drover does not act while it cannot tell what operators have held. Restore the file, or remove it and hold again what is to be held"
)]
pub struct HoldsError {
    path: PathBuf,
    why: String,
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

/// The command that ends the hold of the scope of that name.
pub fn resume(name: &str) -> String {
    let which = name.split_once(':').map_or_else(String::new, |(of, name)| format!(" --{of} {name}"));
    format!("drover resume{which}")
}

/// The scope of that name.
///
/// # Errors
/// What is wrong with it, in words.
pub fn scope(name: &str) -> Result<Scope, String> {
    let wrong = || format!("\"{name}\" is no scope; write cluster, queue:NAME, user:NAME or job:ID");
    match name.split_once(':') {
        None if name == "cluster" => Ok(Scope::Cluster),
        Some(("job", id)) => id.parse::<JobId>().map(Scope::Job).map_err(|why| why.to_string()),
        Some((_, rest)) if rest.trim().is_empty() || rest.len() > 255 => Err(wrong()),
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
fn held_longer(old: &Hold) -> ApiError {
    let scope = name(&old.scope);
    let at = |until: Time| i64::try_from(until.0).ok().and_then(|ms| jiff::Timestamp::from_millisecond(ms).ok());
    let until = old.until.and_then(at).map_or("it is resumed".to_owned(), |at| format!("{at:.0}"));
    ApiError::HeldLonger(format!(
        "{scope} is held until {until} already, by {}: {}; what ends sooner would cut that short, so nothing has changed. To have it end sooner all the same, `{}` first",
        old.by,
        old.reason,
        resume(&scope)
    ))
}

impl Book {
    /// What the directory keeps, less what has run out.
    ///
    /// # Errors
    /// When it cannot be read and `mode` is `act`. In a more cautious mode the whole cluster is then held, lest a change of mode acts on what was held.
    pub fn open(dir: Option<&Path>, mode: Mode, now: Time) -> Result<Book, HoldsError> {
        let Some(path) = dir.map(|dir| dir.join(FILE)) else { return Ok(Book { file: None, holds: BTreeMap::new() }) };
        let holds = match read(&path) {
            Ok(holds) => holds,
            Err(why) if mode == Mode::Act => return Err(HoldsError { path, why }),
            Err(why) => {
                tracing::error!(path = %path.display(), why, "the holds cannot be read: everything is held until it is resumed");
                let reason = format!("{} cannot be read: {why}", path.display());
                vec![Hold { scope: Scope::Cluster, reason, by: DROVER.into(), since: now, until: None }]
            }
        };
        let lasting = holds.into_iter().filter(|hold| hold.stands(now));
        Ok(Book { file: Some(path), holds: lasting.map(|hold| (hold.scope.clone(), hold)).collect() })
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

impl Holds {
    /// The holds of a service that speaks to its engine by `own`.
    pub fn new(own: impl Into<Arc<Own>>, book: Book) -> Holds {
        Holds { own: own.into(), book: Arc::new(Mutex::new(book)), writer: Arc::default() }
    }

    /// Keeps the holds for the next start; what to tell the operator when that was not done. Each writes what holds when its turn has come, so that no older state follows a newer one, and does so
    /// though whoever asked for it may have left. A disk that hangs keeps nobody from the next hold.
    async fn keep(&self) -> Option<String> {
        let Some(path) = self.book.lock().await.file.clone() else {
            return Some("it is forgotten when the service starts again: set state.dir to a directory of Drover's own to keep it".into());
        };
        let shown = path.display().to_string();
        let (book, writer) = (self.book.clone(), self.writer.clone());
        let whole = async move {
            let writing = writer.lock_owned().await;
            let holds = book.lock().await.holds.values().cloned().collect();
            let write = move || {
                let _writing = writing;
                write(&path, &Kept { format: FORMAT, holds })
            };
            tokio::task::spawn_blocking(write).await.map_err(io::Error::other).and_then(|written| written)
        };
        let error = match tokio::time::timeout(KEPT_WITHIN, tokio::spawn(whole)).await {
            Ok(written) => written.map_err(io::Error::other).and_then(|written| written).err()?,
            Err(_) => io::Error::other("the disk has not answered yet"),
        };
        tracing::error!(path = shown, %error, "the holds cannot be kept");
        Some(format!("it cannot be kept for the next start of the service: {shown}: {error}"))
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
    pub async fn hold(&self, hold: Hold, now: Time) -> Result<(Option<Hold>, Option<String>), ApiError> {
        let mut book = self.book.lock().await;
        book.forget_past(now);
        if let Some(old) = book.holds.get(&hold.scope).filter(|old| ends_sooner(&hold, old)) {
            return Err(held_longer(old));
        }
        if book.holds.len() >= HOLDS_MAX && !book.holds.contains_key(&hold.scope) {
            return Err(ApiError::BadRequest(format!(
                "there are {HOLDS_MAX} holds already; lift some, or hold more at once"
            )));
        }
        self.own.say(now, Fact::Held(hold.clone())).await.map_err(|_| ApiError::Busy)?;
        tracing::warn!(
            scope = name(&hold.scope),
            by = hold.by,
            reason = hold.reason,
            until_ms = hold.until.map(|at| at.0),
            "held"
        );
        let replaced = book.holds.insert(hold.scope.clone(), hold);
        drop(book);
        Ok((replaced, self.keep().await))
    }

    /// Lifts the hold of that scope; `None` where there is none. What the operator is to know besides.
    ///
    /// # Errors
    /// When the engine has stopped.
    pub async fn lift(&self, scope: &Scope, by: &str, now: Time) -> Result<Option<(Hold, Option<String>)>, ApiError> {
        let mut book = self.book.lock().await;
        book.forget_past(now);
        let Some(hold) = book.holds.get(scope).cloned() else { return Ok(None) };
        self.own.say(now, Fact::Lifted(scope.clone())).await.map_err(|_| ApiError::Busy)?;
        tracing::warn!(scope = name(scope), by, "resumed");
        book.holds.remove(scope);
        // Without a file nothing comes back.
        let is_kept = book.file.is_some();
        drop(book);
        let note = if is_kept { self.keep().await } else { None };
        Ok(Some((hold, note)))
    }

    /// Tells the engine of another service, or that it is gone.
    pub async fn rival(&self, epoch: Option<u64>, now: Time) {
        // An engine that has stopped needs no word of it.
        let _ = self.own.say(now, Fact::Rival(epoch)).await;
    }
}

fn read(path: &Path) -> Result<Vec<Hold>, String> {
    let text = match std::fs::read(path) {
        Ok(text) => text,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(error.to_string()),
    };
    let kept: Kept = serde_json::from_slice(&text).map_err(|error| format!("is damaged: {error}"))?;
    match kept.format {
        FORMAT if kept.holds.len() <= HOLDS_MAX => Ok(kept.holds),
        FORMAT => Err(format!("has more than {HOLDS_MAX} holds")),
        other => Err(format!("has format {other}; this version reads {FORMAT}")),
    }
}

/// Could holds be written there? Makes a file beside theirs, and takes it away.
pub fn probe(dir: &Path) -> io::Result<()> {
    std::fs::create_dir_all(dir)?;
    let new = dir.join(FILE).with_extension("json.probe");
    let mut file = std::fs::File::create(&new)?;
    file.write_all(b"{}")?;
    file.sync_all()?;
    std::fs::remove_file(new)
}

/// Writes the whole file or nothing of it, and has it on the disk when it comes back.
fn write(path: &Path, kept: &Kept) -> io::Result<()> {
    let dir = path.parent().unwrap_or(Path::new("."));
    std::fs::create_dir_all(dir)?;
    let new = path.with_extension("json.new");
    let mut file = std::fs::File::create(&new)?;
    file.write_all(&serde_json::to_vec_pretty(kept)?)?;
    file.sync_all()?;
    std::fs::rename(&new, path)?;
    std::fs::File::open(dir)?.sync_all()
}

#[cfg(test)]
mod tests {
    use super::*;
    use drover_core::model::Millis;
    use tokio::sync::mpsc;

    const NOW: Time = Time(1_000_000);

    fn hold(scope: Scope, lasts: Option<u64>) -> Hold {
        let until = lasts.map(|ms| NOW + Millis(ms));
        Hold { scope, reason: "incident 4711".into(), by: "local".into(), since: NOW, until }
    }

    fn holds(dir: Option<&Path>) -> (Holds, mpsc::Receiver<Observation>) {
        let (out, facts) = mpsc::channel(10);
        (Holds::new(Own::new(7, 1, out), Book::open(dir, Mode::Act, NOW).unwrap()), facts)
    }

    #[test]
    fn every_scope_is_found_again_by_its_name() {
        let job = "job_1795181650543_0021".parse().unwrap();
        for of in [Scope::Cluster, Scope::Queue("root.a:b".into()), Scope::User("ann".into()), Scope::Job(job)] {
            assert_eq!(scope(&name(&of)), Ok(of));
        }
        for wrong in ["", "queue", "queue:", "group:x", "job:1", "user: "] {
            assert!(scope(wrong).is_err(), "{wrong}");
        }
    }

    #[tokio::test]
    async fn holds_survive_a_restart_and_those_that_have_run_out_do_not() {
        let dir = tempfile::tempdir().unwrap();
        let state = dir.path().join("state");
        let (first, mut facts) = holds(Some(&state));
        for (scope, lasts) in [(Scope::Cluster, Some(5_000)), (Scope::User("ann".into()), None)] {
            assert_eq!(first.hold(hold(scope, lasts), NOW).await, Ok((None, None)));
        }
        first.hold(hold(Scope::Queue("a".into()), None), NOW).await.unwrap();
        assert!(first.lift(&Scope::Queue("a".into()), "local", NOW).await.unwrap().is_some());
        assert_eq!(first.lift(&Scope::Queue("a".into()), "local", NOW).await, Ok(None));
        let said: Vec<_> = std::iter::from_fn(|| facts.try_recv().ok()).collect();
        assert_eq!(said.iter().map(|o| o.seq).collect::<Vec<_>>(), [1, 2, 3, 4]);
        assert_eq!(said[3].fact, Fact::Lifted(Scope::Queue("a".into())));

        let later = NOW + Millis(5_000);
        let book = Book::open(Some(&state), Mode::Act, later).unwrap();
        let told = book.told(8, later);
        assert_eq!(told.len(), 1);
        assert_eq!(told[0].fact, Fact::Held(hold(Scope::User("ann".into()), None)));
        assert_eq!((told[0].seq, told[0].source.incarnation), (1, 8));
    }

    #[tokio::test]
    async fn a_stop_is_not_cut_short_by_a_pause_and_a_longer_hold_takes_a_shorter_ones_place() {
        let (all, mut facts) = holds(None);
        let queue = || Scope::Queue("a".into());
        let until = || all.all(NOW);
        all.hold(hold(queue(), None), NOW).await.unwrap();
        let refusal = all.hold(hold(queue(), Some(60_000)), NOW).await.unwrap_err();
        assert!(matches!(refusal, ApiError::HeldLonger(_)));
        let text = refusal.to_string();
        for part in ["until it is resumed", "by local: incident 4711", "`drover resume --queue a` first"] {
            assert!(text.contains(part), "{part}: {text}");
        }
        assert_eq!(until().await, [hold(queue(), None)], "the stop stays");
        all.lift(&queue(), "local", NOW).await.unwrap();
        all.hold(hold(queue(), Some(60_000)), NOW).await.unwrap();
        let text = all.hold(hold(queue(), Some(59_999)), NOW).await.unwrap_err().to_string();
        assert!(text.contains("until 1970-01-01T00:17:40Z already"), "{text}");
        let (replaced, _) = all.hold(hold(queue(), None), NOW).await.unwrap();
        assert_eq!(replaced, Some(hold(queue(), Some(60_000))));
        assert_eq!(until().await, [hold(queue(), None)]);
        assert_eq!(
            std::iter::from_fn(|| facts.try_recv().ok()).count(),
            4,
            "the engine hears nothing of what is refused"
        );
    }

    #[tokio::test]
    async fn a_shorter_hold_is_taken_once_the_longer_one_has_run_out() {
        let (all, _facts) = holds(None);
        all.hold(hold(Scope::Cluster, Some(60_000)), NOW).await.unwrap();
        let later = NOW + Millis(60_000);
        let short = Hold { until: Some(later + Millis(1_000)), ..hold(Scope::Cluster, None) };
        assert_eq!(all.hold(short, later).await.unwrap().0, None);
    }

    #[tokio::test]
    async fn a_hold_without_a_directory_or_on_a_disk_that_fails_is_in_force_and_says_that_it_is_not_kept() {
        let (none, mut facts) = holds(None);
        let note = none.hold(hold(Scope::Cluster, None), NOW).await.unwrap().1.unwrap();
        assert!(note.contains("state.dir"), "{note}");
        assert!(matches!(facts.try_recv().unwrap().fact, Fact::Held(_)));
        let dir = tempfile::tempdir().unwrap();
        let (blocked, mut facts) = holds(Some(&dir.path().join("dir")));
        std::fs::write(dir.path().join("dir"), "a file where the directory is to be").unwrap();
        let note = blocked.hold(hold(Scope::Cluster, None), NOW).await.unwrap().1.unwrap();
        assert!(note.contains("cannot be kept"), "{note}");
        assert!(matches!(facts.try_recv().unwrap().fact, Fact::Held(_)));
        assert_eq!(blocked.all(NOW).await.len(), 1);
    }

    #[test]
    fn a_disk_that_hangs_keeps_no_hold_from_the_engine_and_whoever_has_left_has_theirs_written() {
        let runtime =
            tokio::runtime::Builder::new_current_thread().enable_all().max_blocking_threads(1).build().unwrap();
        runtime.block_on(async {
            let dir = tempfile::tempdir().unwrap();
            let (all, mut facts) = holds(Some(dir.path()));
            let (release, released) = std::sync::mpsc::channel::<()>();
            let busy = tokio::task::spawn_blocking(move || released.recv());
            for scope in [Scope::Queue("etl".into()), Scope::Cluster] {
                let asked = all.hold(hold(scope.clone(), None), NOW);
                assert!(tokio::time::timeout(Duration::from_millis(10), asked).await.is_err());
                assert_eq!(facts.try_recv().unwrap().fact, Fact::Held(hold(scope, None)));
            }
            assert_eq!(all.all(NOW).await.len(), 2);
            release.send(()).unwrap();
            busy.await.unwrap().unwrap();
            assert_eq!(all.hold(hold(Scope::User("ann".into()), None), NOW).await, Ok((None, None)));
            assert_eq!(Book::open(Some(dir.path()), Mode::Act, NOW).unwrap().holds.len(), 3);
        });
    }

    #[test]
    fn a_damaged_file_keeps_a_service_from_acting_and_holds_everything_in_one_that_advises() {
        let dir = tempfile::tempdir().unwrap();
        for text in ["", "{\"format\":1,\"holds\":[{\"scope\"", "{\"format\":2,\"holds\":[]}"] {
            std::fs::write(dir.path().join(FILE), text).unwrap();
            let error = Book::open(Some(dir.path()), Mode::Act, NOW).unwrap_err().to_string();
            assert!(error.contains("holds.json") && error.contains("does not act"), "{error}");
            let book = Book::open(Some(dir.path()), Mode::Advise, NOW).unwrap();
            assert!(book.holds[&Scope::Cluster].reason.contains("cannot be read"));
        }
        assert!(Book::open(Some(&dir.path().join("new")), Mode::Act, NOW).unwrap().holds.is_empty());
    }

    #[tokio::test]
    async fn there_is_an_end_to_how_many_there_may_be() {
        let (out, mut facts) = mpsc::channel(10);
        let all = Holds::new(Own::new(7, 1, out), Book::open(None, Mode::Act, NOW).unwrap());
        tokio::spawn(async move { while facts.recv().await.is_some() {} });
        for n in 0..HOLDS_MAX {
            all.hold(hold(Scope::User(n.to_string()), None), NOW).await.unwrap();
        }
        assert!(matches!(all.hold(hold(Scope::Cluster, None), NOW).await, Err(ApiError::BadRequest(_))));
        assert!(all.hold(hold(Scope::User("7".into()), None), NOW).await.is_ok(), "a later word on the same");
    }
}
