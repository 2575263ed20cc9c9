//! What an operator can set for the sandbox as a whole.

use std::path::PathBuf;
use std::time::Duration;

/// Settings of the one sandbox of a process. Limits of single plugins are in their permits.
#[derive(Debug, Clone)]
pub struct Settings {
    /// How many calls may be inside of a guest at the same time. Further calls wait.
    pub slots: u32,
    /// The largest linear memory that any guest can have, whatever its manifest asks for.
    pub max_memory: u64,
    /// The budget of the linear memories of all guests together. A growth beyond it is refused.
    pub total_memory: u64,
    /// The largest table, in elements, that any guest can have.
    pub max_table_elements: u32,
    /// Threads that run guests and nothing else.
    pub guest_threads: usize,
    /// How often a running guest is checked. A deadline fires at most one tick late.
    pub tick: Duration,
    /// Where compiled artifacts are kept; none keeps them in memory only. Must belong to the host alone.
    pub cache: Option<PathBuf>,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            slots: 64,
            max_memory: 512 << 20,
            total_memory: crate::memory::usual_total(),
            max_table_elements: 20_000,
            // With fewer than two, one guest inside a long bulk instruction would block every other.
            guest_threads: std::thread::available_parallelism().map_or(2, |cores| cores.get().max(2)),
            tick: Duration::from_millis(1),
            cache: None,
        }
    }
}
