//! Everything that can go wrong between Drover and Hadoop's web servers, by name.

use super::address::Server;
use std::time::Duration;

/// What to do where Drover's user may not view a job.
pub const LET_VIEW: &str = "give Drover's user (cluster.user) the right to view jobs: mapreduce.job.acl-view-job; or mapreduce.cluster.administrators, and yarn.admin.acl where yarn.acl.enable is on";

/// A request that gave no usable answer.
#[derive(Debug, Clone, thiserror::Error)]
#[error("{at}: {kind}")]
pub struct Error {
    /// The URL that was asked, without its query.
    pub at: String,
    /// What went wrong.
    pub kind: Kind,
}

/// What went wrong. Each has one stable label; the text says what to do next.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Kind {
    /// No connection.
    #[error("cannot connect ({0}); is the address right, the daemon up, and no firewall between?")]
    Unreachable(String),
    /// A certificate that nobody known here has signed, or for another name.
    #[error(
        "its certificate is not trusted ({0}); name the file of the authority that signed it in rest.ca_file, and the server as its certificate does"
    )]
    Certificate(String),
    /// No answer in time.
    #[error("no complete answer within {} s; the server is overloaded, or the timeout too short", .0.as_secs_f32())]
    Timeout(Duration),
    /// Something that is no web server, or a connection that broke.
    #[error("the conversation broke ({0}); is this a Hadoop web server, and http or https as configured?")]
    Protocol(String),
    /// The ResourceManager asked is not the active one.
    #[error("this ResourceManager is in standby{}", active.as_ref().map_or(String::new(), |s| format!("; {s} is active")))]
    Standby {
        /// The active one, where it said so.
        active: Option<Server>,
    },
    /// None of the ResourceManagers is active.
    #[error("none of the ResourceManagers is active or can be reached ({0}); asked again with growing pauses")]
    NoActiveRm(String),
    /// A redirect to a host that is not configured.
    #[error("redirects to {0}, which is no configured server, so it was not followed; if that is right, configure it")]
    ForeignRedirect(String),
    /// A redirect that says not where to.
    #[error("redirects without saying where to")]
    RedirectWithoutLocation,
    /// The proxy redirects to the job's history: the application has finished.
    #[error("the application has finished; its history is with the JobHistoryServer")]
    AppFinished,
    /// The proxy shows the application's page: its master cannot be reached, not yet or no more.
    #[error("the application's master does not answer through the proxy: not registered yet, or gone")]
    AppNotServed,
    /// The master sends us back to the proxy we came through.
    #[error("the master does not know this ResourceManager as its proxy; address it by the name in yarn-site.xml")]
    ProxyLoop,
    /// A web page instead of an answer.
    #[error("answered with a web page{}: a login page, a warning page, or not Hadoop's REST interface", title(.0))]
    Html(String),
    /// Text instead of an answer.
    #[error("answered with plain text: \"{0}\"; is this Hadoop's REST interface?")]
    PlainText(String),
    /// Success without a body.
    #[error("answered with an empty body")]
    Empty,
    /// The body is cut off.
    #[error("the answer is cut off ({0}); asked again later")]
    Truncated(String),
    /// The body is neither JSON nor XML of any sense.
    #[error("the answer cannot be read ({0})")]
    Malformed(String),
    /// Well-formed, and not what was asked for.
    #[error("answered with {found} where {expected} was asked for; is something else at this address?")]
    Unexpected {
        /// What should have been there.
        expected: &'static str,
        /// What was there.
        found: String,
    },
    /// The body is longer than allowed.
    #[error("the answer has more than {0} bytes; raise the body limit if the cluster is that large")]
    TooLarge(u64),
    /// 401.
    #[error(
        "401, authentication required{0}; this server wants a user's name (cluster.user), or a login that Drover cannot give"
    )]
    Unauthorized(String),
    /// 403.
    #[error("403, not permitted{0}; {todo}", todo = LET_VIEW)]
    Forbidden(String),
    /// 404, and Hadoop itself says so.
    #[error("404, not there{0}")]
    NotFound(String),
    /// 429.
    #[error("429, too many requests; asked again {}", .0.map_or("later".to_owned(), |d| format!("in {} s", d.as_secs())))]
    TooManyRequests(Option<Duration>),
    /// 5xx.
    #[error("{status}, the server failed{message}; see its log")]
    Server {
        /// The status.
        status: u16,
        /// What the server said, shortened.
        message: String,
    },
    /// Any other status.
    #[error("answered with status {status}{message}")]
    Status {
        /// The status.
        status: u16,
        /// What the server said, shortened.
        message: String,
    },
}

fn title(title: &str) -> String {
    if title.is_empty() { String::new() } else { format!(" (\"{title}\")") }
}

impl Kind {
    /// Stable snake_case label, the value of `outcome` in metrics.
    pub fn label(&self) -> &'static str {
        match self {
            Kind::Unreachable(_) => "unreachable",
            Kind::Certificate(_) => "certificate",
            Kind::Timeout(_) => "timeout",
            Kind::Protocol(_) => "protocol",
            Kind::Standby { .. } => "standby",
            Kind::NoActiveRm(_) => "no_active_rm",
            Kind::ForeignRedirect(_) => "foreign_redirect",
            Kind::RedirectWithoutLocation => "redirect_without_location",
            Kind::AppFinished => "app_finished",
            Kind::AppNotServed => "app_not_served",
            Kind::ProxyLoop => "proxy_loop",
            Kind::Html(_) => "html",
            Kind::PlainText(_) => "plain_text",
            Kind::Empty => "empty",
            Kind::Truncated(_) => "truncated",
            Kind::Malformed(_) => "malformed",
            Kind::Unexpected { .. } => "unexpected",
            Kind::TooLarge(_) => "too_large",
            Kind::Unauthorized(_) => "unauthorized",
            Kind::Forbidden(_) => "forbidden",
            Kind::NotFound(_) => "not_found",
            Kind::TooManyRequests(_) => "too_many_requests",
            Kind::Server { .. } => "server_error",
            Kind::Status { .. } => "status",
        }
    }

    /// The error at a URL.
    pub fn at(self, url: &url::Url) -> Error {
        let mut shown = url.clone();
        shown.set_query(None);
        Error { at: shown.to_string(), kind: self }
    }

    /// May whatever stands before the server, or has come to its address, say it in its place? Where that is no answer of Hadoop's at all.
    pub fn is_of_no_rm(&self) -> bool {
        use Kind::{Empty, Forbidden, ForeignRedirect, Html, PlainText, Status, Unauthorized};
        matches!(
            self,
            ForeignRedirect(_) | Html(_) | PlainText(_) | Empty | Unauthorized(_) | Forbidden(_) | Status { .. }
        )
    }

    /// Is it a server's failure, of which a proxy or a gateway before it may speak in its place?
    pub fn is_servers(&self) -> bool {
        matches!(self, Kind::Server { .. })
    }

    /// Does it say that this ResourceManager cannot serve now, while another may?
    pub fn is_rm_trouble(&self) -> bool {
        matches!(
            self,
            Kind::Unreachable(_)
                | Kind::Certificate(_)
                | Kind::Timeout(_)
                | Kind::Protocol(_)
                | Kind::Standby { .. }
                | Kind::NoActiveRm(_)
                | Kind::RedirectWithoutLocation
        )
    }
}

impl Error {
    /// Stable snake_case label, the value of `outcome` in metrics.
    pub fn label(&self) -> &'static str {
        self.kind.label()
    }
}
