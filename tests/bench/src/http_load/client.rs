//! HTTP/1.1 as far as a load generator needs it: keep-alive, a content length, one request at a time on each connection.

use super::{Answered, Load};
use crate::samples::Samples;
use anyhow::{Context, Result, ensure};
use std::net::SocketAddr;
use std::time::Instant;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

/// One connection.
pub(crate) struct Client {
    stream: TcpStream,
    address: SocketAddr,
    buffer: Vec<u8>,
}

impl Client {
    pub(crate) async fn connect(address: SocketAddr) -> Result<Self> {
        let stream = TcpStream::connect(address).await?;
        stream.set_nodelay(true)?;
        Ok(Self {
            stream,
            address,
            buffer: Vec::with_capacity(16 << 10),
        })
    }

    /// Sends a request and gives status and body.
    pub(crate) async fn send(&mut self, method: &str, path: &str, body: &str) -> Result<(u16, Vec<u8>)> {
        let request = format!(
            "{method} {path} HTTP/1.1\r\nhost: {}\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n{body}",
            self.address,
            body.len()
        );
        self.send_bytes(request.as_bytes()).await
    }

    async fn send_bytes(&mut self, request: &[u8]) -> Result<(u16, Vec<u8>)> {
        self.stream.write_all(request).await?;
        self.buffer.clear();
        let end = loop {
            if let Some(end) = self.buffer.windows(4).position(|four| four == b"\r\n\r\n") {
                break end;
            }
            self.fill().await?;
        };
        let head = std::str::from_utf8(self.buffer.get(..end).unwrap_or_default())?;
        let mut lines = head.split("\r\n");
        let status = lines
            .next()
            .and_then(|line| line.split(' ').nth(1))
            .and_then(|status| status.parse().ok())
            .context("no status")?;
        let length: usize = lines
            .filter_map(|line| line.split_once(':'))
            .find(|(name, _)| name.eq_ignore_ascii_case("content-length"))
            .map_or(Ok(0), |(_, length)| length.trim().parse())?;
        let whole = end + 4 + length;
        while self.buffer.len() < whole {
            self.fill().await?;
        }
        Ok((
            status,
            self.buffer.get(end + 4..whole).unwrap_or_default().to_vec(),
        ))
    }

    async fn fill(&mut self) -> Result<()> {
        let read = self.stream.read_buf(&mut self.buffer).await?;
        ensure!(read > 0, "the server closed the connection");
        ensure!(self.buffer.len() < 64 << 20, "the answer is too large");
        Ok(())
    }
}

/// One request on a connection of its own; an answer of another status is an error.
pub(crate) async fn exchange(
    address: SocketAddr,
    request: (&str, &str),
    body: &str,
    expected: u16,
) -> Result<serde_json::Value> {
    let (method, path) = request;
    let (status, body) = Client::connect(address).await?.send(method, path, body).await?;
    ensure!(
        status == expected,
        "{method} {path} gave {status}: {}",
        String::from_utf8_lossy(&body)
    );
    Ok(serde_json::from_slice(&body)?)
}

pub(super) fn run(load: &Load) -> Result<Answered> {
    // One thread, as wrk is started: the server has the other core.
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    let began = Instant::now();
    let samples = runtime.block_on(async {
        let mut clients = tokio::task::JoinSet::new();
        for _ in 0..load.connections {
            clients.spawn(send_until_end(load.clone(), began));
        }
        let mut all = Samples::default();
        while let Some(samples) = clients.join_next().await {
            all.extend(samples??);
        }
        anyhow::Ok(all)
    })?;
    Ok(Answered::from_samples(&samples, began.elapsed()))
}

async fn send_until_end(load: Load, began: Instant) -> Result<Samples> {
    let mut client = Client::connect(load.address).await?;
    let mut samples = Samples::default();
    loop {
        let sent = Instant::now();
        let (status, body) = client.send("POST", load.path, &load.body).await?;
        samples.push(sent.elapsed());
        ensure!(status == 200, "{status}: {}", String::from_utf8_lossy(&body));
        if began.elapsed() >= load.time {
            return Ok(samples);
        }
    }
}
