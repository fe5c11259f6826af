//! The core stays pure: Cargo itself keeps the world out.

#[test]
fn the_core_depends_on_nothing_that_touches_the_world() {
    let manifest = include_str!("../../Cargo.toml");
    let section = manifest.split("[dependencies]").nth(1).and_then(|rest| rest.split("\n[").next()).unwrap();
    let names: Vec<&str> = section.lines().filter_map(|line| Some(line.split_once('=')?.0.trim())).collect();
    assert_eq!(names, ["indexmap", "serde", "rustc-hash", "thiserror"]);
}
