//! A load generator: `wrk` where it is installed, a client of our own otherwise.

mod client;
mod wrk;

pub(crate) use client::{Client, exchange};

use crate::options::Scale;
use crate::samples::Samples;
use anyhow::Result;
use std::net::SocketAddr;
use std::time::Duration;

/// What is sent, again and again.
#[derive(Debug, Clone)]
pub(crate) struct Load {
    pub(crate) address: SocketAddr,
    pub(crate) path: &'static str,
    pub(crate) body: String,
    pub(crate) connections: usize,
    pub(crate) time: Duration,
}

/// What came back.
#[derive(Debug, Clone, Default)]
pub(crate) struct Answered {
    pub(crate) per_second: f64,
    /// In nanoseconds.
    pub(crate) p50: f64,
    pub(crate) p99: f64,
}

/// Who sends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Generator {
    Wrk,
    OurOwn,
}

impl Generator {
    /// wrk sends for a second at least, which is too long for a quick run.
    pub(crate) fn find(scale: Scale) -> Self {
        if scale != Scale::Quick && wrk::is_installed() {
            Self::Wrk
        } else {
            Self::OurOwn
        }
    }

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Wrk => "wrk",
            Self::OurOwn => "the in-tree client",
        }
    }

    /// Sends for some time. An answer other than 200 is an error: a server that refuses is quick.
    pub(crate) fn run(self, load: &Load) -> Result<Answered> {
        match self {
            Self::Wrk => wrk::run(load),
            Self::OurOwn => client::run(load),
        }
    }
}

impl Answered {
    fn from_samples(samples: &Samples, time: Duration) -> Self {
        #[allow(
            clippy::cast_precision_loss,
            reason = "fewer requests than a float counts exactly"
        )]
        Self {
            per_second: samples.len() as f64 / time.as_secs_f64(),
            p50: samples.p50(),
            p99: samples.p99(),
        }
    }
}
