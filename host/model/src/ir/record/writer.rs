//! Writes records in the two wire forms.

use mizzen_json::{Form, Order, write_string};

/// Something a [`Writer`] can write.
pub trait Emit {
    /// Appends the JSON text.
    fn emit(&self, out: &mut Writer);
}

/// Collects the JSON text of records: compact, in declared or in sorted order.
#[derive(Debug)]
pub struct Writer {
    text: String,
    form: Form,
}

impl Writer {
    /// A writer of this form.
    pub fn new(form: Form) -> Self {
        Writer {
            // Most documents are larger than this; growing from nothing would copy the first kilobyte eight times.
            text: String::with_capacity(1024),
            form,
        }
    }

    /// The text written so far.
    pub fn finish(self) -> String {
        self.text
    }

    /// Which form this writes.
    pub fn form(&self) -> Form {
        self.form
    }

    /// Where raw JSON is appended.
    pub fn raw(&mut self) -> &mut String {
        &mut self.text
    }

    /// A string.
    pub fn string(&mut self, text: &str) {
        write_string(text, self.form, &mut self.text);
    }

    /// An object of the members that are present, each with its key as it stands on the wire, colon included. Canonical forms
    /// take them in the order `sorted`.
    pub fn record(&mut self, members: &[Option<(&str, &dyn Emit)>], sorted: &[usize]) {
        match self.form.order() {
            Order::Insertion => self.members(members.iter().copied().flatten()),
            Order::CodePoint => {
                self.members(
                    sorted
                        .iter()
                        .filter_map(|index| members.get(*index).copied().flatten()),
                );
            }
        }
    }

    fn members<'m>(&mut self, members: impl Iterator<Item = (&'m str, &'m dyn Emit)>) {
        let mut before = '{';
        for (key, value) in members {
            self.text.push(before);
            self.text.push_str(key);
            value.emit(self);
            before = ',';
        }
        self.text.push_str(if before == '{' { "{}" } else { "}" });
    }

    /// An object of texts.
    pub fn map<'m>(&mut self, members: impl Iterator<Item = (&'m str, &'m str)>) {
        let mut members: Vec<(&str, &str)> = members.collect();
        if self.form.order() == Order::CodePoint {
            members.sort_unstable_by_key(|(key, _)| *key);
        }
        let mut before = '{';
        for (key, value) in members {
            self.text.push(before);
            self.string(key);
            self.text.push(':');
            self.string(value);
            before = ',';
        }
        self.text.push_str(if before == '{' { "{}" } else { "}" });
    }

    /// An array.
    pub fn array<T: Emit>(&mut self, items: &[T]) {
        self.text.push('[');
        for (index, item) in items.iter().enumerate() {
            if index > 0 {
                self.text.push(',');
            }
            item.emit(self);
        }
        self.text.push(']');
    }
}
