//! Facts as the host writes them, read in one pass: no spaces inside of a fact, its name first, every value plain. A pack is asked
//! around every step, and a general parser was a third of what an evaluation cost.
//!
//! What is written in any other way, or is wrong, is not read here: `None`, and the general reader says what it is.

use super::{one, value_of};
use crate::shared::Lasting;
use crate::{Fact, Program, Slot, SlotType, Template, Value};
use serde_json::Value as Json;
use std::borrow::Cow;

/// Reads the facts whose names are wanted, each with its place: what the general reader would make of them.
pub(super) fn read(
    text: &str,
    program: &Program,
    most: usize,
    is_wanted: &dyn Fn(&str) -> bool,
) -> Option<Vec<(usize, Fact)>> {
    let mut cursor = Cursor {
        text,
        at: 0,
        said: Said::default(),
    };
    let mut facts = Vec::with_capacity(16);
    cursor.expect(b"[")?;
    cursor.space();
    if cursor.take(b"]") {
        return cursor.is_done().then_some(facts);
    }
    for at in 0..most {
        if let Some(fact) = cursor.fact(program, is_wanted)? {
            facts.push((at, fact));
        }
        cursor.space();
        if !cursor.has_more(b']')? {
            return cursor.is_done().then_some(facts);
        }
        cursor.space();
    }
    None
}

/// A plain value.
enum Plain<'t> {
    Text(Cow<'t, str>),
    Integer(i64),
    /// A number of another kind, `true`, `false` or `null`.
    Other(Json),
}

/// Texts that were said last: the facts of a moment have the run, the source and more in common.
#[derive(Default)]
struct Said {
    texts: [Option<Value>; 4],
    next: usize,
}

impl Said {
    fn string(&mut self, text: &str) -> Value {
        let is_same = |value: &&Value| matches!(value, Value::String(known) if **known == *text);
        if let Some(known) = self.texts.iter().flatten().find(is_same) {
            return known.clone();
        }
        let value = Value::string(text);
        if let Some(place) = self.texts.get_mut(self.next) {
            *place = Some(value.clone());
        }
        self.next = (self.next + 1) % self.texts.len();
        value
    }
}

struct Cursor<'t> {
    text: &'t str,
    at: usize,
    said: Said,
}

impl<'t> Cursor<'t> {
    fn rest(&self) -> &'t [u8] {
        self.text.as_bytes().get(self.at..).unwrap_or_default()
    }

    fn next(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn space(&mut self) {
        while let Some(b' ' | b'\n' | b'\r' | b'\t') = self.next() {
            self.at += 1;
        }
    }

    fn is_done(&mut self) -> bool {
        self.space();
        self.at == self.text.len()
    }

    fn take(&mut self, word: &[u8]) -> bool {
        let is_next = self.rest().starts_with(word);
        if is_next {
            self.at += word.len();
        }
        is_next
    }

    fn expect(&mut self, word: &[u8]) -> Option<()> {
        self.take(word).then_some(())
    }

    /// Whether a comma stands here, or the end.
    fn has_more(&mut self, end: u8) -> Option<bool> {
        let byte = self.next()?;
        self.at += 1;
        match byte {
            b',' => Some(true),
            byte if byte == end => Some(false),
            _ => None,
        }
    }

    /// A fact; nothing of one that is not wanted.
    fn fact(&mut self, program: &Program, is_wanted: &dyn Fn(&str) -> bool) -> Option<Option<Fact>> {
        if self.take(br#"{"template":"#) {
            let name = self.name()?;
            self.expect(br#","slots":{"#)?;
            let fact = match is_wanted(name) {
                true => Some(self.slots(program.template(name)?)?),
                false => {
                    self.members(&mut |cursor, _| cursor.plain().map(drop))?;
                    None
                }
            };
            self.expect(b"}")?;
            return Some(fact);
        }
        self.expect(br#"{"name":"#)?;
        let name = self.name()?;
        self.expect(br#","fields":["#)?;
        let is_wanted = is_wanted(name);
        let mut fields = Vec::new();
        let mut has_more = !self.take(b"]");
        while has_more {
            let plain = self.plain()?;
            if is_wanted {
                fields.push(match plain {
                    Plain::Text(text) => Value::string(&text),
                    Plain::Integer(number) => Value::Integer(number),
                    Plain::Other(json) => value_of(&json).ok()?,
                });
            }
            has_more = self.has_more(b']')?;
        }
        self.expect(b"}")?;
        Some(is_wanted.then(|| Fact::ordered(name, fields)))
    }

    fn slots(&mut self, template: &Lasting<Template>) -> Option<Fact> {
        let mut said: Vec<Option<Value>> = vec![None; template.slots().len()];
        let mut next = 0;
        self.members(&mut |cursor, name| {
            let (at, slot) = template.slot_after(next, name)?;
            next = at + 1;
            let place = said.get_mut(at).filter(|place| place.is_none())?;
            *place = Some(cursor.slot(slot)?);
            Some(())
        })?;
        Fact::of_said(template, said)
    }

    /// The members of an object, behind its bracket.
    fn members(&mut self, each: &mut dyn FnMut(&mut Self, &'t str) -> Option<()>) -> Option<()> {
        let mut has_more = !self.take(b"}");
        while has_more {
            let name = self.name()?;
            self.expect_byte(b':')?;
            each(self, name)?;
            has_more = self.has_more(b'}')?;
        }
        Some(())
    }

    /// The value of a slot, which fits it.
    fn slot(&mut self, slot: &Slot) -> Option<Value> {
        let is_only = |kind: SlotType| matches!(slot.types(), [only] if *only == kind);
        let plain = self.plain()?;
        // Nearly all of them are as plain as this.
        match (&plain, slot.plain()) {
            (Plain::Text(text), Some(SlotType::String)) => return Some(self.said.string(text)),
            (Plain::Text(text), Some(SlotType::Symbol)) => return Some(Value::symbol(text)),
            (Plain::Integer(number), Some(SlotType::Integer)) => return Some(Value::Integer(*number)),
            (Plain::Text(text), None) => {
                if let Some(symbol) = slot.allowed_symbol(text) {
                    return Some(symbol.clone());
                }
            }
            _ => {}
        }
        let value = match plain {
            Plain::Text(text) => {
                let is_text = |value: &&Value| matches!(value, Value::Symbol(known) if **known == *text);
                match slot.allowed().iter().find(is_text) {
                    Some(symbol) => symbol.clone(),
                    None if is_only(SlotType::Symbol) => Value::symbol(&text),
                    None => self.said.string(&text),
                }
            }
            Plain::Integer(number) if is_only(SlotType::Float) => one(slot, &Json::from(number)).ok()?,
            Plain::Integer(number) => Value::Integer(number),
            Plain::Other(json) => one(slot, &json).ok()?,
        };
        let value = match slot.is_multislot() {
            true => Value::Multifield([value].into()),
            false => value,
        };
        slot.check(&value).ok().map(|()| value)
    }

    fn expect_byte(&mut self, byte: u8) -> Option<()> {
        (self.next()? == byte).then(|| self.at += 1)
    }

    /// A short text without escapes, in quotes.
    fn name(&mut self) -> Option<&'t str> {
        self.expect_byte(b'"')?;
        let rest = self.rest();
        let length = rest.iter().position(|byte| is_special(*byte))?;
        let name = self.text.get(self.at..self.at + length)?;
        self.at += length;
        self.expect_byte(b'"')?;
        Some(name)
    }

    fn plain(&mut self) -> Option<Plain<'t>> {
        let other = |json: Json| Some(Plain::Other(json));
        match self.next()? {
            b'"' => self.string().map(Plain::Text),
            b'-' | b'0'..=b'9' => self.number(),
            b't' => self.expect(b"true").and_then(|()| other(Json::Bool(true))),
            b'f' => self.expect(b"false").and_then(|()| other(Json::Bool(false))),
            b'n' => self.expect(b"null").and_then(|()| other(Json::Null)),
            _ => None,
        }
    }

    fn string(&mut self) -> Option<Cow<'t, str>> {
        let began = self.at;
        let mut has_escapes = false;
        self.at += 1;
        loop {
            self.at += plain_length(self.rest());
            match self.next()? {
                b'"' => break,
                // Whatever is escaped: it is not the end.
                b'\\' => {
                    has_escapes = true;
                    self.at += 2;
                }
                _ => return None,
            }
        }
        self.at += 1;
        match has_escapes {
            true => serde_json::from_str(self.text.get(began..self.at)?)
                .ok()
                .map(Cow::Owned),
            false => self.text.get(began + 1..self.at - 1).map(Cow::Borrowed),
        }
    }

    fn number(&mut self) -> Option<Plain<'t>> {
        let rest = self.rest();
        let mut number = 0_i64;
        let mut length = 0;
        // Eighteen digits fit, whatever they are.
        while let Some(digit @ b'0'..=b'9') = rest.get(length)
            && length < 18
        {
            number = number * 10 + i64::from(digit - b'0');
            length += 1;
        }
        let is_part = |byte: &u8| matches!(byte, b'0'..=b'9' | b'-' | b'+' | b'.' | b'e' | b'E');
        let is_whole = length > 0 && !rest.get(length).is_some_and(is_part);
        // Only zero begins with a zero.
        if is_whole && (length == 1 || rest.first() != Some(&b'0')) {
            self.at += length;
            return Some(Plain::Integer(number));
        }
        length = rest.iter().take_while(|byte| is_part(byte)).count();
        let text = self.text.get(self.at..self.at + length)?;
        self.at += length;
        match serde_json::from_str(text).ok()? {
            Json::Number(number) => Some(match number.as_i64() {
                Some(number) => Plain::Integer(number),
                None => Plain::Other(Json::Number(number)),
            }),
            _ => None,
        }
    }
}

/// What is not itself in a text: a quote, a backslash or a control character.
fn is_special(byte: u8) -> bool {
    byte < b' ' || matches!(byte, b'"' | b'\\')
}

/// Where the first such byte stands; the length where there is none.
pub(crate) fn plain_length(bytes: &[u8]) -> usize {
    const ONES: u64 = u64::from_le_bytes([1; 8]);
    const TOPS: u64 = u64::from_le_bytes([0x80; 8]);
    let has_zero = |word: u64| word.wrapping_sub(ONES) & !word & TOPS;
    let (words, _) = bytes.as_chunks::<8>();
    let plain = words
        .iter()
        .take_while(|word| {
            let word = u64::from_le_bytes(**word);
            let quote = has_zero(word ^ (ONES * u64::from(b'"')));
            let escape = has_zero(word ^ (ONES * u64::from(b'\\')));
            let control = word.wrapping_sub(ONES * u64::from(b' ')) & !word & TOPS;
            quote | escape | control == 0
        })
        .count()
        * 8;
    let rest = bytes.get(plain..).unwrap_or_default();
    plain
        + rest
            .iter()
            .position(|byte| is_special(*byte))
            .unwrap_or(rest.len())
}
