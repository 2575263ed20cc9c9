//! `mizzen ir schema`

use super::validate::record_name;
use mizzen_model::ir::RecordName;
use std::process::ExitCode;

/// Prints the JSON Schema (2020-12) of the IR, generated from the same declarations that validate it.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Example:
  mizzen ir schema > ir.schema.json        every record; the root is IRDocument
  mizzen ir schema ToolSpec                one record
  mizzen ir schema --list                  the records there are")]
pub(super) struct Schema {
    /// Only this record
    #[arg(value_name = "RECORD", value_parser = record_name)]
    record: Option<RecordName>,
    /// Print the names of the records
    #[arg(long, conflicts_with = "record")]
    list: bool,
}

impl Schema {
    pub(super) fn run(self) -> anyhow::Result<ExitCode> {
        if self.list {
            RecordName::ALL
                .iter()
                .for_each(|name| println!("{}", name.as_str()));
            return Ok(ExitCode::SUCCESS);
        }
        let schema = match self.record {
            Some(record) => record.schema(),
            None => RecordName::all_schemas(),
        };
        println!("{}", schema.to_pretty());
        Ok(ExitCode::SUCCESS)
    }
}
