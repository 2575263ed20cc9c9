//! The CPU time of a call: the time inside of its polls, for the guest's code and for the host's on its behalf.
//!
//! Waiting for a turn, for a host call or for another tool does not count. Epoch ticks are no measure: one `memory.fill` can take as long as a
//! hundred of them and would count as one.

use std::cell::Cell;
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

thread_local! {
    /// The call that this thread is inside of; the innermost where one makes another. Not in the store's data: that belongs to the
    /// guest while it runs, and what is measured begins before there is a store.
    static RUNNING: Cell<Option<Running>> = const { Cell::new(None) };
}

/// A call that is being polled.
#[derive(Debug, Clone, Copy)]
struct Running {
    /// What it had used before.
    before: Duration,
    since: Since,
    /// What the calls inside of it have used: that counts as theirs.
    inside: Duration,
}

impl Running {
    /// What it has used when this poll has taken so long.
    fn used(self, elapsed: Duration) -> Duration {
        self.before.saturating_add(elapsed.saturating_sub(self.inside))
    }
}

/// How exactly a poll is measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Clock {
    /// Cheap, and too high by up to [`ROUGHLY`]: for the first ticks of a call.
    Rough,
    /// The time that the thread was on a CPU. A system call at the beginning and one at the end.
    Exact,
}

/// Below this, the time on the wall is good enough. Above it, the operating system may have given the CPU to others.
const ROUGHLY: Duration = Duration::from_millis(1);

#[derive(Debug, Clone, Copy)]
struct Since {
    wall: Instant,
    /// How long the thread had been on a CPU: then, or, roughly, not long before.
    cpu: Duration,
    clock: Clock,
}

thread_local! {
    /// When this thread's time on a CPU was last read, and what it was.
    static READ: Cell<Option<(Instant, Duration)>> = const { Cell::new(None) };
}

impl Since {
    fn at(wall: Instant, clock: Clock) -> Self {
        let fresh = READ
            .get()
            .filter(|(then, _)| clock == Clock::Rough && wall.saturating_duration_since(*then) < ROUGHLY);
        let (_, cpu) = fresh.unwrap_or_else(|| {
            let read = (wall, on_cpu());
            READ.set(Some(read));
            read
        });
        Self { wall, cpu, clock }
    }

    fn elapsed(self, now: Instant) -> Duration {
        let wall = now.saturating_duration_since(self.wall);
        if self.clock == Clock::Rough && wall < ROUGHLY {
            return wall;
        }
        wall.min(on_cpu().saturating_sub(self.cpu))
    }
}

/// How long this thread has been on a CPU.
fn on_cpu() -> Duration {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    Duration::try_from(time).unwrap_or_default()
}

/// What the call that this thread is inside of has used until now; nothing outside of calls.
pub(crate) fn used(now: Instant) -> Duration {
    RUNNING
        .get()
        .map_or(Duration::ZERO, |running| running.used(running.since.elapsed(now)))
}

/// A call with what it has used so far.
pub(crate) struct Metered<F> {
    call: F,
    used: Duration,
}

impl<F: Future + Unpin> Metered<F> {
    pub(crate) fn new(call: F) -> Self {
        Self {
            call,
            used: Duration::ZERO,
        }
    }

    /// What it has used in the polls that have ended.
    pub(crate) fn used(&self) -> Duration {
        self.used
    }

    /// Polls the call and counts what that takes.
    pub(crate) fn poll(&mut self, clock: Clock, context: &mut Context<'_>) -> Poll<F::Output> {
        let _entered = Entered::new(&mut self.used, clock);
        Pin::new(&mut self.call).poll(context)
    }
}

/// This thread is inside of a call. Ends when dropped, also when the call panics.
struct Entered<'a> {
    used: &'a mut Duration,
    outer: Option<Running>,
}

impl<'a> Entered<'a> {
    fn new(used: &'a mut Duration, clock: Clock) -> Self {
        let running = Running {
            before: *used,
            since: Since::at(Instant::now(), clock),
            inside: Duration::ZERO,
        };
        let outer = RUNNING.replace(Some(running));
        Self { used, outer }
    }
}

impl Drop for Entered<'_> {
    fn drop(&mut self) {
        let mut outer = self.outer;
        if let Some(running) = RUNNING.get() {
            let elapsed = running.since.elapsed(Instant::now());
            *self.used = running.used(elapsed);
            if let Some(outer) = &mut outer {
                outer.inside = outer.inside.saturating_add(elapsed);
            }
        }
        RUNNING.set(outer);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::task::Waker;

    /// Stays on the CPU for so long.
    fn work(time: Duration) {
        let since = on_cpu();
        while on_cpu().saturating_sub(since) < time {
            std::hint::spin_loop();
        }
    }

    fn now_used() -> Duration {
        used(Instant::now())
    }

    fn poll<F: Future + Unpin>(call: &mut Metered<F>, clock: Clock) -> Poll<F::Output> {
        call.poll(clock, &mut Context::from_waker(Waker::noop()))
    }

    #[test]
    fn a_call_uses_what_its_polls_take_and_not_the_time_between_them() {
        let mut polls = 0;
        let mut call = Metered::new(std::future::poll_fn(move |_| {
            work(Duration::from_millis(4));
            polls += 1;
            if polls == 2 {
                Poll::Ready(now_used())
            } else {
                Poll::Pending
            }
        }));
        assert_eq!(now_used(), Duration::ZERO);
        assert!(poll(&mut call, Clock::Exact).is_pending());
        // Time between the polls of a call does not count.
        work(Duration::from_millis(500));
        let Poll::Ready(seen_inside) = poll(&mut call, Clock::Exact) else {
            panic!("it ends with its second poll");
        };
        assert!(seen_inside >= Duration::from_millis(8) && call.used() >= seen_inside);
        assert!(call.used() < Duration::from_millis(500), "{:?}", call.used());
        assert_eq!(now_used(), Duration::ZERO);
    }

    #[test]
    fn time_that_the_thread_sleeps_is_not_used_by_either_clock() {
        for clock in [Clock::Rough, Clock::Exact] {
            let mut call = Metered::new(std::future::poll_fn(|_| {
                work(Duration::from_millis(4));
                std::thread::sleep(Duration::from_millis(300));
                Poll::Ready(())
            }));
            assert!(poll(&mut call, clock).is_ready());
            let used = call.used();
            assert!(used >= Duration::from_millis(4), "{clock:?}: {used:?}");
            assert!(used < Duration::from_millis(300), "{clock:?}: {used:?}");
        }
    }

    #[test]
    fn a_call_inside_of_a_call_is_counted_as_its_own() {
        let mut inner = Metered::new(std::future::poll_fn(|_| {
            work(Duration::from_millis(300));
            Poll::Ready(())
        }));
        let mut outer = Metered::new(std::future::poll_fn(|_| {
            work(Duration::from_millis(2));
            let polled = poll(&mut inner, Clock::Exact);
            assert!(now_used() < Duration::from_millis(300), "{:?}", now_used());
            polled
        }));
        assert!(poll(&mut outer, Clock::Exact).is_ready());
        assert!(outer.used() >= Duration::from_millis(2));
        assert!(outer.used() < Duration::from_millis(300), "{:?}", outer.used());
        assert!(inner.used() >= Duration::from_millis(300));
    }

    #[test]
    fn a_call_that_panics_is_left_behind() {
        let mut call = Metered::new(std::future::poll_fn(|_| -> Poll<()> { panic!("as it should") }));
        let polled = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| poll(&mut call, Clock::Rough)));
        assert!(polled.is_err());
        assert_eq!(now_used(), Duration::ZERO);
    }
}
