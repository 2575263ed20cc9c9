//! The memory of all guests together. The limit of a call bounds one guest, and the slots bound their number; their product is
//! more than most machines have.
//!
//! It counts linear memory as it is reserved, whether a guest has touched it or not. Memory is taken before it grows and returned when the
//! call has ended.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// Part of the budget that only calls with little memory get: one in so many. Small calls run however much the large ones hold.
const KEPT: u64 = 8;
/// The most that a small call holds. Nearly all calls are small.
const SMALL: u64 = 16 << 20;

/// The budget of a process.
#[derive(Debug)]
pub(crate) struct GuestMemory {
    total: u64,
    held: AtomicU64,
}

impl GuestMemory {
    pub(crate) fn new(total: u64) -> Arc<Self> {
        Arc::new(Self {
            total,
            held: AtomicU64::new(0),
        })
    }

    /// What all guests may hold.
    pub(crate) fn total(&self) -> u64 {
        self.total
    }

    /// What all guests hold now.
    pub(crate) fn held(&self) -> u64 {
        self.held.load(Ordering::Relaxed)
    }
}

/// The part of the budget that the calls of one plugin hold.
#[derive(Debug)]
pub(crate) struct PluginMemory {
    all: Arc<GuestMemory>,
    held: AtomicU64,
}

impl PluginMemory {
    pub(crate) fn new(all: &Arc<GuestMemory>) -> Arc<Self> {
        Arc::new(Self {
            all: Arc::clone(all),
            held: AtomicU64::new(0),
        })
    }

    /// One plugin gets three quarters at the most, as of the slots: one plugin alone never blocks the others.
    fn most(&self) -> u64 {
        self.all.total / 4 * 3
    }
}

/// What one call holds. Returned when dropped.
#[derive(Debug)]
pub(crate) struct Held {
    plugin: Arc<PluginMemory>,
    bytes: u64,
}

/// The budget is exhausted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Exhausted {
    /// The bytes that were requested.
    pub(crate) wanted: u64,
    /// What all guests may hold.
    pub(crate) total: u64,
}

impl Held {
    pub(crate) fn nothing(plugin: Arc<PluginMemory>) -> Self {
        Self { plugin, bytes: 0 }
    }

    /// Takes all of it, or nothing.
    pub(crate) fn take(&mut self, more: u64) -> Result<(), Exhausted> {
        let (plugin, all) = (&self.plugin, &self.plugin.all);
        let exhausted = |_| Exhausted {
            wanted: more,
            total: all.total,
        };
        let kept = if self.bytes.saturating_add(more) <= SMALL {
            0
        } else {
            all.total / KEPT
        };
        add(&plugin.held, more, plugin.most()).map_err(exhausted)?;
        if let Err(full) = add(&all.held, more, all.total - kept) {
            plugin.held.fetch_sub(more, Ordering::Relaxed);
            return Err(exhausted(full));
        }
        self.bytes = self.bytes.saturating_add(more);
        Ok(())
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        self.plugin.held.fetch_sub(self.bytes, Ordering::Relaxed);
        self.plugin.all.held.fetch_sub(self.bytes, Ordering::Relaxed);
    }
}

/// Adds to a counter unless it would exceed `most`.
fn add(held: &AtomicU64, more: u64, most: u64) -> Result<u64, u64> {
    let fits = |held: u64| held.checked_add(more).filter(|sum| *sum <= most);
    held.fetch_update(Ordering::Relaxed, Ordering::Relaxed, fits)
}

/// Half of what the machine, or the container, has.
pub(crate) fn usual_total() -> u64 {
    /// Where the size of the memory is unknown.
    const UNKNOWN: u64 = 4 << 30;
    available().map_or(UNKNOWN, |bytes| bytes / 2)
}

/// How much memory the machine has, or this process may have of it.
fn available() -> Option<u64> {
    let machine = read("/proc/meminfo").and_then(|text| {
        let line = text.lines().find_map(|line| line.strip_prefix("MemTotal:"))?;
        let kib: u64 = line.trim().strip_suffix(" kB")?.trim().parse().ok()?;
        kib.checked_mul(1024)
    });
    machine.into_iter().chain(control_group()).min()
}

/// The least limit of the control groups (version 2) that this process is in.
fn control_group() -> Option<u64> {
    let groups = read("/proc/self/cgroup")?;
    let group = groups.lines().find_map(|line| line.strip_prefix("0::/"))?;
    let root = Path::new("/sys/fs/cgroup");
    let inner = root.join(group);
    let limits = inner
        .ancestors()
        .take_while(|folder| folder.starts_with(root))
        .filter_map(|folder| read(folder.join("memory.max"))?.trim().parse().ok());
    limits.min()
}

fn read(path: impl AsRef<Path>) -> Option<String> {
    const MOST: u64 = 64 << 10;
    mizzen_catalog::files::read_text(path.as_ref(), MOST).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    const MIB: u64 = 1 << 20;

    #[test]
    fn what_is_taken_is_given_back_to_the_byte() {
        let all = GuestMemory::new(1024 * MIB);
        let plugin = PluginMemory::new(&all);
        let mut call = Held::nothing(Arc::clone(&plugin));
        call.take(17 * MIB).unwrap();
        call.take(1).unwrap();
        let mut other = Held::nothing(Arc::clone(&plugin));
        other.take(MIB).unwrap();
        assert_eq!(all.held(), 18 * MIB + 1);
        drop(call);
        assert_eq!(all.held(), MIB);
        drop(other);
        assert_eq!((all.held(), plugin.held.load(Ordering::Relaxed)), (0, 0));
    }

    #[test]
    fn one_plugin_gets_three_quarters_and_the_last_eighth_is_for_small_calls() {
        let all = GuestMemory::new(800 * MIB);
        let plugins = [(); 3].map(|()| PluginMemory::new(&all));
        let mut calls = plugins.each_ref().map(|plugin| Held::nothing(Arc::clone(plugin)));
        let [large, second, small] = &mut calls;
        let exhausted = |wanted| {
            Err(Exhausted {
                wanted,
                total: 800 * MIB,
            })
        };
        assert_eq!(large.take(601 * MIB), exhausted(601 * MIB));
        large.take(600 * MIB).unwrap();
        second.take(100 * MIB).unwrap();
        // Seven eighths are taken.
        assert_eq!(second.take(MIB), exhausted(MIB));
        small.take(16 * MIB).unwrap();
        assert_eq!(small.take(1), exhausted(1));
        // A refusal takes nothing.
        assert_eq!(all.held(), 716 * MIB);
        drop(calls);
        assert_eq!(all.held(), 0);
    }

    #[test]
    fn threads_that_take_and_give_back_never_hold_more_than_there_is() {
        let all = GuestMemory::new(256 * MIB);
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    let plugin = PluginMemory::new(&all);
                    for _ in 0..2_000 {
                        let mut call = Held::nothing(Arc::clone(&plugin));
                        let _ = call.take(60 * MIB);
                        let _ = call.take(30 * MIB);
                        assert!(all.held() <= 224 * MIB, "{}", all.held());
                    }
                });
            }
        });
        assert_eq!(all.held(), 0);
    }

    #[test]
    fn the_machine_says_how_much_it_has() {
        let usual = usual_total();
        assert!(usual >= 64 * MIB, "{usual}");
        assert!(available().is_some_and(|bytes| bytes / 2 == usual));
    }
}
