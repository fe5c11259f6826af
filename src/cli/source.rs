//! Where a command's answers come from: the running service, or the cluster itself.

use super::client::{self, Client, NoAnswer};
use super::once::Rounds;
use super::output::{Exit, Failure};
use crate::config::Config;
use clap::Args;
use std::io::Write;
use url::Url;

/// Which of the two.
#[derive(Debug, Args)]
pub struct Source {
    /// Address of the service [default: where listen.api says]
    #[arg(long, value_name = "URL", conflicts_with = "from_cluster")]
    service: Option<Url>,
    /// Look at the cluster itself, without a service
    #[arg(long)]
    from_cluster: bool,
    /// How long to look, then
    #[command(flatten)]
    pub rounds: Rounds,
}

impl Source {
    /// The service to ask; `None` where the cluster itself is to be looked at.
    pub fn client(&self, config: &Config) -> Result<Option<Client>, Failure> {
        if self.from_cluster {
            return Ok(None);
        }
        let base = self.service.clone().or_else(|| client::address(config));
        let base = base.ok_or_else(|| Failure::new(Exit::Usage, "listen.api names no address to ask at"))?;
        Client::new(base).map(Some)
    }

    /// What the service answers; `None`, and a word about it, where none runs and none has to: none was named, and the cluster would do.
    pub fn answer<T>(
        &self,
        client: &Client,
        answer: Result<T, NoAnswer>,
        cluster_would_do: bool,
    ) -> Result<Option<T>, Failure> {
        match answer {
            Ok(answer) => Ok(Some(answer)),
            Err(NoAnswer::NobodyThere(_)) if cluster_would_do && self.service.is_none() => {
                writeln!(std::io::stderr(), "no service answers at {}; looking at the cluster itself", client.base())?;
                Ok(None)
            }
            Err(other) => Err(other.into()),
        }
    }
}
