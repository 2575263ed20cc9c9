//! Responses that clients have not read: how many bytes of them are kept, on one connection, for one key and in all.
//!
//! A large response stays in memory until its client has read it, and a client decides how fast it reads. Beyond the limits another
//! large response is refused instead of kept. A response that fits into one piece is not counted: the rate of a key bounds those.

use crate::answer_body::PIECE;
use crate::problem::{Code, Problem};
use crate::traffic::Traffic;
use mizzen_ops::{Caller, Quota, QuotaLimits, QuotaShare};
use std::sync::Arc;
use std::sync::atomic::Ordering;

/// Parts of all that one connection may have, and one key.
const CONNECTION: usize = 16;
const KEY: usize = 4;

/// What is kept.
#[derive(Debug)]
pub(crate) struct Unsent {
    quota: Arc<Quota>,
    per_connection: usize,
}

impl Unsent {
    /// At most about `bytes` in all.
    pub(crate) fn new(bytes: usize) -> Self {
        Self {
            quota: Quota::new(QuotaLimits {
                all: bytes,
                each: bytes / KEY,
                kept: 0,
                little: 0,
            }),
            per_connection: bytes / CONNECTION,
        }
    }

    /// Keeps a response of so many bytes, or returns what has to be read first.
    pub(crate) fn charge(
        &self,
        traffic: &Arc<Traffic>,
        caller: &str,
        bytes: usize,
    ) -> Result<Option<Charge>, Problem> {
        if bytes <= PIECE {
            return Ok(None);
        }
        let kept = traffic.unsent().load(Ordering::Acquire);
        if kept > 0 && kept.saturating_add(bytes) > self.per_connection {
            return Err(unread(format!("this connection has {kept} bytes of responses")));
        }
        let share = self
            .quota
            .take(caller, bytes)
            .map_err(|_| unread("too many bytes of responses".to_owned()))?;
        Ok(Some(Charge::new(traffic, share, bytes)))
    }

    /// Keeps the response to a change: refusing it would hide the change.
    pub(crate) fn count(&self, traffic: &Arc<Traffic>, caller: &str, bytes: usize) -> Option<Charge> {
        (bytes > PIECE).then(|| Charge::new(traffic, self.quota.count(caller, bytes), bytes))
    }

    /// Checks, before a change is made, whether the connection may make one: its response is kept in any case.
    pub(crate) fn admit(&self, traffic: &Traffic, caller: &Caller) -> Result<(), Problem> {
        let kept = traffic.unsent().load(Ordering::Acquire);
        if kept > self.per_connection {
            return Err(unread(format!("this connection has {kept} bytes of responses")));
        }
        let limits = self.quota.limits();
        if self.quota.held() > limits.all || self.quota.held_by(caller.actor()) > limits.each {
            return Err(unread("too many bytes of responses".to_owned()));
        }
        Ok(())
    }
}

fn unread(what: String) -> Problem {
    let message = format!("{what} wait to be read; read them, or close what is not needed, and try again");
    Problem::new(Code::UnreadAnswers, message).retry_after(1)
}

/// A response that is kept until this is dropped.
#[derive(Debug)]
pub(crate) struct Charge {
    traffic: Arc<Traffic>,
    bytes: usize,
    _share: QuotaShare,
}

impl Charge {
    fn new(traffic: &Arc<Traffic>, share: QuotaShare, bytes: usize) -> Self {
        traffic.unsent().fetch_add(bytes, Ordering::AcqRel);
        Self {
            traffic: Arc::clone(traffic),
            bytes,
            _share: share,
        }
    }
}

impl Drop for Charge {
    fn drop(&mut self) {
        self.traffic.unsent().fetch_sub(self.bytes, Ordering::AcqRel);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::{IpAddr, Ipv4Addr};

    const MIB: usize = 1 << 20;

    fn connection() -> Arc<Traffic> {
        Traffic::new(IpAddr::V4(Ipv4Addr::LOCALHOST))
    }

    #[test]
    fn a_connection_a_key_and_everybody_have_so_much() {
        let unsent = Unsent::new(16 * MIB);
        let first = connection();
        assert!(
            unsent.charge(&first, "a", PIECE).unwrap().is_none(),
            "small responses are not counted"
        );
        // One response may be larger than a connection's part.
        let large = unsent.charge(&first, "a", 2 * MIB).unwrap().unwrap();
        let refused = unsent.charge(&first, "a", 100_000).unwrap_err();
        assert_eq!(
            (refused.code, refused.retry_after),
            (Code::UnreadAnswers, Some(1))
        );
        // A key has a quarter, over all of its connections.
        let more = unsent.charge(&connection(), "a", 2 * MIB).unwrap().unwrap();
        assert!(unsent.charge(&connection(), "a", MIB).is_err());
        let others: Vec<_> = (0..12)
            .map(|number| {
                unsent
                    .charge(&connection(), &format!("b{number}"), MIB)
                    .unwrap()
                    .unwrap()
            })
            .collect();
        assert!(unsent.charge(&connection(), "c", MIB).is_err(), "all is taken");
        assert!(unsent.count(&connection(), "c", MIB).is_some());
        assert!(unsent.admit(&first, &Caller::local("req-1")).is_err());
        drop((large, more, others));
        assert!(unsent.admit(&first, &Caller::local("req-1")).is_ok());
        assert!(unsent.charge(&first, "a", MIB).is_ok());
    }
}
