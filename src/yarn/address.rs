//! Addresses of Hadoop's web servers: normalised, so that two spellings of one server compare equal.

use crate::shown::without_user;
use std::fmt;
use url::Url;

/// A server's root: scheme, host and port, nothing more.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Server {
    url: Url,
}

/// Text that is no server's address.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("\"{text}\" is no address of a web server ({why}); expected http://host:port or host:port")]
pub struct BadAddress {
    /// What was read, shortened.
    pub text: String,
    /// What is wrong with it.
    pub why: String,
}

impl Server {
    /// From `http://host:port`, `https://host:port`, or `host:port` with the scheme given.
    pub fn parse(text: &str, scheme: &str) -> Result<Server, BadAddress> {
        let text = text.trim();
        let bad = |why: String| BadAddress { text: without_user(text).chars().take(80).collect(), why };
        let full = if text.contains("://") { text.to_owned() } else { format!("{scheme}://{text}") };
        let mut url = Url::parse(&full).map_err(|e| bad(e.to_string()))?;
        if !matches!(url.scheme(), "http" | "https") {
            return Err(bad(format!("scheme {}", url.scheme())));
        }
        if !url.username().is_empty() || url.password().is_some() {
            return Err(bad("it holds a user name".to_owned()));
        }
        if matches!(url.host_str(), None | Some("")) {
            return Err(bad("it has no host".to_owned()));
        }
        if !matches!(url.path(), "" | "/") || url.query().is_some() || url.fragment().is_some() {
            return Err(bad("it has a path behind the host".to_owned()));
        }
        url.set_path("/");
        Ok(Server { url })
    }

    /// The server a full URL points at.
    pub fn of(url: &Url) -> Option<Server> {
        url.host_str()?;
        let mut root = url.clone();
        root.set_path("/");
        root.set_query(None);
        root.set_fragment(None);
        root.set_username("").ok()?;
        root.set_password(None).ok()?;
        Some(Server { url: root })
    }

    /// The URL of a path on this server; `path` begins without a slash.
    pub fn url(&self, path: &str) -> Url {
        let mut url = self.url.clone();
        url.set_path(path);
        url
    }

    /// Host name or address.
    pub fn host(&self) -> &str {
        self.url.host_str().unwrap_or("")
    }

    /// Does the address name every interface, and so no host to connect to?
    pub fn is_wildcard(&self) -> bool {
        matches!(self.host(), "0.0.0.0" | "[::]")
    }
}

impl fmt::Display for Server {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.url.as_str().trim_end_matches('/'))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_spellings_of_one_server_are_equal_and_a_port_makes_a_difference() {
        let parse = |text: &str| Server::parse(text, "http").unwrap();
        assert_eq!(parse("RM:8088"), parse(" http://rm:8088/ "));
        assert_eq!(parse("rm"), parse("http://rm:80"));
        assert_ne!(parse("rm:8088"), parse("rm:8090"));
        assert_ne!(parse("rm:8088"), parse("https://rm:8088"));
        assert_eq!(parse("[::1]:8088").to_string(), "http://[::1]:8088");
        assert_eq!(Server::of(&Url::parse("http://rm:8088/a?b#c").unwrap()).unwrap(), parse("rm:8088"));
    }

    #[test]
    fn text_that_is_no_server_is_refused_with_what_was_expected() {
        for text in ["", "ftp://rm", "http://", "http://rm/x", "http://u:p@rm", "rm:99999", "a b"] {
            let error = Server::parse(text, "http").unwrap_err().to_string();
            assert!(error.contains("host:port"), "{error}");
        }
        assert!(!Server::parse("http://u:secret@rm", "http").unwrap_err().to_string().contains("secret"));
    }
}
