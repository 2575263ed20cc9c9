//! How a run is shown: a table that is redrawn on a terminal, lines as they come otherwise, nothing for `--json`.

use crate::account::{self, Layout, Names, PLAIN, Row, cut, shown};
use mizzen_model::execution::ChainExecutionResult;
use std::collections::HashSet;
use std::io::{IsTerminal, Write};
use terminal_size::{Height, Width};

/// A narrower terminal gets lines.
const NARROWEST: u16 = 40;

/// A view of one run.
pub(super) struct View {
    chain: String,
    names: Names,
    form: Form,
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
    pub(super) fn choose(json: bool, chain: String, names: Names) -> Self {
        let wide = terminal_size::terminal_size().is_some_and(|(Width(width), _)| width >= NARROWEST);
        let form = match (json, std::io::stdout().is_terminal() && wide) {
            (true, _) => Form::Nothing,
            (false, false) => Form::Lines { told: HashSet::new() },
            (false, true) => Form::Table {
                drawn: 0,
                rows: Vec::new(),
            },
        };
        Self { chain, names, form }
    }

    /// Whether a person can be asked: the question is seen, and what is typed is read.
    pub(super) fn has_a_reader(&self) -> bool {
        matches!(self.form, Form::Table { .. }) && std::io::stdin().is_terminal()
    }

    /// Shows how far the run has come.
    pub(super) fn show(&mut self, result: &ChainExecutionResult) {
        let now = account::rows(result, &self.names);
        match &mut self.form {
            Form::Nothing => {}
            Form::Lines { told } => {
                let fresh: Vec<Row> = now
                    .into_iter()
                    .filter(|row| row.is_settled() && told.insert(row.key.clone()))
                    .collect();
                for line in account::lines(&fresh, PLAIN) {
                    println!("{line}");
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
    pub(super) fn end(&mut self, result: &ChainExecutionResult) {
        self.show(result);
        if matches!(self.form, Form::Lines { .. }) {
            for line in account::lines(&[account::end(result)], PLAIN) {
                println!("{line}");
            }
        }
    }

    /// Says something beside the run, on stderr where stdout is for lines.
    pub(super) fn say(&mut self, what: &str) {
        match &mut self.form {
            Form::Nothing | Form::Lines { .. } => eprintln!("{}", shown(what)),
            Form::Table { drawn, .. } => {
                // Below the table, where it stays; the table goes on below it.
                *drawn = 0;
                println!("\r\u{1b}[J{}", shown(what));
            }
        }
    }

    /// Puts a question to the person at the terminal, below the table.
    pub(super) fn ask(&mut self, what: &str) {
        if let Form::Table { drawn, .. } = &mut self.form {
            let width = Layout::of_stdout().width.saturating_sub(20);
            print!("{} approve? [y/n] ", cut(&shown(what), width));
            let _ = std::io::stdout().flush();
            // The answer ends with the return key: its line is replaced with the table.
            *drawn += 1;
        }
    }

    fn draw(&mut self) {
        let Form::Table { drawn, rows } = &mut self.form else {
            return;
        };
        let layout = Layout::of_stdout();
        let mut lines = vec![cut(&format!("chain {}", shown(&self.chain)), layout.width)];
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
        let mut stdout = std::io::stdout();
        let _ = stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush());
    }
}

/// Lines of the terminal now: it may have been resized.
fn height() -> usize {
    terminal_size::terminal_size().map_or(24, |(_, Height(height))| usize::from(height).max(8))
}
