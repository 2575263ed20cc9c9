//! Who may sign for which namespaces, and what has been revoked.
//!
//! A decision is about one package whose signatures have *already* been verified: [`Policy::decide`] takes the signers
//! as proven keys. Unsigned packages never get here. Time is an argument.

mod decision;
mod document;
mod edit;
mod pins;

pub use decision::{Decision, Refusal, RefusalKind};
pub use document::{MAX_TRUST_FILE, RevokedDigest, RevokedKey, TrustFileError, TrustStore, TrustedKey};
pub use edit::{NewKey, TrustEditError, add_key, revoke_digest, revoke_key, set_threshold};
pub use pins::{Pin, Pins};

use crate::key::KeyId;
use serde::Serialize;
use std::fmt;

/// A moment, in seconds since 1970.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct UnixTime(pub i64);

impl UnixTime {
    /// The time of the machine's clock. For `main` and the operations; everything below takes the time as an argument.
    pub fn now() -> Self {
        let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
        Self(since.map_or(0, |since| i64::try_from(since.as_secs()).unwrap_or(i64::MAX)))
    }
}

impl fmt::Display for UnixTime {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // The civil date of a day, by eras of 400 years; the inverse of how TOML dates are read.
        let (days, second) = (self.0.div_euclid(86_400), self.0.rem_euclid(86_400));
        let z = days + 719_468;
        let (era, day_of_era) = (z.div_euclid(146_097), z.rem_euclid(146_097));
        let year_of_era =
            (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
        let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
        let shifted_month = (5 * day_of_year + 2) / 153;
        let day = day_of_year - (153 * shifted_month + 2) / 5 + 1;
        let month = if shifted_month < 10 {
            shifted_month + 3
        } else {
            shifted_month - 9
        };
        let year = year_of_era + era * 400 + i64::from(month <= 2);
        let (hour, minute, second) = (second / 3_600, second / 60 % 60, second % 60);
        write!(
            f,
            "{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}Z"
        )
    }
}

/// Where trust comes from when `trust.toml` has no entry for a namespace.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum TrustMode {
    /// Nowhere: only what `trust.toml` lists.
    #[default]
    Pinned,
    /// The first key of a namespace is pinned; another one is refused later.
    Tofu,
    /// The development key of this machine may sign for everything.
    Dev,
}

impl TrustMode {
    /// Reads `pinned`, `tofu` or `dev`.
    pub fn parse(text: &str) -> Option<Self> {
        [Self::Pinned, Self::Tofu, Self::Dev]
            .into_iter()
            .find(|mode| mode.as_str() == text)
    }

    /// As it is written.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Pinned => "pinned",
            Self::Tofu => "tofu",
            Self::Dev => "dev",
        }
    }
}

impl fmt::Display for TrustMode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// Everything that a decision depends on, apart from the package and the time.
#[derive(Debug, Clone, Default)]
pub struct Policy {
    /// Where trust comes from.
    pub mode: TrustMode,
    /// `trust.toml`.
    pub store: TrustStore,
    /// The pins of `tofu`.
    pub pins: Pins,
    /// The development key of this machine, which counts in `dev` mode only.
    pub dev_key: Option<KeyId>,
}

#[cfg(test)]
mod tests;
