//! Structured logs on stderr: for people on a terminal, JSON otherwise. `MIZZEN_LOG` filters them: a level such as `debug` is for Mizzen
//! and its plugins, anything with `=` or `,` is a filter of its own (`mizzen::plugin=debug,warn`).

use std::io::IsTerminal;
use tracing_subscriber::EnvFilter;

/// Starts logging. Called once, by verbs that serve.
pub(crate) fn start() {
    let wanted = std::env::var("MIZZEN_LOG").unwrap_or_default();
    let filter = EnvFilter::try_new(directives(&wanted)).unwrap_or_else(|_| EnvFilter::new(directives("")));
    let logs = tracing_subscriber::fmt()
        .with_env_filter(filter)
        // A line that cannot be written (its reader is gone, its disk is full) is lost. Saying so on the same stderr would be a panic,
        // in whatever was about to be done: every request, for one.
        .log_internal_errors(false)
        .with_writer(std::io::stderr);
    // A second start can only come from a test in the same process; the first one stands.
    let _ = if std::io::stderr().is_terminal() {
        logs.with_target(false).try_init()
    } else {
        logs.json().flatten_event(true).try_init()
    };
}

/// Every target of this host: its crates, and what guests write.
const TARGETS: [&str; 13] = [
    "mizzen",
    "mizzen::plugin",
    "mizzen_builder",
    "mizzen_catalog",
    "mizzen_condition",
    "mizzen_engine",
    "mizzen_json",
    "mizzen_model",
    "mizzen_ops",
    "mizzen_sandbox",
    "mizzen_server",
    "mizzen_store",
    "mizzen_store_sqlite",
];

/// The filter that a text means. A level alone is for Mizzen's own targets: at `debug` the frames of every HTTP/2 connection would hide
/// what the reader looks for. Others warn, or are as silent as Mizzen is.
fn directives(text: &str) -> String {
    let text = text.trim();
    if text.contains(['=', ',']) {
        return text.to_owned();
    }
    let level = match text.to_ascii_lowercase().as_str() {
        level @ ("off" | "error" | "warn" | "info" | "debug" | "trace") => level.to_owned(),
        "" => "info".to_owned(),
        // A target or a span: a filter of its own.
        _ => return text.to_owned(),
    };
    let others = match level.as_str() {
        "off" | "error" => level.as_str(),
        _ => "warn",
    };
    let ours: Vec<String> = TARGETS.iter().map(|target| format!("{target}={level}")).collect();
    format!("{others},{}", ours.join(","))
}

#[cfg(test)]
mod tests {
    use super::*;
    use tracing_subscriber::filter::LevelFilter;

    #[test]
    fn a_level_alone_is_for_mizzen_and_its_plugins() {
        let debug = directives("debug");
        assert!(debug.starts_with("warn,"), "{debug}");
        for target in [
            "mizzen=debug",
            "mizzen::plugin=debug",
            "mizzen_ops=debug",
            "mizzen_server=debug",
        ] {
            assert!(debug.split(',').any(|part| part == target), "{target}: {debug}");
        }
        assert_eq!(directives(""), directives("info"));
        assert!(directives("OFF").starts_with("off,"));
        for raw in ["h2=trace", "debug,h2=off", "mizzen_ops"] {
            assert_eq!(directives(raw), raw);
        }
        for level in ["off", "warn", "trace"] {
            let filter = EnvFilter::try_new(directives(level)).unwrap();
            let expected = if level == "trace" {
                LevelFilter::TRACE
            } else {
                level.parse().unwrap()
            };
            assert_eq!(filter.max_level_hint(), Some(expected), "{level}");
        }
    }

    #[test]
    fn every_crate_of_the_host_is_a_target() {
        let crates = std::fs::read_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/..")).unwrap();
        for folder in crates.map(|folder| folder.unwrap().file_name()) {
            let name = match folder.to_str().unwrap() {
                "cli" => "mizzen".to_owned(),
                name => format!("mizzen_{}", name.replace('-', "_")),
            };
            assert!(TARGETS.contains(&name.as_str()), "{name} is missing");
        }
    }
}
