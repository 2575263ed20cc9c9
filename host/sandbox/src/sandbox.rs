//! Per process: everything that plugins share.

use crate::artifact::Artifacts;
use crate::machine::{Allocation, Machine, StartError};
use crate::settings::Settings;
use crate::threads::Runtimes;
use std::future::Future;
use std::sync::Arc;

/// The sandbox of a process. Make one: a second would reserve a second pool of memory.
pub struct Sandbox {
    machine: Arc<Machine>,
    artifacts: Artifacts,
    settings: Settings,
    allocation: Allocation,
    /// Taken when dropped.
    runtimes: Option<Runtimes>,
}

/// What guests hold of the pool.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct InUse {
    /// Live component instances.
    pub instances: u64,
    /// Live linear memories.
    pub memories: usize,
    /// Live tables.
    pub tables: usize,
    /// Live stacks.
    pub stacks: usize,
    /// Bytes of linear memory; counted without a pool, too.
    pub memory_bytes: u64,
}

impl Sandbox {
    /// Starts the engine, its ticker and the threads for guests.
    ///
    /// # Errors
    /// When the engine or the threads do not start.
    pub fn start(settings: Settings) -> Result<Self, StartError> {
        let (machine, allocation, runtimes) = Machine::start(&settings)?;
        Ok(Self {
            machine: Arc::new(machine),
            artifacts: Artifacts::open(settings.cache.as_deref()),
            allocation,
            runtimes: Some(runtimes),
            settings,
        })
    }

    /// How memory for guests is allocated.
    pub fn allocation(&self) -> Allocation {
        self.allocation
    }

    /// What guests hold at this moment; all zero without calls. Without a pool only their memory is counted.
    pub fn in_use(&self) -> InUse {
        let memory_bytes = self.machine.memory.held();
        let Some(pool) = self.machine.engine.pooling_allocator_metrics() else {
            return InUse {
                memory_bytes,
                ..InUse::default()
            };
        };
        InUse {
            instances: pool.component_instances(),
            memories: pool.memories(),
            tables: pool.tables(),
            stacks: pool.stacks(),
            memory_bytes,
        }
    }

    /// Runs a future on the threads where calls begin. Calls made inside of it need no hop between threads, unless they take long.
    ///
    /// # Errors
    /// When the future panics or the sandbox shuts down.
    pub async fn run<F>(&self, future: F) -> Result<F::Output, tokio::task::JoinError>
    where
        F: Future + Send + 'static,
        F::Output: Send,
    {
        self.machine.threads.short().spawn(future).await
    }

    /// Begins a future on the threads where calls begin and does not wait for it.
    pub fn spawn<F>(&self, future: F)
    where
        F: Future<Output = ()> + Send + 'static,
    {
        drop(self.machine.threads.short().spawn(future));
    }

    pub(crate) fn machine(&self) -> &Arc<Machine> {
        &self.machine
    }

    pub(crate) fn artifacts(&self) -> &Artifacts {
        &self.artifacts
    }

    pub(crate) fn settings(&self) -> &Settings {
        &self.settings
    }
}

impl Drop for Sandbox {
    fn drop(&mut self) {
        if let Some(runtimes) = self.runtimes.take() {
            runtimes.shut_down();
        }
    }
}
