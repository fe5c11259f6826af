//! `drover report export`.

use super::file;
use crate::cli::Common;
use crate::cli::interrupt::stop_on_ctrl_c;
use crate::cli::output::{self, Exit, Failure};
use crate::ledger::export::{ExportError, Format, export};
use clap::{Args, ValueEnum};
use serde_json::json;
use std::path::PathBuf;

/// `drover report export`.
#[derive(Debug, Args)]
pub struct Command {
    /// What to write
    #[arg(long, value_enum)]
    format: As,
    /// Directory for the files, one a table; those of their names are replaced
    #[arg(long, value_name = "DIR")]
    out: PathBuf,
    /// Read this ledger, instead of the one that ledger.path names
    #[arg(long, value_name = "FILE")]
    file: Option<PathBuf>,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum As {
    /// Text with a heading; what is absent is empty
    Csv,
    /// Typed columns
    Parquet,
}

impl Command {
    /// Runs it.
    pub fn run(&self, common: &Common) -> Result<(), Failure> {
        let none = || Failure::new(Exit::Usage, "no ledger is named: set ledger.path, or name one with --file");
        let path = file(self.file.as_deref(), common)?.ok_or_else(none)?;
        let format = match self.format {
            As::Csv => Format::Csv,
            As::Parquet => Format::Parquet,
        };
        let stop = stop_on_ctrl_c()?;
        let files = export(&path, &self.out, format, &stop).map_err(|error| match error {
            ExportError::Ledger(error) => error.into(),
            ExportError::Interrupted => Failure::new(Exit::Interrupted, error.to_string()),
            error @ (ExportError::File(..) | ExportError::Unplaced(..)) => {
                Failure::new(Exit::Failed, error.to_string())
            }
        })?;
        if self.json {
            let files: Vec<_> = files.iter().map(|(path, rows)| json!({"file": path, "rows": rows})).collect();
            return output::json(&json!({ "files": files }));
        }
        let mut table = output::table(&["FILE", "ROWS"]);
        table.add_rows(files.iter().map(|(path, rows)| [path.display().to_string(), rows.to_string()]));
        Ok(output::say(&table.to_string())?)
    }
}
