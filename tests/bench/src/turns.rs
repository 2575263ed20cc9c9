//! Rivals that are programs of their own and take turns with us.

use crate::samples::Samples;
use anyhow::{Context, Result, ensure};
use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

/// A child that answers every line with the times it measured. It ends when its input does.
#[derive(Debug)]
pub(crate) struct Turns {
    child: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
}

impl Turns {
    pub(crate) fn start(command: &mut Command) -> Result<Self> {
        let mut child = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .with_context(|| format!("{command:?}"))?;
        let input = child.stdin.take().context("no input")?;
        let output = BufReader::new(child.stdout.take().context("no output")?);
        let mut turns = Self { child, input, output };
        ensure!(turns.line()?.contains("ready"), "{command:?} does not start");
        Ok(turns)
    }

    fn line(&mut self) -> Result<String> {
        let mut line = String::new();
        ensure!(self.output.read_line(&mut line)? > 0, "the rival has stopped");
        Ok(line)
    }

    pub(crate) fn ask(&mut self, request: &str) -> Result<Samples> {
        writeln!(self.input, "{request}")?;
        self.input.flush()?;
        let answer: serde_json::Value = serde_json::from_str(&self.line()?)?;
        let times = answer.get("samples").and_then(|samples| samples.as_array());
        let mut samples = Samples::default();
        for time in times.context("no samples")? {
            samples.push_value(time.as_f64().context("no number")?);
        }
        Ok(samples)
    }
}

impl Drop for Turns {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
