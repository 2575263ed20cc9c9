//! To `serde_json::Value` without a loss: a whole number that it would round is refused and named.

use super::{Event, Integer, Json, Order, TooDeep, Walk};
use super::{field_path, item_path};
use serde_json::Value;

/// Digits of a number that a message shows.
const SHOWN: usize = 40;

/// A value that `serde_json` cannot hold as it is.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NotExact {
    /// It is nested too deep.
    #[error(transparent)]
    TooDeep(#[from] TooDeep),
    /// It has a whole number beyond 64 bits, which would be rounded.
    #[error("{}{message}", at(pointer))]
    Number {
        /// Where the number is, an RFC 6901 pointer.
        pointer: String,
        /// Which one it is, and what to write instead.
        message: String,
    },
}

fn at(pointer: &str) -> String {
    match pointer {
        "" => String::new(),
        pointer => format!("{pointer}: "),
    }
}

impl Json {
    /// As a `serde_json::Value` with the same numbers.
    ///
    /// # Errors
    /// [`NotExact`] for a whole number that does not fit 64 bits, with its pointer, and for a value that is nested too deep.
    pub fn to_serde_exact(&self) -> Result<Value, NotExact> {
        if let Some((pointer, number)) = self.inexact() {
            let mut digits = number.to_string();
            if digits.len() > SHOWN {
                digits.truncate(SHOWN);
                digits.push('…');
            }
            return Err(NotExact::Number {
                pointer,
                message: format!(
                    "the whole number {digits} does not fit 64 bits and would be rounded; send it as a string"
                ),
            });
        }
        Ok(self.to_serde()?)
    }

    /// The first whole number that does not fit 64 bits.
    fn inexact(&self) -> Option<(String, &Integer)> {
        let fits =
            |integer: &Integer| integer.as_i64().is_some() || integer.to_string().parse::<u64>().is_ok();
        let is_large =
            |event: &Event<'_>| matches!(event, Event::Scalar(Json::Int(integer)) if !fits(integer));
        // Most values have none: only then the way to it is followed.
        let place = Walk::new(self, Order::Insertion).position(|event| is_large(&event))?;
        let mut open: Vec<Frame<'_>> = Vec::new();
        for (index, event) in Walk::new(self, Order::Insertion).enumerate() {
            match event {
                Event::Scalar(Json::Int(integer)) if index == place => {
                    return Some((pointer(&open), integer));
                }
                Event::BeginArray(_) => open.push(Frame::Item(0)),
                Event::BeginObject(_) => open.push(Frame::Field("")),
                Event::Key(name) => {
                    if let Some(Frame::Field(key)) = open.last_mut() {
                        *key = name;
                    }
                }
                Event::Scalar(_) => next(&mut open),
                Event::End => {
                    open.pop();
                    next(&mut open);
                }
            }
        }
        None
    }
}

enum Frame<'a> {
    Item(usize),
    Field(&'a str),
}

/// A value has ended: the next one is the next item.
fn next(open: &mut [Frame<'_>]) {
    if let Some(Frame::Item(index)) = open.last_mut() {
        *index = index.saturating_add(1);
    }
}

fn pointer(open: &[Frame<'_>]) -> String {
    open.iter().fold(String::new(), |path, frame| match frame {
        Frame::Item(index) => item_path(&path, *index),
        Frame::Field(name) => field_path(&path, name),
    })
}

#[cfg(test)]
mod tests {
    use super::super::{ReadLimits, parse};
    use super::*;

    fn read(text: &str) -> Json {
        parse(text, ReadLimits::default()).unwrap().root().to_json()
    }

    #[test]
    fn numbers_of_64_bits_are_kept() {
        for text in [
            "18446744073709551615",
            "-9223372036854775808",
            r#"{"a":[1,9223372036854775807,1e300,-0.0]}"#,
        ] {
            let value = read(text).to_serde_exact().unwrap();
            let again: Value = serde_json::from_str(text).unwrap();
            assert_eq!(value, again, "{text}");
        }
    }

    #[test]
    fn a_larger_whole_number_is_refused_where_it_stands() {
        let check = |text: &str, expected: &str| match read(text).to_serde_exact() {
            Err(NotExact::Number { pointer, message }) => {
                assert_eq!(pointer, expected, "{text}");
                assert!(message.contains("would be rounded"), "{message}");
                assert!(message.len() < 200, "{message}");
            }
            other => panic!("{text}: {other:?}"),
        };
        check("18446744073709551616", "");
        check("-9223372036854775809", "");
        check(
            r#"{"a":{"b/c":[1,[],{"x":[2]},3,18446744073709551616]}}"#,
            "/a/b~1c/4",
        );
        check(&format!("[0,{{}},{}]", "9".repeat(5_000)), "/2");
    }

    #[test]
    fn what_is_nested_too_deep_is_still_refused() {
        let deep = "[".repeat(200) + &"]".repeat(200);
        assert!(matches!(read(&deep).to_serde_exact(), Err(NotExact::TooDeep(_))));
    }
}
