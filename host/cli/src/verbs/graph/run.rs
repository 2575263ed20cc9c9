//! `mizzen graph run`.

use super::file;
use super::follow::{Answers, FollowGraph};
use crate::document_file;
use crate::follow::{EXIT_INTERRUPTED, Interrupt, View};
use crate::home::Home;
use crate::local_host::{LocalHost, Place, config_in_reach};
use crate::output;
use anyhow::{Context, Result, bail};
use mizzen_json::{Json, Object, ReadLimits, parse};
use mizzen_ops::{Caller, GraphStart, Wait, graph_run};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// Run a graph and show its nodes as they happen
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  mizzen graph run graph.yaml --set severity=5 --set message='disk full'
  mizzen graph run graph.yaml --params @state.json --json
  mizzen graph run graph.yaml --set severity=5 --respond '{\"approved\": true}'

FILE is an IR document. It runs on a host of its own that is gone afterwards, with the plugins of the
mizzen.toml here or beside FILE; with --data the run stays in that folder. A value of --set is JSON
where it can be read as JSON, and a text otherwise.

At an interrupt the next --respond is the answer; without one, a person at the terminal is asked.

Exit codes:
  0    done
  1    failed, vetoed, cancelled or refused
  2    called wrongly
  4    waits for a person, and nobody was there to be asked
  130  interrupted by Ctrl-C, however the run ended")]
pub(super) struct Run {
    /// A document, JSON or YAML
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// One field of the initial state
    #[arg(long, value_name = "FIELD=VALUE")]
    set: Vec<String>,
    /// The initial state: a JSON object, or @FILE
    #[arg(long, value_name = "JSON", default_value = "{}")]
    params: String,
    /// The answer to an interrupt: a JSON object; the second one answers the second, and so on
    #[arg(long, value_name = "JSON")]
    respond: Vec<String>,
    /// The host's configuration, with its plugins [default: mizzen.toml here or beside FILE]
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
    /// The folder of a host, where the run stays [default: a temporary one]
    #[arg(long, value_name = "DIR")]
    data: Option<PathBuf>,
    /// Print the run as JSON and nothing else
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
        let document = file::read(&self.file)?;
        let params = params(&self.params, &self.set)?;
        let answers = self.respond.iter().map(|text| object(text, "--respond"));
        let answers = answers.collect::<Result<Vec<Object>>>()?;
        let config = config_in_reach(self.config.as_deref(), Some(&self.file));
        let place = match &self.data {
            None => Place::Temporary,
            Some(folder) => Place::Made(folder.clone()),
        };
        let opened = tokio::select! {
            biased;
            () = interrupt.requested() => None,
            opened = LocalHost::open(place, config, self.home.clone()) => Some(opened?),
        };
        let Some(local) = opened else {
            eprintln!("interrupted before the graph was started");
            return Ok(ExitCode::from(EXIT_INTERRUPTED));
        };
        let caller = Caller::local(local.host.new_request_id());
        let start = GraphStart {
            document: &document,
            params,
        };
        let started = local.host.run_graph(&caller, start, None, Wait::ForStart).await;
        let id = match started {
            Ok(started) => started.id(),
            Err(error) => {
                local.close().await;
                return Err(file::refusal(error));
            }
        };
        let follow = FollowGraph {
            host: &local.host,
            caller: &caller,
            id,
            interrupt: &interrupt,
            is_temporary: local.is_temporary(),
        };
        let view = View::choose(
            self.json,
            format!("graph {}", document.id),
            std::collections::HashMap::new(),
        );
        let ended = follow.until_the_end(view, Answers::new(answers)).await;
        local.close().await;
        let ended = ended?;
        if self.json {
            output::json(&graph_run(&ended.result).unwrap_or_default())?;
        }
        Ok(ExitCode::from(ended.exit_code(&interrupt)))
    }
}

fn object(text: &str, option: &str) -> Result<Object> {
    let text = match text.strip_prefix('@') {
        None => text.to_owned(),
        Some(path) => document_file::text(Path::new(path))?,
    };
    let tape = parse(&text, ReadLimits::default()).with_context(|| format!("{option} is not JSON"))?;
    match tape.root().to_json_unique()? {
        Json::Object(object) => Ok(object),
        _ => bail!("{option} is no object; write {{\"field\": value}}, or @FILE"),
    }
}

/// The initial state.
fn params(whole: &str, set: &[String]) -> Result<Object> {
    let mut params = object(whole, "--params")?;
    for one in set {
        let Some((field, value)) = one.split_once('=') else {
            bail!("--set {one:?} has no `=`; write --set field=value");
        };
        let read = parse(value, ReadLimits::default()).ok();
        let value = match read.map(|tape| tape.root().to_json_unique()) {
            Some(Ok(value)) => value,
            _ => Json::from(value),
        };
        params.insert(field, value);
    }
    Ok(params)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_field_is_json_where_it_can_be() {
        let set: Vec<String> = [
            "n=5",
            "text=disk full",
            "flag=true",
            "list=[1]",
            "quoted=\"5\"",
            "empty=",
            "eq=a=b",
        ]
        .map(str::to_owned)
        .into();
        let params = Json::Object(params("{\"n\": 1, \"kept\": 2}", &set).unwrap());
        assert_eq!(
            params.to_canonical(),
            r#"{"empty":"","eq":"a=b","flag":true,"kept":2,"list":[1],"n":5,"quoted":"5","text":"disk full"}"#
        );
        assert!(super::params("[]", &[]).is_err() && super::params("{}", &["x".to_owned()]).is_err());
    }
}
