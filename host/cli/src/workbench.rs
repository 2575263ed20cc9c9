//! A sandbox at an author's or operator's desk: packages, loaded through every stage, ready to be called; or a host's whole set,
//! tried as the host would.

use crate::home::Home;
use anyhow::Result;
use mizzen_catalog::config::PluginConfig;
use mizzen_catalog::load::load_set;
use mizzen_catalog::{LoadFailure, LoadPlan, Sources, Terms};
use mizzen_engine::Profile;
use mizzen_engine::pack::{PackFailure, Verdict};
use mizzen_engine::{CallReport, LogLevel};
use mizzen_json::steers_a_terminal;
use mizzen_ops::toolbox::{
    CallError, CallRequest, InstalledPack, Loaded, Outfit, ToolResult, Toolbox, Tried, Unconfigured,
};
use mizzen_ops::{PluginSetError, Secrets, SetTrial};
use mizzen_sandbox::{Sandbox, Settings};
use std::path::PathBuf;
use std::sync::Arc;

/// Calls come one after the other here.
const SLOTS: u32 = 8;

/// Loaded packages and the runtime to call them.
pub(crate) struct Workbench {
    runtime: tokio::runtime::Runtime,
    toolbox: Arc<Toolbox>,
}

impl Workbench {
    /// Loads the files, with nothing behind their imports but memory. The outer error is ours, the inner one is the packages'.
    pub(crate) fn open(files: Vec<PathBuf>, terms: &Terms, home: &Home) -> Result<Result<Self, LoadFailure>> {
        Self::open_with(files, terms, Outfit::default(), home)
    }

    /// Loads the files to look at what they provide, also without the settings that they demand.
    pub(crate) fn look(files: Vec<PathBuf>, terms: &Terms, home: &Home) -> Result<Result<Self, LoadFailure>> {
        let outfit = Outfit {
            unconfigured: Unconfigured::Accepted,
            ..Outfit::default()
        };
        Self::open_with(files, terms, outfit, home)
    }

    /// Loads the files, with this behind their imports.
    pub(crate) fn open_with(
        files: Vec<PathBuf>,
        terms: &Terms,
        outfit: Outfit,
        home: &Home,
    ) -> Result<Result<Self, LoadFailure>> {
        let sources = Sources {
            files,
            ..Sources::default()
        };
        Self::load_with(&sources, terms, outfit, home)
    }

    /// Loads what a host would load.
    pub(crate) fn load(sources: &Sources, terms: &Terms, home: &Home) -> Result<Result<Self, LoadFailure>> {
        Self::load_with(sources, terms, Outfit::default(), home)
    }

    fn load_with(
        sources: &Sources,
        terms: &Terms,
        outfit: Outfit,
        home: &Home,
    ) -> Result<Result<Self, LoadFailure>> {
        let plan = match load_set(sources, terms) {
            Ok(plan) => plan,
            Err(failure) => return Ok(Err(failure)),
        };
        let bench = Self::empty(outfit, home)?;
        let loaded = bench.runtime.block_on(bench.toolbox.load(&plan));
        Ok(loaded.map(|_| bench))
    }

    /// A sandbox with nothing in it.
    pub(crate) fn empty(outfit: Outfit, home: &Home) -> Result<Self> {
        let cache = home.folder()?.join("artifacts");
        let sandbox = Sandbox::start(Settings {
            slots: SLOTS,
            cache: Some(cache),
            ..Settings::default()
        })?;
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()?;
        let toolbox = Toolbox::new(Arc::new(sandbox), outfit);
        Ok(Self { runtime, toolbox })
    }

    /// Tries a host's set as the host would, with nothing behind its imports but memory.
    pub(crate) fn try_set(
        &self,
        config: &PluginConfig,
        plan: &LoadPlan,
        profile: Profile,
        secrets: Secrets,
    ) -> Result<Tried, PluginSetError> {
        let trial = SetTrial {
            config,
            plan,
            profile,
            secrets,
            kv: Outfit::default().kv,
        };
        self.runtime.block_on(trial.run(&self.toolbox))
    }

    /// What was loaded.
    pub(crate) fn loaded(&self) -> Arc<Loaded> {
        self.toolbox.loaded()
    }

    /// Calls a tool.
    pub(crate) fn call(&self, request: CallRequest) -> Result<ToolResult, CallError> {
        self.runtime.block_on(self.toolbox.call(request))
    }

    /// Asks a pack for its verdict.
    pub(crate) fn evaluate(
        &self,
        pack: &InstalledPack,
        facts: &str,
        budget: u64,
    ) -> Result<Verdict, PackFailure> {
        self.runtime.block_on(pack.evaluate(facts, budget, None))
    }
}

/// What a guest wrote, on stderr, so that stdout stays the tool's output.
pub(crate) fn print_log(report: &CallReport) {
    for line in &report.log {
        let level = match line.level {
            LogLevel::Debug => "debug",
            LogLevel::Info => "info",
            LogLevel::Warn => "warn",
            LogLevel::Error => "error",
        };
        let fields: String = line
            .fields
            .iter()
            .map(|(name, value)| format!(" {}={}", shown(name), shown(value)))
            .collect();
        eprintln!("[{level}] {}{fields}", shown(&line.message));
    }
    if report.log_dropped > 0 {
        eprintln!(
            "[warn] {} more lines did not fit the log limit",
            report.log_dropped
        );
    }
}

/// What a guest logs, without what a terminal would obey: that is shown escaped, on one line.
fn shown(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            c if steers_a_terminal(c) => out.extend(c.escape_default()),
            c => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_log_is_shown_as_it_is_but_for_what_a_terminal_obeys() {
        assert_eq!(shown("it's \"ä\""), "it's \"ä\"");
        assert_eq!(shown("a\u{1b}[2J\nb"), "a\\u{1b}[2J\\nb");
    }
}
