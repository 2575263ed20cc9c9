//! What an upgrade changes in the limits that hold for a plugin.

use mizzen_model::limits::Limits;
use mizzen_model::manifest::Manifest;
use serde::Serialize;
use std::collections::BTreeSet;
use std::fmt;

/// One limit that changes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct LimitChange {
    /// Which one: `memory`, or `tools.NAME.memory` for a tool that has limits of its own.
    pub limit: String,
    /// What holds for the installed version, or by default.
    pub from: String,
    /// What would hold.
    pub to: String,
}

/// The limits that an upgrade changes. Raised ones need the operator's approval, as added permissions do.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct LimitsDiff {
    /// The plugin may use up more.
    pub raised: Vec<LimitChange>,
    /// The plugin may use up less.
    pub lowered: Vec<LimitChange>,
}

impl LimitsDiff {
    /// From the default limits, or from an installed version, to a new one; within what the operator allows at the most.
    pub fn between(old: Option<&Manifest>, new: &Manifest, ceiling: Limits) -> Self {
        let mut diff = Self::default();
        let of = |manifest: Option<&Manifest>| match manifest {
            Some(manifest) => manifest.limits().within(ceiling),
            None => Limits::DEFAULT.min(ceiling),
        };
        let (was, becomes) = (of(old), of(Some(new)));
        diff.compare("", was, becomes);
        // A tool whose own table goes, or gets wider, may use up more although the plugin's limits are as they were.
        let tools: BTreeSet<&str> = old
            .into_iter()
            .flat_map(Manifest::tools_with_tables)
            .map(|tool| tool.as_str())
            .collect();
        for tool in tools {
            let narrowed = |manifest: Option<&Manifest>, limits: Limits| {
                let own = manifest.and_then(|manifest| manifest.tool_limits(tool));
                own.map_or(limits, |own| own.narrow(limits))
            };
            let (tool_was, tool_becomes) = (narrowed(old, was), narrowed(Some(new), becomes));
            if (tool_was, tool_becomes) != (was, becomes) {
                diff.compare(&format!("tools.{tool}."), tool_was, tool_becomes);
            }
        }
        diff
    }

    fn compare(&mut self, prefix: &str, was: Limits, becomes: Limits) {
        // Taken apart, so that a new limit does not compile until it is compared here.
        let Limits {
            memory,
            cpu,
            wall_clock,
            table_elements,
            instances,
            input,
            output,
            host_calls,
            log,
        } = was;
        self.field(prefix, "memory", memory, becomes.memory);
        self.field(prefix, "cpu", cpu, becomes.cpu);
        self.field(prefix, "wall_clock", wall_clock, becomes.wall_clock);
        self.field(prefix, "table_elements", table_elements, becomes.table_elements);
        self.field(prefix, "instances", instances, becomes.instances);
        self.field(prefix, "input", input, becomes.input);
        self.field(prefix, "output", output, becomes.output);
        self.field(prefix, "host_calls", host_calls, becomes.host_calls);
        self.field(prefix, "log", log, becomes.log);
    }

    fn field<T: PartialOrd + fmt::Display>(&mut self, prefix: &str, name: &str, from: T, to: T) {
        let list = if to > from {
            &mut self.raised
        } else if to < from {
            &mut self.lowered
        } else {
            return;
        };
        list.push(LimitChange {
            limit: format!("{prefix}{name}"),
            from: from.to_string(),
            to: to.to_string(),
        });
    }
}

impl fmt::Display for LimitChange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} = {} (was {})", self.limit, self.to, self.from)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn manifest(more: &str) -> Manifest {
        Manifest::parse(&format!(
            "[plugin]\nname = \"a\"\nversion = \"1.0.0\"\napi_version = \"1\"\nnamespaces = [\"a\"]\nprovides = [\"tool\"]\n{more}"
        ))
        .unwrap()
    }

    fn raised(old: Option<&str>, new: &str, ceiling: Limits) -> Vec<String> {
        let old = old.map(manifest);
        let diff = LimitsDiff::between(old.as_ref(), &manifest(new), ceiling);
        diff.raised.iter().map(ToString::to_string).collect()
    }

    #[test]
    fn raised_limits_are_named_and_what_the_ceiling_cuts_off_is_none() {
        let large = "[limits]\nmemory = \"512MiB\"\ncpu = \"30s\"\nwall_clock = \"60s\"\n";
        let expected = [
            "memory = 512MiB (was 64MiB)",
            "cpu = 30s (was 2s)",
            "wall_clock = 1m (was 5s)",
        ];
        assert_eq!(raised(Some(""), large, Limits::CEILING), expected);
        assert_eq!(
            raised(None, large, Limits::CEILING),
            expected,
            "an install is held to the defaults"
        );
        assert_eq!(raised(Some(large), large, Limits::CEILING), [""; 0]);
        assert_eq!(raised(Some(large), "", Limits::CEILING), [""; 0]);
        assert_eq!(
            raised(Some(""), large, Limits::DEFAULT),
            [""; 0],
            "no plugin gets more than the operator allows"
        );
        let small = "[limits]\nmemory = \"8MiB\"\n";
        assert_eq!(
            raised(Some(small), "", Limits::CEILING),
            ["memory = 64MiB (was 8MiB)"]
        );
        let diff = LimitsDiff::between(Some(&manifest("")), &manifest(small), Limits::CEILING);
        assert_eq!(diff.lowered.len(), 1);
    }

    #[test]
    fn a_tool_that_loses_its_own_limit_may_use_up_more() {
        let tight = "[tools.slow.limits]\ncpu = \"1s\"\n";
        assert_eq!(
            raised(Some(tight), "", Limits::CEILING),
            ["tools.slow.cpu = 2s (was 1s)"]
        );
        assert_eq!(raised(Some(""), tight, Limits::CEILING), [""; 0]);
    }
}
