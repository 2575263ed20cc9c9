//! The scheduling of long calls.
//!
//! As many of them run at a time as there are threads for them; the others wait in a queue. The one with the least CPU time goes first: a call
//! of a few milliseconds does not wait behind all that spin, and those that spin get equal shares. Every fourth turn goes to the one that
//! has waited longest, so that a long call finishes however many shorter ones arrive.

use std::future::Future;
use std::pin::Pin;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};
use std::time::Duration;

/// One turn in so many goes to the call that has waited longest.
const BY_AGE: u64 = 4;

/// The queue. tokio's own queues do not suffice: each of its threads has one of its own, and nothing balances them.
pub(crate) struct Turns {
    line: Mutex<Line>,
}

struct Line {
    free: usize,
    /// In the order of their arrival. Never more than there are slots for calls.
    waiting: Vec<Waiting>,
    arrived: u64,
    given: u64,
}

struct Waiting {
    number: u64,
    used: Duration,
    is_called: bool,
    waker: Waker,
}

impl Turns {
    /// A line for so many at a time.
    pub(crate) fn new(count: usize) -> Self {
        Self {
            line: Mutex::new(Line {
                free: count,
                waiting: Vec::new(),
                arrived: 0,
                given: 0,
            }),
        }
    }

    /// Waits for a turn of a call that has used so much.
    pub(crate) fn take(&self, used: Duration) -> Take<'_> {
        Take {
            turns: self,
            used,
            number: None,
        }
    }

    fn line(&self) -> MutexGuard<'_, Line> {
        // Nothing panics while it holds the line.
        self.line.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Gives a turn that has ended to the next in line.
    fn pass_on(&self) {
        let mut line = self.line();
        let next = line.next().map(|next| {
            next.is_called = true;
            next.waker.clone()
        });
        match next {
            Some(waker) => {
                line.given = line.given.wrapping_add(1);
                drop(line);
                waker.wake();
            }
            None => line.free += 1,
        }
    }
}

impl Line {
    /// The one whose turn it is.
    fn next(&mut self) -> Option<&mut Waiting> {
        let by_age = self.given % BY_AGE == BY_AGE - 1;
        let waiting = self.waiting.iter_mut().filter(|waiting| !waiting.is_called);
        waiting.min_by_key(|waiting| (if by_age { Duration::ZERO } else { waiting.used }, waiting.number))
    }

    fn position(&self, number: u64) -> Option<usize> {
        self.waiting.iter().position(|waiting| waiting.number == number)
    }
}

/// A call that waits for its turn.
pub(crate) struct Take<'a> {
    turns: &'a Turns,
    used: Duration,
    number: Option<u64>,
}

impl<'a> Future for Take<'a> {
    type Output = Turn<'a>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Turn<'a>> {
        let turns = self.turns;
        let mut line = turns.line();
        if let Some(number) = self.number {
            let Some(at) = line.position(number) else {
                return Poll::Pending;
            };
            if line.waiting.get(at).is_some_and(|waiting| waiting.is_called) {
                line.waiting.remove(at);
                self.number = None;
                return Poll::Ready(Turn(turns));
            }
            if let Some(waiting) = line.waiting.get_mut(at) {
                waiting.waker.clone_from(context.waker());
            }
            return Poll::Pending;
        }
        if line.free > 0 {
            line.free -= 1;
            return Poll::Ready(Turn(turns));
        }
        let number = line.arrived;
        line.arrived = line.arrived.wrapping_add(1);
        line.waiting.push(Waiting {
            number,
            used: self.used,
            is_called: false,
            waker: context.waker().clone(),
        });
        self.number = Some(number);
        Poll::Pending
    }
}

impl Drop for Take<'_> {
    fn drop(&mut self) {
        let Some(number) = self.number else {
            return;
        };
        let mut line = self.turns.line();
        let left = line.position(number).map(|at| line.waiting.remove(at));
        drop(line);
        // A call that is dropped when its turn comes must pass the turn on.
        if left.is_some_and(|left| left.is_called) {
            self.turns.pass_on();
        }
    }
}

/// A turn. Dropping it passes it to the next in the queue.
pub(crate) struct Turn<'a>(&'a Turns);

impl Drop for Turn<'_> {
    fn drop(&mut self) {
        self.0.pass_on();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::pin::pin;

    fn poll<'a>(take: Pin<&mut Take<'a>>) -> Option<Turn<'a>> {
        match take.poll(&mut Context::from_waker(Waker::noop())) {
            Poll::Ready(turn) => Some(turn),
            Poll::Pending => None,
        }
    }

    #[test]
    fn the_one_that_has_used_least_goes_first_and_every_fourth_turn_goes_by_age() {
        let turns = Turns::new(1);
        let mut first = poll(pin!(turns.take(Duration::ZERO)));
        assert!(first.is_some());
        let waits = [9, 7, 3, 5, 1, 8].map(Duration::from_millis);
        let mut waiting = waits.map(|used| Box::pin(turns.take(used)));
        for take in &mut waiting {
            assert!(poll(take.as_mut()).is_none());
        }
        let mut order = Vec::new();
        while order.len() < waits.len() {
            drop(first.take());
            let called: Vec<_> = waiting
                .iter_mut()
                .enumerate()
                .filter(|(at, _)| !order.contains(at))
                .filter_map(|(at, take)| Some((at, poll(take.as_mut())?)))
                .collect();
            assert_eq!(called.len(), 1, "one turn, one call");
            for (at, turn) in called {
                order.push(at);
                first = Some(turn);
            }
        }
        // 1, 3 and 5 ms; then the one that came first; then 7 and 8 ms.
        assert_eq!(order, [4, 2, 3, 0, 1, 5]);
    }

    #[test]
    fn one_that_goes_away_leaves_its_turn_to_the_next() {
        let turns = Turns::new(1);
        let turn = poll(pin!(turns.take(Duration::ZERO)));
        let mut gone = Box::pin(turns.take(Duration::ZERO));
        let mut next = Box::pin(turns.take(Duration::ZERO));
        assert!(poll(gone.as_mut()).is_none() && poll(next.as_mut()).is_none());
        // Its turn comes after it was dropped.
        drop(turn);
        drop(gone);
        let turn = poll(next.as_mut());
        assert!(turn.is_some());
        // The queue is empty: the turn is free again, once.
        drop(turn);
        let free = poll(pin!(turns.take(Duration::ZERO)));
        assert!(free.is_some() && poll(pin!(turns.take(Duration::ZERO))).is_none());
    }
}
