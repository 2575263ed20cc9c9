//! Runs the subjects and prints the table.

use crate::machine::Machine;
use crate::options::{Options, Scale};
use crate::places::Places;
use crate::report::Report;
use crate::row::Row;
use crate::subjects::{SUBJECTS, Subject};
use anyhow::{Context, Result};
use std::path::Path;
use std::process::ExitCode;
use std::time::Instant;

/// What every subject works with.
#[derive(Debug)]
pub(crate) struct Bench {
    pub(crate) scale: Scale,
    pub(crate) places: Places,
}

impl Bench {
    /// One of three sizes.
    pub(crate) fn pick<T>(&self, quick: T, usual: T, long: T) -> T {
        self.scale.pick(quick, usual, long)
    }
}

/// The program: see the help text.
pub fn main() -> ExitCode {
    match run() {
        Ok(code) => code,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::from(2)
        }
    }
}

fn run() -> Result<ExitCode> {
    // As the server starts, so that its events cost here what they cost there.
    tracing_subscriber::fmt()
        .with_env_filter("warn,mizzen=error")
        .with_writer(std::io::stderr)
        .init();
    let names: Vec<&str> = SUBJECTS.iter().map(|subject| subject.name).collect();
    let Some(options) = Options::read(std::env::args().skip(1), &names)? else {
        return Ok(ExitCode::SUCCESS);
    };
    if let Some((role, arguments)) = &options.role {
        crate::served::play(role, arguments)?;
        return Ok(ExitCode::SUCCESS);
    }
    let began = Instant::now();
    let bench = Bench {
        scale: options.scale,
        places: Places::find()?,
    };
    if options.prepare {
        crate::subjects::prepare(&bench)?;
        println!("prepared in {:.0} s", began.elapsed().as_secs_f64());
        return Ok(ExitCode::SUCCESS);
    }
    let output = options
        .output
        .clone()
        .unwrap_or_else(|| bench.places.kept.clone());
    let machine = Machine::look(&bench.places, bench.pick(5, 300, 1_000))?;
    let mut report = Report {
        machine,
        scale: format!("{:?}", options.scale).to_lowercase(),
        seconds: 0.0,
        rows: Vec::new(),
    };
    let mut broken = 0;
    for subject in SUBJECTS.iter().filter(|subject| options.wants(subject.name)) {
        let rows = measured(&bench, subject);
        if let Err(error) = &rows {
            broken += 1;
            eprintln!("{}: {error:#}", subject.name);
        }
        let rows =
            rows.unwrap_or_else(|error| vec![Row::skipped(subject.name, format!("it broke: {error:#}"))]);
        report.rows.extend(rows.into_iter().map(|row| Row {
            subject: subject.name.to_owned(),
            ..row
        }));
        report.seconds = began.elapsed().as_secs_f64();
        // After every subject: what was measured is not lost when a later one is stopped.
        write(&output, &report)?;
    }
    println!("\n{}\n{}", report.text(), report.summary());
    println!("written to {}/report.md and report.json", output.display());
    Ok(if broken == 0 {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    })
}

fn measured(bench: &Bench, subject: &Subject) -> Result<Vec<Row>> {
    eprintln!("{} …", subject.name);
    let began = Instant::now();
    let rows = (subject.measure)(bench)?;
    for row in &rows {
        eprintln!("  {}", row.cells().join("  "));
    }
    eprintln!("  {:.1} s", began.elapsed().as_secs_f64());
    Ok(rows)
}

fn write(folder: &Path, report: &Report) -> Result<()> {
    std::fs::create_dir_all(folder)?;
    let write = |name: &str, text: String| {
        let file = folder.join(name);
        std::fs::write(&file, text).with_context(|| file.display().to_string())
    };
    write("report.md", report.markdown())?;
    write("report.json", serde_json::to_string_pretty(report)?)
}
