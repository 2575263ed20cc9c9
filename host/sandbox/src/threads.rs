//! The threads that guests run on.
//!
//! A call begins on threads that it shares with the drivers of runs, so that most calls need no hop between threads. One that has
//! used a few ticks moves to threads that run long calls only, where the calls take turns, a tick each. Whatever
//! guests do, calls that have just begun hold the first threads for a tick at a time; starting, showing or
//! stopping a run never waits for guests that spin.

use crate::call::{CallFault, Ended};
use crate::machine::StartError;
use crate::meter::{Clock, Metered};
use crate::settings::Settings;
use crate::turns::Turns;
use std::future::{Future, poll_fn};
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::task::{Context, Poll};
use std::time::{Duration, Instant};
use tokio::runtime::{Builder, Handle, Runtime};

/// A call from its beginning to its end.
pub(crate) type Call = Pin<Box<dyn Future<Output = Result<Ended, CallFault>> + Send>>;

/// Ticks that a call may use before it is a long one. Nearly all calls end before. More would let many calls that begin together
/// delay the drivers of runs; fewer would make ordinary calls of a few milliseconds change threads.
const SHORT_TICKS: u32 = 4;
/// Calls in a row that must have been short before the next one of a plugin begins on the threads of the drivers. Changing
/// threads is the only cost for the first ones.
const ENOUGH_SHORT: u32 = 8;
/// The `nice` value of the threads for long calls: a third of the weight of the threads that serve requests. They still get
/// all idle CPU time.
#[cfg(target_os = "linux")]
const STANDS_BACK: i32 = 5;

/// Where calls run.
pub(crate) struct Threads {
    short: Handle,
    long: Handle,
    /// Of the long calls, as many at a time as there are threads for them.
    turns: Turns,
    most_short: Duration,
}

/// The runtimes behind [`Threads`], to be shut down with the sandbox.
pub(crate) struct Runtimes {
    short: Runtime,
    long: Runtime,
}

/// The recent calls of a plugin: how many in a row were short.
///
/// A call may begin with an operation that cannot be interrupted: filling half a gigabyte takes hundreds of ticks. So the
/// calls of a plugin begin among the long ones until enough of them were short, and again after each that was not.
#[derive(Debug, Default)]
pub(crate) struct Pace {
    short: AtomicU32,
}

impl Pace {
    fn is_short(&self) -> bool {
        self.short.load(Ordering::Relaxed) >= ENOUGH_SHORT
    }

    /// A call has used so much, of which a short one uses less than `most`.
    fn saw(&self, used: Duration, most: Duration) {
        if used >= most {
            self.short.store(0, Ordering::Relaxed);
        } else if !self.is_short() {
            // Nearly always there were enough before: then the cache line stays shared with other threads.
            self.short.fetch_add(1, Ordering::Relaxed);
        }
    }
}

impl Threads {
    pub(crate) fn start(settings: &Settings) -> Result<(Self, Runtimes), StartError> {
        let count = settings.guest_threads.max(1);
        let build = |name: &str, count: usize| {
            let mut builder = Builder::new_multi_thread();
            builder
                .worker_threads(count)
                .thread_name(name)
                // Host calls wait on timers and sockets: check those after every poll, not after 61.
                .event_interval(1)
                .enable_all();
            builder
        };
        let runtimes = Runtimes {
            short: build("mizzen-guest", count).build()?,
            // One more than there are turns: it checks timers and sockets while all others are inside of operations that cannot be interrupted.
            long: build("mizzen-long", count + 1)
                .on_thread_start(stand_back)
                .build()?,
        };
        let threads = Self {
            short: runtimes.short.handle().clone(),
            long: runtimes.long.handle().clone(),
            turns: Turns::new(count),
            most_short: settings.tick.saturating_mul(SHORT_TICKS),
        };
        Ok((threads, runtimes))
    }

    /// Where calls begin.
    pub(crate) fn short(&self) -> &Handle {
        &self.short
    }

    /// Makes a call on the thread it belongs to. Dropping the future cancels the call.
    pub(crate) async fn make(
        self: &Arc<Self>,
        call: Call,
        end: Instant,
        pace: &Arc<Pace>,
    ) -> Result<Ended, CallFault> {
        let call = Metered::new(call);
        if !pace.is_short() {
            return self.go_on(call, end, pace).await;
        }
        let is_here = Handle::try_current().is_ok_and(|current| current.id() == self.short.id());
        let begun = if is_here {
            // This saves a chain's driver, for instance, the hop between threads.
            begin(call, self.most_short, pace).await
        } else {
            let (most, pace) = (self.most_short, Arc::clone(pace));
            joined(self.short.spawn(async move { begin(call, most, &pace).await })).await?
        };
        match begun {
            Begun::Ended(ended) => ended,
            Begun::Long(call) => self.go_on(call, end, pace).await,
        }
    }

    async fn go_on(
        self: &Arc<Self>,
        call: Metered<Call>,
        end: Instant,
        pace: &Arc<Pace>,
    ) -> Result<Ended, CallFault> {
        let turns = Arc::clone(self).take_turns(call, end, Arc::clone(pace));
        joined(self.long.spawn(turns)).await?
    }

    /// Polls the call whenever it is its turn, until it ends.
    async fn take_turns(
        self: Arc<Self>,
        mut call: Metered<Call>,
        end: Instant,
        pace: Arc<Pace>,
    ) -> Result<Ended, CallFault> {
        loop {
            // Without a turn after its deadline: a call that is being stopped does not wait behind those that run. It is not resumed
            // then, see `Yield`.
            let turn = tokio::time::timeout_at(end.into(), self.turns.take(call.used())).await;
            let polled = poll_fn(|context| Poll::Ready(call.poll(Clock::Exact, context))).await;
            drop(turn);
            if polled.is_ready() || call.used() >= self.most_short {
                pace.saw(call.used(), self.most_short);
            }
            match polled {
                Poll::Pending => until_woken().await,
                Poll::Ready(ended) => return ended,
            }
        }
    }
}

impl Runtimes {
    /// Stops them without waiting: a runtime cannot be waited for inside another one.
    pub(crate) fn shut_down(self) {
        self.short.shutdown_background();
        self.long.shutdown_background();
    }
}

/// How a call began.
enum Begun {
    Ended(Result<Ended, CallFault>),
    /// It has used up the ticks of a short call.
    Long(Metered<Call>),
}

/// Polls a call until it ends, or is a long one.
async fn begin(mut call: Metered<Call>, most: Duration, pace: &Pace) -> Begun {
    // Checked again: other calls of the plugin may have been long since this one was queued.
    if !pace.is_short() {
        return Begun::Long(call);
    }
    let ended = poll_fn(|context| match call.poll(Clock::Rough, context) {
        Poll::Ready(ended) => Poll::Ready(Some(ended)),
        Poll::Pending if call.used() >= most => Poll::Ready(None),
        Poll::Pending => Poll::Pending,
    })
    .await;
    pace.saw(call.used(), most);
    match ended {
        Some(ended) => Begun::Ended(ended),
        None => Begun::Long(call),
    }
}

/// Returns when the task is woken again, for whatever reason.
async fn until_woken() {
    let mut is_woken = false;
    poll_fn(|_| {
        if std::mem::replace(&mut is_woken, true) {
            Poll::Ready(())
        } else {
            Poll::Pending
        }
    })
    .await;
}

/// Yields to all other tasks.
///
/// Not tokio's `yield_now`: that hands its waker to the scheduler, which wakes it after a check of timers and sockets; a task that is woken
/// there gets the slot that is served before the queue, and so resumes at once, tick after tick, while the queue waits. A task
/// that wakes itself while it runs is put at the queue's end.
pub(crate) struct Yield {
    end: Instant,
    has_yielded: bool,
}

impl Yield {
    /// For a guest whose time is up at `end`. After that it is never resumed: the waiting caller ends it.
    pub(crate) fn until(end: Instant) -> Self {
        Self {
            end,
            has_yielded: false,
        }
    }
}

impl Future for Yield {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        if !std::mem::replace(&mut self.has_yielded, true) {
            context.waker().wake_by_ref();
            return Poll::Pending;
        }
        if Instant::now() >= self.end {
            return Poll::Pending;
        }
        Poll::Ready(())
    }
}

async fn joined<T>(task: tokio::task::JoinHandle<T>) -> Result<T, CallFault> {
    let mut task = AbortOnDrop(task);
    (&mut task.0)
        .await
        .map_err(|error| CallFault::Host(error.to_string()))
}

/// Dropping it cancels the guest's call.
struct AbortOnDrop<T>(tokio::task::JoinHandle<T>);

impl<T> Drop for AbortOnDrop<T> {
    fn drop(&mut self) {
        self.0.abort();
    }
}

/// Only Linux has this for single threads; elsewhere it would lower the whole process.
fn stand_back() {
    #[cfg(target_os = "linux")]
    if let Err(error) = rustix::process::nice(STANDS_BACK) {
        tracing::warn!(%error, "cannot lower the priority of the threads for long calls");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_begin_among_the_long_ones_until_enough_were_short() {
        let (pace, most) = (Pace::default(), Duration::from_millis(4));
        for round in 0..2 {
            for _ in 0..ENOUGH_SHORT {
                assert!(!pace.is_short(), "round {round}");
                pace.saw(Duration::from_millis(3), most);
            }
            assert!(pace.is_short(), "round {round}");
            pace.saw(most, most);
        }
    }

    #[test]
    fn a_call_that_is_long_in_its_one_poll_is_a_long_one() {
        let pace = Pace::default();
        let most = Duration::from_millis(4);
        (0..ENOUGH_SHORT).for_each(|_| pace.saw(Duration::ZERO, most));
        let call: Call = Box::pin(async {
            let began = Instant::now();
            while crate::meter::used(Instant::now()) < Duration::from_millis(8) {
                assert!(began.elapsed() < Duration::from_secs(60));
            }
            Err(CallFault::Host("it ends with its first poll".into()))
        });
        let runtime = Builder::new_current_thread().build().unwrap();
        let begun = runtime.block_on(begin(Metered::new(call), most, &pace));
        assert!(matches!(begun, Begun::Ended(Err(_))));
        assert!(!pace.is_short());
    }
}
