//! Every misdeed of the corpus at once on a real server, beside honest clients: seconds, or ten minutes with `--long`. All of them speak HTTP.

mod attack;
mod corpus;

use crate::echo::package;
use crate::harness::Bench;
use crate::http_load::Client;
use crate::misdeeds::{grants, packages};
use crate::process::resident;
use crate::row::{Row, Target, Value};
use crate::samples::Samples;
use crate::served::{NO_BINARY, mizzen};
use crate::site::{Site, furnish};
use crate::subjects::{database_in_memory, runtime};
use anyhow::{Result, ensure};
use attack::Attack;
use corpus::{HOARDS, corpus};
use std::net::SocketAddr;
use std::time::{Duration, Instant};
use tokio::task::JoinSet;

const CLIENTS: usize = 64;
/// Between two requests of a client: ten minutes leave some hundred thousand runs behind, not millions.
const PAUSE: Duration = Duration::from_millis(100);
/// Beside the same clients on a quiet host.
const FAIR: f64 = 3.0;
/// What the memory at the end may be beside that at a quarter of the time.
const FLAT: f64 = 1.05;

pub(crate) fn measure(bench: &Bench) -> Result<Vec<Row>> {
    let Some(binary) = mizzen(bench)? else {
        return Ok(vec![Row::skipped(
            "honest clients beside all misdeeds",
            NO_BINARY.to_owned(),
        )]);
    };
    let runtime = runtime()?;
    let slow = runtime.block_on(attack::slow_upstream())?;
    let corpus = corpus(bench)?;
    let names = || corpus.iter().map(|misdeed| misdeed.name.as_str());
    let mut plugins = packages(bench, names())?;
    plugins.push(package(bench)?);
    // The guest that waits for an answer waits for one of this program's.
    let tables = grants(bench, names())?.replace("net:*", "net:127.0.0.1")
        + &format!("[config.{HOARDS}]\nurl = \"http://{slow}/\"\n");
    let site = Site::granting(bench, &plugins, &tables)?;
    let data = database_in_memory(bench)?;
    let server = site.serve_from(&binary, data.path())?;
    let request = runtime.block_on(furnish(server.address, 1))?;
    let attacks = runtime.block_on(attack::prepare(server.address, &corpus))?;
    let clients = |time: Duration| runtime.block_on(honest(server.address, &request, time));
    let beside = |time: Duration| -> Result<Samples> {
        let attack = Attack::begin(&runtime, server.address, &attacks);
        let samples = clients(time);
        attack.end(&runtime)?;
        samples
    };
    let seconds = Duration::from_secs_f64;
    let quiet_time = seconds(bench.pick(0.1, 5.0, 10.0));
    let time = seconds(bench.pick(0.3, 10.0, 60.0));
    let rounds = bench.pick(1, 2, 10);
    // The first seconds warm up.
    clients(quiet_time)?;
    beside(quiet_time)?;
    let (mut quiet, mut all) = (Samples::default(), Samples::default());
    let mut memory = Vec::new();
    // In turns: a busy machine hits both.
    for _ in 0..rounds {
        quiet.extend(clients(quiet_time)?);
        all.extend(beside(time)?);
        // Weighed when the attackers have ended: what they may hold while they run is up to their limits.
        memory.push(resident(server.id())?);
    }
    let before = memory.get(memory.len() / 4).copied().unwrap_or_default();
    let after = memory.last().copied().unwrap_or_default();
    let seconds = (time * rounds).as_secs_f64();
    Ok(vec![
        Row::new(
            format!("run of {CLIENTS} honest clients on a quiet host, over HTTP"),
            Value::time(&quiet),
        ),
        Row::new(
            format!("the same beside {} misdeeds at once, {seconds} s", attacks.len()),
            Value::time(&all),
        ),
        Row::new("the same, p99", Value::slow(&all))
            .beside("p99 when quiet", Value::slow(&quiet))
            .target(Target::RatioAtMost(FAIR)),
        Row::new("resident memory after all of it", Value::bytes(after))
            .beside("after a quarter of it", Value::bytes(before))
            .target(Target::RatioAtMost(FLAT)),
    ])
}

/// Every client runs a chain of one step again and again on a connection of its own, until the time is up. A run that does not complete
/// is an error.
async fn honest(address: SocketAddr, request: &str, time: Duration) -> Result<Samples> {
    let began = Instant::now();
    let mut clients = JoinSet::new();
    for _ in 0..CLIENTS {
        let request = request.to_owned();
        clients.spawn(async move {
            let mut client = Client::connect(address).await?;
            let mut samples = Samples::default();
            // At least one each, however short the time.
            loop {
                let sent = Instant::now();
                let (status, body) = client.send("POST", "/v1/chains/execute", &request).await?;
                samples.push(sent.elapsed());
                ensure!(
                    status == 200,
                    "an honest run failed with {status}: {}",
                    String::from_utf8_lossy(&body)
                );
                if began.elapsed() >= time {
                    return Ok(samples);
                }
                tokio::time::sleep(PAUSE).await;
            }
        });
    }
    let mut samples = Samples::default();
    while let Some(client) = clients.join_next().await {
        samples.extend(client??);
    }
    Ok(samples)
}
