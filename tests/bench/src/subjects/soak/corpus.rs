//! Which guests of `tests/guests` take part.

use crate::harness::Bench;
use crate::options::Scale;
use anyhow::{Result, anyhow, ensure};
use mizzen_isolation::Expected;
use mizzen_model::manifest::Manifest;

/// Waits for an answer from outside; here from this program.
pub(super) const HOARDS: &str = "hoards-and-waits";
/// Guests that a host is asked for several times at once. Together with the others they stay below the number of slots for calls, so that
/// an honest call finds a free one: what is measured is fairness, not a full host.
const SEVERAL: &[(&str, usize)] = &[
    ("spins", 2),
    ("spins-in-numbers", 4),
    ("sleeps", 2),
    ("pack-spins", 2),
    ("pack-sleeps", 2),
];
/// A quick run builds these only.
const QUICK: &[&str] = &["spins", "bombs-memory", "pack-spins", HOARDS];
/// Permissions that a guest without a network and without the operator's secrets can use.
const CLOSED: &[&str] = &["kv", "tools", "config", "clock", "random"];

/// A guest, what it is asked, and how often at the same time.
pub(super) struct Misdeed {
    pub(super) name: String,
    pub(super) asked: Asked,
    pub(super) count: usize,
}

/// The call that a guest answers with its misdeed.
pub(super) enum Asked {
    Tool { id: String, input: String },
    Pack { id: String },
}

/// Every guest that loads, and that needs no address, secret or neighbour. The others are for their own tests.
pub(super) fn corpus(bench: &Bench) -> Result<Vec<Misdeed>> {
    let folder = bench.places.root.join("tests/guests");
    let mut found = Vec::new();
    let mut names: Vec<String> = std::fs::read_dir(&folder)?
        .map(|entry| Ok(entry?.file_name().to_string_lossy().into_owned()))
        .collect::<Result<_>>()?;
    names.sort();
    for name in names {
        let guest = folder.join(&name);
        if !guest.join("expected.toml").is_file() || bench.scale == Scale::Quick && !QUICK.contains(&&*name) {
            continue;
        }
        let expected = Expected::read(&guest)?;
        if !loads_alone(&expected) {
            continue;
        }
        let manifest = std::fs::read_to_string(guest.join("plugin.toml"))?;
        let manifest = Manifest::parse(&manifest).map_err(|problems| anyhow!("{name}: {problems}"))?;
        let closed = manifest.permissions().keys().all(|permission| {
            let text = permission.to_string();
            CLOSED.contains(&text.split(':').next().unwrap_or_default())
        });
        if !closed && name != HOARDS {
            continue;
        }
        let several = SEVERAL.iter().find(|(several, _)| *several == name);
        let asked = match expected.tool.strip_prefix("pack:") {
            Some(id) => Asked::Pack { id: id.to_owned() },
            None => Asked::Tool {
                id: expected.tool.clone(),
                input: expected.input.clone(),
            },
        };
        found.push(Misdeed {
            asked,
            count: several.map_or(1, |(_, count)| *count),
            name,
        });
    }
    for (name, _) in SEVERAL {
        ensure!(
            bench.scale == Scale::Quick || found.iter().any(|misdeed| misdeed.name == *name),
            "no guest {name} takes part"
        );
    }
    Ok(found)
}

fn loads_alone(expected: &Expected) -> bool {
    let loads = !expected.outcome.starts_with("load-refused") && expected.outcome != "no-such-tool";
    loads && expected.with.is_empty() && expected.granted.is_none()
}
