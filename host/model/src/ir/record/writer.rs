//! Writes records in the two wire forms.

use crate::json::{Form, Order, write_string};

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
            text: String::new(),
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

    /// An object of the members that are present; sorted first when the form is canonical.
    pub fn record(&mut self, members: &mut [Option<(&str, &dyn Emit)>]) {
        if self.form.order() == Order::CodePoint {
            members.sort_unstable_by_key(|member| member.map(|(key, _)| key));
        }
        self.text.push('{');
        let mut first = true;
        for (key, value) in members.iter().flatten() {
            if !first {
                self.text.push(',');
            }
            first = false;
            self.string(key);
            self.text.push(':');
            value.emit(self);
        }
        self.text.push('}');
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
