use super::*;
use crate::telemetry::logged;
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
    for wrong in ["", "queue", "queue:", "group:x", "job:1", "user: ", "user:a\nheld nothing", "queue:\u{1b}[2Jx"] {
        let told = scope(wrong).unwrap_err();
        assert!(!told.contains(['\n', '\u{1b}']), "{told:?}");
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
    let mut book = None;
    let logged = logged(|| book = Book::open(Some(&state), Mode::Act, later).ok());
    let over: Vec<&str> = logged.lines().filter(|line| line.contains("it has run out since")).collect();
    assert!(matches!(over[..], [line] if line.contains("cluster") && line.contains("incident 4711")), "{logged}");
    let told = book.unwrap().told(8, later);
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
    assert!(matches!(refusal, Unheld::Longer(_)));
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
    assert_eq!(std::iter::from_fn(|| facts.try_recv().ok()).count(), 4, "the engine hears nothing of what is refused");
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

#[tokio::test(start_paused = true)]
async fn a_stop_that_could_not_be_kept_is_known_for_it_and_is_kept_once_there_is_room() {
    let dir = tempfile::tempdir().unwrap();
    let state = dir.path().join("state");
    let (all, _facts) = holds(Some(&state));
    std::fs::write(&state, "a file where the directory is to be").unwrap();
    all.hold(hold(Scope::Cluster, None), NOW).await.unwrap();
    assert!(all.unkept().unwrap().contains("is no directory"), "{:?}", all.unkept());
    let all = Arc::new(all);
    let again = tokio::spawn({
        let all = all.clone();
        async move { all.keep_on().await }
    });
    std::fs::remove_file(&state).unwrap();
    while all.unkept().is_some() {
        tokio::time::sleep(Duration::from_secs(1)).await;
    }
    again.abort();
    assert_eq!(Book::open(Some(&state), Mode::Act, NOW).unwrap().holds.len(), 1);
}

#[tokio::test]
async fn a_file_that_cannot_be_read_lies_beside_the_one_that_takes_its_place() {
    let dir = tempfile::tempdir().unwrap();
    let of_later = r#"{"format":2,"holds":[{"queue":"prod"}]}"#;
    std::fs::write(dir.path().join(file::FILE), of_later).unwrap();
    let (out, _facts) = mpsc::channel(10);
    let all = Holds::new(Own::new(7, 1, out), Book::open(Some(dir.path()), Mode::Advise, NOW).unwrap());
    for user in ["ann", "bob"] {
        assert_eq!(all.hold(hold(Scope::User(user.into()), None), NOW).await, Ok((None, None)));
    }
    assert_eq!(std::fs::read_to_string(dir.path().join("holds.json.unread-1")).unwrap(), of_later);
    assert!(!dir.path().join("holds.json.unread-2").exists());
    let holds = Book::open(Some(dir.path()), Mode::Act, NOW).unwrap().holds;
    assert_eq!(holds.len(), 3, "the cluster's among them");
    let reason = &holds[&Scope::Cluster].reason;
    assert!(reason.contains(" as holds.json.unread-1: look there before you resume"), "{reason}");
}

#[test]
fn a_disk_that_hangs_keeps_no_hold_from_the_engine_and_whoever_has_left_has_theirs_written() {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().max_blocking_threads(1).build().unwrap();
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
        std::fs::write(dir.path().join(file::FILE), text).unwrap();
        let error = Book::open(Some(dir.path()), Mode::Act, NOW).unwrap_err().to_string();
        assert!(error.contains("holds.json") && error.contains("does not act"), "{error}");
        let book = Book::open(Some(dir.path()), Mode::Advise, NOW).unwrap();
        assert!(book.holds[&Scope::Cluster].reason.contains("could not be read"));
    }
    assert!(Book::open(Some(&dir.path().join("new")), Mode::Act, NOW).unwrap().holds.is_empty());
}

#[test]
fn a_file_of_another_version_is_told_from_a_damaged_one_whatever_its_shape() {
    let dir = tempfile::tempdir().unwrap();
    for text in [r#"{"format":2,"holds":[],"groups":[]}"#, r#"{"format":2}"#, r#"{"groups":{"a":1},"format":2}"#] {
        std::fs::write(dir.path().join(file::FILE), text).unwrap();
        let why = Book::open(Some(dir.path()), Mode::Act, NOW).unwrap_err().why;
        assert!(why.starts_with("has format 2, of another version of Drover"), "{why}");
    }
    std::fs::write(dir.path().join(file::FILE), r#"{"format":1,"holds":[],"groups":[]}"#).unwrap();
    let why = Book::open(Some(dir.path()), Mode::Act, NOW).unwrap_err().why;
    assert!(why.starts_with("is damaged: unknown field"), "what it would forget may have been held: {why}");
}

#[tokio::test]
async fn there_is_an_end_to_how_many_there_may_be() {
    let (out, mut facts) = mpsc::channel(10);
    let all = Holds::new(Own::new(7, 1, out), Book::open(None, Mode::Act, NOW).unwrap());
    tokio::spawn(async move { while facts.recv().await.is_some() {} });
    for n in 0..HOLDS_MAX {
        all.hold(hold(Scope::User(n.to_string()), None), NOW).await.unwrap();
    }
    assert!(matches!(all.hold(hold(Scope::User("more".into()), None), NOW).await, Err(Unheld::TooMany)));
    assert!(all.hold(hold(Scope::User("7".into()), None), NOW).await.is_ok(), "a later word on the same");
    assert!(all.hold(hold(Scope::Cluster, None), NOW).await.is_ok(), "a stop of everything");
    all.lift(&Scope::User("7".into()), "local", NOW).await.unwrap();
    assert!(all.hold(hold(Scope::User("more".into()), None), NOW).await.is_ok(), "it takes no other's place");
}

#[test]
fn as_many_holds_as_there_may_be_are_read_again_and_of_a_file_with_more_none() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join(file::FILE);
    let users = (0..HOLDS_MAX).map(|n| Scope::User(n.to_string()));
    let mut all: Vec<Hold> = users.chain([Scope::Cluster]).map(|scope| hold(scope, None)).collect();
    file::write(&path, all.clone()).unwrap();
    assert_eq!(kept(dir.path()).unwrap(), all);
    all.push(hold(Scope::Queue("etl".into()), None));
    file::write(&path, all).unwrap();
    let told = kept(dir.path()).map(|all| all.len()).map_err(|error| error.why);
    assert_eq!(told, Err("has more than 1000 holds".into()));
}

#[tokio::test]
async fn a_file_that_cannot_be_read_stays_as_it_is_where_too_many_lie_beside_it_and_what_is_held_meanwhile_is_in_force()
{
    let dir = tempfile::tempdir().unwrap();
    let of_later = r#"{"format":2}"#;
    std::fs::write(dir.path().join(file::FILE), of_later).unwrap();
    for nth in 1..=20 {
        std::fs::write(dir.path().join(format!("holds.json.unread-{nth}")), "").unwrap();
    }
    let (out, _facts) = mpsc::channel(10);
    let all = Holds::new(Own::new(7, 1, out), Book::open(Some(dir.path()), Mode::Advise, NOW).unwrap());
    let note = all.hold(hold(Scope::User("ann".into()), None), NOW).await.unwrap().1.unwrap();
    assert!(note.contains("cannot be kept") && note.contains("too many files"), "{note}");
    assert_eq!(std::fs::read_to_string(dir.path().join(file::FILE)).unwrap(), of_later);
    assert_eq!(all.all(NOW).await.len(), 2, "the whole cluster's and Ann's");
}

#[tokio::test]
async fn a_hold_that_the_engine_has_heard_of_is_written_though_its_asker_leaves_while_others_wait_for_the_book() {
    use futures::FutureExt;
    let dir = tempfile::tempdir().unwrap();
    let (out, mut facts) = mpsc::channel(1);
    let all = Holds::new(Own::new(7, 1, out), Book::open(Some(dir.path()), Mode::Act, NOW).unwrap());
    all.own.say(NOW, Fact::Rival(None)).await.unwrap();
    // The engine has no room yet, and another waits for the book meanwhile.
    let mut first = Box::pin(all.hold(hold(Scope::Cluster, None), NOW));
    let mut second = Box::pin(all.hold(hold(Scope::User("ann".into()), None), NOW));
    assert!(first.as_mut().now_or_never().is_none() && second.as_mut().now_or_never().is_none());
    facts.recv().await.unwrap();
    assert!(first.as_mut().now_or_never().is_none(), "it waits for the disk");
    assert!(matches!(facts.recv().await.unwrap().fact, Fact::Held(_)));
    drop((first, second));
    let kept = dir.path().join(file::FILE);
    while !std::fs::read_to_string(&kept).is_ok_and(|text| text.contains("incident 4711")) {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}
