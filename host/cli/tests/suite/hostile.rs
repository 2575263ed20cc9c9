//! Clients that mean harm: requests, connections and bodies that a strict server refuses.

mod http2;
mod requests;
mod unread_bodies;
