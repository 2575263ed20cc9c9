//! `mizzen chain run`.

use crate::account::Names;
use crate::council_file;
use crate::document_file;
use crate::follow::{EXIT_INTERRUPTED, Ended, Follow, Interrupt, View};
use crate::home::Home;
use crate::local_host::{LocalHost, Place, config_in_reach};
use crate::output;
use anyhow::{Context, Result, bail};
use mizzen_json::{Json, ReadLimits, parse};
use mizzen_model::execution::Named;
use mizzen_ops::{Caller, Document, Force, Wait};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
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
    /// The input: a JSON object, or @FILE
    #[arg(long, value_name = "JSON", default_value = "{}")]
    input: String,
    /// The host's configuration, with its plugins [default: mizzen.toml here or beside FILE]
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
    /// The folder of a host [default: for FILE a temporary one; otherwise $MIZZEN_DATA, or .mizzen]
    #[arg(long, value_name = "DIR")]
    data: Option<PathBuf>,
    /// Take FILE over although it takes a protected sprite or its step out of the stored council
    #[arg(long, requires = "file")]
    force: bool,
    /// Print the result as JSON and nothing else
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    home: Home,
}

impl Run {
    pub(super) fn run(self) -> Result<ExitCode> {
        let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
        let ended = runtime.block_on(self.execute());
        // Not dropped: after Ctrl-C that would wait for a compiler that is at work.
        runtime.shutdown_background();
        ended
    }

    async fn execute(self) -> Result<ExitCode> {
        // Before anything else: from here on Ctrl-C has one meaning.
        let interrupt = Interrupt::listen()?;
        let input = input(&self.input)?;
        let file = self.file.as_deref().map(council_file::read).transpose()?;
        let opened = tokio::select! {
            biased;
            () = interrupt.requested() => None,
            opened = self.open() => Some(opened?),
        };
        let Some(local) = opened else {
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

    async fn open(&self) -> Result<LocalHost> {
        let config = config_in_reach(self.config.as_deref(), self.file.as_deref());
        if config.is_none() && !self.json {
            eprintln!("no mizzen.toml is in reach, so no plugins are loaded; name one with --config FILE");
        }
        let stored = || {
            let usual = std::env::var_os("MIZZEN_DATA").map_or_else(|| ".mizzen".into(), PathBuf::from);
            Place::Existing(self.data.clone().unwrap_or(usual))
        };
        let place = match (&self.file, &self.data) {
            (Some(_), None) => Place::Temporary,
            (Some(_), Some(folder)) => Place::Made(folder.clone()),
            (None, _) => stored(),
        };
        LocalHost::open(place, config, self.home.clone()).await
    }

    async fn run_on(
        &self,
        local: &LocalHost,
        file: Option<Json>,
        input: Value,
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
        let request = json!({
            "council_id": council.id.to_string(), "chain_id": chain.id.to_string(), "input": input,
        });
        let request = parse(&request.to_string(), ReadLimits::default())?
            .root()
            .to_json();
        // Not given up half-way: a run that was started and is not followed would go on by itself.
        let id = host
            .execute_chain(&caller, &request, None, Wait::ForStart)
            .await?
            .id();
        let view = View::choose(self.json, format!("chain {}", chain.name), names_of(&council)?);
        let follow = Follow {
            host,
            caller: &caller,
            id,
            interrupt,
            is_temporary: local.is_temporary(),
        };
        let ended = follow.until_the_end(view).await?;
        if self.json {
            output::json(&ended.result)?;
        }
        Ok(ended)
    }
}

fn input(text: &str) -> Result<Value> {
    let text = match text.strip_prefix('@') {
        None => text.to_owned(),
        Some(path) => document_file::text(Path::new(path))?,
    };
    document_file::value(&text).context("--input is not JSON; write an object, or @FILE")
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
