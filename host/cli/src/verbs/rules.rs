//! `mizzen rules …`: for authors of rule files and `when` strings.

mod check;
mod facts;
mod run;

pub(super) use run::fired;

use crate::output::harmless;
use anyhow::Context as _;
use mizzen_rules::{Program, RuleError};
use serde_json::{Value, json};
use std::io::Read as _;
use std::path::Path;
use std::process::ExitCode;

/// Checks and runs rule files.
#[derive(Debug, clap::Args)]
pub(crate) struct Rules {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Debug, clap::Subcommand)]
enum Verb {
    /// Reads a rule file and says what is wrong with it, where, and what to write instead.
    Check(check::Check),
    /// Runs a rule file over facts and says which rules fired on which of them.
    Run(run::Run),
    /// Print the facts that the host publishes to rules and packs
    Facts(facts::Facts),
}

impl Rules {
    pub(crate) fn run(self) -> anyhow::Result<ExitCode> {
        match self.verb {
            Verb::Check(verb) => verb.run(),
            Verb::Run(verb) => verb.run(),
            Verb::Facts(verb) => verb.run(),
        }
    }
}

/// Files are read whole, so they have a limit.
pub(super) const FILE_BYTES: u64 = 16 * 1024 * 1024;

pub(super) fn read(path: &Path) -> anyhow::Result<String> {
    let name = path.display();
    let mut text = String::new();
    let file = std::fs::File::open(path).with_context(|| format!("cannot open {name}"))?;
    file.take(FILE_BYTES + 1)
        .read_to_string(&mut text)
        .with_context(|| format!("cannot read {name} as text"))?;
    if u64::try_from(text.len()).unwrap_or(u64::MAX) > FILE_BYTES {
        anyhow::bail!("{name} is larger than {FILE_BYTES} bytes");
    }
    Ok(text)
}

fn parse(path: &Path) -> anyhow::Result<Result<Program, (String, Vec<RuleError>)>> {
    let text = read(path)?;
    let program = Program::parse_all(&text, std::iter::empty());
    Ok(program.map_err(|errors| (text, errors)))
}

/// What is wrong with a rule file: all of it, and the first thing by itself.
pub(super) fn refusal_json(path: &Path, errors: &[RuleError]) -> Value {
    let errors: Vec<Value> = errors.iter().map(|error| error_json(path, error)).collect();
    json!({"ok": false, "error": errors.first(), "errors": errors})
}

fn error_json(path: &Path, error: &RuleError) -> Value {
    json!({
        "file": path.display().to_string(),
        "line": error.start.line,
        "column": error.start.column,
        "end_line": error.end.line,
        "end_column": error.end.column,
        "code": error.kind.code(),
        "message": error.message,
        "hint": error.hint,
    })
}

/// What a line of a terminal holds of a rule file's line.
const SHOWN: usize = 160;

/// Shows the errors of a file that was read alone: the host's templates are not there then.
fn print_lone_errors(path: &Path, text: &str, errors: &[RuleError]) {
    print_errors(path, text, errors);
    let beside = path.with_file_name(mizzen_builder::pack::PACK_TOML);
    if errors.iter().any(lacks_template) && beside.is_file() {
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
        eprintln!(
            "  note: these are the rules of a pack; `mizzen pack check {}` reads them with the host's templates",
            folder.unwrap_or(Path::new(".")).display()
        );
    }
}

/// Shows each error with the line it is about, and the part of it.
pub(super) fn print_errors(path: &Path, text: &str, errors: &[RuleError]) {
    errors.iter().for_each(|error| print_error(path, text, error));
}

/// Whether a rule names a template that nobody has defined.
pub(super) fn lacks_template(error: &RuleError) -> bool {
    error.message.contains("no deftemplate")
}

/// Shows the error with the line it is about, and the part of it.
fn print_error(path: &Path, text: &str, error: &RuleError) {
    eprintln!("error: {}", harmless(&error.message));
    eprintln!(
        "  --> {}:{}:{}",
        path.display(),
        error.start.line,
        error.start.column
    );
    let line = usize::try_from(error.start.line).unwrap_or(1).saturating_sub(1);
    let shown: String = text
        .lines()
        .nth(line)
        .unwrap_or_default()
        .chars()
        .take(SHOWN)
        .collect();
    // A rule file may be somebody else's. One character stands for one, and tabs stay, so the mark below fits.
    let parts: Vec<String> = shown.split('\t').map(|part| harmless(&part)).collect();
    let shown = parts.join("\t");
    eprintln!("   | {shown}");
    if let Some(mark) = mark(error, &shown) {
        eprintln!("   | {mark}");
    }
    eprintln!("  hint: {}", harmless(&error.hint));
}

/// Marks what the error is about below its first line. Tabs stay tabs, so that both lines are as wide.
fn mark(error: &RuleError, line: &str) -> Option<String> {
    let column = |column: u32| usize::try_from(column).ok()?.checked_sub(1);
    let start = column(error.start.column)?;
    let width = line.chars().count();
    let end = match error.end.line == error.start.line {
        true => column(error.end.column)?.min(width),
        false => width,
    };
    (start < width).then(|| {
        let before = line.chars().take(start);
        let blank = before.map(|c| if c == '\t' { '\t' } else { ' ' });
        let marks = std::iter::repeat_n('^', end.saturating_sub(start).max(1));
        blank.chain(marks).collect()
    })
}
