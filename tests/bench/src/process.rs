//! Children that listen on a port of their own, and what they weigh.

use anyhow::{Context, Result, bail};
use std::io::{BufRead, BufReader};
use std::net::SocketAddr;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// A server that is stopped when dropped.
#[derive(Debug)]
pub(crate) struct Listening {
    child: Child,
    pub(crate) address: SocketAddr,
    /// From the start of the process to the line that says where it listens.
    pub(crate) startup: Duration,
}

impl Listening {
    /// Starts it and waits for its first line, `listening on http://ADDR:PORT`.
    pub(crate) fn start(command: &mut Command, log: &Path) -> Result<Self> {
        let began = Instant::now();
        let log_file = std::fs::OpenOptions::new().create(true).append(true).open(log)?;
        let mut child = command
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(log_file)
            .spawn()
            .with_context(|| format!("{command:?}"))?;
        let mut line = String::new();
        if let Some(stdout) = child.stdout.take() {
            BufReader::new(stdout).read_line(&mut line)?;
        }
        let startup = began.elapsed();
        let address = line.trim_end().strip_prefix("listening on http://");
        let Some(address) = address.and_then(|address| address.parse().ok()) else {
            let _ = child.kill();
            let _ = child.wait();
            let stderr = std::fs::read_to_string(log).unwrap_or_default();
            bail!("{command:?} does not listen; it printed {line:?} and {stderr}");
        };
        Ok(Self {
            child,
            address,
            startup,
        })
    }

    /// Its id.
    pub(crate) fn id(&self) -> u32 {
        self.child.id()
    }
}

impl Drop for Listening {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The resident memory of a process, in bytes.
pub(crate) fn resident(process: u32) -> Result<u64> {
    let text =
        std::fs::read_to_string(format!("/proc/{process}/status")).context("no /proc on this system")?;
    let line = text.lines().find(|line| line.starts_with("VmRSS:"));
    let kib: u64 = line
        .and_then(|line| line.split_whitespace().nth(1))
        .and_then(|number| number.parse().ok())
        .context("no VmRSS")?;
    Ok(kib * 1024)
}

/// Runs a command to its end; its words are shown only when it fails.
pub(crate) fn finish(command: &mut Command) -> Result<String> {
    let output = command
        .stdin(Stdio::null())
        .output()
        .with_context(|| format!("{command:?}"))?;
    if !output.status.success() {
        let stderr = String::from_utf8_lossy(&output.stderr);
        let lines: Vec<&str> = stderr.lines().collect();
        let last = lines.get(lines.len().saturating_sub(8)..).unwrap_or_default();
        bail!("{command:?} failed: {}", last.join("\n"));
    }
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}
