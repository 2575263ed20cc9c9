//! `mizzen chain run`.

use crate::account::Names;
use crate::council_file;
use crate::document_file;
use crate::follow::{EXIT_INTERRUPTED, Ended, Follow, Interrupt, View};
use crate::local_host::{LocalHost, Place};
use crate::local_run::{self, LocalRun};
use crate::output;
use anyhow::{Result, bail};
use mizzen_json::{Json, Object};
use mizzen_model::execution::Named;
use mizzen_ops::{Caller, Document, Force, Wait};
use serde_json::Value;
use std::path::PathBuf;
use std::process::ExitCode;
use uuid::Uuid;

/// Run a chain and show its rules, gates and steps as they happen
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  mizzen chain run council.yaml --chain deliver --input '{\"spec\": \"…\", \"environment\": \"staging\"}'
  mizzen chain run council.yaml --chain deliver --input @input.json --json
  mizzen chain run --council engineering --chain deliver --data .mizzen

FILE holds a council as POST /v1/councils takes it, with two liberties: `sprites` lists sprites
themselves, or the files they are in, and sprites are named by their names where a request has
ids. It runs on a host of its own that is gone afterwards, with the plugins of the mizzen.toml
here or beside FILE; with --data it is taken over by the host of that folder, and stays. No server
may run on the folder; a server runs chains with POST /v1/chains/execute.

On a terminal a table is redrawn, and a run that escalates shows the tool and its input and asks you;
otherwise there is a line for everything that is decided or done. Ctrl-C cancels the run; a second one does not wait for it.

Exit codes:
  0    completed
  1    failed, vetoed, cancelled or refused
  2    called wrongly
  4    waits for a person, and nobody was there to be asked
  130  interrupted by Ctrl-C, however the run ended")]
pub(crate) struct Run {
    /// A council, JSON or YAML
    #[arg(
        value_name = "FILE",
        required_unless_present = "council",
        conflicts_with = "council"
    )]
    file: Option<PathBuf>,
    /// A stored council: its id or its domain
    #[arg(long, value_name = "ID|DOMAIN")]
    council: Option<String>,
    /// The chain: its id or its name [default: the only one]
    #[arg(long, value_name = "ID|NAME")]
    chain: Option<String>,
    /// The input: a JSON object, @FILE, or - for standard input
    #[arg(long, short, value_name = "JSON", default_value = "{}")]
    input: String,
    /// The folder of a host [default: for FILE a temporary one; otherwise $MIZZEN_DATA, or .mizzen]
    #[arg(long, value_name = "DIR")]
    data: Option<PathBuf>,
    /// Take FILE over although it takes a protected sprite or its step out of the stored council
    #[arg(long, requires = "file")]
    force: bool,
    #[command(flatten)]
    local: LocalRun,
}

impl Run {
    pub(super) fn run(self) -> Result<ExitCode> {
        local_run::block_on(self.execute())
    }

    async fn execute(self) -> Result<ExitCode> {
        // Before anything else: from here on Ctrl-C has one meaning.
        let interrupt = Interrupt::listen()?;
        let input = document_file::argument("--input", &self.input)?;
        let file = self.file.as_deref().map(council_file::read).transpose()?;
        let beside = self.file.as_deref();
        let Some(local) = self.local.open(self.place(), beside, &interrupt).await? else {
            eprintln!("interrupted before the chain was started");
            return Ok(ExitCode::from(EXIT_INTERRUPTED));
        };
        let ended = self.run_on(&local, file, input, &interrupt).await;
        local.close().await;
        Ok(ExitCode::from(ended?.exit_code(&interrupt)))
    }

    fn override_protection(&self) -> Force {
        if self.force { Force::Yes } else { Force::No }
    }

    fn place(&self) -> Place {
        match (&self.file, &self.data) {
            (Some(_), None) => Place::Temporary,
            (Some(_), Some(folder)) => Place::Made(folder.clone()),
            (None, named) => Place::Existing(local_run::data_folder(named.as_deref())),
        }
    }

    async fn run_on(
        &self,
        local: &LocalHost,
        file: Option<Json>,
        input: Json,
        interrupt: &Interrupt,
    ) -> Result<Ended> {
        let host = &local.host;
        let caller = Caller::local(host.new_request_id());
        let council = match (&file, &self.council) {
            (Some(file), _) => {
                host.adopt_council(&caller, file, self.override_protection())
                    .await?
            }
            (None, Some(named)) => {
                let named = match Uuid::try_parse(named) {
                    Ok(id) => Named::Id(id.into()),
                    Err(_) => Named::Name(named.clone()),
                };
                let id = host.find_council(&named).await?;
                host.get_council(id).await?
            }
            (None, None) => bail!("name a council file, or a stored council with --council"),
        };
        let chain = host.find_chain(council.id, self.chain.as_deref()).await?;
        let mut request = Object::new();
        request.insert("council_id", Json::from(council.id.to_string()));
        request.insert("chain_id", Json::from(chain.id.to_string()));
        request.insert("input", input);
        let request = Json::Object(request);
        // Not given up half-way: a run that was started and is not followed would go on by itself.
        let id = host
            .execute_chain(&caller, &request, None, Wait::ForStart)
            .await?
            .id();
        let view = View::choose(
            self.local.json,
            format!("chain {}", chain.name),
            names_of(&council)?,
        );
        let follow = Follow {
            host,
            caller: &caller,
            id,
            interrupt,
            is_temporary: local.is_temporary(),
        };
        let ended = follow.until_the_end(view).await?;
        if self.local.json {
            output::json(&ended.result)?;
        }
        Ok(ended)
    }
}

/// The sprites of a council, by id.
fn names_of(council: &Document) -> Result<Names> {
    let council: Value = serde_json::from_str(&council.json)?;
    let text = |value: &Value, name: &str| {
        value
            .get(name)
            .and_then(Value::as_str)
            .unwrap_or_default()
            .to_owned()
    };
    let sprites = council.get("sprites").and_then(Value::as_array);
    Ok(sprites
        .into_iter()
        .flatten()
        .map(|sprite| (text(sprite, "id"), text(sprite, "name")))
        .collect())
}
