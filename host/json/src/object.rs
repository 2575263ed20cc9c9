//! Containers that can be dropped at any nesting without recursion.

use super::Json;
use indexmap::IndexMap;
use std::mem;

/// The members of an object, in insertion order. A repeated key keeps its first place and its last value, as in Python.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct Object {
    members: IndexMap<String, Json>,
}

impl Object {
    /// An object without members.
    pub fn new() -> Self {
        Object::default()
    }

    pub(crate) fn with_capacity(capacity: usize) -> Self {
        Object {
            members: IndexMap::with_capacity(capacity),
        }
    }

    /// Sets a member; the former value, if the key was there already.
    pub fn insert(&mut self, key: impl Into<String>, value: Json) -> Option<Json> {
        self.members.insert(key.into(), value)
    }

    /// Takes a member out, keeping the order of the others.
    pub fn remove(&mut self, key: &str) -> Option<Json> {
        self.members.shift_remove(key)
    }

    /// The member with this key.
    pub fn get(&self, key: &str) -> Option<&Json> {
        self.members.get(key)
    }

    /// The member with this key, for changing it.
    pub fn get_mut(&mut self, key: &str) -> Option<&mut Json> {
        self.members.get_mut(key)
    }

    /// Whether the key is there.
    pub fn contains_key(&self, key: &str) -> bool {
        self.members.contains_key(key)
    }

    /// How many members there are.
    pub fn len(&self) -> usize {
        self.members.len()
    }

    /// Whether there are no members.
    pub fn is_empty(&self) -> bool {
        self.members.is_empty()
    }

    /// The members in insertion order.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (&str, &Json)> {
        self.members.iter().map(|(key, value)| (key.as_str(), value))
    }

    /// The keys in insertion order.
    pub fn keys(&self) -> impl ExactSizeIterator<Item = &str> {
        self.members.keys().map(String::as_str)
    }

    pub(crate) fn raw_iter(&self) -> indexmap::map::Iter<'_, String, Json> {
        self.members.iter()
    }
}

impl FromIterator<(String, Json)> for Object {
    fn from_iter<T: IntoIterator<Item = (String, Json)>>(members: T) -> Self {
        Object {
            members: members.into_iter().collect(),
        }
    }
}

impl Drop for Object {
    fn drop(&mut self) {
        if self.members.values().any(Json::is_container) {
            dismantle(mem::take(&mut self.members).into_values());
        }
    }
}

/// The elements of an array. Reads like a slice.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct Array {
    items: Vec<Json>,
}

impl Array {
    /// An array without elements.
    pub fn new() -> Self {
        Array::default()
    }

    pub(crate) fn with_capacity(capacity: usize) -> Self {
        Array {
            items: Vec::with_capacity(capacity),
        }
    }

    /// Appends an element.
    pub fn push(&mut self, item: Json) {
        self.items.push(item);
    }

    /// The elements, for changing them in place.
    pub fn iter_mut(&mut self) -> std::slice::IterMut<'_, Json> {
        self.items.iter_mut()
    }
}

impl std::ops::Deref for Array {
    type Target = [Json];

    fn deref(&self) -> &[Json] {
        &self.items
    }
}

impl From<Vec<Json>> for Array {
    fn from(items: Vec<Json>) -> Self {
        Array { items }
    }
}

impl FromIterator<Json> for Array {
    fn from_iter<T: IntoIterator<Item = Json>>(items: T) -> Self {
        Array {
            items: items.into_iter().collect(),
        }
    }
}

impl Drop for Array {
    fn drop(&mut self) {
        if self.items.iter().any(Json::is_container) {
            dismantle(mem::take(&mut self.items).into_iter());
        }
    }
}

/// Drops nested containers from a heap-allocated stack, so that a value nested a million deep does not end the process.
fn dismantle(values: impl Iterator<Item = Json>) {
    let mut pending: Vec<Json> = values.filter(Json::is_container).collect();
    while let Some(value) = pending.pop() {
        match value {
            Json::Array(mut array) => {
                pending.extend(mem::take(&mut array.items).into_iter().filter(Json::is_container))
            }
            Json::Object(mut object) => {
                pending.extend(
                    mem::take(&mut object.members)
                        .into_values()
                        .filter(Json::is_container),
                );
            }
            _ => {}
        }
    }
}
