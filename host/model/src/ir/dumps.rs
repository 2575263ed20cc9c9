//! The serialisation seam: the only place where IR records become text and text becomes records.

use super::error::ValidationError;
use super::record::{Reader, Record, Writer};
use super::validate::{Options, parse_failure};
use mizzen_json::{Form, Tape, parse_lossy};

/// Compact JSON in declared field order, raw UTF-8. Defaults are left out, an action's `kind` never is (D11).
pub fn dumps<T: Record>(record: &T) -> String {
    write(record, Form::Compact)
}

/// As [`dumps`], with keys sorted by code point at every depth, free-form payloads included. Hashes are made of this.
pub fn dumps_canonical<T: Record>(record: &T) -> String {
    write(record, Form::Canonical)
}

fn write<T: Record>(record: &T, form: Form) -> String {
    let mut writer = Writer::new(form);
    record.emit(&mut writer);
    writer.finish()
}

/// Reads a record: JSON and structure. Ids and version are [`super::validate`]'s business.
pub fn loads<T: Record>(text: &str) -> Result<T, Vec<ValidationError>> {
    let tape =
        parse_lossy(text, Options::default().json).map_err(|error| vec![parse_failure(text, &error)])?;
    read(&tape)
}

/// As [`loads`], for a text that is already parsed.
pub(crate) fn read<T: Record>(tape: &Tape<'_>) -> Result<T, Vec<ValidationError>> {
    let mut reader = Reader::new(Options::default().errors);
    let record = T::read(tape.root(), &mut reader);
    let (errors, _) = reader.finish();
    match record {
        Some(record) if errors.is_empty() => Ok(record),
        _ => Err(errors),
    }
}
