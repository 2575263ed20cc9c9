//! Time that passes when nobody has anything else to do.

use crate::clock::Clock;
use std::collections::BTreeMap;
use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Waker};
use std::time::Duration;

/// When a simulated world begins: some day in 2026.
const BEGIN_MS: i64 = 1_777_284_000_000;

#[derive(Debug, Default)]
struct State {
    steady_ms: u64,
    jumped_ms: i64,
    sleepers: BTreeMap<(u64, u64), Waker>,
    slept: u64,
}

/// Shared by everybody in one simulated world, over all its processes.
#[derive(Debug, Default, Clone)]
pub(super) struct SimClock(Arc<Mutex<State>>);

impl SimClock {
    /// Moves on to whoever wakes first. False when nobody sleeps.
    pub(super) fn advance(&self) -> bool {
        let mut state = self.0.lock().unwrap();
        let Some(((at, _), waker)) = state.sleepers.pop_first() else {
            return false;
        };
        state.steady_ms = state.steady_ms.max(at);
        waker.wake();
        true
    }

    /// Sets the wall clock; nothing else moves.
    pub(super) fn jump(&self, by_ms: i64) {
        self.0.lock().unwrap().jumped_ms += by_ms;
    }

    /// A process died: nobody sleeps any more.
    pub(super) fn forget_sleepers(&self) {
        self.0.lock().unwrap().sleepers.clear();
    }
}

impl Clock for SimClock {
    fn now_ms(&self) -> i64 {
        let state = self.0.lock().unwrap();
        BEGIN_MS + state.jumped_ms + i64::try_from(state.steady_ms).unwrap()
    }

    fn steady(&self) -> Duration {
        Duration::from_millis(self.0.lock().unwrap().steady_ms)
    }

    fn sleep(&self, time: Duration) -> Pin<Box<dyn Future<Output = ()> + Send>> {
        let at = self.0.lock().unwrap().steady_ms + u64::try_from(time.as_millis()).unwrap();
        Box::pin(Sleep {
            clock: self.clone(),
            at,
            entered: None,
        })
    }
}

struct Sleep {
    clock: SimClock,
    at: u64,
    entered: Option<u64>,
}

impl Future for Sleep {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        let at = self.at;
        let clock = self.clock.clone();
        let mut state = clock.0.lock().unwrap();
        if state.steady_ms >= at && self.entered.is_some() {
            return Poll::Ready(());
        }
        let number = *self.entered.get_or_insert_with(|| {
            state.slept += 1;
            state.slept
        });
        state.sleepers.insert((at, number), context.waker().clone());
        Poll::Pending
    }
}

impl Drop for Sleep {
    fn drop(&mut self) {
        if let Some(number) = self.entered {
            self.clock.0.lock().unwrap().sleepers.remove(&(self.at, number));
        }
    }
}
