//! `wrk`, and what it prints.

use super::{Answered, Load};
use crate::process::finish;
use anyhow::{Context, Result, ensure};
use std::io::Write;
use std::process::{Command, Stdio};

pub(super) fn is_installed() -> bool {
    let found = Command::new("wrk")
        .arg("--version")
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status();
    // It exits with 1 after it has printed its version.
    found.is_ok()
}

pub(super) fn run(load: &Load) -> Result<Answered> {
    let mut script = tempfile::Builder::new().suffix(".lua").tempfile()?;
    // JSON text is a valid long string of Lua as long as it does not hold the closing bracket.
    ensure!(
        !load.body.contains("]==]"),
        "the body cannot be written into a script of wrk"
    );
    write!(
        script,
        "wrk.method = \"POST\"\nwrk.headers[\"content-type\"] = \"application/json\"\nwrk.body = [==[{}]==]\n",
        load.body
    )?;
    let output = finish(
        Command::new("wrk")
            .args(["--threads", "1", "--latency", "--timeout", "30s"])
            .args(["--connections", &load.connections.to_string()])
            .args(["--duration", &format!("{}s", load.time.as_secs().max(1))])
            .arg("--script")
            .arg(script.path())
            .arg(format!("http://{}{}", load.address, load.path)),
    )?;
    parse(&output)
}

fn parse(output: &str) -> Result<Answered> {
    ensure!(
        !output.contains("Non-2xx") && !output.contains("Socket errors"),
        "some requests failed: {output}"
    );
    let after = |start: &str| {
        let line = output.lines().map(str::trim).find(|line| line.starts_with(start));
        line.and_then(|line| line.split_whitespace().nth(1))
            .with_context(|| format!("wrk printed no {start}: {output}"))
    };
    Ok(Answered {
        per_second: after("Requests/sec:")?.parse()?,
        p50: nanoseconds(after("50%")?)?,
        p99: nanoseconds(after("99%")?)?,
    })
}

/// `1.23ms`, `456.00us`, `1.20s`.
fn nanoseconds(text: &str) -> Result<f64> {
    let digits = text.trim_end_matches(|letter: char| letter.is_ascii_alphabetic());
    let factor = match text.strip_prefix(digits) {
        Some("us") => 1e3,
        Some("ms") => 1e6,
        Some("s") => 1e9,
        Some("m") => 60e9,
        _ => anyhow::bail!("{text:?} is not a time of wrk"),
    };
    Ok(digits.parse::<f64>()? * factor)
}

#[cfg(test)]
mod tests {
    use super::*;

    const OUTPUT: &str = "Running 2s test @ http://127.0.0.1:1/\n  1 threads and 2 connections\n  Latency Distribution\n     \
        50%    1.50ms\n     75%    2.00ms\n     90%    3.00ms\n     99%   12.00ms\n  100 requests in 2.00s, 1.00MB read\n\
        Requests/sec:    1234.50\nTransfer/sec:    1.00MB\n";

    #[test]
    fn what_wrk_prints_is_understood() {
        let answered = parse(OUTPUT).unwrap_or_default();
        assert_eq!(
            (answered.per_second, answered.p50, answered.p99),
            (1234.5, 1.5e6, 12e6)
        );
    }

    #[test]
    fn a_refused_request_is_not_a_fast_one() {
        assert!(parse(&format!("{OUTPUT}  Non-2xx or 3xx responses: 1\n")).is_err());
    }
}
