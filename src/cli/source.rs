//! Where a command's answers come from: the running service, or the cluster itself.

use super::Common;
use super::client::{Client, NoAnswer, Service};
use super::once::Rounds;
use super::output::Failure;
use crate::config::Config;
use clap::Args;
use std::io::Write;

/// Which of the two.
#[derive(Debug, Args)]
pub struct Source {
    #[command(flatten)]
    service: Service,
    /// Look at the cluster itself, without a service
    #[arg(long, conflicts_with = "service")]
    from_cluster: bool,
    /// How long to look, then
    #[command(flatten)]
    pub rounds: Rounds,
}

impl Source {
    /// The configuration; where a service is named none is needed.
    pub fn config(&self, common: &Common) -> Result<Config, Failure> {
        let loaded = if self.service.is_named() { common.named(&[]) } else { common.load() };
        Ok(loaded?.config)
    }

    /// The service to ask; `None` where the cluster itself is to be looked at.
    pub fn client(&self, config: &Config) -> Result<Option<Client>, Failure> {
        (!self.from_cluster).then(|| self.service.client_with(config)).transpose()
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
            Err(NoAnswer::NobodyThere { why, .. }) if cluster_would_do && !self.service.is_named() => {
                let nobody = format!("no service answers at {} ({why})", client.base());
                writeln!(std::io::stderr(), "{nobody}; looking at the cluster itself")?;
                Ok(None)
            }
            Err(other) => Err(other.into()),
        }
    }
}
