//! Clients that ask for misdeeds, each on a connection of its own, as long as they are let.

use super::corpus::{Asked, Misdeed};
use crate::http_load::{Client, exchange};
use crate::site::council;
use anyhow::{Context, Result, ensure};
use serde_json::{Value, json};
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::runtime::Runtime;
use tokio::task::JoinHandle;

/// Between two requests of an attacker: guests that end at once do not become a flood of requests, which is another subject.
const PAUSE: Duration = Duration::from_millis(100);
/// How long the guest that hoards memory waits for its answer.
const SLOW: Duration = Duration::from_secs(2);

/// One request that ends in a misdeed.
#[derive(Clone)]
pub(super) struct Request {
    path: String,
    body: String,
}

/// The requests of all attackers. A pack is mounted by a council of its own.
pub(super) async fn prepare(address: SocketAddr, corpus: &[Misdeed]) -> Result<Vec<Request>> {
    let sprites = exchange(address, ("GET", "/v1/sprites"), "", 200).await?;
    let sprite = sprites
        .pointer("/sprites/0/id")
        .and_then(Value::as_str)
        .with_context(|| format!("no sprite in {sprites}"))?;
    let mut requests = Vec::new();
    for misdeed in corpus {
        let request = match &misdeed.asked {
            Asked::Tool { id, input } => Request {
                path: format!("/v1/tools/{id}/call"),
                body: format!("{{\"input\": {input}}}"),
            },
            Asked::Pack { id } => {
                let mut council = council(&format!("bench-{}", misdeed.name), sprite, 1);
                if let Some(members) = council.as_object_mut() {
                    members.insert("governance".to_owned(), json!([{ "id": id }]));
                }
                let made = exchange(address, ("POST", "/v1/councils"), &council.to_string(), 201).await?;
                let body = crate::site::request(&made, &crate::site::input())?;
                Request {
                    path: "/v1/chains/execute".to_owned(),
                    body: body.to_string(),
                }
            }
        };
        requests.extend(std::iter::repeat_n(request, misdeed.count));
    }
    Ok(requests)
}

/// The attackers.
pub(super) struct Attack {
    stop: Arc<AtomicBool>,
    tasks: Vec<JoinHandle<Result<()>>>,
}

impl Attack {
    pub(super) fn begin(runtime: &Runtime, address: SocketAddr, requests: &[Request]) -> Self {
        let stop = Arc::new(AtomicBool::new(false));
        let tasks = requests
            .iter()
            .map(|request| runtime.spawn(attack(address, request.clone(), Arc::clone(&stop))))
            .collect();
        Self { stop, tasks }
    }

    /// Waits for the limits of the last calls.
    pub(super) fn end(self, runtime: &Runtime) -> Result<()> {
        self.stop.store(true, Ordering::Relaxed);
        for task in self.tasks {
            runtime.block_on(task)??;
        }
        Ok(())
    }
}

/// Asks again and again. That the guest is stopped is what is expected; that the host breaks is not.
async fn attack(address: SocketAddr, request: Request, stop: Arc<AtomicBool>) -> Result<()> {
    let mut client = Client::connect(address).await?;
    while !stop.load(Ordering::Relaxed) {
        let (status, body) = client.send("POST", &request.path, &request.body).await?;
        ensure!(
            status != 500,
            "{} broke the host: {}",
            request.path,
            String::from_utf8_lossy(&body)
        );
        tokio::time::sleep(PAUSE).await;
    }
    Ok(())
}

/// A server that lets its clients wait, then gives an empty answer.
pub(super) async fn slow_upstream() -> Result<SocketAddr> {
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    let address = listener.local_addr()?;
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            tokio::spawn(answer_late(stream));
        }
    });
    Ok(address)
}

async fn answer_late(mut stream: TcpStream) -> std::io::Result<()> {
    let mut head = [0_u8; 4096];
    if stream.read(&mut head).await? == 0 {
        return Ok(());
    }
    tokio::time::sleep(SLOW).await;
    stream
        .write_all(b"HTTP/1.1 204 No Content\r\ncontent-length: 0\r\nconnection: close\r\n\r\n")
        .await
}
