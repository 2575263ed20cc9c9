//! Places for connections: so many in all, and a share of them for one address.
//!
//! Without shares one client that opens connections and keeps them busy would leave no place for the others.

use crate::network;
use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::{Arc, Mutex, PoisonError};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// The part of all places that one address gets when nothing is set.
const PART: usize = 4;

/// The places of a listener.
#[derive(Debug)]
pub(crate) struct Places {
    all: Arc<Semaphore>,
    share: Share,
    held: Mutex<HashMap<IpAddr, usize>>,
}

/// How many places one address gets.
#[derive(Debug, Clone, Copy)]
enum Share {
    /// What the operator set, for every address.
    Set(usize),
    /// A part of all. Not for loopback: those are the programs of this machine, and a proxy in front of all clients.
    Usual(usize),
}

impl Places {
    pub(crate) fn new(all: usize, per_address: Option<usize>) -> Arc<Self> {
        let all = all.max(1);
        Arc::new(Self {
            all: Arc::new(Semaphore::new(all)),
            share: match per_address {
                Some(set) => Share::Set(set.max(1)),
                None => Share::Usual((all / PART).max(1)),
            },
            held: Mutex::default(),
        })
    }

    /// Waits for a place of any address. None when the listener has ended.
    pub(crate) async fn wait(&self) -> Option<OwnedSemaphorePermit> {
        Arc::clone(&self.all).acquire_owned().await.ok()
    }

    /// Assigns a place to an address; none when it has its share already.
    pub(crate) fn give(
        self: &Arc<Self>,
        place: OwnedSemaphorePermit,
        peer: IpAddr,
    ) -> Option<ConnectionSlot> {
        let address = network::of(peer);
        let most = match self.share {
            Share::Set(most) => most,
            Share::Usual(_) if address.is_loopback() => usize::MAX,
            Share::Usual(most) => most,
        };
        let mut held = self.held.lock().unwrap_or_else(PoisonError::into_inner);
        let own = held.entry(address).or_default();
        if *own >= most {
            return None;
        }
        *own = own.saturating_add(1);
        Some(ConnectionSlot {
            places: Arc::clone(self),
            address,
            _place: place,
        })
    }
}

/// A place that a connection has.
#[derive(Debug)]
pub(crate) struct ConnectionSlot {
    places: Arc<Places>,
    address: IpAddr,
    _place: OwnedSemaphorePermit,
}

impl Drop for ConnectionSlot {
    fn drop(&mut self) {
        let mut held = self.places.held.lock().unwrap_or_else(PoisonError::into_inner);
        let left = held.get(&self.address).map_or(0, |own| own.saturating_sub(1));
        // Addresses come from clients: one without a connection is not kept.
        if left == 0 {
            held.remove(&self.address);
        } else {
            held.insert(self.address, left);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    async fn take(places: &Arc<Places>, address: &str) -> Option<ConnectionSlot> {
        let place = places.wait().await.unwrap();
        places.give(place, address.parse().unwrap())
    }

    #[tokio::test]
    async fn an_address_gets_its_share_and_others_theirs() {
        let places = Places::new(16, None);
        let mut held = Vec::new();
        for _ in 0..4 {
            held.push(take(&places, "192.0.2.1").await.unwrap());
        }
        assert!(take(&places, "192.0.2.1").await.is_none());
        assert!(
            take(&places, "::ffff:192.0.2.1").await.is_none(),
            "the same address"
        );
        for last in 1..=4 {
            held.push(take(&places, &format!("2001:db8::{last}")).await.unwrap());
        }
        assert!(take(&places, "2001:db8::5").await.is_none(), "the same network");
        // A proxy on this machine serves all clients.
        for _ in 0..6 {
            held.push(take(&places, "127.0.0.1").await.unwrap());
        }
        held.truncate(1);
        assert!(take(&places, "192.0.2.1").await.is_some());
        held.clear();
        assert!(places.held.lock().unwrap().is_empty());
        assert_eq!(places.all.available_permits(), 16);
    }

    #[tokio::test]
    async fn a_share_that_is_set_holds_for_loopback_too() {
        let places = Places::new(16, Some(1));
        let _held = take(&places, "127.0.0.1").await.unwrap();
        assert!(take(&places, "127.0.0.1").await.is_none());
        assert!(take(&places, "127.0.0.2").await.is_some());
    }
}
