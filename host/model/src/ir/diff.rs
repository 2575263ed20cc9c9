//! What changed between two documents, by meaning: defaults and key order do not count, entries are matched by their id.

use super::dumps::dumps;
use super::records::IRDocument;
use mizzen_json::{Array, Json, Pointer};
use std::collections::{HashMap, HashSet};

/// One difference.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Change {
    /// Only the second document has it. The path is in the second.
    Added {
        /// Where.
        path: String,
        /// What.
        after: Json,
    },
    /// Only the first document has it. The path is in the first.
    Removed {
        /// Where.
        path: String,
        /// What.
        before: Json,
    },
    /// Both have it, with different values. The path is in the second.
    Changed {
        /// Where.
        path: String,
        /// What it was.
        before: Json,
        /// What it is.
        after: Json,
    },
    /// An entry has another place among those that both have. Nodes run in order, so this has a meaning.
    Moved {
        /// Where it was.
        from: String,
        /// Where it is.
        path: String,
    },
}

impl Change {
    /// Where the change is.
    pub fn path(&self) -> &str {
        match self {
            Change::Added { path, .. }
            | Change::Removed { path, .. }
            | Change::Changed { path, .. }
            | Change::Moved { path, .. } => path,
        }
    }

    /// `added`, `removed`, `changed` or `moved`.
    pub fn kind(&self) -> &'static str {
        match self {
            Change::Added { .. } => "added",
            Change::Removed { .. } => "removed",
            Change::Changed { .. } => "changed",
            Change::Moved { .. } => "moved",
        }
    }
}

/// What it takes to get from `before` to `after`; empty when they mean the same.
pub fn diff(before: &IRDocument, after: &IRDocument) -> Vec<Change> {
    // Our own output always parses; were it not so, a difference of nothing would be a lie, so compare the texts then.
    let (left, right) = (dumps(before), dumps(after));
    match (Json::parse(&left), Json::parse(&right)) {
        (Ok(left), Ok(right)) => diff_values(&left, &right),
        _ if left == right => Vec::new(),
        _ => vec![Change::Changed {
            path: String::new(),
            before: left.into(),
            after: right.into(),
        }],
    }
}

enum Task<'j> {
    Compare(Pointer, Pointer, &'j Json, &'j Json),
    Report(Change),
}

fn diff_values(before: &Json, after: &Json) -> Vec<Change> {
    let mut changes = Vec::new();
    let mut tasks = vec![Task::Compare(Pointer::root(), Pointer::root(), before, after)];
    while let Some(task) = tasks.pop() {
        let (old_path, path, old, new) = match task {
            Task::Report(change) => {
                changes.push(change);
                continue;
            }
            Task::Compare(old_path, path, old, new) => (old_path, path, old, new),
        };
        let mut found = Vec::new();
        match (old, new) {
            (Json::Object(left), Json::Object(right)) => {
                for (key, value) in left.iter() {
                    match right.get(key) {
                        Some(twin) => {
                            found.push(Task::Compare(old_path.key(key), path.key(key), value, twin))
                        }
                        None => found.push(removed(old_path.key(key), value)),
                    }
                }
                for (key, value) in right.iter().filter(|(key, _)| !left.contains_key(key)) {
                    found.push(added(path.key(key), value));
                }
            }
            (Json::Array(left), Json::Array(right)) => match (keys(left), keys(right)) {
                (Some(old_keys), Some(new_keys)) => {
                    by_key(&old_path, &path, (left, old_keys), (right, new_keys), &mut found)
                }
                _ => by_index(&old_path, &path, left, right, &mut found),
            },
            _ if old == new => {}
            _ => found.push(Task::Report(Change::Changed {
                path: path.into(),
                before: old.clone(),
                after: new.clone(),
            })),
        }
        tasks.extend(found.into_iter().rev());
    }
    changes
}

fn added<'j>(path: Pointer, value: &Json) -> Task<'j> {
    Task::Report(Change::Added {
        path: path.into(),
        after: value.clone(),
    })
}

fn removed<'j>(path: Pointer, value: &Json) -> Task<'j> {
    Task::Report(Change::Removed {
        path: path.into(),
        before: value.clone(),
    })
}

/// What tells the entries apart, if every entry has it and no two share it.
fn keys(items: &Array) -> Option<Vec<&str>> {
    let keys: Vec<&str> = items
        .iter()
        .map(|item| item.get("id").or_else(|| item.get("name")).and_then(Json::as_str))
        .collect::<Option<_>>()?;
    let distinct: HashSet<&str> = keys.iter().copied().collect();
    (distinct.len() == keys.len()).then_some(keys)
}

fn by_key<'j>(
    old_path: &Pointer,
    path: &Pointer,
    (left, old_keys): (&'j Array, Vec<&'j str>),
    (right, new_keys): (&'j Array, Vec<&'j str>),
    found: &mut Vec<Task<'j>>,
) {
    let old_places: HashMap<&str, usize> = old_keys
        .iter()
        .enumerate()
        .map(|(index, key)| (*key, index))
        .collect();
    let new_places: HashSet<&str> = new_keys.iter().copied().collect();
    for (index, (key, value)) in old_keys.iter().zip(left.iter()).enumerate() {
        if !new_places.contains(key) {
            found.push(removed(old_path.index(index), value));
        }
    }
    // Places among the common entries only: an insertion moves nothing.
    let common_old = old_keys.iter().filter(|key| new_places.contains(*key));
    let common_new = new_keys.iter().filter(|key| old_places.contains_key(*key));
    let moved: HashSet<&str> = common_old
        .zip(common_new)
        .filter(|(old, new)| old != new)
        .map(|(_, new)| *new)
        .collect();
    for (index, (key, value)) in new_keys.iter().zip(right.iter()).enumerate() {
        let Some((old_index, old)) = old_places.get(key).and_then(|at| Some((*at, left.get(*at)?))) else {
            found.push(added(path.index(index), value));
            continue;
        };
        if moved.contains(key) {
            found.push(Task::Report(Change::Moved {
                from: old_path.index(old_index).into(),
                path: path.index(index).into(),
            }));
        }
        found.push(Task::Compare(
            old_path.index(old_index),
            path.index(index),
            old,
            value,
        ));
    }
}

fn by_index<'j>(
    old_path: &Pointer,
    path: &Pointer,
    left: &'j Array,
    right: &'j Array,
    found: &mut Vec<Task<'j>>,
) {
    for (index, (old, new)) in left.iter().zip(right.iter()).enumerate() {
        found.push(Task::Compare(old_path.index(index), path.index(index), old, new));
    }
    for (index, value) in left.iter().enumerate().skip(right.len()) {
        found.push(removed(old_path.index(index), value));
    }
    for (index, value) in right.iter().enumerate().skip(left.len()) {
        found.push(added(path.index(index), value));
    }
}
