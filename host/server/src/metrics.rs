//! The metrics as they are scraped: the counters of the operations and of the store.

mod process;

use mizzen_ops::Host;
use std::fmt::Write as _;

/// The media type of the Prometheus text format.
pub(crate) const MEDIA_TYPE: &str = "text/plain; version=0.0.4; charset=utf-8";

/// Everything that is counted.
pub(crate) fn render(host: &Host) -> String {
    let mut text = host.metrics.render();
    let stats = host.store_stats();
    let mut counter = |name: &str, help: &str, value: u64| {
        let _ = write!(
            text,
            "# HELP {name} {help}\n# TYPE {name} counter\n{name} {value}\n"
        );
    };
    counter(
        "mizzen_store_commits_total",
        "Transactions that were committed.",
        stats.commits,
    );
    counter(
        "mizzen_store_writes_total",
        "Writes in committed transactions.",
        stats.writes,
    );
    counter(
        "mizzen_store_failed_commits_total",
        "Transactions that were not committed.",
        stats.failed_commits,
    );
    counter(
        "mizzen_trace_spans_dropped_total",
        "Spans that did not reach their collector.",
        host.traces.dropped(),
    );
    let name = "mizzen_store_commit_seconds";
    let _ = write!(
        text,
        "# HELP {name} How long transactions took.\n# TYPE {name} histogram\n"
    );
    for (bound, count) in &stats.buckets {
        let _ = writeln!(text, "{name}_bucket{{le=\"{bound}\"}} {count}");
    }
    let _ = writeln!(text, "{name}_bucket{{le=\"+Inf\"}} {}", stats.commits);
    let _ = writeln!(
        text,
        "{name}_sum {}\n{name}_count {}",
        stats.seconds, stats.commits
    );
    let poisoned = u8::from(stats.poisoned);
    let name = "mizzen_store_poisoned";
    let _ = write!(
        text,
        "# HELP {name} 1 after a commit with unknown outcome.\n# TYPE {name} gauge\n{name} {poisoned}\n"
    );
    for (name, help, value) in [
        (
            "mizzen_runs_open",
            "Executions that are open: driven now, or waiting for a person.",
            host.runs.open(),
        ),
        (
            "mizzen_runs_stuck",
            "Open executions that cannot be driven; 0 on a healthy host.",
            host.runs.stuck(),
        ),
    ] {
        let _ = write!(
            text,
            "# HELP {name} {help}\n# TYPE {name} gauge\n{name} {value}\n"
        );
    }
    let name = "mizzen_plugin_reload_failures_total";
    let _ = write!(
        text,
        "# HELP {name} How often the plugin set in the folders was refused.\n# TYPE {name} counter\n{name} {}\n",
        host.registry.reload_failures()
    );
    let name = "mizzen_plugin_set_current";
    let _ = write!(
        text,
        "# HELP {name} 1 when the running plugin set is the one in the folders, 0 after that one was refused.\n# TYPE {name} gauge\n{name} {}\n",
        u8::from(host.registry.installed().problems.is_empty())
    );
    let name = "mizzen_uptime_seconds";
    let _ = write!(
        text,
        "# HELP {name} Seconds since start.\n# TYPE {name} gauge\n{name} {}\n",
        host.uptime_seconds()
    );
    let name = "mizzen_build_info";
    let _ = write!(
        text,
        "# HELP {name} The version that runs; always 1.\n# TYPE {name} gauge\n{name}{{version=\"{}\"}} 1\n",
        env!("CARGO_PKG_VERSION")
    );
    process::render(&mut text);
    text
}
