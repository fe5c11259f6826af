//! Hadoop's site files: `core-site.xml`, `yarn-site.xml` and `mapred-site.xml` of a configuration directory.
//!
//! Read as Hadoop's `Configuration` does: later files override earlier ones unless a property is `final`, `<xi:include>` is
//! followed, `${…}` is expanded on use. Every value remembers the file and line it came from.

mod expand;
mod read;

pub use expand::{MAX_SUBSTITUTIONS, expand};
pub use read::MAX_INCLUDE_DEPTH;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// The files read, in the order in which Hadoop's daemons and clients load them.
pub const FILES: [&str; 3] = ["core-site.xml", "yarn-site.xml", "mapred-site.xml"];

/// The properties of a configuration directory.
#[derive(Debug, Clone, Default)]
pub struct Site {
    dir: PathBuf,
    files: Vec<PathBuf>,
    entries: BTreeMap<String, Entry>,
    env: BTreeMap<String, String>,
}

/// A property as it stands in a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// The text between `<value>` and `</value>`, not expanded.
    pub raw: String,
    /// File it was read from.
    pub file: PathBuf,
    /// Line on which the property begins, from 1.
    pub line: usize,
    /// Later files cannot override it.
    pub is_final: bool,
}

/// A property's value with its origin.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Found {
    /// Its name.
    pub key: String,
    /// Its value: expanded, white space around it removed.
    pub value: String,
    /// File it was read from.
    pub file: PathBuf,
    /// Line on which the property begins, from 1.
    pub line: usize,
}

/// Why a configuration directory cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum SiteError {
    /// The directory holds none of the files.
    #[error("{} holds neither core-site.xml, yarn-site.xml nor mapred-site.xml; point HADOOP_CONF_DIR at the directory that does", .0.display())]
    NothingThere(PathBuf),
    /// A file cannot be read.
    #[error("cannot read {}: {why}", file.display())]
    Io {
        /// The file.
        file: PathBuf,
        /// What the system said.
        why: std::io::Error,
    },
    /// A file is no XML, or not Hadoop's kind.
    #[error("{}:{line}:{column}: {why}", file.display())]
    Syntax {
        /// The file.
        file: PathBuf,
        /// Line, from 1.
        line: usize,
        /// Column in bytes, from 1.
        column: usize,
        /// What is wrong.
        why: String,
    },
    /// A value's `${…}` do not come to an end.
    #[error("{}:{line}: {key} needs more than {MAX_SUBSTITUTIONS} substitutions of ${{…}}; Hadoop refuses it too", file.display())]
    TooDeep {
        /// The property.
        key: String,
        /// Its file.
        file: PathBuf,
        /// Its line.
        line: usize,
    },
}

impl Site {
    /// Reads a configuration directory, with the environment of this process for `${env.…}`.
    pub fn load(dir: &Path) -> Result<Site, SiteError> {
        Site::load_with(
            dir,
            std::env::vars_os().filter_map(|(k, v)| Some((k.into_string().ok()?, v.into_string().ok()?))),
        )
    }

    /// Reads a configuration directory with the given environment.
    pub fn load_with(dir: &Path, env: impl IntoIterator<Item = (String, String)>) -> Result<Site, SiteError> {
        let mut site = Site { dir: dir.to_path_buf(), env: env.into_iter().collect(), ..Site::default() };
        for name in FILES {
            let file = dir.join(name);
            match std::fs::metadata(&file) {
                Ok(_) => read::file(&file, &mut site.entries, &mut site.files)?,
                Err(why) if why.kind() == std::io::ErrorKind::NotFound => continue,
                Err(why) => return Err(SiteError::Io { file, why }),
            }
        }
        if site.files.is_empty() { Err(SiteError::NothingThere(site.dir)) } else { Ok(site) }
    }

    /// Reads one file of properties alone, a job's configuration, say.
    ///
    /// # Errors
    /// With file, line and column.
    pub fn of_file(file: &Path) -> Result<Site, SiteError> {
        let mut site = Site { dir: file.parent().map(Path::to_path_buf).unwrap_or_default(), ..Site::default() };
        read::file(file, &mut site.entries, &mut site.files)?;
        Ok(site)
    }

    /// The directory.
    pub fn dir(&self) -> &Path {
        &self.dir
    }

    /// Every file read, those included too, in the order of reading.
    pub fn files(&self) -> &[PathBuf] {
        &self.files
    }

    /// A property as it stands in its file.
    pub fn entry(&self, key: &str) -> Option<&Entry> {
        self.entries.get(key)
    }

    /// A property's value, expanded; `None` where it is absent or empty.
    ///
    /// # Errors
    /// [`SiteError::TooDeep`] where its substitutions do not come to an end.
    pub fn get(&self, key: &str) -> Result<Option<Found>, SiteError> {
        let Some(entry) = self.entries.get(key) else { return Ok(None) };
        let value = expand(&entry.raw, |name| self.variable(name)).ok_or_else(|| SiteError::TooDeep {
            key: key.to_owned(),
            file: entry.file.clone(),
            line: entry.line,
        })?;
        let value = value.trim().to_owned();
        let found = Found { key: key.to_owned(), value, file: entry.file.clone(), line: entry.line };
        Ok(Some(found).filter(|f| !f.value.is_empty()))
    }

    /// Is the property `true`? Anything but `true` and `false` is as absent, as in Hadoop.
    ///
    /// # Errors
    /// As [`Site::get`].
    pub fn flag(&self, key: &str, default: bool) -> Result<bool, SiteError> {
        Ok(match self.get(key)? {
            Some(found) if found.value.eq_ignore_ascii_case("true") => true,
            Some(found) if found.value.eq_ignore_ascii_case("false") => false,
            _ => default,
        })
    }

    /// What `${name}` stands for: the environment, the JVM's properties that Hadoop's own files use, other properties.
    fn variable(&self, name: &str) -> Option<String> {
        if let Some(rest) = name.strip_prefix("env.") {
            let (var, default, also_if_empty) = match (rest.split_once(":-"), rest.split_once('-')) {
                (Some((var, default)), _) if !var.contains('-') => (var, Some(default), true),
                (_, Some((var, default))) => (var, Some(default), false),
                _ => (rest, None, false),
            };
            let set = self.env.get(var).filter(|value| !(also_if_empty && value.is_empty()));
            return set.cloned().or_else(|| default.map(str::to_owned));
        }
        let of_the_jvm = match name {
            "user.name" => self.env.get("USER").cloned(),
            "user.home" => self.env.get("HOME").cloned(),
            "java.io.tmpdir" => Some("/tmp".to_owned()),
            _ => None,
        };
        of_the_jvm.or_else(|| self.entries.get(name).map(|entry| entry.raw.clone()))
    }
}

#[cfg(test)]
mod tests;
