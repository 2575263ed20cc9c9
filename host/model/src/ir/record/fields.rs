//! The types that fields have.

use super::{Emit, Reader, SchemaBook, Value, Writer};
use indexmap::IndexMap;
use mizzen_json::{Integer, Json, Node, Object, View};
use std::fmt::Write as _;

/// Half a surrogate pair is JSON by its grammar, but no Unicode text.
fn refuse_lossy<'t, T>(node: Node<'t>, reader: &mut Reader<'t>) -> Option<T> {
    let culprit = node.first_lossy().unwrap_or(node);
    reader.refuse_at(
        culprit,
        "string_unicode",
        "Unicode text",
        "write both halves of the surrogate pair",
    )
}

impl Emit for str {
    fn emit(&self, out: &mut Writer) {
        out.string(self);
    }
}

impl Emit for &str {
    fn emit(&self, out: &mut Writer) {
        out.string(self);
    }
}

impl Emit for String {
    fn emit(&self, out: &mut Writer) {
        out.string(self);
    }
}

/// What cannot be a string, with the reason.
#[cold]
fn refuse_string<'t>(node: Node<'t>, reader: &mut Reader<'t>) -> Option<String> {
    if node.is_string() {
        return refuse_lossy(node, reader);
    }
    let hint = if node.is_null() {
        "write a string, or leave the field out if it is optional"
    } else {
        "put the value in double quotes"
    };
    reader.refuse(node, "string_type", "a string", hint)
}

impl Value for String {
    #[inline]
    fn read<'t>(node: Node<'t>, reader: &mut Reader<'t>) -> Option<Self> {
        if node.is_string() && node.first_lossy().is_none() {
            return Some(reader.text(node));
        }
        refuse_string(node, reader)
    }

    fn schema(_: &mut SchemaBook) -> Json {
        SchemaBook::typed("string")
    }
}

impl Emit for bool {
    fn emit(&self, out: &mut Writer) {
        out.raw().push_str(if *self { "true" } else { "false" });
    }
}

impl Value for bool {
    fn read<'t>(node: Node<'t>, reader: &mut Reader<'t>) -> Option<Self> {
        match node.view() {
            View::Bool(value) => Some(value),
            _ => reader.refuse(
                node,
                "bool_type",
                "true or false",
                "write true or false without quotes",
            ),
        }
    }

    fn schema(_: &mut SchemaBook) -> Json {
        SchemaBook::typed("boolean")
    }
}

impl Emit for Integer {
    fn emit(&self, out: &mut Writer) {
        // Writing to a String cannot fail.
        let _ = write!(out.raw(), "{self}");
    }
}

impl Value for Integer {
    fn read<'t>(node: Node<'t>, reader: &mut Reader<'t>) -> Option<Self> {
        match node.view() {
            View::Int(text) => Integer::parse(text),
            // D12: types are strict, so 1.0 is no integer.
            View::Float(_) => reader.refuse(
                node,
                "int_type",
                "an integer",
                "write it without fraction and exponent",
            ),
            View::String(_) => reader.refuse(
                node,
                "int_type",
                "an integer",
                "remove the quotes: strings are not read as numbers",
            ),
            _ => reader.refuse(node, "int_type", "an integer", "write a whole number"),
        }
    }

    fn schema(_: &mut SchemaBook) -> Json {
        SchemaBook::typed("integer")
    }
}

impl<T: Emit> Emit for Option<T> {
    fn emit(&self, out: &mut Writer) {
        match self {
            Some(value) => value.emit(out),
            None => out.raw().push_str("null"),
        }
    }
}

impl<T: Value> Value for Option<T> {
    fn read<'t>(node: Node<'t>, reader: &mut Reader<'t>) -> Option<Self> {
        if node.is_null() {
            return Some(None);
        }
        T::read(node, reader).map(Some)
    }

    fn schema(book: &mut SchemaBook) -> Json {
        let inner = T::schema(book);
        SchemaBook::nullable(inner)
    }
}

impl<T: Emit> Emit for Vec<T> {
    fn emit(&self, out: &mut Writer) {
        out.array(self);
    }
}

impl<T: Value> Value for Vec<T> {
    fn read<'t>(node: Node<'t>, reader: &mut Reader<'t>) -> Option<Self> {
        let View::Array(items) = node.view() else {
            return reader.refuse(node, "list_type", "an array", "put the value in square brackets");
        };
        let keep = reader.keeps_records();
        let mut values = Vec::with_capacity(if keep { items.len() } else { 0 });
        let mut complete = true;
        for (index, item) in items.enumerate() {
            match reader.item(index, item) {
                Some(value) if keep => values.push(value),
                Some(_) => {}
                None => complete = false,
            }
        }
        complete.then_some(values)
    }

    fn schema(book: &mut SchemaBook) -> Json {
        let inner = T::schema(book);
        SchemaBook::array_of(inner)
    }
}

/// A flat map of strings, in document order.
pub type StringMap = IndexMap<String, String>;

impl Emit for StringMap {
    fn emit(&self, out: &mut Writer) {
        out.map(self.iter().map(|(key, value)| (key.as_str(), value.as_str())));
    }
}

impl Value for StringMap {
    fn read<'t>(node: Node<'t>, reader: &mut Reader<'t>) -> Option<Self> {
        let View::Object(members) = node.view() else {
            return reader.refuse(
                node,
                "dict_type",
                "an object of strings",
                "write an object, as {\"name\": \"str\"}",
            );
        };
        // The last of a repeated key counts, at the place of the first; only that one is checked.
        let mut chosen = IndexMap::with_capacity(members.len());
        for member in members {
            if member.is_lossy_key() {
                return refuse_lossy(node, reader);
            }
            chosen.insert(member.key(), member);
        }
        let mut values = StringMap::with_capacity(chosen.len());
        let mut complete = true;
        for (key, member) in chosen {
            match reader.member(member) {
                Some(value) => {
                    values.insert(key.to_owned(), value);
                }
                None => complete = false,
            }
        }
        complete.then_some(values)
    }

    fn schema(_: &mut SchemaBook) -> Json {
        SchemaBook::map_of(SchemaBook::typed("string"))
    }
}

impl Emit for Object {
    fn emit(&self, out: &mut Writer) {
        let form = out.form();
        self.write(form, out.raw());
    }
}

impl Value for Object {
    fn read<'t>(node: Node<'t>, reader: &mut Reader<'t>) -> Option<Self> {
        match node.view() {
            View::Object(_) if node.first_lossy().is_some() => refuse_lossy(node, reader),
            View::Object(_) => Some(reader.payload(node)),
            _ => reader.refuse(
                node,
                "dict_type",
                "an object",
                "put the value in an object, as {\"key\": value}",
            ),
        }
    }

    fn schema(_: &mut SchemaBook) -> Json {
        SchemaBook::typed("object")
    }
}
