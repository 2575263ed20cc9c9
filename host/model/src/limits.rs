//! What one call may consume. Every limit here is enforced by the sandbox; one that is not enforced does not exist.
//!
//! Three shapes: [`LimitsDraft`] is what somebody wrote (every field optional), [`Limits`] is what holds. Effective =
//! the author's wish or the default, never above the operator's ceiling.

use crate::duration::UNITS;
use serde::{Serialize, Serializer};
use std::fmt;
use std::time::Duration;

/// A number of bytes, written as `64MiB`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ByteSize(u64);

/// A span of time, written as `2s` or `500ms`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TimeSpan(Duration);

/// A quantity that could not be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{text}` is not {what}; write {expected}")]
pub struct QuantityError {
    text: String,
    what: &'static str,
    expected: &'static str,
}

const SIZE_UNITS: &[(&str, u64)] = &[("GiB", 1 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10), ("B", 1)];

/// The largest size that can be written: 1 TiB.
const MAX_SIZE: u64 = 1 << 40;
/// The longest span that can be written: 24 hours.
const MAX_SPAN_MS: u64 = 24 * 3_600_000;

fn quantity(text: &str, units: &[(&str, u64)], max: u64) -> Option<u64> {
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    let (number, unit) = text.split_at_checked(digits)?;
    // Twelve digits are enough for the largest size and cannot overflow.
    let number: u64 = (digits <= 13).then(|| number.parse().ok()).flatten()?;
    let (_, factor) = units.iter().find(|(name, _)| *name == unit)?;
    number
        .checked_mul(*factor)
        .filter(|value| (1..=max).contains(value))
}

impl ByteSize {
    /// Some bytes.
    pub const fn bytes(count: u64) -> Self {
        Self(count)
    }

    /// Some KiB.
    pub const fn kib(count: u64) -> Self {
        Self(count << 10)
    }

    /// Some MiB.
    pub const fn mib(count: u64) -> Self {
        Self(count << 20)
    }

    /// Reads `512B`, `64KiB`, `64MiB` or `1GiB`.
    ///
    /// # Errors
    /// For anything else, for zero, and above 1 TiB.
    pub fn parse(text: &str) -> Result<Self, QuantityError> {
        quantity(text, SIZE_UNITS, MAX_SIZE)
            .map(Self)
            .ok_or_else(|| QuantityError {
                text: mizzen_json::shorten(text),
                what: "a size",
                expected: "a whole number above zero with B, KiB, MiB or GiB, such as \"64MiB\"",
            })
    }

    /// The number of bytes.
    pub const fn get(self) -> u64 {
        self.0
    }

    /// The number of bytes as the index type, saturating on small machines.
    pub fn as_usize(self) -> usize {
        usize::try_from(self.0).unwrap_or(usize::MAX)
    }
}

impl fmt::Display for ByteSize {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (unit, factor) = SIZE_UNITS
            .iter()
            .find(|(_, factor)| self.0 > 0 && self.0.is_multiple_of(*factor))
            .unwrap_or(&("B", 1));
        write!(f, "{}{unit}", self.0 / factor)
    }
}

impl Serialize for ByteSize {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl TimeSpan {
    /// Some milliseconds.
    pub const fn millis(count: u64) -> Self {
        Self(Duration::from_millis(count))
    }

    /// Reads `250ms`, `2s`, `5m` or `1h`.
    ///
    /// # Errors
    /// For anything else, for zero, and above 24 hours.
    pub fn parse(text: &str) -> Result<Self, QuantityError> {
        quantity(text, &UNITS, MAX_SPAN_MS)
            .map(Self::millis)
            .ok_or_else(|| QuantityError {
                text: mizzen_json::shorten(text),
                what: "a span of time",
                expected: "a whole number above zero with ms, s, m or h, such as \"2s\", up to 24h",
            })
    }

    /// The span.
    pub const fn get(self) -> Duration {
        self.0
    }
}

impl fmt::Display for TimeSpan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let millis = self.0.as_millis();
        let units = UNITS.iter().rev();
        let (unit, factor) = units
            .map(|(unit, factor)| (*unit, u128::from(*factor)))
            .find(|(_, factor)| millis.is_multiple_of(*factor))
            .unwrap_or(("ms", 1));
        write!(f, "{}{unit}", millis / factor)
    }
}

impl Serialize for TimeSpan {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

/// The limits that hold for a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Limits {
    /// Linear memory of the instance.
    pub memory: ByteSize,
    /// Time on the processor.
    pub cpu: TimeSpan,
    /// Time on the clock, also while the guest waits in a host call.
    pub wall_clock: TimeSpan,
    /// Elements of all tables.
    pub table_elements: u32,
    /// Core instances inside of the component.
    pub instances: u32,
    /// Size of the input.
    pub input: ByteSize,
    /// Size of the output.
    pub output: ByteSize,
    /// Calls from the guest into the host.
    pub host_calls: u32,
    /// Bytes of log lines that are kept, stdout and stderr included.
    pub log: ByteSize,
}

/// Limits as written in `plugin.toml` or `mizzen.toml`: what is left out is not said.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct LimitsDraft {
    /// See [`Limits::memory`].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub memory: Option<ByteSize>,
    /// See [`Limits::cpu`].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cpu: Option<TimeSpan>,
    /// See [`Limits::wall_clock`].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub wall_clock: Option<TimeSpan>,
    /// See [`Limits::table_elements`].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub table_elements: Option<u32>,
    /// See [`Limits::instances`].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub instances: Option<u32>,
    /// See [`Limits::input`].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub input: Option<ByteSize>,
    /// See [`Limits::output`].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub output: Option<ByteSize>,
    /// See [`Limits::host_calls`].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub host_calls: Option<u32>,
    /// See [`Limits::log`].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub log: Option<ByteSize>,
}

impl Limits {
    /// What holds when nobody says anything.
    pub const DEFAULT: Self = Self {
        memory: ByteSize::mib(64),
        cpu: TimeSpan::millis(2_000),
        wall_clock: TimeSpan::millis(5_000),
        table_elements: 2_000,
        instances: 8,
        input: ByteSize::mib(1),
        output: ByteSize::mib(1),
        host_calls: 10_000,
        log: ByteSize::kib(64),
    };

    /// What an evaluation of a pack gets at most, whatever its plugin may have: it stands in the way of every step.
    pub const PACK: Self = Self {
        memory: ByteSize::mib(64),
        cpu: TimeSpan::millis(2_000),
        wall_clock: TimeSpan::millis(5_000),
        table_elements: 2_000,
        instances: 8,
        input: ByteSize::mib(4),
        output: ByteSize::mib(1),
        host_calls: 1_000,
        log: ByteSize::kib(64),
    };

    /// What an author may ask for at most when the operator does not say otherwise.
    pub const CEILING: Self = Self {
        memory: ByteSize::mib(512),
        cpu: TimeSpan::millis(30_000),
        wall_clock: TimeSpan::millis(60_000),
        table_elements: 20_000,
        instances: 32,
        input: ByteSize::mib(16),
        output: ByteSize::mib(16),
        host_calls: 1_000_000,
        log: ByteSize::mib(1),
    };

    /// The smaller of the two, field by field.
    #[must_use]
    pub fn min(self, other: Self) -> Self {
        Self {
            memory: self.memory.min(other.memory),
            cpu: self.cpu.min(other.cpu),
            wall_clock: self.wall_clock.min(other.wall_clock),
            table_elements: self.table_elements.min(other.table_elements),
            instances: self.instances.min(other.instances),
            input: self.input.min(other.input),
            output: self.output.min(other.output),
            host_calls: self.host_calls.min(other.host_calls),
            log: self.log.min(other.log),
        }
    }
}

impl LimitsDraft {
    /// The draft, with what it leaves out taken from `otherwise`.
    pub fn or(&self, otherwise: Limits) -> Limits {
        Limits {
            memory: self.memory.unwrap_or(otherwise.memory),
            cpu: self.cpu.unwrap_or(otherwise.cpu),
            wall_clock: self.wall_clock.unwrap_or(otherwise.wall_clock),
            table_elements: self.table_elements.unwrap_or(otherwise.table_elements),
            instances: self.instances.unwrap_or(otherwise.instances),
            input: self.input.unwrap_or(otherwise.input),
            output: self.output.unwrap_or(otherwise.output),
            host_calls: self.host_calls.unwrap_or(otherwise.host_calls),
            log: self.log.unwrap_or(otherwise.log),
        }
    }

    /// What the author asked for, or the default, within the operator's ceiling.
    pub fn within(&self, ceiling: Limits) -> Limits {
        self.or(Limits::DEFAULT).min(ceiling)
    }

    /// What the author asked for and does not get within a ceiling: name, wish and what is given instead.
    pub fn clamped(&self, ceiling: Limits) -> Vec<Clamped> {
        let mut clamped = Vec::new();
        let mut look = |limit: &'static str, asked: Option<(bool, String)>, given: String| {
            if let Some((true, asked)) = asked {
                clamped.push(Clamped { limit, asked, given });
            }
        };
        macro_rules! look_at {
            ($($field:ident),*) => {$(
                look(
                    stringify!($field),
                    self.$field.map(|asked| (asked > ceiling.$field, asked.to_string())),
                    ceiling.$field.to_string(),
                );
            )*};
        }
        look_at!(
            memory,
            cpu,
            wall_clock,
            table_elements,
            instances,
            input,
            output,
            host_calls,
            log
        );
        clamped
    }

    /// The same limits, narrowed by this draft: it can only take away.
    pub fn narrow(&self, limits: Limits) -> Limits {
        self.or(limits).min(limits)
    }
}

/// A limit that an author asks for and no host gives without being configured to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Clamped {
    /// Its name in `plugin.toml`.
    pub limit: &'static str,
    /// What is written there.
    pub asked: String,
    /// What a call gets.
    pub given: String,
}

impl fmt::Display for Clamped {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { limit, asked, given } = self;
        write!(
            f,
            "limits.{limit} = {asked} is above the maximum; calls get {given}"
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_read_with_binary_units_only() {
        for (text, bytes) in [
            ("1B", Some(1)),
            ("64KiB", Some(65_536)),
            ("64MiB", Some(67_108_864)),
            ("1GiB", Some(1 << 30)),
            ("1024GiB", Some(1 << 40)),
            ("1025GiB", None),
            ("0MiB", None),
            ("", None),
            ("64", None),
            ("MiB", None),
            ("64MB", None),
            ("64 MiB", None),
            ("-1MiB", None),
            ("1.5MiB", None),
            ("99999999999999999999GiB", None),
            ("+1B", None),
            ("1MiB ", None),
        ] {
            assert_eq!(ByteSize::parse(text).ok().map(ByteSize::get), bytes, "{text}");
        }
    }

    #[test]
    fn spans_are_read_and_printed() {
        for text in ["1ms", "250ms", "2s", "5m", "1h", "24h"] {
            assert_eq!(TimeSpan::parse(text).unwrap().to_string(), text);
        }
        for text in ["0s", "2", "s", "2 s", "2sec", "25h", "-1s", "1.5s"] {
            assert!(TimeSpan::parse(text).is_err(), "{text}");
        }
        assert_eq!(ByteSize::mib(64).to_string(), "64MiB");
        assert_eq!(ByteSize::bytes(1_500).to_string(), "1500B");
    }

    #[test]
    fn what_is_above_the_maximum_is_named_with_what_is_given_instead() {
        let draft = LimitsDraft {
            memory: Some(ByteSize::parse("900GiB").unwrap()),
            cpu: Some(TimeSpan::parse("10h").unwrap()),
            wall_clock: Some(TimeSpan::parse("60s").unwrap()),
            ..LimitsDraft::default()
        };
        let said: Vec<String> = draft
            .clamped(Limits::CEILING)
            .iter()
            .map(ToString::to_string)
            .collect();
        assert_eq!(
            said,
            [
                "limits.memory = 900GiB is above the maximum; calls get 512MiB",
                "limits.cpu = 10h is above the maximum; calls get 30s",
            ]
        );
        assert_eq!(LimitsDraft::default().clamped(Limits::CEILING), []);
    }

    #[test]
    fn an_author_gets_the_default_or_the_wish_but_never_more_than_the_ceiling() {
        let ceiling = Limits {
            memory: ByteSize::mib(32),
            ..Limits::CEILING
        };
        let silent = LimitsDraft::default().within(ceiling);
        assert_eq!(silent.memory, ByteSize::mib(32));
        assert_eq!(silent.cpu, Limits::DEFAULT.cpu);
        let greedy = LimitsDraft {
            memory: Some(ByteSize::mib(1_000)),
            cpu: Some(TimeSpan::millis(3_000)),
            ..Default::default()
        };
        assert_eq!(greedy.within(ceiling).memory, ByteSize::mib(32));
        assert_eq!(greedy.within(ceiling).cpu, TimeSpan::millis(3_000));
    }

    #[test]
    fn a_tool_can_only_narrow_its_plugins_limits() {
        let plugin = Limits::DEFAULT;
        let wide = LimitsDraft {
            output: Some(ByteSize::mib(8)),
            ..Default::default()
        };
        let tight = LimitsDraft {
            output: Some(ByteSize::kib(1)),
            ..Default::default()
        };
        assert_eq!(wide.narrow(plugin).output, plugin.output);
        assert_eq!(tight.narrow(plugin).output, ByteSize::kib(1));
        assert_eq!(tight.narrow(plugin).memory, plugin.memory);
    }
}
