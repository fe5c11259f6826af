//! The three clients of one cluster.

use crate::yarn::am::Am;
use crate::yarn::discover::Cluster;
use crate::yarn::history::History;
use crate::yarn::http::{ClientError, Http, HttpParams};
use crate::yarn::metrics::Metrics;
use crate::yarn::rm::Rm;

/// Clients of one cluster's servers; clones share everything.
#[derive(Debug, Clone)]
pub struct Clients {
    /// Ceilings and metrics.
    pub http: Http,
    /// The ResourceManagers.
    pub rm: Rm,
    /// The ApplicationMasters.
    pub am: Am,
    /// The JobHistoryServer, where there is one.
    pub history: Option<History>,
}

impl Clients {
    /// Clients of that cluster.
    ///
    /// # Errors
    /// As [`Http::new`].
    pub fn new(cluster: &Cluster, params: HttpParams, metrics: Metrics) -> Result<Clients, ClientError> {
        let servers: Vec<_> = cluster.rms.iter().map(|rm| rm.server.clone()).collect();
        let http = Http::new(params, &servers, metrics)?;
        let rm = Rm::new(http.clone(), servers);
        let am = Am::new(http.clone(), rm.clone(), cluster.proxy.as_ref().map(|proxy| proxy.server.clone()));
        let history = cluster.history.as_ref().map(|h| History::new(http.clone(), h.server.clone()));
        Ok(Clients { http, rm, am, history })
    }
}
