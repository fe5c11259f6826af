use super::*;
use crate::config::value::Value;
use drover_core::model::{Millis, Mode};
use std::io::Write;

fn none() -> std::iter::Empty<(String, String)> {
    std::iter::empty()
}

fn file(text: &str) -> (tempfile::TempDir, Sources) {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("drover.toml");
    std::fs::File::create(&path).unwrap().write_all(text.as_bytes()).unwrap();
    (dir, Sources { file: Some(path), set: Vec::new() })
}

fn error(text: &str) -> String {
    let (_dir, sources) = file(text);
    load(&sources, none()).unwrap_err().to_string()
}

#[test]
fn every_default_fits_its_own_declaration_and_its_fields_type() {
    for setting in SETTINGS {
        let value = setting.kind.parse(setting.default);
        assert!(value.is_ok(), "{}: {value:?}", setting.key());
        assert_eq!(value.unwrap() == Value::Unset, setting.default.is_empty(), "{}", setting.key());
        assert!(setting.doc.trim().ends_with('.'), "{}", setting.key());
    }
    assert!(finish(layers::defaults(), Vec::new()).is_ok());
}

#[test]
fn the_committed_documentation_is_the_generated_one() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/docs/configuration.md");
    let committed = std::fs::read_to_string(path).unwrap_or_default();
    assert!(committed == docs::markdown(), "run `drover config docs > docs/configuration.md`");
}

#[test]
fn the_documentation_tells_what_each_policy_and_estimator_does() {
    let told = docs::markdown();
    for (heading, names) in [("Policies", settings::POLICIES), ("Estimators", settings::ESTIMATORS)] {
        let section = told.split("### ").find(|section| section.starts_with(heading)).unwrap();
        let heads: String =
            section.lines().filter(|line| line.starts_with("- ")).filter_map(|line| line.split(':').next()).collect();
        for name in names {
            assert!(heads.contains(&format!("`{name}`")), "{heading}: {name}");
        }
    }
}

#[test]
fn a_task_is_restarted_no_more_often_than_an_order_can_say() {
    let told = error("[mantri]\nrestarts_max = 17\n");
    assert!(
        told.contains("drover.toml:2: mantri.restarts_max:") && told.contains("a whole number from 0 to 16"),
        "{told}"
    );
    let (_dir, sources) = file("[mantri]\nrestarts_max = 16\n");
    assert_eq!(load(&sources, none()).unwrap().config.mantri.restarts_max, Some(16));
}

#[test]
fn the_sample_with_every_line_in_force_states_the_defaults_and_its_examples() {
    let in_force: String = docs::sample()
        .lines()
        .map(|line| match line.strip_prefix('#') {
            Some(rest) if !rest.starts_with(' ') => format!("{rest}\n"),
            _ => format!("{line}\n"),
        })
        .collect();
    let (_dir, sources) = file(&in_force);
    let mut sample = load(&sources, none()).unwrap();
    let defaults = finish(layers::defaults(), Vec::new()).unwrap().config;
    let modes = std::mem::replace(&mut sample.config.modes, defaults.modes.clone());
    let off = |name: &str| [(name.to_owned(), Mode::Off)].into();
    assert_eq!((modes.queue, modes.user, modes.policy), (off("root.etl"), off("ann"), off("late")));
    assert_eq!(sample.config, defaults);
}

#[test]
fn the_sample_names_pages_by_their_paths_as_no_link_leads_anywhere_from_where_it_is_put() {
    let sample = docs::sample();
    assert!(!sample.contains("]("), "{sample}");
    for named in [
        "to compare with (what each does, docs/configuration.md#policies).",
        "besides the known ones, docs/configuration.md#safe-outputs, that cope",
        "(acting, docs/acting.md#restarts).",
    ] {
        assert!(sample.contains(named), "{named}");
    }
}

#[test]
fn what_a_variable_says_in_other_bytes_than_text_is_refused_as_a_queue_that_is_off_may_be_meant() {
    let variables = [
        ("DROVER_MODES_QUEUE", "root.\u{fffd}tl=off"),
        ("DROVER_MODE", "off\u{fffd}"),
        ("HADOOP_CONF_DIR", "/etc/h\u{fffd}"),
    ];
    for (name, text) in variables {
        let error = load(&Sources::default(), [(name.to_owned(), text.to_owned())].into_iter()).unwrap_err();
        let words = error.to_string();
        assert!(words.contains(name) && words.contains("UTF-8"), "{words}");
    }
}

#[test]
fn later_places_outrank_earlier_ones_and_each_value_keeps_its_origin() {
    let (_dir, mut sources) = file("mode = \"off\"\n[rest]\ntimeout = \"3s\"\nin_flight = 4\n");
    sources.set = vec!["rest.in_flight=5".into(), "modes.queue.root.etl=off".into()];
    let variables =
        [("DROVER_REST_IN_FLIGHT", "6"), ("DROVER_MODES_USER", "ann=off, bob=advise"), ("HADOOP_CONF_DIR", "/c")];
    let variables = variables.map(|(name, text)| (name.to_owned(), text.to_owned()));
    let loaded = load(&sources, variables.into_iter()).unwrap();
    assert_eq!(loaded.config.rest.timeout, Millis(3_000));
    assert_eq!(loaded.config.rest.in_flight, 5);
    assert_eq!(loaded.config.top.mode, Mode::Off);
    assert_eq!(loaded.config.modes.queue.get("root.etl"), Some(&Mode::Off));
    assert_eq!(loaded.config.modes.user.len(), 2);
    assert_eq!(loaded.config.cluster.conf_dir, Some("/c".into()));
    assert!(loaded.entries["rest.timeout"].origin.to_string().ends_with("drover.toml:3"));
    assert_eq!(loaded.entries["rest.in_flight"].origin, Origin::Flag);
    assert_eq!(loaded.entries["rest.body_limit"].origin, Origin::Default);
    assert_eq!(loaded.entries["cluster.conf_dir"].origin, Origin::Environment("HADOOP_CONF_DIR".into()));
}

#[test]
fn a_key_that_does_not_exist_is_refused_with_file_line_and_the_nearest_one() {
    let text = error("[rest]\ntimeout = \"3s\"\ntimeuot = \"3s\"\n");
    assert!(text.ends_with("drover.toml:3: rest.timeuot: is no setting; did you mean rest.timeout?"), "{text}");
    assert!(error("[zzz]\nq = 1\n").contains("drover config show"));
    let text = error("[modes]\nqeue.a = \"off\"\n");
    assert!(text.ends_with("modes.qeue.a: is no setting; did you mean modes.queue.NAME?"), "{text}");
}

#[test]
fn a_mode_by_name_without_the_name_is_told_how_to_say_one_and_not_to_write_what_is_there() {
    for text in ["queue = \"off\"", "queue.\"\" = \"off\"", "queue.\" \" = \"off\""] {
        let told = error(&format!("[modes]\n{text}\n"));
        let right = "drover.toml:2: modes.queue: names no queue; write queue.NAME = \"off\" below [modes]";
        assert!(told.ends_with(right), "{told}");
    }
    for text in ["modes.user=ann=off", "modes.user.=off"] {
        let sources = Sources { file: None, set: vec![text.into()] };
        let told = load_named(&sources).unwrap_err().to_string();
        assert_eq!(told, "--set: modes.user: names no user; write modes.user.NAME=off");
    }
    let variable = [("DROVER_MODES_QUEUE".to_owned(), "=off".to_owned())];
    let told = load(&Sources::default(), variable.into_iter()).unwrap_err().to_string();
    assert_eq!(told, "environment variable DROVER_MODES_QUEUE: modes.queue: names no queue; write NAME=off");
}

#[test]
fn of_two_values_for_one_key_side_by_side_none_is_taken() {
    let told = error("[modes]\nqueue.root.etl = \"off\"\nqueue.\"root.etl\" = \"act\"\n");
    assert!(told.contains("drover.toml:3: modes.queue.root.etl: is stated as \"act\", and as \"off\" in "), "{told}");
    assert!(told.ends_with("drover.toml:2; state it once") && told.lines().count() == 1, "{told}");
    let variable = |text: &str| [("DROVER_MODES_QUEUE".to_owned(), text.to_owned())].into_iter();
    let told = load(&Sources::default(), variable("a=off, a=act")).unwrap_err().to_string();
    assert!(
        told.ends_with(
            "DROVER_MODES_QUEUE: modes.queue.a: is stated as \"act\", and as \"off\" before it; state it once"
        )
    );
    let set = |set: &[&str]| Sources { file: None, set: set.iter().map(ToString::to_string).collect() };
    assert_eq!(load_named(&set(&["mode=act", "mode=off"])).unwrap().config.top.mode, Mode::Off, "of flags the later");
    assert!(load(&Sources::default(), variable("a=off,a=off")).is_ok(), "the same twice");
    let (_dir, file) = file("[modes.queue]\na = \"off\"\n");
    let outranked = load(&Sources { set: vec!["modes.queue.a=advise".into()], ..file }, variable("a=act")).unwrap();
    assert_eq!(outranked.config.modes.queue["a"], Mode::Advise);
    let conf = [("HADOOP_CONF_DIR", "/a"), ("DROVER_CLUSTER_CONF_DIR", "/b")];
    let conf = conf.map(|(name, text)| (name.to_owned(), text.to_owned()));
    let loaded = load(&Sources::default(), conf.into_iter()).unwrap();
    assert_eq!(loaded.config.cluster.conf_dir, Some("/b".into()), "another product's variable is another place");
}

#[test]
fn what_lies_in_the_place_of_a_configuration_and_is_no_file_is_an_error_that_names_it() {
    let dir = tempfile::tempdir().unwrap();
    let at = |name: &str| dir.path().join(name);
    let [missing, file, link] = ["missing.toml", "file.toml", "link.toml"].map(at);
    let [nowhere, inside, device] = ["nowhere.toml", "inside.toml", "device.toml"].map(at);
    std::fs::write(&file, "").unwrap();
    std::fs::create_dir(&inside).unwrap();
    for (link, to) in [(&link, &file), (&nowhere, &missing), (&device, &"/dev/zero".into())] {
        std::os::unix::fs::symlink(to, link).unwrap();
    }
    assert_eq!(found(&[&missing, &link, &inside]), Ok(Some(link.clone())), "the first one that is there");
    assert_eq!(found(&[&missing]), Ok(None));
    let told = [(&nowhere, "is a link to what is not there"), (&inside, "is a directory"), (&device, "is no file")];
    for (path, why) in told {
        let text = found(&[&missing, path, &file]).unwrap_err().to_string();
        assert!(text.starts_with(&format!("{}: {why}; ", path.display())), "{text}");
    }
}

#[test]
fn a_value_out_of_range_or_with_a_bad_unit_is_refused_with_what_is_allowed() {
    let text = error("[rest]\nin_flight = 0\ntimeout = 10\nbody_limit = \"4 potatoes\"\n");
    assert!(text.contains("drover.toml:2: rest.in_flight: 0 is out of range; allowed: a whole number from 1 to 256"));
    assert!(text.contains("drover.toml:3: rest.timeout: 10 has no unit"), "{text}");
    assert!(text.contains("drover.toml:4: rest.body_limit: \"potatoes\" is no unit"), "{text}");
    assert!(error("mode = \"acts\"\n").contains("did you mean act?; allowed: off, advise, act"));
    assert!(error("[modes.user]\nann = \"on\"\n").contains("modes.user.ann"));
    assert!(error("mode = 1979-05-27\n").contains("datetime"));
    assert!(error("[record]\nmax_bytes = \"1MiB\"\nsegment_bytes = \"1MiB\"\n").contains("half of record.max_bytes"));
}

#[test]
fn a_mode_for_a_policy_that_does_not_exist_is_refused_with_the_nearest_and_all_there_are() {
    let text = error("[modes.policy]\ndrover = \"advise\"\nmantry = \"off\"\n");
    assert!(text.contains("drover.toml:3: modes.policy.mantry: \"mantry\" is unknown; did you mean mantri?"), "{text}");
    assert!(text.contains("allowed: for each of late, ") && text.ends_with(", none: off, advise, act"), "{text}");
    assert_eq!(text.lines().count(), 1, "{text}");
    let (_dir, sources) = file("[modes.queue]\nmantry = \"off\"\n");
    assert!(load(&sources, none()).is_ok(), "a queue may have any name");
}

#[test]
fn an_empty_value_is_refused_where_it_would_take_back_a_mode_or_leave_a_setting_without_one() {
    let text = error("policy = \"\"\n[modes.queue]\nprod = \"\"\n");
    assert!(text.contains("drover.toml:1: policy: is empty; allowed: "), "{text}");
    assert!(text.contains("drover.toml:3: modes.queue.prod: is empty; allowed: "), "{text}");
    let (_dir, sources) = file("estimator = \"\"\n[modes.queue]\nprod = \"off\"\n[govern]\nunsafe_outputs = \"a.B\"\n");
    let taking_back = [("DROVER_MODES_QUEUE".to_owned(), "prod=".to_owned())];
    assert_eq!(load(&sources, taking_back.into_iter()).unwrap_err().0.len(), 1);
    let empty = ["DROVER_MODE", "DROVER_MODES_QUEUE", "DROVER_GOVERN_UNSAFE_OUTPUTS"];
    let loaded = load(&sources, empty.map(|name| (name.to_owned(), " ".to_owned())).into_iter()).unwrap();
    assert_eq!(loaded.config.top.mode, Mode::Advise);
    assert_eq!(loaded.config.modes.queue.get("prod"), Some(&Mode::Off));
    assert_eq!(loaded.config.govern.unsafe_outputs, ["a.B"], "an empty variable states nothing");
    assert_eq!(loaded.config.top.estimator, None, "what is not set by default may be empty");
}

#[test]
fn a_file_that_is_missing_or_no_toml_is_an_error_that_names_it() {
    assert!(error("mode = \n").contains("drover.toml:1: "));
    let sources = Sources { file: Some("/nonexistent/drover.toml".into()), set: vec!["mode".into()] };
    let text = load(&sources, none()).unwrap_err().to_string();
    assert!(
        text.contains("/nonexistent/drover.toml: cannot be read") && text.contains("write --set key=value"),
        "{text}"
    );
}

#[test]
fn a_foreign_variable_that_looks_like_ours_is_only_warned_about() {
    let variables = [("DROVER_PORT".to_owned(), "tcp://10.0.0.1:7070".to_owned())];
    let loaded = load(&Sources { file: None, set: Vec::new() }, variables.into_iter()).unwrap();
    assert_eq!(loaded.warnings.len(), 1);
}

#[test]
fn a_reload_changes_only_what_may_change_in_a_running_service() {
    let (_old_dir, old) = file("mode = \"off\"\n[modes.user]\nann = \"act\"\n[rest]\nin_flight = 4\n");
    let (_new_dir, new) = file("mode = \"advise\"\n[modes.user]\nbob = \"off\"\n[rest]\nin_flight = 9\n");
    let (old, new) = (load(&old, none()).unwrap(), load(&new, none()).unwrap());
    let (merged, report) = old.reloaded(&new).unwrap();
    assert_eq!(report.changed, ["mode", "modes.user.ann", "modes.user.bob"]);
    assert_eq!(report.waiting, ["rest.in_flight"]);
    assert_eq!((merged.config.top.mode, merged.config.rest.in_flight), (Mode::Advise, 4));
    assert_eq!(merged.config.modes.user.keys().collect::<Vec<_>>(), ["bob"]);
}

#[test]
fn a_reload_tells_by_which_modes_drover_may_do_more_than_before() {
    let (_old_dir, old) = file(
        "mode = \"advise\"\n[modes.user]\nann = \"off\"\nbob = \"off\"\neve = \"act\"\n[modes.queue]\nq = \"off\"\n",
    );
    let (_new_dir, new) = file(
        "mode = \"act\"\n[modes.user]\nann = \"act\"\nbob = \"advise\"\nzoe = \"off\"\n[modes.queue]\nq = \"off\"\n",
    );
    let (old, new) = (load(&old, none()).unwrap(), load(&new, none()).unwrap());
    let looser = old.reloaded(&new).unwrap().1.looser;
    let told = [
        "mode: advise before, act now",
        "modes.user.ann: off before, act now",
        "modes.user.bob: off before, advise now",
    ];
    assert_eq!(looser, told);
}

#[test]
fn a_reload_without_what_the_service_stands_on_changes_nothing() {
    let (_old_dir, old) =
        file("[listen]\nshim = \"127.0.0.1:7099\"\n[rest]\nin_flight = 4\n[modes.user]\nann = \"off\"\n");
    let (_new_dir, new) = file("[rest]\nin_flight = 4\n");
    let (old, new) = (load(&old, none()).unwrap(), load(&new, none()).unwrap());
    let error = old.reloaded(&new).unwrap_err().to_string();
    assert!(
        error.contains("listen.shim: was stated there and is not any more") && error.contains(".toml:2"),
        "{error}"
    );
    assert!(error.contains("`drover stop`"), "no mode of that file holds: {error}");
    assert_eq!(new.reloaded(&old).unwrap().1.waiting, ["listen.shim"], "what is stated for the first time waits");
}

/// What a service that runs on the one makes of the other.
fn again(old: &str, new: &str) -> Result<(Loaded, Reloaded), ConfigError> {
    let [(_old_dir, old), (_new_dir, new)] = [old, new].map(file);
    load(&old, none())?.reloaded(&load(&new, none())?)
}

#[test]
fn no_half_of_a_file_has_drover_do_more_than_before_wherever_it_is_cut() {
    let said = [
        ("#mode = \"advise\"", "mode = \"act\""),
        ("#queue.\"root.etl\" = \"off\"", "queue.\"root.prod\" = \"advise\""),
        ("#unsafe_outputs = []", "unsafe_outputs = [\"a.B\"]"),
    ];
    let whole = said.iter().fold(docs::sample(), |text, (from, to)| text.replacen(from, to, 1));
    let (_dir, running) = file(&whole);
    let running = load(&running, none()).unwrap();
    let (path, mut taken) = (running.file.clone().unwrap(), 0);
    // Where a cut tells from the one before it, and within lines.
    let says = |line: &&str| !line.trim().is_empty() && !line.starts_with('#');
    let begins = |line: &str| line.as_ptr() as usize - whole.as_ptr() as usize;
    let ends = whole
        .lines()
        .filter(says)
        .flat_map(|line| [begins(line), begins(line) + line.len(), begins(line) + line.len() + 1]);
    for end in ends.chain([0, 20_480, 24_576]) {
        std::fs::write(&path, &whole[..end]).unwrap();
        let half = load(&Sources { file: Some(path.clone()), set: Vec::new() }, none());
        let Ok((loaded, _)) = half.and_then(|half| running.reloaded(&half)) else { continue };
        taken += 1;
        assert!(loaded.config == running.config && whole[..end].ends_with('\n'), "cut at {end}");
    }
    assert!(taken > 1, "a half that has all of it is one that ends with a line");
}

#[test]
fn what_kept_drover_from_more_is_let_go_by_a_word_and_not_by_leaving_it_out() {
    let list = "[govern]\nunsafe_outputs = ";
    for (key, before, free, way) in [
        ("modes.queue.q", "modes.queue.q = \"off\"\n".to_owned(), "modes.queue.q = \"act\"\n".to_owned(), "as \"act\""),
        ("govern.unsafe_outputs", format!("{list}[\"a.B\"]\n"), format!("{list}[]\n"), "as []"),
        ("mode", "mode = \"off\"\n".to_owned(), "mode = \"act\"\n".to_owned(), "state it again, or start"),
    ] {
        let told = again(&before, "\n").unwrap_err().to_string();
        let said = format!(": {key}: was stated there and is not any more");
        assert!(told.contains(&said) && told.contains(way) && told.contains("`drover stop`"), "{told}");
        assert_eq!(again(&before, &free).unwrap().1.changed, [key]);
        assert!(again(&free, "\n").is_ok(), "{key} kept nothing from being done");
    }
}

#[test]
fn a_file_without_its_last_lines_end_is_not_read_again_unless_no_file_says_anything() {
    for (old, new, why) in [
        (
            "policy = \"late\"\n",
            "policy = \"none\"",
            "drover.toml: does not end with a line's end, as where it is half",
        ),
        ("policy = \"late\"\n", "", "drover.toml: is empty, as where it is half written; write it to its end"),
        ("", "policy = \"none\"", "drover.toml: does not end"),
    ] {
        let told = again(old, new).unwrap_err().to_string();
        assert!(told.contains(why) && told.lines().count() == 1, "{told}");
    }
    for (old, new) in [("", ""), ("# nothing", "# nothing yet"), ("policy = \"late\"", "policy = \"none\"\n")] {
        assert!(again(old, new).is_ok(), "{old:?}, {new:?}");
    }
}
