//! Ids that two entries of one section share.

use super::{Notes, Step};
use crate::ir::error::describe_text;
use crate::ir::records::IRDocument;
use std::collections::HashMap;

pub(super) fn check(document: &IRDocument, notes: &mut Notes<'_>) {
    section(
        "nodes",
        "id",
        document.nodes.iter().map(|node| node.id.as_str()),
        notes,
    );
    section(
        "rules",
        "id",
        document.rules.iter().map(|rule| rule.id.as_str()),
        notes,
    );
    section(
        "tools",
        "id",
        document.tools.iter().map(|tool| tool.id.as_str()),
        notes,
    );
    section(
        "skills",
        "id",
        document.skills.iter().map(|skill| skill.id.as_str()),
        notes,
    );
    section(
        "stores",
        "name",
        document.stores.iter().map(|store| store.name.as_str()),
        notes,
    );
    section(
        "governance",
        "id",
        document.governance.iter().map(|pack| pack.id.as_str()),
        notes,
    );
}

fn section<'d>(
    section: &'static str,
    key: &'static str,
    ids: impl Iterator<Item = &'d str>,
    notes: &mut Notes<'_>,
) {
    let mut first: HashMap<&str, usize> = HashMap::new();
    for (index, id) in ids.enumerate() {
        match first.get(id) {
            Some(earlier) => notes.note(
                "duplicate_id",
                &[Step::Key(section), Step::Index(index), Step::Key(key)],
                format!(
                    "{} is already the {key} of /{section}/{earlier}",
                    describe_text(id)
                ),
                "give every entry its own",
            ),
            None => {
                first.insert(id, index);
            }
        }
    }
}
