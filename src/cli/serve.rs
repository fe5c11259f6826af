//! `drover serve`.

use super::Common;
use super::output::{Exit, Failure};
use crate::service::{Reload, ServeError, serve};
use crate::telemetry::{LogError, Logs};
use clap::Args;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

const EXAMPLES: &str = "\
Watches the cluster until it gets SIGTERM or SIGINT. SIGHUP reads the configuration again. Logs go to standard error.

Examples:
  HADOOP_CONF_DIR=/etc/hadoop/conf drover serve
  drover serve --config /etc/drover/drover.toml --record /var/lib/drover
  drover serve --ledger /var/lib/drover/ledger.db
  drover serve --set cluster.rm_urls=http://rm.example.com:8088 --set mode=off";

/// `drover serve`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct Command {
    /// Record everything observed and decided into this directory, for `drover replay`; short for --set record.dir=DIR
    #[arg(long, value_name = "DIR")]
    record: Option<PathBuf>,
    /// Keep what is decided, done and measured in this file, for `drover report`; short for --set ledger.path=FILE
    #[arg(long, value_name = "FILE")]
    ledger: Option<PathBuf>,
}

impl Command {
    /// Runs it.
    pub fn run(&self, common: &Common) -> Result<(), Failure> {
        let mut common = common.clone();
        common.set.extend(self.record.iter().map(|dir| format!("record.dir={}", dir.display())));
        common.set.extend(self.ledger.iter().map(|file| format!("ledger.path={}", file.display())));
        let loaded = common.serviceable()?;
        let logs = Logs::start(&loaded.config.log.level, &loaded.config.log.format);
        let logs = logs.map_err(|error| Failure::new(unlogged(&error), error.to_string()))?;
        let read = Mutex::new(loaded.file.clone());
        let reload: Reload = Arc::new(move || {
            let mut read = read.lock().unwrap_or_else(PoisonError::into_inner);
            let mut common = common.clone();
            // A file that is gone for a moment, when it is read again, is a mistake: its exclusions would be gone with it.
            common.name_file(read.as_deref());
            let loaded = common.serviceable_again()?;
            read.clone_from(&loaded.file);
            Ok(loaded)
        });
        let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
        let served = runtime.block_on(serve(loaded, reload, logs));
        // What still holds a connection must not hold up the end.
        runtime.shutdown_background();
        served.map_err(|error| Failure::new(exit(&error), error.to_string()))
    }
}

/// A level that is none is refused the next time, too.
fn unlogged(error: &LogError) -> Exit {
    match error {
        LogError::Level(_) => Exit::Usage,
        LogError::Twice | LogError::System(_) | LogError::Metrics(_) => Exit::Failed,
    }
}

/// Who starts it again by the code is not to give up on what may pass by itself.
fn exit(error: &ServeError) -> Exit {
    match error {
        ServeError::World(_) => Exit::Usage,
        ServeError::Listen(_)
        | ServeError::Record(_)
        | ServeError::Taken(..)
        | ServeError::Holds(_)
        | ServeError::HoldsUnkept(..) => Exit::Taken,
        ServeError::Metrics(_) | ServeError::System(_) | ServeError::Ended(_) => Exit::Failed,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_thread_that_the_log_does_not_get_is_no_mistake_of_the_configuration() {
        assert_eq!(unlogged(&LogError::Level("loud".into())), Exit::Usage);
        assert_eq!(unlogged(&LogError::System(std::io::ErrorKind::WouldBlock.into())), Exit::Failed);
        assert_eq!(unlogged(&LogError::Metrics(prometheus::Error::AlreadyReg)), Exit::Failed);
    }
}
