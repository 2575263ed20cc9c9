//! The table, as text, Markdown and JSON.

use crate::machine::Machine;
use crate::row::Row;
use serde::Serialize;
use std::fmt::Write as _;

/// Everything a run has to say.
#[derive(Debug, Serialize)]
pub(crate) struct Report {
    pub(crate) machine: Machine,
    pub(crate) scale: String,
    pub(crate) seconds: f64,
    pub(crate) rows: Vec<Row>,
}

const HEAD: [&str; 7] = ["subject", "what", "ours", "reference", "ratio", "target", ""];

impl Report {
    fn table(&self) -> Vec<[String; 7]> {
        let row = |row: &Row| {
            let [what, ours, reference, ratio, target, met] = row.cells();
            [row.subject.clone(), what, ours, reference, ratio, target, met]
        };
        self.rows.iter().map(row).collect()
    }

    /// For a terminal: columns as wide as they must be.
    pub(crate) fn text(&self) -> String {
        let table = self.table();
        let mut widths = HEAD.map(|head| head.chars().count());
        for row in &table {
            for (width, cell) in widths.iter_mut().zip(row) {
                *width = (*width).max(cell.chars().count());
            }
        }
        let line = |cells: [&str; 7]| {
            let mut text = String::new();
            for (cell, width) in cells.iter().zip(widths) {
                let _ = write!(text, "{cell:width$}  ");
            }
            text.trim_end().to_owned() + "\n"
        };
        let mut text = line(HEAD);
        for row in &table {
            text += &line(row.each_ref().map(String::as_str));
        }
        text
    }

    /// For BENCHMARKS.md.
    pub(crate) fn markdown(&self) -> String {
        let machine = &self.machine;
        let mut text = format!(
            "{} × {}, {}, Linux {}, {}; fdatasync of 4 KiB p50 {:.0} µs, p99 {:.0} µs; load {} at the start; commit {}; \
             {} build, {} run of {:.0} s.\n\n",
            machine.cores,
            machine.cpu,
            machine.memory,
            machine.kernel,
            machine.rustc,
            machine.fdatasync_p50_us,
            machine.fdatasync_p99_us,
            machine.load,
            machine.commit,
            machine.profile,
            self.scale,
            self.seconds,
        );
        let _ = writeln!(text, "| {} |", HEAD.join(" | "));
        let _ = writeln!(text, "|{}", "---|".repeat(HEAD.len()));
        for row in self.table() {
            let _ = writeln!(
                text,
                "| {} |",
                row.map(|cell| cell.replace('|', "\\|")).join(" | ")
            );
        }
        text
    }

    /// One line about the whole.
    pub(crate) fn summary(&self) -> String {
        let count = |wanted: fn(&Row) -> bool| self.rows.iter().filter(|row| wanted(row)).count();
        format!(
            "{} rows in {:.0} s: {} targets met, {} missed, {} rows not measured",
            self.rows.len(),
            self.seconds,
            count(|row| row.met == Some(true)),
            count(|row| row.met == Some(false)),
            count(|row| row.skipped.is_some()),
        )
    }
}
