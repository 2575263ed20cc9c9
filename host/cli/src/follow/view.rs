//! How a run is shown: a table that is redrawn on a terminal, lines as they come otherwise, nothing for `--json`.

use crate::account::{self, Layout, Names, PLAIN, Row, cut, shown};
use mizzen_model::execution::ChainExecutionResult;
use std::collections::HashSet;
use std::io::{IsTerminal, Write};
use terminal_size::{Height, Width};

/// A narrower terminal gets lines.
const NARROWEST: u16 = 40;

/// A view of one run.
pub(crate) struct View {
    title: String,
    names: Names,
    form: Form,
    stream: Stream,
}

/// Where lines go.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stream {
    Stdout,
    /// Standard output is for something else.
    Stderr,
}

impl Stream {
    fn is_terminal(self) -> bool {
        match self {
            Self::Stdout => std::io::stdout().is_terminal(),
            Self::Stderr => std::io::stderr().is_terminal(),
        }
    }

    fn write(self, text: &str) {
        // A reader that is gone is noticed where the result is printed.
        let _ = match self {
            Self::Stdout => {
                let mut stdout = std::io::stdout();
                stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush())
            }
            Self::Stderr => std::io::stderr().write_all(text.as_bytes()),
        };
    }
}

enum Form {
    Nothing,
    Lines {
        told: HashSet<String>,
    },
    Table {
        /// Lines that are on the screen and will be replaced.
        drawn: usize,
        /// The last rows, to be drawn again.
        rows: Vec<Row>,
    },
}

impl View {
    /// The view that fits where standard output goes.
    pub(crate) fn choose(json: bool, title: String, names: Names) -> Self {
        let wide = terminal_size::terminal_size().is_some_and(|(Width(width), _)| width >= NARROWEST);
        let form = match (json, std::io::stdout().is_terminal() && wide) {
            (true, _) => Form::Nothing,
            (false, false) => Form::Lines { told: HashSet::new() },
            (false, true) => Form::Table {
                drawn: 0,
                rows: Vec::new(),
            },
        };
        Self {
            title,
            names,
            form,
            stream: Stream::Stdout,
        }
    }

    /// A view for verbs whose standard output is a tool's output: lines on stderr, nothing for `--json`.
    pub(crate) fn beside_output(json: bool) -> Self {
        Self {
            title: String::new(),
            names: Names::new(),
            form: if json {
                Form::Nothing
            } else {
                Form::Lines { told: HashSet::new() }
            },
            stream: Stream::Stderr,
        }
    }

    /// Whether a person can be asked: the question is seen, and what is typed is read. Not with `--json`, which is for programs.
    pub(crate) fn has_a_reader(&self) -> bool {
        !matches!(self.form, Form::Nothing) && self.stream.is_terminal() && std::io::stdin().is_terminal()
    }

    /// Shows how far the run has come.
    pub(crate) fn show(&mut self, result: &ChainExecutionResult) {
        let now = account::rows(result, &self.names);
        match &mut self.form {
            Form::Nothing => {}
            Form::Lines { told } => {
                let fresh: Vec<Row> = now
                    .into_iter()
                    .filter(|row| row.is_settled() && told.insert(row.key.clone()))
                    .collect();
                for line in account::lines(&fresh, PLAIN) {
                    self.stream.write(&format!("{line}\n"));
                }
            }
            Form::Table { rows, .. } => {
                *rows = now;
                rows.push(account::end(result));
                self.draw();
            }
        }
    }

    /// Shows how it ended.
    pub(crate) fn end(&mut self, result: &ChainExecutionResult) {
        self.show(result);
        if matches!(self.form, Form::Lines { .. }) {
            for line in account::lines(&[account::end(result)], PLAIN) {
                self.stream.write(&format!("{line}\n"));
            }
        }
    }

    /// Says something beside the run, on stderr where stdout is for lines.
    pub(crate) fn say(&mut self, what: &str) {
        match &mut self.form {
            Form::Nothing | Form::Lines { .. } => eprintln!("{}", shown(what)),
            Form::Table { drawn, .. } => {
                // Below the table, where it stays; the table goes on below it.
                *drawn = 0;
                println!("\r\u{1b}[J{}", shown(what));
            }
        }
    }

    /// Prints lines as they are, below what is shown; they stay.
    pub(crate) fn tell(&mut self, lines: &[String]) {
        self.settle();
        for line in lines {
            self.stream.write(&format!("{line}\n"));
        }
    }

    /// Puts a question to the person at the terminal. The answer is typed behind it.
    pub(crate) fn ask(&mut self, what: &str) {
        self.settle();
        self.stream.write(what);
    }

    /// What is on the screen stays there; a table is drawn again below it.
    fn settle(&mut self) {
        if let Form::Table { drawn, .. } = &mut self.form {
            *drawn = 0;
        }
    }

    fn draw(&mut self) {
        let Form::Table { drawn, rows } = &mut self.form else {
            return;
        };
        let layout = Layout::of_stdout();
        let mut lines = vec![cut(&shown(&self.title), layout.width)];
        lines.extend(account::lines(rows, layout));
        // What has left the screen cannot be reached again: only as much is drawn as fits, the end of it.
        let hidden = lines.len().saturating_sub(height().saturating_sub(2));
        let mut text = String::new();
        if *drawn > 0 {
            text.push_str(&format!("\u{1b}[{drawn}A\r"));
        }
        text.push_str("\u{1b}[J");
        let seen = lines.get(hidden..).unwrap_or_default();
        for line in seen {
            text.push_str(line);
            text.push('\n');
        }
        *drawn = seen.len();
        Stream::Stdout.write(&text);
    }
}

/// Lines of the terminal now: it may have been resized.
fn height() -> usize {
    terminal_size::terminal_size().map_or(24, |(_, Height(height))| usize::from(height).max(8))
}
