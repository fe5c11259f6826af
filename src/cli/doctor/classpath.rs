//! The class path of ApplicationMasters, as it would be on this machine.

use super::property::property;
use crate::yarn::site::Site;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// `MRJobConfig.DEFAULT_MAPREDUCE_APPLICATION_CLASSPATH`.
const MAPREDUCE: &str = "$HADOOP_MAPRED_HOME/share/hadoop/mapreduce/*,$HADOOP_MAPRED_HOME/share/hadoop/mapreduce/lib/*";
/// `YarnConfiguration.DEFAULT_YARN_APPLICATION_CLASSPATH`.
const YARN: &str = "$HADOOP_CONF_DIR,\
     $HADOOP_COMMON_HOME/share/hadoop/common/*,$HADOOP_COMMON_HOME/share/hadoop/common/lib/*,\
     $HADOOP_HDFS_HOME/share/hadoop/hdfs/*,$HADOOP_HDFS_HOME/share/hadoop/hdfs/lib/*,\
     $HADOOP_YARN_HOME/share/hadoop/yarn/*,$HADOOP_YARN_HOME/share/hadoop/yarn/lib/*";
/// Homes that are mostly one.
const HOMES: [&str; 4] = ["HADOOP_MAPRED_HOME", "HADOOP_COMMON_HOME", "HADOOP_HDFS_HOME", "HADOOP_YARN_HOME"];

/// What the environment says of a variable.
pub type Env<'a> = &'a dyn Fn(&str) -> Option<String>;

/// What became of the search for the shim's jar.
#[derive(Debug, PartialEq, Eq)]
pub enum Search {
    /// It is there.
    Found(PathBuf),
    /// It is in none of the places.
    Missing,
    /// It is in none of those that can be told here; the others need these variables.
    Unknown(BTreeSet<String>),
}

/// Looks for the shim's jar.
pub fn search(site: &Site, env: Env) -> Search {
    let mut unknown = BTreeSet::new();
    for entry in entries(site) {
        match expand(&entry, &|name| variable(name, site, env)) {
            Ok(entry) => {
                if let Some(jar) = holds(&entry) {
                    return Search::Found(jar);
                }
            }
            // Any other entry is a directory of classes, and holds no jar.
            Err(name) if entry.ends_with("/*") || entry.ends_with(".jar") => drop(unknown.insert(name)),
            Err(_) => {}
        }
    }
    if unknown.is_empty() { Search::Missing } else { Search::Unknown(unknown) }
}

fn entries(site: &Site) -> Vec<String> {
    let of = |key, default: &str| property(site, key).map_or_else(|| default.to_owned(), |(value, _)| value);
    let mut all = of("mapreduce.application.classpath", MAPREDUCE);
    // Jobs that bring their own framework have nothing of YARN's class path.
    if property(site, "mapreduce.application.framework.path").is_none() {
        all = format!("{all},{}", of("yarn.application.classpath", YARN));
    }
    split(&all.replace("<CPS>", ":")).map(|entry| entry.trim().to_owned()).collect()
}

/// Hadoop splits at commas and hands on what is between them, which may be several entries; `<CPS>` is its own word for the colon.
fn split(all: &str) -> impl Iterator<Item = &str> {
    // A colon in braces belongs to the shell, as in ${NAME:-default}.
    let mut depth = 0_usize;
    all.split(move |c| {
        match c {
            '{' => depth += 1,
            '}' => depth = depth.saturating_sub(1),
            _ => {}
        }
        c == ',' || (c == ':' && depth == 0)
    })
}

fn variable(name: &str, site: &Site, env: Env) -> Option<String> {
    let set = |name| env(name).filter(|value| !value.is_empty());
    match name {
        // Each container's own directory, not that of this process.
        "PWD" => None,
        "HADOOP_CONF_DIR" => set(name).or_else(|| Some(site.dir().display().to_string())),
        home if HOMES.contains(&home) => set(home).or_else(|| set("HADOOP_HOME")),
        other => set(other),
    }
}

/// Replaces `$NAME`, `${NAME}` and `{{NAME}}`; the error is the first name that is not known.
fn expand(entry: &str, known: Env) -> Result<String, String> {
    let (mut done, mut rest) = (String::new(), entry);
    while let Some(at) = rest.find(['$', '{']) {
        let (before, from) = rest.split_at(at);
        done += before;
        let Some((name, after)) = reference(from) else {
            let (sign, after) = from.split_at(1);
            done += sign;
            rest = after;
            continue;
        };
        done += &known(name).ok_or_else(|| name.to_owned())?;
        rest = after;
    }
    Ok(done + rest)
}

/// The variable that a text begins with, and what follows it.
fn reference(text: &str) -> Option<(&str, &str)> {
    let found = if let Some(inside) = text.strip_prefix("{{") {
        inside.split_once("}}")
    } else if let Some(inside) = text.strip_prefix("${") {
        inside.split_once('}')
    } else {
        let inside = text.strip_prefix('$')?;
        let end = inside.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(inside.len());
        Some(inside.split_at(end))
    };
    found.filter(|(name, _)| !name.is_empty())
}

/// The shim's jar that an entry of a class path names, or has in its directory.
fn holds(entry: &str) -> Option<PathBuf> {
    let is_jar = |path: &Path| {
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        name.starts_with("drover-shim") && name.ends_with(".jar")
    };
    let path = Path::new(entry);
    if is_jar(path) && path.is_file() {
        return Some(path.to_owned());
    }
    let dir = std::fs::read_dir(entry.strip_suffix("/*")?).ok()?;
    dir.filter_map(|file| Some(file.ok()?.path())).find(|path| is_jar(path))
}

#[cfg(test)]
mod tests {
    use super::*;

    const KEYS: [&str; 2] = ["mapreduce.application.classpath", "yarn.application.classpath"];

    /// Searches with these properties and variables; a jar is at `place` below DIR, which stands for a temporary directory.
    fn searched(properties: &[(&str, &str)], env: &[(&str, &str)], place: &str) -> Search {
        let dir = tempfile::tempdir().unwrap();
        let here = |text: &str| text.replace("DIR", &dir.path().display().to_string());
        let xml: String = properties
            .iter()
            .map(|(name, value)| format!("<property><name>{name}</name><value><![CDATA[{value}]]></value></property>"))
            .collect();
        std::fs::write(dir.path().join("mapred-site.xml"), here(&format!("<configuration>{xml}</configuration>")))
            .unwrap();
        let jar = dir.path().join(place);
        std::fs::create_dir_all(jar.parent().unwrap()).unwrap();
        std::fs::write(&jar, "").unwrap();
        let site = Site::load_with(dir.path(), []).unwrap();
        let lookup = |name: &str| env.iter().find(|(known, _)| *known == name).map(|(_, value)| here(value));
        match search(&site, &lookup) {
            Search::Found(found) => {
                assert_eq!(found, jar);
                Search::Found(place.into())
            }
            other => other,
        }
    }

    fn unknown(names: &[&str]) -> Search {
        Search::Unknown(names.iter().map(|&name| name.to_owned()).collect())
    }

    #[test]
    fn hadoops_default_class_paths_are_searched_below_its_homes() {
        let home = [("HADOOP_HOME", "DIR")];
        for of in ["mapreduce", "mapreduce/lib", "common", "common/lib", "hdfs", "hdfs/lib", "yarn", "yarn/lib"] {
            let place = format!("share/hadoop/{of}/drover-shim-1.jar");
            assert_eq!(searched(&[], &home, &place), Search::Found(place.clone().into()));
        }
        assert_eq!(searched(&[], &home, "share/hadoop/tools/drover-shim-1.jar"), Search::Missing);
        let own = [("HADOOP_HOME", "/nowhere"), ("HADOOP_MAPRED_HOME", "DIR")];
        let place = "share/hadoop/mapreduce/drover-shim.jar";
        assert_eq!(searched(&[], &own, place), Search::Found(place.into()));
    }

    #[test]
    fn every_way_to_write_a_variable_is_expanded() {
        let env = [("HADOOP_HOME", "DIR"), ("LIBS", "DIR/x")];
        for entry in ["$HADOOP_MAPRED_HOME/x/*", "${HADOOP_MAPRED_HOME}/x/*", "{{HADOOP_MAPRED_HOME}}/x/*", "$LIBS/*"] {
            let properties = [(KEYS[0], entry), (KEYS[1], "/nowhere/*")];
            assert_eq!(
                searched(&properties, &env, "x/drover-shim.jar"),
                Search::Found("x/drover-shim.jar".into()),
                "{entry}"
            );
        }
        for several in ["/a/*:$LIBS/*", "/a/*<CPS>$LIBS/*", "/a/*, $LIBS/drover-shim.jar"] {
            let found = Search::Found("x/drover-shim.jar".into());
            assert_eq!(searched(&[(KEYS[0], several)], &env, "x/drover-shim.jar"), found, "{several}");
        }
    }

    #[test]
    fn what_cannot_be_resolved_is_named_unless_the_jar_is_found_elsewhere() {
        let place = "x/drover-shim.jar";
        let homes = ["HADOOP_COMMON_HOME", "HADOOP_HDFS_HOME", "HADOOP_MAPRED_HOME", "HADOOP_YARN_HOME"];
        assert_eq!(searched(&[], &[], place), unknown(&homes));
        assert_eq!(searched(&[], &[("HADOOP_HOME", "")], place), unknown(&homes), "empty is unset");
        assert_eq!(searched(&[(KEYS[0], "${A:-b}/*"), (KEYS[1], "/a/*")], &[], place), unknown(&["A:-b"]));
        assert_eq!(searched(&[(KEYS[0], "$A/*"), (KEYS[1], "DIR/x/*")], &[], place), Search::Found(place.into()));
        let classes = [(KEYS[0], "$A/conf"), (KEYS[1], "$HADOOP_CONF_DIR,/a/*")];
        assert_eq!(searched(&classes, &[], place), Search::Missing, "a directory of classes holds no jar");
    }

    #[test]
    fn a_framework_that_jobs_bring_along_is_in_their_containers_only() {
        let properties = [
            ("mapreduce.application.framework.path", "hdfs:///mr.tar.gz#mr"),
            (KEYS[0], "$PWD/mr/hadoop/share/hadoop/mapreduce/*"),
            (KEYS[1], "DIR/x/*"),
        ];
        assert_eq!(searched(&properties, &[("PWD", "/tmp")], "x/drover-shim.jar"), unknown(&["PWD"]));
    }

    #[test]
    fn signs_that_name_no_variable_stay() {
        let none = |_: &str| None;
        for text in ["a{b}$", "$/x", "{{}}/x", "${}", "{{open", "é$"] {
            assert_eq!(expand(text, &none), Ok(text.to_owned()));
        }
    }
}
