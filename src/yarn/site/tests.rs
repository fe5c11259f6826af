use super::*;
use std::fs;

fn dir(files: &[(&str, &str)]) -> tempfile::TempDir {
    let dir = tempfile::tempdir().unwrap();
    for (name, body) in files {
        let path = dir.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, body).unwrap();
    }
    dir
}

fn wrap(body: &str) -> String {
    format!(
        "<?xml version=\"1.0\"?>\n<configuration xmlns:xi=\"http://www.w3.org/2001/XInclude\">\n{body}\n</configuration>\n"
    )
}

fn prop(name: &str, value: &str) -> String {
    format!("<property><name>{name}</name><value>{value}</value></property>")
}

fn load(dir: &tempfile::TempDir) -> Result<Site, SiteError> {
    Site::load_with(dir.path(), [("H".to_owned(), "rm1".to_owned()), ("EMPTY".to_owned(), String::new())])
}

#[test]
fn a_later_file_overrides_an_earlier_one_but_not_a_final_property() {
    let fixed = "<property><name>b</name><value>core</value><final>true</final></property>";
    let dir = dir(&[
        ("core-site.xml", &wrap(&(prop("a", "core") + fixed))),
        ("yarn-site.xml", &wrap(&(prop("a", "yarn") + &prop("b", "yarn")))),
    ]);
    let site = load(&dir).unwrap();
    let a = site.get("a").unwrap().unwrap();
    assert_eq!((a.value.as_str(), a.line), ("yarn", 3));
    assert!(a.file.ends_with("yarn-site.xml"));
    assert_eq!(site.get("b").unwrap().unwrap().value, "core");
}

#[test]
fn includes_are_followed_relative_to_the_file_that_asks_and_values_name_the_file_they_stand_in() {
    let dir = dir(&[
        ("yarn-site.xml", &wrap(&format!("{}<xi:include href=\"more/x.xml\"/>{}", prop("a", "1"), prop("c", "3")))),
        ("more/x.xml", &wrap("<xi:include href=\"y.xml\"/>")),
        ("more/y.xml", &wrap(&prop("b", "2"))),
    ]);
    let site = load(&dir).unwrap();
    assert!(site.get("b").unwrap().unwrap().file.ends_with("more/y.xml"));
    assert_eq!(site.get("c").unwrap().unwrap().value, "3");
    assert_eq!(site.files().len(), 3);
}

#[test]
fn an_include_in_a_circle_is_an_error_with_file_and_line_and_not_a_hang() {
    let dir = dir(&[
        ("core-site.xml", &wrap("<xi:include href=\"x.xml\"/>")),
        ("x.xml", &wrap("\n<xi:include href=\"core-site.xml\"/>")),
    ]);
    let error = load(&dir).unwrap_err().to_string();
    assert!(error.contains("x.xml:4:1") && error.contains("circle"), "{error}");
}

#[test]
fn an_include_that_is_missing_uses_its_fallback_or_is_an_error() {
    let with = wrap(&format!("<xi:include href=\"no.xml\"><xi:fallback>{}</xi:fallback></xi:include>", prop("a", "f")));
    assert_eq!(load(&dir(&[("core-site.xml", &with)])).unwrap().get("a").unwrap().unwrap().value, "f");
    let error = load(&dir(&[("core-site.xml", &wrap("<xi:include href=\"no.xml\"/>"))])).unwrap_err().to_string();
    assert!(error.contains("not there"), "{error}");
    let error = load(&dir(&[("core-site.xml", &wrap("<xi:include href=\"http://h/x\"/>"))])).unwrap_err().to_string();
    assert!(error.contains("local copy"), "{error}");
}

#[test]
fn variables_of_the_environment_and_of_other_properties_are_expanded_on_use() {
    let body = prop("host", "${env.H:-none}")
        + &prop("other", "${env.UNSET:-${host}}")
        + &prop("dash", "${env.UNSET-d}")
        + &prop("empty", "${env.EMPTY:-d}")
        + &prop("kept", "${env.EMPTY-d}x")
        + &prop("addr", " ${host}:8088 ");
    let site = load(&dir(&[("yarn-site.xml", &wrap(&body))])).unwrap();
    let get = |key: &str| site.get(key).unwrap().unwrap().value;
    assert_eq!((get("host"), get("other"), get("dash")), ("rm1".into(), "rm1".into(), "d".into()));
    assert_eq!((get("empty"), get("kept"), get("addr")), ("d".into(), "x".into(), "rm1:8088".into()));
}

#[test]
fn endless_expansion_names_key_file_and_line() {
    let body: String = (0..30).map(|i| prop(&format!("v{i}"), &format!("${{v{}}}", i + 1))).collect();
    let site = load(&dir(&[("core-site.xml", &wrap(&body))])).unwrap();
    let error = site.get("v0").unwrap_err().to_string();
    assert!(error.contains("v0") && error.contains("core-site.xml:3"), "{error}");
}

#[test]
fn files_that_are_no_configuration_are_named_with_their_position() {
    let error =
        load(&dir(&[("yarn-site.xml", "<configuration>\n<property>\n</configuration>")])).unwrap_err().to_string();
    assert!(error.contains("yarn-site.xml:3:"), "{error}");
    let error = load(&dir(&[("yarn-site.xml", "<html></html>")])).unwrap_err().to_string();
    assert!(error.contains("no Hadoop configuration"), "{error}");
    let error = load(&dir(&[])).unwrap_err().to_string();
    assert!(error.contains("HADOOP_CONF_DIR"), "{error}");
}
