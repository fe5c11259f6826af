//! What the site files have for a property.

use crate::yarn::site::Site;

/// A property's value with where it stands; one that cannot be expanded counts as absent, and reading the site has said so.
pub fn property(site: &Site, key: &str) -> Option<(String, String)> {
    let found = site.get(key).ok().flatten()?;
    Some((found.value, format!("{}:{}", found.file.display(), found.line)))
}
