//! `mizzen tool call`.

mod remote;

use crate::document_file;
use crate::follow::{EXIT_INTERRUPTED, Ended, Follow, Interrupt, View};
use crate::local_host::{LocalHost, Place};
use crate::local_run::{self, LocalRun};
use crate::output;
use anyhow::{Context, Result};
use mizzen_json::{Json, Object};
use mizzen_model::execution::{ChainExecutionResult, ExecutionStatus};
use mizzen_ops::{Caller, IdempotencyKey, Wait};
use std::path::PathBuf;
use std::process::ExitCode;

/// Call an installed tool: governed by the host's packs and recorded as a run of one step
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  mizzen tool call text.case --input '{\"text\": \"hello\", \"to\": \"upper\"}' --data .mizzen
  mizzen tool call feed.fetch --input @request.json --timeout 10s --json
  echo '{\"name\": \"Ada\"}' | mizzen tool call hello.greet --input -
  MIZZEN_API_KEY=… mizzen tool call hello.greet --input '{\"name\": \"Ada\"}' --host https://mizzen.example:8080

Without --host the call runs in this process, on the data folder and the configuration of a host that
is not running. With --host it is sent to a running server (POST /v1/tools/ID/call); the key comes from
the environment variable MIZZEN_API_KEY and needs the grant tools:call.

The tool's output goes to stdout as JSON, decisions and errors to stderr. On a terminal a call that a
pack escalates shows the tool and its input and asks you; with --host the key then needs the grants
runs:respond and runs:read too. Find the run later with GET /v1/executions?tool=ID.

Exit codes:
  0    completed
  1    failed, vetoed, cancelled or refused
  2    called wrongly
  4    waits for a person
  130  interrupted by Ctrl-C, however the run ended")]
pub(crate) struct Call {
    /// The tool: `namespace.name`
    #[arg(value_name = "ID")]
    id: String,
    /// The input: JSON, @FILE, or - for standard input
    #[arg(long, short, value_name = "JSON", default_value = "{}")]
    input: String,
    /// Which versions of the tool will do, such as ^1.2 [default: the installed default]
    #[arg(long = "tool-version", value_name = "REQUIREMENT")]
    version: Option<String>,
    /// How long the call may take, such as 500ms, 30s or 5m [default: 60s]
    #[arg(long, value_name = "DURATION")]
    timeout: Option<String>,
    /// Call once: the same key with the same input gives the run that there was
    #[arg(long, value_name = "KEY")]
    idempotency_key: Option<String>,
    /// A running server to call, such as http://127.0.0.1:8080
    #[arg(long, value_name = "URL", conflicts_with_all = ["config", "data"])]
    host: Option<String>,
    /// The data folder of the host [default: $MIZZEN_DATA, or .mizzen]
    #[arg(long, value_name = "DIR")]
    data: Option<PathBuf>,
    #[command(flatten)]
    local: LocalRun,
}

impl Call {
    pub(super) fn run(self) -> Result<ExitCode> {
        local_run::block_on(self.execute())
    }

    async fn execute(self) -> Result<ExitCode> {
        let interrupt = Interrupt::listen()?;
        let request = self.request()?;
        if let Some(host) = &self.host {
            let code = tokio::select! {
                biased;
                () = interrupt.requested() => {
                    eprintln!("interrupted: the server goes on with the call if it has begun");
                    EXIT_INTERRUPTED
                }
                called = remote::call(&self, host, &request) => called?,
            };
            return Ok(ExitCode::from(code));
        }
        let place = Place::Made(local_run::data_folder(self.data.as_deref()));
        let Some(local) = self.local.open(place, None, &interrupt).await? else {
            eprintln!("interrupted before the tool was called");
            return Ok(ExitCode::from(EXIT_INTERRUPTED));
        };
        let ended = self.call_on(&local, &request, &interrupt).await;
        local.close().await;
        let ended = ended?;
        self.print(&ended.result)?;
        Ok(ExitCode::from(ended.exit_code(&interrupt)))
    }

    /// The body of the request, for either host.
    fn request(&self) -> Result<Json> {
        let input = document_file::argument("--input", &self.input)?;
        let mut request = Object::new();
        request.insert("input", input);
        for (name, value) in [("version", &self.version), ("timeout", &self.timeout)] {
            if let Some(value) = value {
                request.insert(name, Json::from(value.clone()));
            }
        }
        Ok(Json::Object(request))
    }

    async fn call_on(&self, local: &LocalHost, request: &Json, interrupt: &Interrupt) -> Result<Ended> {
        let host = &local.host;
        let caller = Caller::local(host.new_request_id());
        let key = match &self.idempotency_key {
            None => None,
            Some(key) => Some(
                IdempotencyKey::of(key, "application/json", request.to_compact().as_bytes())
                    .context("--idempotency-key takes 1 to 255 visible characters of ASCII")?,
            ),
        };
        // Not given up half-way: a run that was started and is not followed would go on by itself.
        let id = host
            .call_tool(&caller, &self.id, request, key, Wait::ForStart)
            .await?
            .id();
        let follow = Follow {
            host,
            caller: &caller,
            id,
            interrupt,
            is_temporary: local.is_temporary(),
        };
        follow.until_the_end(View::beside_output(self.local.json)).await
    }

    /// The output on stdout; for `--json`, everything.
    fn print(&self, result: &ChainExecutionResult) -> Result<()> {
        if self.local.json {
            return output::json(result);
        }
        let output = result.steps.first().and_then(|step| step.output.as_ref());
        if let (ExecutionStatus::Completed, Some(output)) = (result.status, output) {
            println!("{output}");
        }
        Ok(())
    }
}
