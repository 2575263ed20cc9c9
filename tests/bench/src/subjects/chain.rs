//! A chain over HTTP: three pure steps, one gate before and one after, durable; beside what is below it and what one could use
//! instead. All servers run at once and take turns being asked.

use crate::echo::package;
use crate::harness::Bench;
use crate::http_load::{Answered, Generator, Load, exchange};
use crate::process::Listening;
use crate::python::Python;
use crate::row::{Row, Target, Unit, Value};
use crate::served::{NO_BINARY, mizzen, rival};
use crate::site::{Site, furnish};
use crate::subjects::runtime;
use anyhow::{Context, Result, ensure};
use std::net::SocketAddr;
use std::time::Duration;

const PATH: &str = "/v1/chains/execute";
const STEPS: usize = 3;
/// What the rival in Python needs.
pub(super) const FASTAPI: &[&str] = &["fastapi==0.121.0", "uvicorn[standard]==0.38.0"];

pub(crate) fn measure(bench: &Bench) -> Result<Vec<Row>> {
    let Some(binary) = mizzen(bench)? else {
        return Ok(vec![Row::skipped("chain over HTTP", NO_BINARY)]);
    };
    let runtime = runtime()?;
    let package = package(bench)?;
    let site = Site::new(bench, std::slice::from_ref(&package))?;
    let ours = site.serve(&binary)?;
    let body = runtime.block_on(furnish(ours.address, STEPS))?;
    let cost = runtime.block_on(commits(ours.address, &body, bench.pick(3, 20, 50)))?;
    let folder = bench.places.scratch()?;
    let log = folder.path().join("log");
    let data = |name: &str| -> Result<String> {
        let path = folder.path().join(name);
        std::fs::create_dir_all(&path)?;
        path.to_str().map(str::to_owned).context("the path is not text")
    };
    let constant = rival("constant", &[&data("constant")?], &log)?;
    let raw = rival(
        "raw-chain",
        &[
            &data("raw")?,
            package.to_str().context("the path is not text")?,
            &format!("{:.0}", cost.commits.round()),
            &cost.bytes.to_string(),
        ],
        &log,
    )?;
    let python = Python::find(bench, FASTAPI)
        .and_then(|python| Listening::start(&mut python.command("rivals/fastapi/fastapi_rival.py"), &log));
    let mut servers = vec![
        Side::new("ours", &ours),
        Side::new("(a) the same server answering a constant", &constant),
        Side::new("(b) axum, 3 raw calls, as many commits", &raw),
    ];
    if let Ok(python) = &python {
        servers.push(Side::new("(c) FastAPI, simulated, in memory", python));
    }
    let generator = Generator::find(bench.scale);
    eprintln!(
        "  load from {}; our run has {:.2} durable writes",
        generator.name(),
        cost.commits
    );
    let mut rows = vec![Row::new(
        "durable writes of one run of 3 steps",
        Value::new(Unit::Number, cost.commits),
    )];
    for connections in bench.pick([1, 2, 4], [1, 16, 64], [1, 16, 64]) {
        let load = Load {
            address: ours.address,
            path: PATH,
            body: body.clone(),
            connections,
            time: Duration::from_millis(bench.pick(100, 3_000, 10_000)),
        };
        in_turns(bench.pick(1, 3, 3), &mut servers, generator, &load)?;
        rows.extend(table(connections, &servers));
    }
    if let Err(error) = python {
        rows.push(Row::skipped(
            "chain over HTTP beside (c) FastAPI",
            format!("{error:#}"),
        ));
    }
    Ok(rows)
}

struct Side {
    name: &'static str,
    address: SocketAddr,
    rounds: Vec<Answered>,
}

impl Side {
    fn new(name: &'static str, server: &Listening) -> Self {
        Self {
            name,
            address: server.address,
            rounds: Vec::new(),
        }
    }

    /// The round in the middle.
    fn middle(&self) -> Answered {
        let mut rounds = self.rounds.clone();
        rounds.sort_by(|one, other| one.per_second.total_cmp(&other.per_second));
        rounds.get(rounds.len() / 2).cloned().unwrap_or_default()
    }
}

fn in_turns(rounds: usize, servers: &mut [Side], generator: Generator, load: &Load) -> Result<()> {
    for side in servers.iter_mut() {
        side.rounds.clear();
        let warm = Load {
            address: side.address,
            time: load.time.min(Duration::from_secs(1)),
            ..load.clone()
        };
        generator.run(&warm).with_context(|| side.name)?;
    }
    for _ in 0..rounds {
        for side in servers.iter_mut() {
            let load = Load {
                address: side.address,
                ..load.clone()
            };
            side.rounds.push(generator.run(&load).with_context(|| side.name)?);
        }
    }
    Ok(())
}

fn table(connections: usize, servers: &[Side]) -> Vec<Row> {
    let Some((ours, rivals)) = servers.split_first() else {
        return Vec::new();
    };
    let ours = ours.middle();
    let mut rows = Vec::new();
    for rival in rivals {
        let what = format!("runs of 3 steps over HTTP, {connections} connections");
        let row = Row::new(what, Value::per_second(ours.per_second));
        let row = row.beside(rival.name, Value::per_second(rival.middle().per_second));
        rows.push(match rival.name.get(..3) {
            Some("(b)") if connections == 64 => row.target(Target::RatioAtLeast(0.7)),
            Some("(c)") if connections == 64 => row.target(Target::RatioAtLeast(2.5)),
            _ => row,
        });
    }
    let latency = Value {
        p99: Some(ours.p99),
        ..Value::new(Unit::Nanoseconds, ours.p50)
    };
    rows.push(Row::new(
        format!("latency of a run over HTTP, {connections} connections"),
        latency,
    ));
    rows
}

struct Cost {
    /// Durable writes of one run.
    commits: f64,
    /// Bytes of one of them.
    bytes: usize,
}

/// Counts what a run writes, from the server's own metrics.
async fn commits(address: SocketAddr, body: &str, runs: u32) -> Result<Cost> {
    let before = writes(address).await?;
    for _ in 0..runs {
        let answer = exchange(address, ("POST", PATH), body, 200).await?;
        ensure!(
            answer.get("status").and_then(|status| status.as_str()) == Some("completed"),
            "the chain did not complete: {answer}"
        );
    }
    let after = writes(address).await?;
    Ok(Cost {
        commits: (after - before) / f64::from(runs),
        bytes: 1_000,
    })
}

async fn writes(address: SocketAddr) -> Result<f64> {
    let (status, body) = crate::http_load::Client::connect(address)
        .await?
        .send("GET", "/metrics", "")
        .await?;
    ensure!(status == 200, "/metrics gave {status}");
    let text = String::from_utf8(body)?;
    let line = text
        .lines()
        .find(|line| line.starts_with("mizzen_store_writes_total"))
        .context("the metrics have no mizzen_store_writes_total")?;
    Ok(line.rsplit(' ').next().context("no number")?.parse()?)
}
