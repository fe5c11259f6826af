//! How Drover says who it is. The one place for it: requests are signed here and nowhere else.

use url::Url;

/// Who Drover is to the cluster's web servers.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Auth {
    /// Nobody: the servers take their static user (`dr.who`).
    #[default]
    Anonymous,
    /// Hadoop's simple authentication: a name, believed as it is.
    Simple {
        /// The user's name.
        user: String,
    },
}

impl Auth {
    /// The URL with what this way of authentication adds to it.
    pub fn sign(&self, mut url: Url) -> Url {
        if let Auth::Simple { user } = self {
            url.query_pairs_mut().append_pair("user.name", user);
        }
        url
    }
}
