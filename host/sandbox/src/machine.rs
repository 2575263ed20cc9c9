//! Per process: one engine, one ticker, the threads for guests.

use crate::memory::GuestMemory;
use crate::settings::Settings;
use crate::threads::{Runtimes, Threads};
use std::num::NonZeroUsize;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;
use tokio::sync::Semaphore;
use wasmtime::{Config, Enabled, Engine, InstanceAllocationStrategy, PoolingAllocationConfig};

/// The sandbox could not be set up.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// wasmtime refuses the configuration, or this machine cannot run it.
    #[error("the WebAssembly engine does not start: {0}")]
    Engine(String),
    /// A thread or runtime could not be started.
    #[error("the sandbox's threads do not start: {0}")]
    Threads(#[from] std::io::Error),
}

/// How deep tools can call tools, the outermost call included. Each level has slots of its own, so that a call which
/// waits for a nested one never waits for a slot that its own level holds: no deadlock.
pub(crate) const LEVELS: usize = 4;

/// What all plugins of a process share.
pub(crate) struct Machine {
    pub(crate) engine: Engine,
    pub(crate) threads: Arc<Threads>,
    pub(crate) slots: [Semaphore; LEVELS],
    pub(crate) share: usize,
    pub(crate) memory: Arc<GuestMemory>,
    _ticker: Ticker,
}

impl Machine {
    pub(crate) fn start(settings: &Settings) -> Result<(Self, Allocation, Runtimes), StartError> {
        let (engine, allocation) = engine(settings)?;
        let (threads, runtimes) = Threads::start(settings)?;
        let ticker = Ticker::start(&engine, settings.tick)?;
        let slots = settings.slots.max(MIN_SLOTS) as usize;
        let slots_of = |level: usize| match level {
            0 => slots / 2,
            1 => slots / 4,
            _ => slots / 8,
        };
        let machine = Self {
            engine,
            threads: Arc::new(threads),
            slots: std::array::from_fn(|level| Semaphore::new(slots_of(level).max(1))),
            // One plugin gets at most three quarters of the outermost slots: the others always have some.
            share: (slots_of(0) * 3 / 4).max(1),
            memory: GuestMemory::new(settings.total_memory),
            _ticker: ticker,
        };
        Ok((machine, allocation, runtimes))
    }
}

/// Half, a quarter and two eighths must each be at least one.
const MIN_SLOTS: u32 = 8;

/// How memory for guests is allocated.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Allocation {
    /// From slots that are reserved once and reused: fast.
    Pooling,
    /// From the operating system for every call: slow, but works in a small address space.
    OnDemand,
}

/// Builds the engine with pooled memory, or without where the address space does not hold the pool.
pub(crate) fn engine(settings: &Settings) -> Result<(Engine, Allocation), StartError> {
    let mut pooled = tuned();
    pooled.allocation_strategy(InstanceAllocationStrategy::Pooling(pool(settings)));
    // Making the engine reserves the whole pool, so it is the probe of the address space as well.
    match Engine::new(&pooled) {
        Ok(engine) => Ok((engine, Allocation::Pooling)),
        Err(error) => {
            tracing::warn!(
                slots = settings.slots,
                max_memory = settings.max_memory,
                %error,
                "no address space for pooled guest memory; calls will be several times slower. Lower sandbox.slots or raise the address-space limit"
            );
            let mut plain = tuned();
            plain.allocation_strategy(InstanceAllocationStrategy::OnDemand);
            // Reserving 4 GiB for each memory failed above: reserve only what a guest may use.
            plain
                .memory_reservation(settings.max_memory)
                .memory_reservation_for_growth(0)
                .memory_guard_size(64 << 10);
            let engine = Engine::new(&plain).map_err(|e| StartError::Engine(format!("{e:#}")))?;
            Ok((engine, Allocation::OnDemand))
        }
    }
}

fn tuned() -> Config {
    let mut config = Config::new();
    config
        // The component-model-async runtime doubles the cost of a call, and nothing here uses it.
        .concurrency_support(false)
        .epoch_interruption(true)
        .gc_support(false)
        .memory_init_cow(true)
        .max_wasm_stack(512 << 10)
        .wasm_backtrace_max_frames(NonZeroUsize::new(16));
    config
}

fn pool(settings: &Settings) -> PoolingAllocationConfig {
    let slots = settings.slots.max(MIN_SLOTS);
    let mut pool = PoolingAllocationConfig::new();
    pool.total_component_instances(slots)
        // A component made by wit-component has three core instances: shim, main, fix-up.
        .total_core_instances(slots.saturating_mul(4))
        .total_memories(slots)
        .total_tables(slots.saturating_mul(2))
        .total_stacks(slots)
        .max_memories_per_component(1)
        .max_tables_per_component(4)
        .max_core_instances_per_component(8)
        .max_memory_size(usize::try_from(settings.max_memory).unwrap_or(usize::MAX))
        .table_elements(settings.max_table_elements as usize)
        // Kept pages are cleared by the pagemap scan instead of being released: one system call per call.
        // The cost: a slot that served a call of a megabyte clears it after every small call too, about 24 µs (`cargo bench`).
        .linear_memory_keep_resident(1 << 20)
        .table_keep_resident(64 << 10)
        .pagemap_scan(Enabled::Auto);
    pool
}

/// Advances the engine's epoch, so that running guests are checked at every tick. Stops when dropped.
pub(crate) struct Ticker {
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Ticker {
    pub(crate) fn start(engine: &Engine, tick: Duration) -> Result<Self, StartError> {
        let stop = Arc::new(AtomicBool::new(false));
        let (seen, engine) = (Arc::clone(&stop), engine.clone());
        let thread = std::thread::Builder::new()
            .name("mizzen-epoch".into())
            .spawn(move || {
                while !seen.load(Ordering::Relaxed) {
                    std::thread::sleep(tick);
                    engine.increment_epoch();
                }
            })?;
        Ok(Self {
            stop,
            thread: Some(thread),
        })
    }
}

impl Drop for Ticker {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}
