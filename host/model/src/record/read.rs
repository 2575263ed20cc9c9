//! From a checked object to a type, and back.
//!
//! A table is checked first and reports everything; the typed reading that follows can then only succeed. Its `Option`s are
//! there because nothing here panics, even if a table and its type ever disagree.

use super::check::whole_number;
use super::{Path, Record};
use crate::problem::{Code, Problems};
use mizzen_json::{Json, Object};

/// Checks `value` by `record`'s table, then builds the type.
pub(crate) fn read<T>(
    record: &Record,
    value: &Json,
    build: impl FnOnce(&Fields<'_>) -> Option<T>,
) -> Result<T, Problems> {
    let mut problems = Problems::new();
    record.check(value, Path::Root, &mut problems);
    problems.into_result()?;
    let built = Fields::of(value).and_then(|fields| build(&fields));
    built.ok_or_else(|| {
        let mut problems = Problems::new();
        problems.push("", Code::WrongType, format!("does not fit {}", record.name));
        problems
    })
}

/// The fields of an object that fits its table.
pub(crate) struct Fields<'a>(&'a Object);

impl<'a> Fields<'a> {
    pub(crate) fn of(value: &'a Json) -> Option<Self> {
        value.as_object().map(Fields)
    }

    pub(crate) fn get(&self, name: &str) -> Option<&'a Json> {
        self.0.get(name)
    }

    pub(crate) fn text(&self, name: &str) -> Option<&'a str> {
        self.get(name)?.as_str()
    }

    pub(crate) fn owned(&self, name: &str) -> Option<String> {
        self.text(name).map(str::to_owned)
    }

    pub(crate) fn flag(&self, name: &str) -> Option<bool> {
        self.get(name)?.as_bool()
    }

    pub(crate) fn integer(&self, name: &str) -> Option<i64> {
        whole_number(self.get(name)?)
    }

    pub(crate) fn object(&self, name: &str) -> Option<Object> {
        self.get(name)?.as_object().cloned()
    }

    /// A text field of a checked form. Absent is `Some(None)`; there but unreadable is `None`.
    pub(crate) fn optional<T, E>(
        &self,
        name: &str,
        parse: impl Fn(&str) -> Result<T, E>,
    ) -> Option<Option<T>> {
        match self.text(name) {
            Some(text) => parse(text).ok().map(Some),
            None => Some(None),
        }
    }

    /// The items of a list, each built; an absent list has none.
    pub(crate) fn list<T>(&self, name: &str, build: impl Fn(&'a Json) -> Option<T>) -> Option<Vec<T>> {
        match self.get(name).and_then(Json::as_array) {
            Some(items) => items.iter().map(build).collect(),
            None => Some(Vec::new()),
        }
    }

    /// The items of a list where an absent list is told from an empty one.
    pub(crate) fn optional_list<T>(
        &self,
        name: &str,
        build: impl Fn(&'a Json) -> Option<T>,
    ) -> Option<Option<Vec<T>>> {
        if self.get(name).is_some() {
            self.list(name, build).map(Some)
        } else {
            Some(None)
        }
    }
}

/// Puts an object together in table order, leaving out what is absent.
pub(crate) struct ObjectWriter(Object);

impl ObjectWriter {
    pub(crate) fn new() -> Self {
        Self(Object::new())
    }

    pub(crate) fn set(mut self, name: &str, value: impl Into<Json>) -> Self {
        self.0.insert(name, value.into());
        self
    }

    pub(crate) fn text(self, name: &str, value: &impl ToString) -> Self {
        self.set(name, value.to_string())
    }

    pub(crate) fn optional_text(self, name: &str, value: Option<&impl ToString>) -> Self {
        match value {
            Some(value) => self.text(name, value),
            None => self,
        }
    }

    pub(crate) fn optional(self, name: &str, value: Option<impl Into<Json>>) -> Self {
        match value {
            Some(value) => self.set(name, value),
            None => self,
        }
    }

    pub(crate) fn list<'a, T: 'a>(
        self,
        name: &str,
        items: impl IntoIterator<Item = &'a T>,
        write: impl Fn(&'a T) -> Json,
    ) -> Self {
        let items: Vec<Json> = items.into_iter().map(write).collect();
        self.set(name, items)
    }

    pub(crate) fn texts<'a, T: ToString + 'a>(
        self,
        name: &str,
        items: impl IntoIterator<Item = &'a T>,
    ) -> Self {
        self.list(name, items, |item| Json::from(item.to_string()))
    }

    pub(crate) fn done(self) -> Json {
        Json::Object(self.0)
    }
}
