//! What the settings say about the world: where the cluster is, how hard to lean on it, what shims may do.

use crate::config::Config;
use crate::shim::{ActParams, ShimParams};
use crate::yarn::auth::Auth;
use crate::yarn::discover::{Cluster, DiscoverError, Overrides};
use crate::yarn::http::{ClientError, HttpParams};
use crate::yarn::limit::{Ceiling, Ceilings};
use crate::yarn::metrics::Metrics;
use crate::yarn::poll::Clients;
use crate::yarn::schedule::ScheduleParams;
use crate::yarn::site::{Site, SiteError};
use std::time::Duration;

/// Why the cluster cannot be looked for.
#[derive(Debug, thiserror::Error)]
pub enum WorldError {
    /// Nothing says where it is.
    #[error(
        "nothing says where the cluster is: set HADOOP_CONF_DIR (or cluster.conf_dir) to the directory with its yarn-site.xml, or cluster.rm_urls to \
         its ResourceManager, as in --set cluster.rm_urls=http://rm.example.com:8088"
    )]
    Nowhere,
    /// The site files.
    #[error("cluster.conf_dir: {0}")]
    Site(#[from] SiteError),
    /// What they say.
    #[error(transparent)]
    Discover(#[from] DiscoverError),
    /// The HTTP client.
    #[error(transparent)]
    Client(#[from] ClientError),
    /// A metric twice.
    #[error("metrics: {0}")]
    Metrics(#[from] prometheus::Error),
}

/// The cluster's client configuration, where one is named.
pub fn site(config: &Config) -> Result<Option<Site>, SiteError> {
    config.cluster.conf_dir.as_deref().map(Site::load).transpose()
}

/// Where the cluster's servers are.
pub fn cluster(config: &Config, site: Option<&Site>) -> Result<Cluster, WorldError> {
    let named = &config.cluster;
    if named.rm_urls.is_empty() && site.is_none() {
        return Err(WorldError::Nowhere);
    }
    let overrides = Overrides {
        rms: named.rm_urls.iter().map(ToString::to_string).collect(),
        history: named.history_url.as_ref().map(ToString::to_string),
        proxy: named.proxy_url.as_ref().map(ToString::to_string),
    };
    Ok(Cluster::discover(site, &overrides)?)
}

/// Clients of the cluster's servers.
pub fn clients(config: &Config, metrics: Metrics) -> Result<Clients, WorldError> {
    let site = site(config)?;
    Ok(Clients::new(&cluster(config, site.as_ref())?, http(config), metrics)?)
}

/// How the clients behave.
pub fn http(config: &Config) -> HttpParams {
    let (rest, default) = (&config.rest, Ceilings::default());
    let in_flight = u32::try_from(rest.in_flight).unwrap_or(u32::MAX);
    HttpParams {
        connect_timeout: Duration::from_millis(rest.connect_timeout.0),
        timeout: Duration::from_millis(rest.timeout.0),
        ceilings: Ceilings {
            rm: Ceiling { per_second: rest.rm_requests_per_second, body_bytes: rest.body_limit.0, ..default.rm },
            proxy: Ceiling {
                per_second: rest.proxy_requests_per_second,
                in_flight,
                body_bytes: rest.job_body_limit.0,
                ..default.proxy
            },
            history: Ceiling { per_second: rest.history_requests_per_second, ..default.history },
        },
        auth: match &config.cluster.user {
            Some(user) => Auth::Simple { user: user.clone() },
            None => Auth::Anonymous,
        },
        ca_file: rest.ca_file.clone(),
        ..HttpParams::default()
    }
}

/// How often what is asked.
pub fn schedule(config: &Config) -> ScheduleParams {
    let rest = &config.rest;
    let whole = |number: u64| usize::try_from(number).unwrap_or(usize::MAX);
    ScheduleParams {
        apps: rest.apps_interval,
        totals: rest.totals_interval,
        nodes: rest.nodes_interval,
        queues: rest.queues_interval,
        tasks_soon: rest.tasks_interval_soon,
        tasks: rest.tasks_interval,
        suspects: whole(rest.suspects),
        busy_share: rest.busy_share,
        max_jobs: whole(rest.max_jobs),
        // Three quarters of the places are for those that answer.
        hung_at_once: whole(rest.in_flight / 4),
        ..ScheduleParams::default()
    }
}

/// What shims may do.
pub fn shim(config: &Config) -> ShimParams {
    let set = &config.shim;
    let small = |number: u64| u32::try_from(number).unwrap_or(u32::MAX);
    let whole = |number: u64| usize::try_from(number).unwrap_or(usize::MAX);
    ShimParams {
        min_exchange_ms: small(set.min_exchange_interval.0),
        exchanges_per_s: small(set.exchanges_per_second),
        rows_per_s: small(set.rows_per_second),
        sessions: whole(set.sessions),
        connections: whole(set.connections),
        body_bytes: whole(set.body_limit.0),
        require_tls: set.require_tls,
        act: ActParams {
            lease_ms: config.act.lease.0,
            plain_http: config.act.plain_http,
            restart: config.act.restart,
            avoid: config.act.avoid,
            rerun: config.act.rerun,
            ..ActParams::default()
        },
        ..ShimParams::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::{Sources, load};

    fn config(set: &[&str]) -> Config {
        let sources = Sources { file: None, set: set.iter().map(ToString::to_string).collect() };
        load(&sources, std::iter::empty()).unwrap().config
    }

    #[test]
    fn without_settings_every_room_runs_on_its_own_defaults() {
        let config = config(&[]);
        assert_eq!(schedule(&config), ScheduleParams::default());
        assert_eq!(shim(&config), ShimParams::default());
        let (ours, theirs) = (http(&config), HttpParams::default());
        assert_eq!(
            (ours.connect_timeout, ours.timeout, ours.auth),
            (theirs.connect_timeout, theirs.timeout, theirs.auth)
        );
        assert_eq!(ours.ceilings, theirs.ceilings);
    }

    #[test]
    fn a_configuration_that_does_not_say_where_the_cluster_is_says_what_to_set() {
        let text = cluster(&config(&[]), None).unwrap_err().to_string();
        assert!(text.contains("HADOOP_CONF_DIR") && text.contains("cluster.rm_urls"), "{text}");
        let named = config(&["cluster.rm_urls=http://a:8088,http://b:8088", "cluster.user=ann"]);
        assert_eq!(cluster(&named, None).unwrap().rms.len(), 2);
        assert_eq!(http(&named).auth, Auth::Simple { user: "ann".into() });
        let missing = config(&["cluster.conf_dir=/nonexistent"]);
        assert!(site(&missing).unwrap_err().to_string().contains("/nonexistent"));
    }
}
