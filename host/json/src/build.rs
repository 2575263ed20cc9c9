//! Puts an owned value together from a flat sequence of parts.

use super::{Array, Json, Object};

/// Containers are pre-sized from what the source claims, but never beyond this: a claim is not yet data.
const RESERVE: usize = 1024;

enum Frame {
    Array(Array),
    Object(Object, Option<String>),
}

/// Builds a [`Json`] from events without recursion. A sequence that does not balance yields what was complete.
pub(crate) struct Builder {
    open: Vec<Frame>,
    done: Option<Json>,
    repeated: Option<String>,
}

impl Builder {
    pub(crate) fn new() -> Self {
        Builder {
            open: Vec::new(),
            done: None,
            repeated: None,
        }
    }

    pub(crate) fn begin_array(&mut self, length: usize) {
        self.open
            .push(Frame::Array(Array::with_capacity(length.min(RESERVE))));
    }

    pub(crate) fn begin_object(&mut self, length: usize) {
        self.open
            .push(Frame::Object(Object::with_capacity(length.min(RESERVE)), None));
    }

    pub(crate) fn key(&mut self, name: String) {
        if let Some(Frame::Object(_, key)) = self.open.last_mut() {
            *key = Some(name);
        }
    }

    pub(crate) fn value(&mut self, value: Json) {
        match self.open.last_mut() {
            Some(Frame::Array(array)) => array.push(value),
            Some(Frame::Object(object, key)) => {
                if let Some(key) = key.take() {
                    if self.repeated.is_none() && object.contains_key(&key) {
                        self.repeated = Some(key.clone());
                    }
                    object.insert(key, value);
                }
            }
            None => self.done = Some(value),
        }
    }

    pub(crate) fn end(&mut self) {
        match self.open.pop() {
            Some(Frame::Array(array)) => self.value(Json::Array(array)),
            Some(Frame::Object(object, _)) => self.value(Json::Object(object)),
            None => {}
        }
    }

    pub(crate) fn finish(self) -> Json {
        self.finish_with_repeated().0
    }

    /// The value, and the first key that stood twice in one object; its last value counts.
    pub(crate) fn finish_with_repeated(mut self) -> (Json, Option<String>) {
        while !self.open.is_empty() {
            self.end();
        }
        (self.done.unwrap_or(Json::Null), self.repeated)
    }
}
