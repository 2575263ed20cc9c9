//! One line of the table.

use crate::samples::Samples;
use serde::Serialize;

/// What a number counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Unit {
    Nanoseconds,
    PerSecond,
    Bytes,
    /// Bytes a second.
    Throughput,
    /// A bare number, such as the exponent of a growth.
    Number,
}

/// A number, with its slowest hundredth where it is a time.
#[derive(Debug, Clone, Copy, Serialize)]
pub(crate) struct Value {
    pub(crate) unit: Unit,
    pub(crate) value: f64,
    pub(crate) p99: Option<f64>,
}

impl Value {
    pub(crate) fn new(unit: Unit, value: f64) -> Self {
        Self {
            unit,
            value,
            p99: None,
        }
    }

    pub(crate) fn time(samples: &Samples) -> Self {
        Self {
            unit: Unit::Nanoseconds,
            value: samples.p50(),
            p99: Some(samples.p99()),
        }
    }

    /// The slowest hundredth as the number.
    pub(crate) fn slow(samples: &Samples) -> Self {
        Self::new(Unit::Nanoseconds, samples.p99())
    }

    pub(crate) fn seconds(seconds: f64) -> Self {
        Self::new(Unit::Nanoseconds, seconds * 1e9)
    }

    pub(crate) fn per_second(value: f64) -> Self {
        Self::new(Unit::PerSecond, value)
    }

    #[allow(
        clippy::cast_precision_loss,
        reason = "bytes of a process fit a float's 53 bits"
    )]
    pub(crate) fn bytes(bytes: u64) -> Self {
        Self::new(Unit::Bytes, bytes as f64)
    }

    pub(crate) fn shown(&self) -> String {
        let text = self.scaled(self.value);
        match self.p99 {
            Some(p99) => format!("{text} (p99 {})", self.scaled(p99)),
            None => text,
        }
    }

    fn scaled(&self, value: f64) -> String {
        let steps: &[(f64, &str)] = match self.unit {
            Unit::Nanoseconds => &[(1e9, " s"), (1e6, " ms"), (1e3, " µs"), (1.0, " ns")],
            Unit::PerSecond => &[(1.0, "/s")],
            Unit::Bytes => &[(1048576.0, " MiB"), (1024.0, " KiB"), (1.0, " B")],
            Unit::Throughput => &[(1e6, " MB/s")],
            Unit::Number => &[(1.0, "")],
        };
        let fits = steps
            .iter()
            .find(|(size, _)| value.abs() >= *size)
            .or(steps.last());
        let (size, name) = fits.copied().unwrap_or((1.0, ""));
        let value = value / size;
        let digits = match value.abs() {
            size if size >= 100.0 || size == 0.0 => 0,
            size if size >= 10.0 => 1,
            _ => 2,
        };
        format!("{value:.digits$}{name}")
    }
}

/// What a row is held to.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[serde(tag = "kind", content = "value", rename_all = "snake_case")]
pub(crate) enum Target {
    /// Ours divided by the reference, at most.
    RatioAtMost(f64),
    /// Ours divided by the reference, at least.
    RatioAtLeast(f64),
    /// Ours in the unit of the row, at most.
    AtMost(f64),
    /// Ours in the unit of the row, at least.
    AtLeast(f64),
}

/// One line of the table: what, ours, the reference, the ratio, the target.
#[derive(Debug, Clone, Serialize)]
pub struct Row {
    pub(crate) subject: String,
    pub(crate) what: String,
    pub(crate) ours: Option<Value>,
    pub(crate) reference: Option<(String, Value)>,
    pub(crate) ratio: Option<f64>,
    pub(crate) target: Option<Target>,
    pub(crate) met: Option<bool>,
    pub(crate) skipped: Option<String>,
}

impl Row {
    pub(crate) fn new(what: impl Into<String>, ours: Value) -> Self {
        Self {
            subject: String::new(),
            what: what.into(),
            ours: Some(ours),
            reference: None,
            ratio: None,
            target: None,
            met: None,
            skipped: None,
        }
    }

    /// Something that could not be measured here, and why.
    pub(crate) fn skipped(what: impl Into<String>, why: impl Into<String>) -> Self {
        Self {
            ours: None,
            skipped: Some(why.into()),
            ..Self::new(what, Value::new(Unit::Number, 0.0))
        }
    }

    /// The reference of the same run.
    pub(crate) fn beside(mut self, name: impl Into<String>, reference: Value) -> Self {
        self.ratio = self.ours.map(|ours| ours.value / reference.value);
        self.reference = Some((name.into(), reference));
        self.judged()
    }

    pub(crate) fn target(mut self, target: Target) -> Self {
        self.target = Some(target);
        self.judged()
    }

    fn judged(mut self) -> Self {
        self.met = match (self.target, self.ratio, self.ours) {
            (Some(Target::RatioAtMost(limit)), Some(ratio), _) => Some(ratio <= limit),
            (Some(Target::RatioAtLeast(limit)), Some(ratio), _) => Some(ratio >= limit),
            (Some(Target::AtMost(limit)), _, Some(ours)) => Some(ours.value <= limit),
            (Some(Target::AtLeast(limit)), _, Some(ours)) => Some(ours.value >= limit),
            _ => None,
        };
        self
    }

    /// The cells of the table after the subject.
    pub(crate) fn cells(&self) -> [String; 6] {
        let none = || "–".to_owned();
        let ours = match (&self.ours, &self.skipped) {
            (_, Some(why)) => format!("not measured: {why}"),
            (Some(ours), None) => ours.shown(),
            (None, None) => none(),
        };
        let reference = self.reference.as_ref();
        let reference = reference.map_or_else(none, |(name, value)| format!("{} {name}", value.shown()));
        let ratio = self.ratio.map_or_else(none, |ratio| format!("{ratio:.2}"));
        let shown = |limit: f64| self.ours.map_or_else(none, |ours| ours.scaled(limit));
        let target = match self.target {
            None => none(),
            Some(Target::RatioAtMost(limit)) => format!("ratio ≤ {limit}"),
            Some(Target::RatioAtLeast(limit)) => format!("ratio ≥ {limit}"),
            Some(Target::AtMost(limit)) => format!("≤ {}", shown(limit)),
            Some(Target::AtLeast(limit)) => format!("≥ {}", shown(limit)),
        };
        let met = match self.met {
            None => String::new(),
            Some(true) => "met".to_owned(),
            Some(false) => "MISSED".to_owned(),
        };
        [self.what.clone(), ours, reference, ratio, target, met]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_is_judged_by_its_own_number_or_by_the_ratio() {
        let time = |micros: f64| Value::new(Unit::Nanoseconds, micros * 1e3);
        let met = |row: Row| row.met;
        assert_eq!(
            met(Row::new("x", time(20.0)).target(Target::AtMost(20e3))),
            Some(true)
        );
        assert_eq!(
            met(Row::new("x", time(20.1)).target(Target::AtMost(20e3))),
            Some(false)
        );
        let beside = |ours| Row::new("x", time(ours)).beside("raw", time(20.0));
        assert_eq!(met(beside(25.0).target(Target::RatioAtMost(1.25))), Some(true));
        assert_eq!(met(beside(25.1).target(Target::RatioAtMost(1.25))), Some(false));
        assert_eq!(met(beside(10.0).target(Target::RatioAtLeast(0.7))), Some(false));
        assert_eq!(met(Row::new("x", time(1.0))), None);
    }

    #[test]
    fn numbers_are_shown_in_the_unit_that_fits() {
        let shown = |unit, value| Value::new(unit, value).shown();
        assert_eq!(shown(Unit::Nanoseconds, 23_456.0), "23.5 µs");
        assert_eq!(shown(Unit::Nanoseconds, 0.5), "0.50 ns");
        assert_eq!(shown(Unit::Bytes, 3.5 * 1048576.0), "3.50 MiB");
        assert_eq!(shown(Unit::PerSecond, 12_345.6), "12346/s");
    }
}
