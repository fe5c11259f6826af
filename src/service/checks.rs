//! What keeps the service from starting and the configuration with its files alone shows: for `serve`, a reload, `drover config check` and `drover doctor`.

use super::world::{self, WorldError};
use crate::config::{ConfigError, Loaded, Origin, Problem, Reloaded, engine_params};
use crate::telemetry::{LEVELS, level_fault};
use crate::yarn::address::Server;
use crate::yarn::http::check_certificates;
use drover_core::model::Mode;
use std::net::SocketAddr;
use std::path::Path;
use url::Url;

/// The configuration, where a service could start on it.
///
/// # Errors
/// Everything that it would be refused for.
pub fn checked(loaded: Loaded) -> Result<Loaded, ConfigError> {
    let more = cluster(&loaded);
    with(loaded, more).map(doubted)
}

/// The same where one that runs could go on with it: where its cluster is it knows, and Hadoop's own files may be just written anew.
///
/// # Errors
/// Likewise.
pub fn checked_again(loaded: Loaded) -> Result<Loaded, ConfigError> {
    with(loaded, Vec::new())
}

fn with(loaded: Loaded, more: Vec<Problem>) -> Result<Loaded, ConfigError> {
    let faults = level(&loaded).into_iter().chain(listeners(&loaded)).chain(certificates(&loaded));
    let faults = faults.chain(ledger(&loaded)).chain(directories(&loaded));
    let faults: Vec<Problem> = faults.chain(more).collect();
    if !faults.is_empty() {
        return Err(ConfigError(faults));
    }
    Ok(loaded)
}

/// What a running service has of its configuration and the one that it has read again: warned is of what holds then.
///
/// # Errors
/// Where both together are wrong.
pub fn merged(old: &Loaded, new: &Loaded) -> Result<(Loaded, Reloaded), ConfigError> {
    let (loaded, report) = old.reloaded(new)?;
    Ok((doubted(loaded), report))
}

/// With warnings of what is no fault and will not do what it looks like, or not be read again as it stands.
fn doubted(mut loaded: Loaded) -> Loaded {
    let cut = loaded.cut.clone().filter(|_| loaded.is_of_file());
    let doubts: Vec<Problem> = avoids_nothing(&loaded).into_iter().chain(forgets(&loaded)).chain(cut).collect();
    loaded.warnings.extend(doubts.into_iter().chain(loaded.outranked.clone()));
    loaded
}

/// `act.avoid` where nothing lists a machine: a service starts on it, and no machine is ever avoided.
pub fn avoids_nothing(loaded: &Loaded) -> Option<Problem> {
    let lists = engine_params(&loaded.config).blacklist.beside;
    let what = "does nothing without blacklist.beside = true: no machine is avoided".to_owned();
    let fix = "set blacklist.beside = true, or leave act.avoid out";
    (loaded.config.act.avoid && !lists).then(|| fault(loaded, "act.avoid", what, fix))
}

/// Mode `act` where nothing keeps what operators hold: a service starts on it, and after its next start acts on all of it.
pub fn forgets(loaded: &Loaded) -> Option<Problem> {
    let (mode, dir) = (loaded.config.top.mode, &loaded.config.state.dir);
    let what = "not set: what operators pause or stop is forgotten when the service starts again, and in mode act it then acts".to_owned();
    let fix = "set it to a directory of Drover's own";
    (mode == Mode::Act && dir.is_none()).then(|| fault(loaded, "state.dir", what, fix))
}

fn fault(loaded: &Loaded, key: &str, what: String, fix: &str) -> Problem {
    Problem { origin: origin(loaded, key), key: Some(key.to_owned()), what, fix: Some(fix.to_owned()) }
}

fn origin(loaded: &Loaded, key: &str) -> Origin {
    loaded.entries.get(key).map_or(Origin::Default, |entry| entry.origin.clone())
}

fn level(loaded: &Loaded) -> Option<Problem> {
    let what = level_fault(&loaded.config.log.level)?;
    Some(fault(loaded, "log.level", what, &format!("allowed: {LEVELS}")))
}

/// Would the second of them find its port taken by the first?
fn same(one: SocketAddr, other: SocketAddr) -> bool {
    // One that listens on all addresses has the port of each of its family.
    let any = one.is_ipv4() == other.is_ipv4() && (one.ip().is_unspecified() || other.ip().is_unspecified());
    one.port() != 0 && one.port() == other.port() && (any || one.ip() == other.ip())
}

fn listeners(loaded: &Loaded) -> Vec<Problem> {
    let listen = &loaded.config.listen;
    let all = [("listen.api", listen.api), ("listen.shim", listen.shim), ("listen.metrics", listen.metrics)];
    let pairs = all.iter().enumerate().flat_map(|(n, second)| all[..n].iter().map(move |first| (first, second)));
    let clash = |((first, one), (second, other)): (&(&str, SocketAddr), &(&str, SocketAddr))| {
        // Of two, the one that somebody stated is the one to change.
        let stated = origin(loaded, second) != Origin::Default;
        let (key, at, by) = if stated { (second, other, first) } else { (first, one, second) };
        let fix = "choose another port (0 takes a free one)";
        same(*one, *other).then(|| fault(loaded, key, format!("{at} is taken by {by} already"), fix))
    };
    pairs.filter_map(clash).collect()
}

fn certificates(loaded: &Loaded) -> Option<Problem> {
    let error = check_certificates(loaded.config.rest.ca_file.as_ref()?).err()?;
    Some(fault(loaded, "rest.ca_file", error.to_string(), "name a file of certificates in PEM that Drover may read"))
}

/// A lock would be made beside the directory, and no ledger anywhere.
fn ledger(loaded: &Loaded) -> Option<Problem> {
    let path = loaded.config.ledger.path.as_ref().filter(|path| path.is_dir())?;
    let (what, file) = (format!("{} is a directory", path.display()), path.join("ledger.db"));
    Some(fault(loaded, "ledger.path", what, &format!("name a file in it, such as {}", file.display())))
}

/// What is not there yet is made.
fn directories(loaded: &Loaded) -> Vec<Problem> {
    let config = &loaded.config;
    let all = [("record.dir", &config.record.dir), ("state.dir", &config.state.dir)];
    let named = all.into_iter().filter_map(|(key, dir)| Some((key, dir.as_deref()?)));
    let others = named.filter(|(_, dir)| dir.exists() && !dir.is_dir());
    let wrong = |(key, dir): (&str, &Path)| {
        fault(loaded, key, format!("{} is no directory", dir.display()), "name one, which need not be there yet")
    };
    others.map(wrong).collect()
}

/// What is said of where the cluster is, so far as anything is: whoever checks a configuration may have no cluster there.
fn cluster(loaded: &Loaded) -> Vec<Problem> {
    let named = &loaded.config.cluster;
    let urls = named.rm_urls.iter().map(|url| ("cluster.rm_urls", url));
    let urls = urls.chain(named.history_url.iter().map(|url| ("cluster.history_url", url)));
    let urls = urls.chain(named.proxy_url.iter().map(|url| ("cluster.proxy_url", url)));
    let bad = |(key, url): (&str, &Url)| {
        let error = Server::parse(url.as_str(), "http").err()?;
        Some(fault(loaded, key, error.to_string(), "write http://host:port"))
    };
    let bad: Vec<Problem> = urls.filter_map(bad).collect();
    let found = world::site(&loaded.config).map_err(WorldError::from);
    match found.and_then(|site| world::cluster(&loaded.config, site.as_ref())) {
        // It names the file, or the directory, and what to do.
        Err(WorldError::Site(error)) if bad.is_empty() => {
            let (key, what) = ("cluster.conf_dir", error.to_string());
            vec![Problem { origin: origin(loaded, key), key: Some(key.to_owned()), what, fix: None }]
        }
        Err(error) if bad.is_empty() && !matches!(error, WorldError::Nowhere) => {
            let fix = "name the directory of Hadoop's own configuration, or the servers by cluster.rm_urls";
            vec![fault(loaded, "cluster.conf_dir", error.to_string(), fix)]
        }
        _ => bad,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::{Sources, load, load_named};

    fn said(set: &[&str]) -> Vec<String> {
        let set = set.iter().map(ToString::to_string).collect();
        let loaded = load_named(&Sources { file: None, set }).unwrap();
        checked(loaded).err().map_or_else(Vec::new, |error| error.0.iter().map(Problem::to_string).collect())
    }

    #[test]
    fn nothing_is_wrong_with_the_defaults() {
        assert_eq!(said(&[]), Vec::<String>::new());
    }

    #[test]
    fn settings_that_do_nothing_or_forget_what_is_held_are_warned_of_and_no_fault() {
        let warned = |set: &[&str]| -> Vec<String> {
            let set = set.iter().map(ToString::to_string).collect();
            let loaded = checked(load_named(&Sources { file: None, set }).unwrap()).unwrap();
            loaded.warnings.iter().map(Problem::to_string).collect()
        };
        let told = warned(&["act.avoid=true"]);
        assert!(
            told.len() == 1 && told[0].starts_with("--set: act.avoid: does nothing without blacklist.beside"),
            "{told:?}"
        );
        assert_eq!(warned(&["act.avoid=true", "blacklist.beside=true"]), Vec::<String>::new());
        let told = warned(&["mode=act"]);
        assert!(told.len() == 1 && told[0].contains("state.dir: not set") && told[0].contains("forgotten"), "{told:?}");
        assert_eq!(warned(&["mode=act", "state.dir=/var/lib/drover"]), Vec::<String>::new());
    }

    #[test]
    fn a_mode_in_the_file_that_a_flag_or_a_variable_stands_above_is_warned_of_at_the_start_and_after_a_reload() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let read = |text: &str| {
            std::fs::write(file.path(), text).unwrap();
            let sources = Sources { file: Some(file.path().to_owned()), set: vec!["mode=act".into()] };
            let above = [("DROVER_MODES_QUEUE".to_owned(), "a=act,b=off".to_owned())];
            load(&sources, above.into_iter()).unwrap()
        };
        let told = |loaded: &Loaded| loaded.outranked.iter().map(Problem::to_string).collect::<Vec<_>>().join("\n");
        let running = checked(read("policy = \"late\"\n")).unwrap();
        assert_eq!(told(&running), "", "of what is no mode nothing is said, nor of what the file leaves to others");
        let new = read("policy = \"late\"\nmode = \"advise\"\nmodes.queue.a = \"off\"\nmodes.queue.b = \"off\"\n");
        let at = file.path().display();
        let anew = "change it there, for which a service must start anew";
        let expected = format!(
            "{at}:2: mode: \"advise\" does not hold: \"act\" does, by --set; {anew}\n\
             {at}:3: modes.queue.a: \"off\" does not hold: \"act\" does, by environment variable DROVER_MODES_QUEUE; {anew}"
        );
        assert_eq!(told(&new), expected);
        let (merged, report) = merged(&running, &checked_again(new.clone()).unwrap()).unwrap();
        assert!(report.changed.is_empty() && merged.warnings.ends_with(&new.outranked), "{:?}", merged.warnings);
        assert!(checked(new.clone()).unwrap().warnings.ends_with(&new.outranked), "and at the start");
    }

    #[test]
    fn a_file_that_sighup_would_refuse_for_its_end_is_warned_of_before() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let warned = |text: &str| {
            std::fs::write(file.path(), text).unwrap();
            let sources = Sources { file: Some(file.path().to_owned()), set: Vec::new() };
            checked(load_named(&sources).unwrap()).unwrap().warnings
        };
        let told = warned("policy = \"late\"");
        assert!(told.len() == 1 && told[0].to_string().contains("before SIGHUP"), "{told:?}");
        for right in ["policy = \"late\"\n", ""] {
            assert_eq!(warned(right), [], "{right:?}");
        }
    }

    #[test]
    fn after_a_reload_it_is_warned_of_what_holds_and_not_of_what_waits_for_a_restart() {
        let named = |set: &[&str]| {
            let set = set.iter().map(ToString::to_string).collect();
            checked_again(load_named(&Sources { file: None, set }).unwrap()).unwrap()
        };
        let warned = |old: &Loaded, new: &Loaded| merged(old, new).unwrap().0.warnings;
        let (old, new) = (named(&[]), named(&["mode=act", "state.dir=/var/lib/drover"]));
        let told = warned(&old, &new);
        assert!(told.len() == 1 && told[0].to_string().contains("state.dir: not set"), "{told:?}");
        let known = named(&["state.dir=/var/lib/drover"]);
        assert!(warned(&known, &new).is_empty());
    }

    #[test]
    fn a_log_filter_that_serve_would_refuse_is_a_fault_of_its_key() {
        let text = said(&["log.level=drover=loud"]).concat();
        assert!(text.starts_with("--set: log.level: \"drover=loud\" is no log level"), "{text}");
        assert!(text.contains("allowed: error, warn") && said(&["log.level=warn,drover::yarn=trace"]).is_empty());
    }

    #[test]
    fn addresses_and_site_files_that_serve_would_refuse_are_faults_and_show_no_password() {
        for set in
            ["cluster.rm_urls=http://rm:8088/ws", "cluster.history_url=http://jhs/ws", "cluster.conf_dir=/nonexistent"]
        {
            let (key, text) = (set.split('=').next().unwrap_or_default(), said(&[set]).concat());
            assert!(text.starts_with(&format!("--set: {key}: ")), "{text}");
        }
        for key in ["cluster.rm_urls", "cluster.history_url"] {
            let set = vec![format!("{key}=http://u:secret@rm:8088")];
            let text = load_named(&Sources { file: None, set }).unwrap_err().to_string();
            assert!(text.contains("holds a user's name") && !text.contains("secret"), "{text}");
        }
    }

    #[test]
    fn two_listeners_on_one_port_are_a_fault_of_the_one_that_was_stated() {
        let text = said(&["listen.api=127.0.0.1:7071"]);
        let fix = "choose another port (0 takes a free one)";
        assert_eq!(text, [format!("--set: listen.api: 127.0.0.1:7071 is taken by listen.shim already; {fix}")]);
        let all = ["listen.api=[::1]:9", "listen.shim=[::]:9", "listen.metrics=[::1]:9"];
        assert_eq!(said(&all).len(), 3);
        assert_eq!(said(&["listen.shim=0.0.0.0:7070"]).len(), 1, "all addresses are that of the API, too");
        for apart in ["listen.api=127.0.0.2:7071", "listen.api=[::1]:7071"] {
            assert!(said(&[apart]).is_empty(), "{apart}");
        }
        assert!(said(&["listen.api=127.0.0.1:0", "listen.shim=127.0.0.1:0"]).is_empty(), "each takes a free one");
    }

    #[test]
    fn a_directory_is_no_ledger() {
        let dir = tempfile::tempdir().unwrap();
        let named = |path: &Path| said(&[&format!("ledger.path={}", path.display())]).concat();
        let (text, file) = (named(dir.path()), dir.path().join("ledger.db"));
        assert!(
            text.contains("is a directory; name a file in it") && text.ends_with(&file.display().to_string()),
            "{text}"
        );
        assert_eq!(named(&file), "", "which need not be there yet");
    }

    #[test]
    fn a_file_is_no_directory_for_a_recording_or_for_what_operators_hold() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("file");
        std::fs::write(&file, "").unwrap();
        for key in ["record.dir", "state.dir"] {
            let named = |path: &Path| said(&[&format!("{key}={}", path.display())]).concat();
            let text = named(&file);
            assert!(
                text.starts_with(&format!("--set: {key}: ")) && text.contains("is no directory; name one"),
                "{text}"
            );
            assert_eq!(named(dir.path()) + &named(&dir.path().join("new")), "");
        }
    }

    #[test]
    fn a_file_of_certificates_that_is_missing_or_holds_none_is_a_fault() {
        let text = said(&["rest.ca_file=/nonexistent/ca.pem"]).concat();
        assert!(text.starts_with("--set: rest.ca_file: /nonexistent/ca.pem: "), "{text}");
        let file = tempfile::NamedTempFile::new().unwrap();
        let text = said(&[&format!("rest.ca_file={}", file.path().display()), "log.level=drover=loud"]);
        assert_eq!(text.len(), 2, "both are told: {text:?}");
        assert!(text[1].contains("no certificate in PEM"), "{text:?}");
    }
}
