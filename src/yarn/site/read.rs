//! One XML file of properties, with what it includes.

use super::{Entry, SiteError};
use crate::bounded;
use crate::yarn::xml::{self, Element};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// How deep files may include one another.
pub const MAX_INCLUDE_DEPTH: usize = 16;
const MAX_FILE_BYTES: u64 = 8 << 20;
const MAX_FILES: usize = 256;

/// Reads a file and those it includes into `entries`; the names of all go to `files`.
pub(super) fn file(
    path: &Path,
    entries: &mut BTreeMap<String, Entry>,
    files: &mut Vec<PathBuf>,
) -> Result<(), SiteError> {
    Reading { entries, files, open: Vec::new() }.file(path)
}

struct Reading<'a> {
    entries: &'a mut BTreeMap<String, Entry>,
    files: &'a mut Vec<PathBuf>,
    /// Files being read, outermost first.
    open: Vec<PathBuf>,
}

/// The file an element stands in, for messages.
struct Here<'a> {
    path: &'a Path,
    text: &'a str,
}

impl Here<'_> {
    fn line(&self, element: &Element) -> usize {
        xml::position(self.text, element.offset).0
    }

    fn error(&self, offset: usize, why: String) -> SiteError {
        let (line, column) = xml::position(self.text, offset);
        SiteError::Syntax { file: self.path.to_path_buf(), line, column, why }
    }
}

impl Reading<'_> {
    fn file(&mut self, path: &Path) -> Result<(), SiteError> {
        let io = |why| SiteError::Io { file: path.to_path_buf(), why };
        let text = bounded::text(path, MAX_FILE_BYTES).map_err(io)?;
        let here = Here { path, text: &text };
        let root = xml::parse(&text).map_err(|e| here.error(e.offset, e.why))?;
        if root.name != "configuration" {
            let why = format!("<configuration> expected, <{}> found: this is no Hadoop configuration file", root.name);
            return Err(here.error(root.offset, why));
        }
        self.files.push(path.to_path_buf());
        self.open.push(path.canonicalize().map_err(io)?);
        let read = self.all(&root, &here);
        self.open.pop();
        read
    }

    fn all(&mut self, parent: &Element, here: &Here<'_>) -> Result<(), SiteError> {
        for child in &parent.children {
            match child.name.as_str() {
                "property" => self.property(child, here),
                "include" => self.include(child, here)?,
                "configuration" => self.all(child, here)?,
                _ => {}
            }
        }
        Ok(())
    }

    /// `<property><name/><value/><final/></property>`, or the same as attributes.
    fn property(&mut self, element: &Element, here: &Here<'_>) {
        let part = |name: &str| element.child_text(name).or_else(|| element.attribute(name));
        let (Some(name), Some(value)) = (part("name").map(str::trim).filter(|n| !n.is_empty()), part("value")) else {
            return;
        };
        if self.entries.get(name).is_some_and(|earlier| earlier.is_final) {
            return;
        }
        let entry = Entry {
            raw: value.to_owned(),
            file: here.path.to_path_buf(),
            line: here.line(element),
            is_final: part("final").is_some_and(|f| f.trim() == "true"),
        };
        self.entries.insert(name.to_owned(), entry);
    }

    fn include(&mut self, element: &Element, here: &Here<'_>) -> Result<(), SiteError> {
        let error = |why: String| here.error(element.offset, why);
        let Some(href) = element.attribute("href").map(str::trim).filter(|h| !h.is_empty()) else {
            return Err(error("an include without href".to_owned()));
        };
        let target = href.strip_prefix("file://").or_else(|| href.strip_prefix("file:")).unwrap_or(href);
        if target.contains("://") {
            return Err(error(format!("includes {href}, and only files are read; include a local copy")));
        }
        let target = here.path.parent().unwrap_or(Path::new("")).join(target);
        let Ok(canonical) = target.canonicalize() else {
            return match element.children.iter().find(|c| c.name == "fallback") {
                Some(fallback) => self.all(fallback, here),
                None => Err(error(format!("includes {}, which is not there, and gives no fallback", target.display()))),
            };
        };
        if self.open.contains(&canonical) {
            return Err(error(format!("includes {}, which includes this file: a circle", target.display())));
        }
        if self.open.len() >= MAX_INCLUDE_DEPTH || self.files.len() >= MAX_FILES {
            let why = format!("includes go more than {MAX_INCLUDE_DEPTH} deep, or over more than {MAX_FILES} files");
            return Err(error(why));
        }
        self.file(&target)
    }
}
