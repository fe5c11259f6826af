//! Who asks, and what they may: the one place where that is decided.

use crate::guard::Peer;
use axum::extract::{ConnectInfo, FromRequestParts};
use axum::http::header::ORIGIN;
use axum::http::request::Parts;
use std::net::{IpAddr, SocketAddr};

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

/// How principals are told apart: without authentication, by whether they ask from this machine.
#[derive(Debug, Clone, Copy)]
pub struct Doorman {
    /// Role of those on this machine; everyone else may view.
    pub loopback: Role,
    /// The address that is listened at: whoever asks there from this machine comes from it.
    pub own: IpAddr,
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

impl Doorman {
    /// `page`: a browser asks for a web page, which may be anybody's though the browser runs here.
    fn admit(&self, peer: Option<SocketAddr>, page: bool) -> Principal {
        if page {
            return Principal { name: "a web page (the request has an Origin)".into(), role: Role::View };
        }
        let is_here = |ip: IpAddr| ip.is_loopback() || ip == self.own.to_canonical();
        match peer.map(|peer| peer.ip().to_canonical()) {
            Some(ip) if is_here(ip) => Principal { name: "local".into(), role: self.loopback },
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
    type Rejection = std::convert::Infallible;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Self::Rejection> {
        let peer = parts.extensions.get::<ConnectInfo<Peer>>().map(|ConnectInfo(peer)| peer.0);
        Ok(state.as_ref().admit(peer, parts.headers.contains_key(ORIGIN)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_this_machine_gets_more_than_a_look() {
        let doorman = Doorman { loopback: Role::Operate, own: "10.0.0.5".parse().unwrap() };
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
    fn a_web_page_in_a_browser_on_this_machine_may_only_look() {
        let doorman = Doorman { loopback: Role::Administer, own: "127.0.0.1".parse().unwrap() };
        let page = doorman.admit(Some("127.0.0.1:4".parse().unwrap()), true);
        assert!(page.may(Role::View).is_ok() && page.may(Role::Operate).unwrap_err().to_string().contains("Origin"));
    }
}
