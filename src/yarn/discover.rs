//! Where the cluster's web servers are: from the site files, unless the configuration says so itself.

use super::address::{BadAddress, Server};
use super::site::{Site, SiteError};
use std::path::Path;

/// The web servers of one cluster.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cluster {
    /// ResourceManagers, at least one; which of several is active is found out by asking.
    pub rms: Vec<Located>,
    /// The JobHistoryServer, where known.
    pub history: Option<Located>,
    /// The WebAppProxy, where it is a server of its own: no ResourceManager leads to ApplicationMasters then.
    pub proxy: Option<Located>,
}

/// A server and how it was found, for people.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Located {
    /// The server.
    pub server: Server,
    /// File, line and property, or the setting it stands in.
    pub origin: String,
}

/// What the configuration says itself; each part given replaces what the site files say.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Overrides {
    /// ResourceManagers' web addresses.
    pub rms: Vec<String>,
    /// The JobHistoryServer's web address.
    pub history: Option<String>,
    /// The WebAppProxy's, where it is a server of its own.
    pub proxy: Option<String>,
}

/// Why the servers cannot be found.
#[derive(Debug, thiserror::Error)]
pub enum DiscoverError {
    /// The site files cannot be read.
    #[error(transparent)]
    Site(#[from] SiteError),
    /// An address is none.
    #[error("{origin}: {why}")]
    Address {
        /// Where it stands.
        origin: String,
        /// What is wrong.
        why: BadAddress,
    },
    /// Nothing says where the ResourceManager is.
    #[error("{}: none of yarn.resourcemanager.webapp.address, yarn.resourcemanager.hostname and yarn.resourcemanager.ha.rm-ids says where the ResourceManager is; set one there, or give its URL to Drover", .0.display())]
    NoRm(std::path::PathBuf),
    /// High availability is on and its members are not named.
    #[error("{origin}: ResourceManager {id} has neither {key} nor yarn.resourcemanager.hostname.{id}")]
    NoMember {
        /// Where the list of members stands.
        origin: String,
        /// The member.
        id: String,
        /// The property that is missing.
        key: String,
    },
}

impl Cluster {
    /// The servers of a cluster, from what the configuration says and, for the rest, from the site files.
    ///
    /// # Errors
    /// An address that is none, an HA member without one, or no ResourceManager at all.
    pub fn discover(site: Option<&Site>, overrides: &Overrides) -> Result<Cluster, DiscoverError> {
        let given = |text: &String, origin: &str| located(text, "http", origin.to_owned());
        let rms = match (overrides.rms.as_slice(), site) {
            ([], Some(site)) => rms(site)?,
            ([], None) => return Err(DiscoverError::NoRm(Path::new("no configuration directory").to_path_buf())),
            (urls, _) => urls.iter().map(|u| given(u, "the ResourceManager's URL given")).collect::<Result<_, _>>()?,
        };
        let history = match (&overrides.history, site) {
            (Some(url), _) => Some(given(url, "the JobHistoryServer's URL given")?),
            (None, Some(site)) => history(site)?,
            (None, None) => None,
        };
        let proxy = match (&overrides.proxy, site) {
            (Some(url), _) => Some(given(url, "the WebAppProxy's URL given")?),
            (None, Some(site)) => proxy(site)?,
            (None, None) => None,
        };
        let proxy = proxy.filter(|proxy| rms.iter().all(|rm| rm.server != proxy.server));
        Ok(Cluster { rms, history, proxy })
    }
}

fn located(text: &str, scheme: &str, origin: String) -> Result<Located, DiscoverError> {
    match Server::parse(text, scheme) {
        Ok(server) => Ok(Located { server, origin }),
        Err(why) => Err(DiscoverError::Address { origin, why }),
    }
}

/// HA members where HA is on, else the one ResourceManager.
fn rms(site: &Site) -> Result<Vec<Located>, DiscoverError> {
    let https = https(site)?;
    if !site.flag("yarn.resourcemanager.ha.enabled", false)? {
        return match rm(site, "", https)? {
            Some(rm) => Ok(vec![rm]),
            None => Err(DiscoverError::NoRm(site.dir().to_path_buf())),
        };
    }
    let Some(ids) = site.get("yarn.resourcemanager.ha.rm-ids")? else {
        return Err(DiscoverError::NoRm(site.dir().to_path_buf()));
    };
    let mut rms: Vec<Located> = Vec::new();
    for id in ids.value.split(',').map(str::trim).filter(|id| !id.is_empty()) {
        let found = rm(site, &format!(".{id}"), https)?.ok_or_else(|| DiscoverError::NoMember {
            origin: format!("{}:{}", ids.file.display(), ids.line),
            id: id.to_owned(),
            key: format!("{}.{id}", webapp_key(https)),
        })?;
        if !rms.iter().any(|known| known.server == found.server) {
            rms.push(found);
        }
    }
    if rms.is_empty() { Err(DiscoverError::NoRm(site.dir().to_path_buf())) } else { Ok(rms) }
}

fn webapp_key(https: bool) -> &'static str {
    if https { "yarn.resourcemanager.webapp.https.address" } else { "yarn.resourcemanager.webapp.address" }
}

/// One ResourceManager; `suffix` is `.id` of an HA member. An address on all interfaces gives way to the host name.
fn rm(site: &Site, suffix: &str, https: bool) -> Result<Option<Located>, DiscoverError> {
    let (scheme, port) = if https { ("https", 8090) } else { ("http", 8088) };
    let host = site.get(&format!("yarn.resourcemanager.hostname{suffix}"))?;
    if let Some(found) = site.get(&format!("{}{suffix}", webapp_key(https)))? {
        let with_port = with_port(&found.value, port);
        let at = located(&with_port, scheme, origin(&found))?;
        if !at.server.is_wildcard() || host.is_none() {
            return Ok(Some(at));
        }
    }
    host.map(|h| located(&format!("{}:{port}", h.value), scheme, origin(&h))).transpose()
}

/// The JobHistoryServer; its default address names no host, so without the property it is not known.
fn history(site: &Site) -> Result<Option<Located>, DiscoverError> {
    let https =
        site.get("mapreduce.jobhistory.http.policy")?.is_some_and(|p| p.value.eq_ignore_ascii_case("HTTPS_ONLY"));
    let (scheme, port, key) = match https {
        true => ("https", 19890, "mapreduce.jobhistory.webapp.https.address"),
        false => ("http", 19888, "mapreduce.jobhistory.webapp.address"),
    };
    if let Some(found) = site.get(key)? {
        let at = located(&with_port(&found.value, port), scheme, origin(&found))?;
        if !at.server.is_wildcard() {
            return Ok(Some(at));
        }
    }
    // The RPC address is often all that is set; the web server stands beside it.
    let Some(rpc) = site.get("mapreduce.jobhistory.address")? else { return Ok(None) };
    let beside = located(&with_port(&rpc.value, 10020), scheme, origin(&rpc))?;
    if beside.server.is_wildcard() {
        return Ok(None);
    }
    located(&format!("{}:{port}", beside.server.host()), scheme, origin(&rpc)).map(Some)
}

/// The WebAppProxy that is a server of its own: with an address for it that is not its own, a ResourceManager serves no proxy (ResourceManager, startWepApp).
fn proxy(site: &Site) -> Result<Option<Located>, DiscoverError> {
    let Some(found) = site.get("yarn.web-proxy.address")?.filter(|found| !found.value.trim().is_empty()) else {
        return Ok(None);
    };
    let scheme = if https(site)? { "https" } else { "http" };
    let at = located(&with_port(&found.value, 9099), scheme, origin(&found))?;
    Ok(Some(at).filter(|at| !at.server.is_wildcard()))
}

fn https(site: &Site) -> Result<bool, DiscoverError> {
    Ok(site.get("yarn.http.policy")?.is_some_and(|policy| policy.value.eq_ignore_ascii_case("HTTPS_ONLY")))
}

fn with_port(address: &str, port: u16) -> String {
    let has_port =
        address.rsplit_once(':').is_some_and(|(_, p)| !p.is_empty() && p.bytes().all(|b| b.is_ascii_digit()));
    if has_port { address.to_owned() } else { format!("{address}:{port}") }
}

fn origin(found: &super::site::Found) -> String {
    format!("{}:{}: {}", found.file.display(), found.line, found.key)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn site(pairs: &[(&str, &str)]) -> Site {
        let dir = tempfile::tempdir().unwrap();
        let body: String =
            pairs.iter().map(|(k, v)| format!("<property><name>{k}</name><value>{v}</value></property>")).collect();
        std::fs::write(dir.path().join("yarn-site.xml"), format!("<configuration>{body}</configuration>")).unwrap();
        Site::load_with(dir.path(), []).unwrap()
    }

    fn servers(pairs: &[(&str, &str)]) -> (Vec<String>, Option<String>) {
        let cluster = Cluster::discover(Some(&site(pairs)), &Overrides::default()).unwrap();
        (cluster.rms.iter().map(|l| l.server.to_string()).collect(), cluster.history.map(|l| l.server.to_string()))
    }

    #[test]
    fn one_rm_is_found_by_its_web_address_or_by_its_host_name() {
        assert_eq!(servers(&[("yarn.resourcemanager.hostname", "rm")]).0, ["http://rm:8088"]);
        let both = [("yarn.resourcemanager.hostname", "rm"), ("yarn.resourcemanager.webapp.address", "web:1")];
        assert_eq!(servers(&both).0, ["http://web:1"]);
        let expanded = [
            ("yarn.resourcemanager.hostname", "rm"),
            ("yarn.resourcemanager.webapp.address", "${yarn.resourcemanager.hostname}:9"),
        ];
        assert_eq!(servers(&expanded).0, ["http://rm:9"]);
        let wildcard = [("yarn.resourcemanager.hostname", "rm"), ("yarn.resourcemanager.webapp.address", "0.0.0.0:9")];
        assert_eq!(servers(&wildcard).0, ["http://rm:8088"]);
    }

    #[test]
    fn https_only_takes_the_https_address_and_its_port() {
        let pairs = [
            ("yarn.http.policy", "HTTPS_ONLY"),
            ("yarn.resourcemanager.hostname", "rm"),
            ("yarn.resourcemanager.webapp.address", "rm:8088"),
        ];
        assert_eq!(servers(&pairs).0, ["https://rm:8090"]);
    }

    #[test]
    fn every_member_of_an_ha_pair_is_found_and_one_without_address_is_named() {
        let pairs = [
            ("yarn.resourcemanager.ha.enabled", "true"),
            ("yarn.resourcemanager.ha.rm-ids", "rm1, rm2"),
            ("yarn.resourcemanager.hostname.rm1", "a"),
            ("yarn.resourcemanager.webapp.address.rm2", "b:8089"),
        ];
        assert_eq!(servers(&pairs).0, ["http://a:8088", "http://b:8089"]);
        let error = Cluster::discover(Some(&site(&pairs[..3])), &Overrides::default()).unwrap_err().to_string();
        assert!(error.contains("rm2") && error.contains("yarn.resourcemanager.webapp.address.rm2"), "{error}");
    }

    #[test]
    fn the_history_server_is_found_by_web_or_rpc_address_and_is_unknown_otherwise() {
        let rm = ("yarn.resourcemanager.hostname", "rm");
        assert_eq!(servers(&[rm]).1, None);
        assert_eq!(servers(&[rm, ("mapreduce.jobhistory.webapp.address", "h:7")]).1.unwrap(), "http://h:7");
        assert_eq!(servers(&[rm, ("mapreduce.jobhistory.address", "h:10020")]).1.unwrap(), "http://h:19888");
        assert_eq!(servers(&[rm, ("mapreduce.jobhistory.webapp.address", "0.0.0.0:19888")]).1, None);
    }

    #[test]
    fn a_proxy_is_one_of_its_own_where_it_has_an_address_that_is_no_resource_managers() {
        let proxy = |pairs: &[(&str, &str)]| {
            let rm = ("yarn.resourcemanager.webapp.address", "rm:8088");
            let pairs: Vec<_> = pairs.iter().copied().chain([rm, ("yarn.resourcemanager.hostname", "rm")]).collect();
            let found = Cluster::discover(Some(&site(&pairs)), &Overrides::default()).unwrap().proxy;
            found.map(|found| found.server.to_string())
        };
        assert_eq!(proxy(&[]), None);
        assert_eq!(proxy(&[("yarn.web-proxy.address", "")]), None);
        assert_eq!(proxy(&[("yarn.web-proxy.address", "rm:8088")]), None);
        assert_eq!(proxy(&[("yarn.web-proxy.address", "0.0.0.0:9099")]), None, "it names no host");
        assert_eq!(proxy(&[("yarn.web-proxy.address", "p")]).unwrap(), "http://p:9099");
        let https = [("yarn.web-proxy.address", "p:9"), ("yarn.http.policy", "HTTPS_ONLY")];
        assert_eq!(proxy(&https).unwrap(), "https://p:9");
    }

    #[test]
    fn explicit_addresses_win_and_without_any_the_error_says_what_to_set() {
        let overrides = Overrides {
            rms: vec!["https://x:1".into(), "y:2".into()],
            history: Some("z:3".into()),
            proxy: Some("p:4".into()),
        };
        let cluster = Cluster::discover(Some(&site(&[("yarn.web-proxy.address", "q:5")])), &overrides).unwrap();
        assert_eq!(cluster.proxy.unwrap().server.to_string(), "http://p:4");
        assert_eq!(cluster.rms[0].server.to_string(), "https://x:1");
        assert_eq!(cluster.history.unwrap().server.to_string(), "http://z:3");
        let error = Cluster::discover(Some(&site(&[])), &Overrides::default()).unwrap_err().to_string();
        assert!(error.contains("yarn.resourcemanager.hostname"), "{error}");
        let bad = Overrides { rms: vec!["http://rm/cluster".into()], ..Overrides::default() };
        assert!(Cluster::discover(None, &bad).unwrap_err().to_string().contains("path behind the host"));
    }
}
