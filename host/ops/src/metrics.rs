//! What the host counts: a small registry that writes the Prometheus text format.
//!
//! The families are fixed, and so are their labels; a family holds a bounded number of series, because label values may come
//! from plugins (their names). To add one: a variant in [`Family`] and its line in [`Family::describe`].

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::sync::{Mutex, PoisonError};

/// Series of one family; further label values are counted under `other`.
const SERIES: usize = 512;
/// Characters of a label value that are kept.
const LABEL_CHARS: usize = 96;
/// Upper bounds of every duration histogram, in seconds.
const BUCKETS: [f64; 10] = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.1, 0.25, 1.0, 5.0, 30.0];

/// A metric and its labels.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Family {
    /// Operations on sprites, by operation and outcome.
    SpriteOperations,
    /// Operations on councils, by operation and outcome.
    CouncilOperations,
    /// Chain executions that ended, by status.
    ChainExecutions,
    /// How long chain executions took, by status.
    ChainSeconds,
    /// Gate decisions, by position and decision.
    GateDecisions,
    /// Calls into plugins, by plugin and outcome.
    SandboxCalls,
    /// How long calls into plugins took, by plugin.
    SandboxSeconds,
    /// Evaluations of packs, by pack and outcome.
    PackEvaluations,
    /// How long evaluations of packs took, by pack.
    PackSeconds,
    /// HTTP requests, by route, method and status.
    HttpRequests,
    /// How long HTTP requests took, by route and method.
    HttpSeconds,
    /// Requests that were refused before their operation, by reason.
    AccessRefusals,
    /// Calls of tools, by tool and outcome.
    ToolCalls,
}

struct Description {
    name: &'static str,
    help: &'static str,
    labels: &'static [&'static str],
    shape: Shape,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Shape {
    Counter,
    Histogram,
}

impl Family {
    const ALL: [Family; 13] = [
        Family::SpriteOperations,
        Family::CouncilOperations,
        Family::ChainExecutions,
        Family::ChainSeconds,
        Family::GateDecisions,
        Family::SandboxCalls,
        Family::SandboxSeconds,
        Family::PackEvaluations,
        Family::PackSeconds,
        Family::HttpRequests,
        Family::HttpSeconds,
        Family::AccessRefusals,
        Family::ToolCalls,
    ];

    fn describe(self) -> Description {
        let (name, help, labels, shape): (_, _, &'static [&'static str], _) = match self {
            Family::SpriteOperations => (
                "mizzen_sprite_operations_total",
                "Operations on sprites.",
                &["operation", "outcome"],
                Shape::Counter,
            ),
            Family::CouncilOperations => (
                "mizzen_council_operations_total",
                "Operations on councils.",
                &["operation", "outcome"],
                Shape::Counter,
            ),
            Family::ChainExecutions => (
                "mizzen_chain_executions_total",
                "Chain executions that ended.",
                &["status"],
                Shape::Counter,
            ),
            Family::ChainSeconds => (
                "mizzen_chain_execution_seconds",
                "How long chain executions took.",
                &["status"],
                Shape::Histogram,
            ),
            Family::GateDecisions => (
                "mizzen_gate_decisions_total",
                "Decisions of gates.",
                &["position", "decision"],
                Shape::Counter,
            ),
            Family::SandboxCalls => (
                "mizzen_sandbox_calls_total",
                "Calls into plugins.",
                &["plugin", "outcome"],
                Shape::Counter,
            ),
            Family::SandboxSeconds => (
                "mizzen_sandbox_call_seconds",
                "How long calls into plugins took.",
                &["plugin"],
                Shape::Histogram,
            ),
            Family::PackEvaluations => (
                "mizzen_pack_evaluations_total",
                "Evaluations of mounted packs.",
                &["pack", "outcome"],
                Shape::Counter,
            ),
            Family::PackSeconds => (
                "mizzen_pack_evaluation_seconds",
                "How long evaluations of mounted packs took.",
                &["pack"],
                Shape::Histogram,
            ),
            Family::HttpRequests => (
                "mizzen_http_requests_total",
                "HTTP requests.",
                &["route", "method", "status"],
                Shape::Counter,
            ),
            Family::HttpSeconds => (
                "mizzen_http_request_seconds",
                "How long HTTP requests took.",
                &["route", "method"],
                Shape::Histogram,
            ),
            Family::AccessRefusals => (
                "mizzen_access_refusals_total",
                "Requests refused for lack of a key, a grant or a free place.",
                &["reason"],
                Shape::Counter,
            ),
            Family::ToolCalls => (
                "mizzen_tool_calls_total",
                "Calls of tools.",
                &["tool", "outcome"],
                Shape::Counter,
            ),
        };
        Description {
            name,
            help,
            labels,
            shape,
        }
    }
}

/// The counters and histograms of one host.
#[derive(Debug, Default)]
pub struct Metrics {
    series: [Mutex<BTreeMap<String, Series>>; Family::ALL.len()],
}

#[derive(Debug, Default, Clone)]
struct Series {
    count: u64,
    sum: f64,
    buckets: [u64; BUCKETS.len()],
}

impl Metrics {
    /// Counts one event. The labels are those of the family, in its order.
    pub fn count(&self, family: Family, labels: &[&str]) {
        self.with(family, labels, |series| series.count += 1);
    }

    /// Counts one event and how long it took.
    pub fn observe(&self, family: Family, labels: &[&str], seconds: f64) {
        self.with(family, labels, |series| {
            series.count += 1;
            series.sum += seconds;
            for (bound, bucket) in BUCKETS.iter().zip(series.buckets.iter_mut()) {
                if seconds <= *bound {
                    *bucket += 1;
                }
            }
        });
    }

    fn with(&self, family: Family, labels: &[&str], change: impl FnOnce(&mut Series)) {
        let Some(series) = self.series.get(family as usize) else {
            return;
        };
        let key = key(labels);
        let mut series = series.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(series) = series.get_mut(&key) {
            change(series);
        } else if series.len() < SERIES {
            change(series.entry(key).or_default());
        } else {
            let other: Vec<&str> = labels.iter().map(|_| "other").collect();
            change(series.entry(self::key(&other)).or_default());
        }
    }

    /// Everything, in the Prometheus text format.
    pub fn render(&self) -> String {
        let mut text = String::new();
        for (family, series) in Family::ALL.into_iter().zip(&self.series) {
            let series = series.lock().unwrap_or_else(PoisonError::into_inner).clone();
            let description = family.describe();
            let shape = if description.shape == Shape::Counter {
                "counter"
            } else {
                "histogram"
            };
            // Writing to a string cannot fail.
            let _ = writeln!(text, "# HELP {} {}", description.name, description.help);
            let _ = writeln!(text, "# TYPE {} {shape}", description.name);
            for (key, series) in &series {
                let values: Vec<&str> = key.split(SEPARATOR).collect();
                render_series(&mut text, &description, &values, series);
            }
        }
        text
    }
}

/// Stands between the values of a key; where a value has it, it is left out.
const SEPARATOR: char = '\u{1f}';

/// The values of the labels in one text: one allocation for what is looked up several times a call.
fn key(labels: &[&str]) -> String {
    let mut key = String::with_capacity(labels.iter().map(|label| label.len().saturating_add(1)).sum());
    for (place, label) in labels.iter().enumerate() {
        if place > 0 {
            key.push(SEPARATOR);
        }
        if label.len() <= LABEL_CHARS && !label.contains(SEPARATOR) {
            key.push_str(label);
            continue;
        }
        key.extend(
            label
                .chars()
                .filter(|letter| *letter != SEPARATOR)
                .take(LABEL_CHARS),
        );
    }
    key
}

fn render_series(text: &mut String, description: &Description, values: &[&str], series: &Series) {
    let labels: Vec<String> = description
        .labels
        .iter()
        .zip(values)
        .map(|(name, value)| format!("{name}=\"{}\"", escape(value)))
        .collect();
    let labels = labels.join(",");
    let name = description.name;
    match description.shape {
        Shape::Counter => {
            let _ = writeln!(text, "{name}{{{labels}}} {}", series.count);
        }
        Shape::Histogram => {
            for (bound, count) in BUCKETS.iter().zip(series.buckets) {
                let _ = writeln!(text, "{name}_bucket{{{labels},le=\"{bound}\"}} {count}");
            }
            let _ = writeln!(text, "{name}_bucket{{{labels},le=\"+Inf\"}} {}", series.count);
            let _ = writeln!(text, "{name}_sum{{{labels}}} {}", series.sum);
            let _ = writeln!(text, "{name}_count{{{labels}}} {}", series.count);
        }
    }
}

fn escape(value: &str) -> String {
    value
        .replace('\\', "\\\\")
        .replace('"', "\\\"")
        .replace('\n', "\\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_family_has_its_own_place() {
        for (place, family) in Family::ALL.into_iter().enumerate() {
            assert_eq!(family as usize, place);
        }
    }

    #[test]
    fn counters_and_histograms_are_written_as_prometheus_reads_them() {
        let metrics = Metrics::default();
        metrics.count(Family::SpriteOperations, &["create", "done"]);
        metrics.count(Family::SpriteOperations, &["create", "done"]);
        metrics.observe(Family::ChainSeconds, &["completed"], 0.02);
        let text = metrics.render();
        assert!(text.contains("# TYPE mizzen_sprite_operations_total counter"));
        assert!(text.contains("mizzen_sprite_operations_total{operation=\"create\",outcome=\"done\"} 2\n"));
        assert!(text.contains("mizzen_chain_execution_seconds_bucket{status=\"completed\",le=\"0.01\"} 0\n"));
        assert!(
            text.contains("mizzen_chain_execution_seconds_bucket{status=\"completed\",le=\"0.025\"} 1\n")
        );
        assert!(text.contains("mizzen_chain_execution_seconds_count{status=\"completed\"} 1\n"));
    }

    #[test]
    fn hostile_label_values_stay_bounded_and_escaped() {
        let metrics = Metrics::default();
        for number in 0..2_000 {
            metrics.count(
                Family::SandboxCalls,
                &[&format!("p{number}\"\n{}", "x".repeat(500)), "done"],
            );
        }
        let text = metrics.render();
        let lines: Vec<&str> = text
            .lines()
            .filter(|line| line.starts_with("mizzen_sandbox_calls_total{"))
            .collect();
        assert_eq!(lines.len(), SERIES + 1);
        assert!(
            lines
                .iter()
                .all(|line| line.len() < 200 && line.ends_with(|last: char| last.is_ascii_digit()))
        );
    }
}
