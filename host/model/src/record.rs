//! What a document looks like, said once: a table of fields per record. The validator, the JSON Schema and the
//! OpenAPI components are all read from these tables, so they cannot disagree.
//!
//! To add a field: a line in the record's table, and the field in the type that the table stands beside.
//! What no table can say (ids that must point somewhere, orders without a gap) is in `council::structure`.

mod check;
mod choice;
mod format;
mod read;
mod schema;

pub(crate) use check::Path;
pub(crate) use choice::choice;
pub use format::Format;
pub(crate) use read::{Fields, ObjectWriter, read};
pub use schema::{References, definitions, schema};

/// One kind of object.
#[derive(Debug)]
pub struct Record {
    /// The seed's word for it, used as the name of its schema.
    pub name: &'static str,
    /// What it is, in a sentence.
    pub about: &'static str,
    /// Its fields, in the order in which mistakes in them are reported. Any other field is a mistake.
    pub fields: &'static [Field],
}

/// One field of a record.
#[derive(Debug, Clone, Copy)]
pub struct Field {
    /// The key.
    pub name: &'static str,
    /// Whether it may be absent. A field that is there is never `null` unless its kind says so.
    pub presence: Presence,
    /// What it holds.
    pub kind: FieldKind,
    /// What it means, in a sentence.
    pub about: &'static str,
}

/// Whether a field must be there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Presence {
    /// It must.
    Required,
    /// It may be absent.
    Optional,
    /// In what a client sends: it may be there, because the server sends it, and it is not taken over.
    ReadOnly,
}

/// What a field holds.
#[derive(Debug, Clone, Copy)]
pub enum FieldKind {
    /// A text.
    Text(Text),
    /// `true` or `false`.
    Flag,
    /// A whole number in a range. As in JSON Schema, `1.0` is one.
    Integer {
        /// The smallest.
        min: i64,
        /// The greatest.
        max: i64,
    },
    /// One of a fixed set of texts.
    Choice(&'static [&'static str]),
    /// A list.
    List(List),
    /// An object with a table of its own.
    Record(&'static Record),
    /// An object with keys of the client's choice.
    Object {
        /// The largest number of keys.
        max: usize,
    },
    /// Any JSON value.
    Any,
}

/// A text: its length in characters, and its form.
#[derive(Debug, Clone, Copy)]
pub struct Text {
    /// The fewest characters.
    pub min: usize,
    /// The most characters.
    pub max: usize,
    /// The form.
    pub format: Format,
}

/// A list.
#[derive(Debug, Clone, Copy)]
pub struct List {
    /// What each item is.
    pub item: &'static FieldKind,
    /// The fewest items.
    pub min: usize,
    /// The most items.
    pub max: usize,
    /// Whether equal items may appear.
    pub repetition: Repetition,
}

/// Whether a list may hold equal items.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Repetition {
    /// It may.
    Allowed,
    /// It may not (`uniqueItems`).
    Refused,
}

impl Field {
    /// A field that must be there.
    pub(crate) const fn required(name: &'static str, kind: FieldKind, about: &'static str) -> Field {
        Field {
            name,
            presence: Presence::Required,
            kind,
            about,
        }
    }

    /// A field that may be absent.
    pub(crate) const fn optional(name: &'static str, kind: FieldKind, about: &'static str) -> Field {
        Field {
            name,
            presence: Presence::Optional,
            kind,
            about,
        }
    }

    /// The same field where it may be absent.
    pub(crate) const fn or_absent(self) -> Field {
        Field {
            presence: Presence::Optional,
            ..self
        }
    }

    /// The same field where the server sets it and a client's value is not taken over.
    pub(crate) const fn read_only(self) -> Field {
        Field {
            presence: Presence::ReadOnly,
            ..self
        }
    }

    /// The same field holding something else.
    pub(crate) const fn holding(self, kind: FieldKind) -> Field {
        Field { kind, ..self }
    }
}

impl FieldKind {
    /// A text of a fixed form; the form's own longest length applies.
    pub(crate) const fn formatted(format: Format) -> FieldKind {
        let (min, max) = format.lengths();
        FieldKind::Text(Text { min, max, format })
    }

    /// A text of any characters.
    pub(crate) const fn text(min: usize, max: usize) -> FieldKind {
        FieldKind::Text(Text {
            min,
            max,
            format: Format::Free,
        })
    }

    /// A list that may hold equal items.
    pub(crate) const fn list(item: &'static FieldKind, min: usize, max: usize) -> FieldKind {
        FieldKind::List(List {
            item,
            min,
            max,
            repetition: Repetition::Allowed,
        })
    }

    /// A list of different items.
    pub(crate) const fn set(item: &'static FieldKind, min: usize, max: usize) -> FieldKind {
        FieldKind::List(List {
            item,
            min,
            max,
            repetition: Repetition::Refused,
        })
    }
}
