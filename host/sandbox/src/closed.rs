//! WASI as every toolchain expects it, with nothing behind it.
//!
//! No files, environment, arguments, sockets or standard input. Standard output and error go to the plugin's log. Clock
//! and randomness are the same at every call unless the permission is granted, so that a replay gives the same bytes.

use crate::guest_log::{Log, Stream};
use crate::state::CallState;
use std::convert::Infallible;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;
use wasmtime::component::{HasData, Linker, ResourceTable};
use wasmtime_wasi::cli::{WasiCli, WasiCliView};
use wasmtime_wasi::clocks::{HostMonotonicClock, HostWallClock, WasiClocks, WasiClocksView};
use wasmtime_wasi::filesystem::{WasiFilesystem, WasiFilesystemView};
use wasmtime_wasi::p2::bindings::{cli, clocks, filesystem, random};
use wasmtime_wasi::random::WasiRandom;
use wasmtime_wasi::{WasiCtx, WasiCtxBuilder, WasiView};
use wasmtime_wasi_io::bindings::wasi::io;

/// The most that one call of `wasi:random` returns.
const MAX_RANDOM: u64 = 64 << 10;
/// Every read of the deterministic clock advances it by this much, so that a measured interval is never zero.
const CLOCK_STEP: u64 = 1_000;

struct Table;

impl HasData for Table {
    type Data<'a> = &'a mut ResourceTable;
}

/// Links the interfaces that toolchains always import. `wasi:sockets` and `wasi:http` are not among them.
pub(crate) fn link(linker: &mut Linker<CallState>) -> wasmtime::Result<()> {
    let l = linker;
    io::error::add_to_linker::<CallState, Table>(l, |t| t.ctx().table)?;
    io::poll::add_to_linker::<CallState, Table>(l, |t| t.ctx().table)?;
    io::streams::add_to_linker::<CallState, Table>(l, |t| t.ctx().table)?;
    clocks::wall_clock::add_to_linker::<CallState, WasiClocks>(l, CallState::clocks)?;
    clocks::monotonic_clock::add_to_linker::<CallState, WasiClocks>(l, CallState::clocks)?;
    filesystem::types::add_to_linker::<CallState, WasiFilesystem>(l, CallState::filesystem)?;
    filesystem::preopens::add_to_linker::<CallState, WasiFilesystem>(l, CallState::filesystem)?;
    random::random::add_to_linker::<CallState, WasiRandom>(l, |t| t.ctx().ctx.random())?;
    random::insecure::add_to_linker::<CallState, WasiRandom>(l, |t| t.ctx().ctx.random())?;
    random::insecure_seed::add_to_linker::<CallState, WasiRandom>(l, |t| t.ctx().ctx.random())?;
    cli::exit::add_to_linker::<CallState, WasiCli>(l, CallState::cli)?;
    cli::environment::add_to_linker::<CallState, WasiCli>(l, CallState::cli)?;
    cli::stdin::add_to_linker::<CallState, WasiCli>(l, CallState::cli)?;
    cli::stdout::add_to_linker::<CallState, WasiCli>(l, CallState::cli)?;
    cli::stderr::add_to_linker::<CallState, WasiCli>(l, CallState::cli)?;
    cli::terminal_input::add_to_linker::<CallState, WasiCli>(l, CallState::cli)?;
    cli::terminal_output::add_to_linker::<CallState, WasiCli>(l, CallState::cli)?;
    cli::terminal_stdin::add_to_linker::<CallState, WasiCli>(l, CallState::cli)?;
    cli::terminal_stdout::add_to_linker::<CallState, WasiCli>(l, CallState::cli)?;
    cli::terminal_stderr::add_to_linker::<CallState, WasiCli>(l, CallState::cli)?;
    Ok(())
}

/// Whether a guest sees the real clock and real randomness.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Ambient {
    pub(crate) clock: bool,
    pub(crate) random: bool,
}

/// The world of one call. The seed makes deterministic randomness differ between plugins, not between calls.
pub(crate) fn context(log: &mut Log, ambient: Ambient, seed: &[u8; 32]) -> WasiCtx {
    let mut builder = WasiCtxBuilder::new();
    builder
        .stdout(log.stream(Stream::Out))
        .stderr(log.stream(Stream::Err))
        .allow_tcp(false)
        .allow_udp(false)
        .allow_ip_name_lookup(false)
        .max_random_size(MAX_RANDOM);
    if !ambient.clock {
        builder
            .wall_clock(FrozenClock::default())
            .monotonic_clock(FrozenClock::default());
    }
    if !ambient.random {
        let (mut low, mut high) = ([0; 8], [0; 8]);
        low.copy_from_slice(seed.first_chunk::<8>().map_or(&[0; 8], |chunk| chunk));
        high.copy_from_slice(seed.last_chunk::<8>().map_or(&[0; 8], |chunk| chunk));
        builder
            .secure_random(Stretched::new(seed, b"secure"))
            .insecure_random(Stretched::new(seed, b"insecure"))
            .insecure_random_seed(
                u128::from(u64::from_le_bytes(low)) << 64 | u128::from(u64::from_le_bytes(high)),
            );
    }
    builder.build()
}

/// Starts at zero and advances a little at every read.
#[derive(Default)]
struct FrozenClock(AtomicU64);

impl FrozenClock {
    fn look(&self) -> u64 {
        self.0.fetch_add(CLOCK_STEP, Ordering::Relaxed)
    }
}

impl HostWallClock for FrozenClock {
    fn resolution(&self) -> Duration {
        Duration::from_nanos(CLOCK_STEP)
    }
    fn now(&self) -> Duration {
        Duration::from_nanos(self.look())
    }
}

impl HostMonotonicClock for FrozenClock {
    fn resolution(&self) -> u64 {
        CLOCK_STEP
    }
    fn now(&self) -> u64 {
        self.look()
    }
}

/// A seed stretched by BLAKE3. Built at the first read: most guests never read it.
struct Stretched {
    seed: [u8; 32],
    label: &'static [u8],
    reader: Option<blake3::OutputReader>,
}

impl Stretched {
    fn new(seed: &[u8; 32], label: &'static [u8]) -> Self {
        Self {
            seed: *seed,
            label,
            reader: None,
        }
    }

    fn fill(&mut self, bytes: &mut [u8]) {
        let (seed, label) = (&self.seed, self.label);
        let reader = self.reader.get_or_insert_with(|| {
            let mut hasher = blake3::Hasher::new_keyed(seed);
            hasher.update(label);
            hasher.finalize_xof()
        });
        reader.fill(bytes);
    }
}

impl rand_core::TryRng for Stretched {
    type Error = Infallible;
    fn try_next_u32(&mut self) -> Result<u32, Infallible> {
        let mut bytes = [0; 4];
        self.fill(&mut bytes);
        Ok(u32::from_le_bytes(bytes))
    }
    fn try_next_u64(&mut self) -> Result<u64, Infallible> {
        let mut bytes = [0; 8];
        self.fill(&mut bytes);
        Ok(u64::from_le_bytes(bytes))
    }
    fn try_fill_bytes(&mut self, bytes: &mut [u8]) -> Result<(), Infallible> {
        self.fill(bytes);
        Ok(())
    }
}
