//! `mizzen completions`.

use anyhow::Result;
use clap_complete::Shell;
use std::io::Write as _;
use std::process::ExitCode;

/// Print a completion script for a shell
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  mizzen completions bash > ~/.local/share/bash-completion/completions/mizzen
  mizzen completions zsh > ~/.zfunc/_mizzen
  mizzen completions fish > ~/.config/fish/completions/mizzen.fish")]
pub(crate) struct Completions {
    /// The shell
    #[arg(value_name = "SHELL")]
    shell: Shell,
}

impl Completions {
    pub(super) fn run(self, mut command: clap::Command) -> Result<ExitCode> {
        // Into memory first: the generator panics when its output is closed early.
        let mut script = Vec::new();
        clap_complete::generate(self.shell, &mut command, "mizzen", &mut script);
        std::io::stdout().write_all(&script)?;
        Ok(ExitCode::SUCCESS)
    }
}
