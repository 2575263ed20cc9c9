//! Calls a guest through Extism and says how long it took. One request a line on standard input, one answer a line on
//! standard output, so that its rounds can take turns with those of others:
//!
//! `MODE BYTES COUNT` → `{"samples": [nanoseconds, …]}`, with MODE one of `fresh` (a new plugin from compiled code for every
//! call), `reused` (one plugin for all calls), `pooled` (from Extism's pool of reused plugins).

use anyhow::{Context, Result, bail};
use extism::{CompiledPlugin, Manifest, Plugin, PluginBuilder, Pool, PoolBuilder, Wasm};
use std::io::{BufRead, Write};
use std::time::{Duration, Instant};

struct Rival {
    compiled: CompiledPlugin,
    reused: Plugin,
    pool: Pool,
}

impl Rival {
    fn new(guest: &str) -> Result<Self> {
        let bytes = std::fs::read(guest).with_context(|| format!("the guest {guest} cannot be read"))?;
        let manifest = Manifest::new([Wasm::data(bytes)]);
        let compiled = CompiledPlugin::new(PluginBuilder::new(manifest).with_wasi(true))?;
        let reused = Plugin::new_from_compiled(&compiled)?;
        let source = compiled.clone();
        let pool = PoolBuilder::new()
            .with_max_instances(2)
            .build(move || Plugin::new_from_compiled(&source));
        Ok(Self {
            compiled,
            reused,
            pool,
        })
    }

    fn call(&mut self, mode: &str, input: &str) -> Result<Duration> {
        let began = Instant::now();
        let length = match mode {
            "fresh" => Plugin::new_from_compiled(&self.compiled)?
                .call::<&str, &str>("echo", input)?
                .len(),
            "reused" => self.reused.call::<&str, &str>("echo", input)?.len(),
            "pooled" => {
                let mut plugin = self
                    .pool
                    .get(Duration::from_secs(1))?
                    .context("the pool has no plugin")?;
                plugin.call::<&str, String>("echo", input)?.len()
            }
            other => bail!("unknown mode {other}"),
        };
        let took = began.elapsed();
        if length != input.len() {
            bail!("{length} bytes came back for {}", input.len());
        }
        Ok(took)
    }
}

/// The same document as the other side sends: `{"text":"aaa…"}`, of this many bytes.
fn document(bytes: usize) -> String {
    format!("{{\"text\":\"{}\"}}", "a".repeat(bytes.saturating_sub(11)))
}

fn main() -> Result<()> {
    let guest = std::env::args()
        .nth(1)
        .context("usage: rival-extism GUEST.wasm")?;
    let mut rival = Rival::new(&guest)?;
    let mut out = std::io::stdout().lock();
    writeln!(out, "{{\"ready\": true}}")?;
    out.flush()?;
    for line in std::io::stdin().lock().lines() {
        let line = line?;
        let mut words = line.split_whitespace();
        let (Some(mode), Some(bytes), Some(count)) = (words.next(), words.next(), words.next()) else {
            bail!("expected MODE BYTES COUNT, got {line:?}");
        };
        let input = document(bytes.parse()?);
        let mut samples = Vec::new();
        for _ in 0..count.parse::<usize>()? {
            samples.push(u64::try_from(rival.call(mode, &input)?.as_nanos())?);
        }
        writeln!(out, "{}", serde_json::json!({ "samples": samples }))?;
        out.flush()?;
    }
    Ok(())
}
