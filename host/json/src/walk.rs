//! A value as a flat sequence of events, so that whatever reads it needs no recursion.

use super::{Json, Object};

/// In which order a [`Walk`] visits object members.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Order {
    /// As they were inserted.
    Insertion,
    /// By key, by Unicode code point (which is the byte order of UTF-8).
    CodePoint,
}

/// One step of a [`Walk`].
#[derive(Debug, Clone, Copy)]
pub enum Event<'j> {
    /// An array of so many elements begins.
    BeginArray(usize),
    /// An object of so many members begins.
    BeginObject(usize),
    /// The key of the value that comes next.
    Key(&'j str),
    /// A value that is neither array nor object.
    Scalar(&'j Json),
    /// The innermost array or object ends.
    End,
}

enum Frame<'j> {
    Array(std::slice::Iter<'j, Json>),
    Object(indexmap::map::Iter<'j, String, Json>),
    Sorted(std::vec::IntoIter<(&'j str, &'j Json)>),
}

/// Visits a value and everything in it, depth first.
pub struct Walk<'j> {
    order: Order,
    open: Vec<Frame<'j>>,
    next: Option<&'j Json>,
}

impl<'j> Walk<'j> {
    /// A walk over `value`.
    pub fn new(value: &'j Json, order: Order) -> Self {
        Walk {
            order,
            open: Vec::new(),
            next: Some(value),
        }
    }

    /// A walk over what is inside an object, ending with its [`Event::End`]; the begin is the caller's.
    pub(crate) fn inside(object: &'j Object, order: Order) -> Self {
        let mut walk = Walk {
            order,
            open: Vec::new(),
            next: None,
        };
        walk.enter(object);
        walk
    }

    fn enter(&mut self, object: &'j Object) {
        self.open.push(match self.order {
            Order::Insertion => Frame::Object(object.raw_iter()),
            Order::CodePoint => {
                let mut members: Vec<(&str, &Json)> = object.iter().collect();
                members.sort_unstable_by_key(|(key, _)| *key);
                Frame::Sorted(members.into_iter())
            }
        });
    }

    fn visit(&mut self, value: &'j Json) -> Event<'j> {
        match value {
            Json::Array(array) => {
                self.open.push(Frame::Array(array.iter()));
                Event::BeginArray(array.len())
            }
            Json::Object(object) => {
                self.enter(object);
                Event::BeginObject(object.len())
            }
            scalar => Event::Scalar(scalar),
        }
    }
}

impl<'j> Iterator for Walk<'j> {
    type Item = Event<'j>;

    fn next(&mut self) -> Option<Event<'j>> {
        if let Some(value) = self.next.take() {
            return Some(self.visit(value));
        }
        let member = match self.open.last_mut()? {
            Frame::Array(items) => match items.next() {
                Some(item) => return Some(self.visit(item)),
                None => None,
            },
            Frame::Object(members) => members.next().map(|(key, value)| (key.as_str(), value)),
            Frame::Sorted(members) => members.next(),
        };
        match member {
            Some((key, value)) => {
                self.next = Some(value);
                Some(Event::Key(key))
            }
            None => {
                self.open.pop();
                Some(Event::End)
            }
        }
    }
}
