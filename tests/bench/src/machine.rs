//! What was measured on.

use crate::places::Places;
use crate::samples::{Samples, timed};
use anyhow::Result;
use serde::Serialize;
use std::io::Write;
use std::process::Command;

/// The machine's facts.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct Machine {
    pub(crate) cpu: String,
    pub(crate) cores: usize,
    pub(crate) memory: String,
    pub(crate) kernel: String,
    pub(crate) rustc: String,
    pub(crate) commit: String,
    pub(crate) profile: &'static str,
    /// The load of the last minute when the run began: what else the machine was doing.
    pub(crate) load: String,
    /// How long the disk takes to make 4 KiB durable, in microseconds: half of the times, and 99 of 100.
    pub(crate) fdatasync_p50_us: f64,
    pub(crate) fdatasync_p99_us: f64,
}

impl Machine {
    pub(crate) fn look(places: &Places, syncs: usize) -> Result<Self> {
        let disk = fdatasync(places, syncs)?;
        Ok(Self {
            cpu: field("/proc/cpuinfo", "model name").unwrap_or_else(|| std::env::consts::ARCH.to_owned()),
            cores: std::thread::available_parallelism().map_or(1, std::num::NonZero::get),
            memory: field("/proc/meminfo", "MemTotal").unwrap_or_default(),
            kernel: first_line("/proc/sys/kernel/osrelease")
                .unwrap_or_else(|| std::env::consts::OS.to_owned()),
            rustc: stdout_of("rustc", &["--version"], places),
            commit: stdout_of(
                "git",
                &["describe", "--always", "--dirty", "--exclude", "*"],
                places,
            ),
            profile: if cfg!(debug_assertions) {
                "debug"
            } else {
                "release"
            },
            load: first_line("/proc/loadavg")
                .and_then(|line| line.split(' ').next().map(str::to_owned))
                .unwrap_or_default(),
            fdatasync_p50_us: disk.p50() / 1e3,
            fdatasync_p99_us: disk.p99() / 1e3,
        })
    }
}

/// Appends 4 KiB and waits until they are durable, again and again.
pub(crate) fn fdatasync(places: &Places, count: usize) -> Result<Samples> {
    let folder = places.scratch()?;
    let mut file = std::fs::File::create(folder.path().join("appended"))?;
    let page = [7_u8; 4096];
    timed(count, || {
        file.write_all(&page)?;
        Ok(file.sync_data()?)
    })
}

fn first_line(path: &str) -> Option<String> {
    let text = std::fs::read_to_string(path).ok()?;
    text.lines().next().map(str::to_owned)
}

fn field(path: &str, name: &str) -> Option<String> {
    let text = std::fs::read_to_string(path).ok()?;
    let line = text.lines().find(|line| line.starts_with(name))?;
    Some(line.split_once(':')?.1.trim().to_owned())
}

fn stdout_of(program: &str, arguments: &[&str], places: &Places) -> String {
    let output = Command::new(program)
        .args(arguments)
        .current_dir(&places.root)
        .output();
    output.map_or_else(
        |_| "unknown".to_owned(),
        |output| String::from_utf8_lossy(&output.stdout).trim().to_owned(),
    )
}
