//! What a service leaves behind that does not start.

use super::*;
use crate::config::{Sources, load};
use crate::telemetry::lost_lines;

#[tokio::test]
async fn a_service_that_does_not_start_for_its_holds_has_begun_neither_ledger_nor_recording() {
    let dir = tempfile::tempdir().unwrap();
    let of = |key: &str, name: &str| format!("{key}={}", dir.path().join(name).display());
    std::fs::write(dir.path().join("holds.json"), "what nobody can read").unwrap();
    let places = [of("state.dir", ""), of("ledger.path", "l.db"), of("record.dir", "recordings")];
    let here = ["listen.api", "listen.shim", "listen.metrics"].map(|key| format!("{key}=127.0.0.1:0"));
    let more = ["mode=act", "cluster.rm_urls=http://127.0.0.1:1"].map(str::to_owned);
    let set = places.into_iter().chain(here).chain(more).collect();
    let loaded = load(&Sources { file: None, set }, std::iter::empty()).unwrap();
    let started = start(&loaded, lost_lines().unwrap(), &CancellationToken::new()).await;
    assert!(matches!(started.err(), Some(ServeError::Holds(_))));
    // A ledger's thread, had it begun, would have made its file by then.
    tokio::time::sleep(Duration::from_millis(300)).await;
    let left: Vec<_> = std::fs::read_dir(dir.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(left, ["holds.json"]);
}
