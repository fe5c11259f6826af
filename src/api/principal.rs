//! Who asks, and what they may: the one place where that is decided.

use crate::guard::Peer;
use axum::extract::{ConnectInfo, FromRequestParts};
use axum::http::header::{HOST, ORIGIN};
use axum::http::request::Parts;
use axum::http::uri::Authority;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;

/// What somebody may do; each includes the ones before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Role {
    /// Look at everything that is served.
    View,
    /// Also pause, resume and stop.
    Operate,
    /// Also change the configuration.
    Administer,
}

/// Who asks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Principal {
    /// How they are named in logs.
    pub name: String,
    /// What they may do.
    pub role: Role,
}

/// They may not.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{name} may not do this: it needs the role \"{needed:?}\"; see the setting listen.loopback_role")]
pub struct Denied {
    /// Who asked.
    pub name: String,
    /// What it takes.
    pub needed: Role,
}

/// It was sent to somebody else's name.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "the request is for {0:?}, which is no name of this service, as when a web page has its own name lead here; ask for localhost or an address, or list the name in the setting listen.api_names if a proxy on this machine passes it on"
)]
pub struct Misdirected(String);

/// How principals are told apart: without authentication, by whether they ask from this machine.
#[derive(Debug, Clone)]
pub struct Doorman {
    /// Role of those on this machine; everyone else may view.
    loopback: Role,
    /// The address that is listened at: whoever asks there from this machine comes from it.
    own: IpAddr,
    /// Names by which this machine may ask for the service, beside `localhost`.
    names: Arc<[String]>,
}

impl Role {
    /// The role of that word; an unknown word is the least of them.
    pub fn parse(word: &str) -> Role {
        match word {
            "operate" => Role::Operate,
            "administer" => Role::Administer,
            _ => Role::View,
        }
    }
}

/// This machine's name for itself.
pub fn host_name() -> String {
    rustix::system::uname().nodename().to_string_lossy().into_owned()
}

impl Doorman {
    /// `loopback`: the role of those on this machine. `own`: the address that is listened at. `names`: by which this machine may ask for the service.
    pub fn new(loopback: Role, own: IpAddr, names: impl IntoIterator<Item = String>) -> Doorman {
        Doorman { loopback, own, names: names.into_iter().collect() }
    }

    fn is_here(&self, ip: IpAddr) -> bool {
        ip.is_loopback() || ip == self.own.to_canonical()
    }

    /// A browser on this machine takes whatever answers under a page's name for that page's own, and so lets it read what only this machine can reach.
    fn is_meant(&self, peer: Option<SocketAddr>, host: Option<&str>) -> Result<(), Misdirected> {
        let is_here = peer.is_some_and(|peer| self.is_here(peer.ip().to_canonical()));
        let Some(host) = host.filter(|_| is_here) else { return Ok(()) };
        let told = host.parse::<Authority>().map_or_else(|_| host.to_owned(), |authority| authority.host().to_owned());
        let name = told.trim_start_matches('[').trim_end_matches([']', '.']);
        let is_own = |own: &str| name.eq_ignore_ascii_case(own.trim_end_matches('.'));
        let is_ours = is_own("localhost") || name.parse::<IpAddr>().is_ok() || self.names.iter().any(|own| is_own(own));
        if is_ours { Ok(()) } else { Err(Misdirected(told.chars().take(100).collect())) }
    }

    /// `page`: a browser asks for a web page, which may be anybody's though the browser runs here.
    fn admit(&self, peer: Option<SocketAddr>, page: bool) -> Principal {
        if page {
            return Principal { name: "a web page (the request has an Origin)".into(), role: Role::View };
        }
        match peer.map(|peer| peer.ip().to_canonical()) {
            Some(ip) if self.is_here(ip) => Principal { name: "local".into(), role: self.loopback },
            Some(ip) => Principal { name: ip.to_string(), role: Role::View },
            None => Principal { name: "unknown".into(), role: Role::View },
        }
    }
}

impl Principal {
    /// May they do what needs that role?
    ///
    /// # Errors
    /// What they lack.
    pub fn may(&self, needed: Role) -> Result<(), Denied> {
        if self.role >= needed { Ok(()) } else { Err(Denied { name: self.name.clone(), needed }) }
    }
}

impl<S> FromRequestParts<S> for Principal
where
    S: AsRef<Doorman> + Send + Sync,
{
    type Rejection = Misdirected;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Self::Rejection> {
        let peer = parts.extensions.get::<ConnectInfo<Peer>>().map(|ConnectInfo(peer)| peer.0);
        // HTTP/2 has it in the request's own address.
        let host = parts.headers.get(HOST).map(|host| String::from_utf8_lossy(host.as_bytes()));
        let host = host.or_else(|| parts.uri.authority().map(|authority| authority.as_str().into()));
        state.as_ref().is_meant(peer, host.as_deref())?;
        Ok(state.as_ref().admit(peer, parts.headers.contains_key(ORIGIN)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_this_machine_gets_more_than_a_look() {
        let doorman = Doorman::new(Role::Operate, "10.0.0.5".parse().unwrap(), []);
        for peer in ["127.0.0.1:4", "[::1]:4", "[::ffff:127.0.0.1]:4", "10.0.0.5:4"] {
            let local = doorman.admit(Some(peer.parse().unwrap()), false);
            assert!(local.may(Role::Operate).is_ok() && local.may(Role::Administer).is_err(), "{peer}");
        }
        for peer in [Some("10.0.0.7:4".parse().unwrap()), Some("[::ffff:10.0.0.7]:4".parse().unwrap()), None] {
            let other = doorman.admit(peer, false);
            assert!(other.may(Role::View).is_ok() && other.may(Role::Operate).is_err());
        }
    }

    #[test]
    fn a_web_page_whose_name_was_made_to_lead_to_this_machine_reads_nothing() {
        let doorman = Doorman::new(Role::View, "10.0.0.5".parse().unwrap(), ["Drover.example.com".to_owned()]);
        let [here, own, other] = ["127.0.0.1:4", "10.0.0.5:4", "10.0.0.7:4"].map(|peer| Some(peer.parse().unwrap()));
        for host in ["localhost", "LOCALHOST:7070", "127.0.0.1:7070", "10.0.0.5", "[::1]:7070", "drover.example.com."] {
            assert_eq!(doorman.is_meant(here, Some(host)), Ok(()), "{host}");
        }
        for host in ["evil.example.com:7070", "localhost.example.com", "drover.example.com.evil", "", "a b"] {
            assert!(
                doorman.is_meant(here, Some(host)).is_err() && doorman.is_meant(own, Some(host)).is_err(),
                "{host}"
            );
            assert_eq!((doorman.is_meant(other, Some(host)), doorman.is_meant(None, Some(host))), (Ok(()), Ok(())));
        }
        assert_eq!(doorman.is_meant(here, None), Ok(()), "no browser leaves it out");
    }

    #[test]
    fn a_web_page_in_a_browser_on_this_machine_may_only_look() {
        let doorman = Doorman::new(Role::Administer, "127.0.0.1".parse().unwrap(), []);
        let page = doorman.admit(Some("127.0.0.1:4".parse().unwrap()), true);
        assert!(page.may(Role::View).is_ok() && page.may(Role::Operate).unwrap_err().to_string().contains("Origin"));
    }
}
