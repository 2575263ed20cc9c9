//! The files inside the binary, as (path in this repository, bytes), in the order of their paths.

include!(concat!(env!("OUT_DIR"), "/embedded.rs"));
