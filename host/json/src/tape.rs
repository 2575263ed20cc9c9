//! A parsed text, flat.

use super::{Builder, Integer, Json, Span};

/// A key that stands twice in one object.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the key {:?} stands twice in one object: remove one of them", .0.chars().take(64).collect::<String>())]
pub struct RepeatedKey(String);

/// What an entry of the tape is, and where its text is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TapeKind {
    Null,
    True,
    False,
    /// An integer; its digits are in the source.
    Int,
    /// An integer; its digits are among the decoded texts.
    IntDecoded,
    /// A float; `a` and `b` are its bits.
    Float,
    /// A string without escapes, in the source.
    Text,
    /// A string that had to be decoded.
    TextDecoded,
    /// As `TextDecoded`, with U+FFFD in place of half a surrogate pair.
    TextLossy,
    Array,
    Object,
}

/// One value or key. For texts and integers `a..b` is the range of the text; for containers `a` is the number of members and `b`
/// the entry after the last one inside.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Entry {
    pub(crate) kind: TapeKind,
    pub(crate) start: u32,
    pub(crate) end: u32,
    pub(crate) a: u32,
    pub(crate) b: u32,
}

impl Entry {
    pub(crate) fn float(value: f64, start: u32, end: u32) -> Self {
        let bits = value.to_bits();
        Entry {
            kind: TapeKind::Float,
            start,
            end,
            a: (bits >> 32) as u32,
            b: bits as u32,
        }
    }
}

/// A parsed text: every value and key in document order, borrowed from the source where it can be.
#[derive(Debug)]
pub struct Tape<'s> {
    pub(crate) source: &'s str,
    pub(crate) decoded: String,
    pub(crate) entries: Vec<Entry>,
    /// Whether any text is lossy.
    pub(crate) lossy: bool,
}

impl<'s> Tape<'s> {
    /// The whole document.
    pub fn root(&self) -> Node<'_> {
        Node { tape: self, index: 0 }
    }

    /// The text this was parsed from.
    pub fn source(&self) -> &'s str {
        self.source
    }

    #[inline(always)]
    fn entry(&self, index: u32) -> &Entry {
        static NOTHING: Entry = Entry {
            kind: TapeKind::Null,
            start: 0,
            end: 0,
            a: 0,
            b: 0,
        };
        self.entries.get(index as usize).unwrap_or(&NOTHING)
    }

    /// Where the text of an entry is.
    #[inline(always)]
    fn home(&self, entry: &Entry) -> &str {
        match entry.kind {
            TapeKind::TextDecoded | TapeKind::TextLossy | TapeKind::IntDecoded => &self.decoded,
            _ => self.source,
        }
    }

    #[inline(always)]
    fn text(&self, entry: &Entry) -> &str {
        let range = entry.a as usize..entry.b as usize;
        self.home(entry).get(range).unwrap_or_default()
    }

    /// As `text`, without asking where characters begin: for comparing.
    #[inline(always)]
    fn text_bytes(&self, entry: &Entry) -> &[u8] {
        let range = entry.a as usize..entry.b as usize;
        self.home(entry).as_bytes().get(range).unwrap_or_default()
    }

    /// The entry that follows everything inside this one.
    #[inline(always)]
    fn after(&self, index: u32) -> u32 {
        let entry = self.entry(index);
        match entry.kind {
            TapeKind::Array | TapeKind::Object => entry.b,
            _ => index + 1,
        }
    }
}

/// One value on a [`Tape`].
#[derive(Debug, Clone, Copy)]
pub struct Node<'t> {
    tape: &'t Tape<'t>,
    index: u32,
}

/// A value, for matching on.
#[derive(Debug, Clone)]
pub enum View<'t> {
    /// `null`
    Null,
    /// `true` or `false`
    Bool(bool),
    /// An integer, as its decimal text.
    Int(&'t str),
    /// A number with fraction or exponent; finite.
    Float(f64),
    /// A string.
    String(&'t str),
    /// An array.
    Array(Items<'t>),
    /// An object. A repeated key appears as often as it was written; the last one counts.
    Object(Members<'t>),
}

impl<'t> Node<'t> {
    /// The value, for matching on.
    #[inline(always)]
    pub fn view(self) -> View<'t> {
        let entry = self.tape.entry(self.index);
        match entry.kind {
            TapeKind::Null => View::Null,
            TapeKind::True => View::Bool(true),
            TapeKind::False => View::Bool(false),
            TapeKind::Int | TapeKind::IntDecoded => View::Int(self.tape.text(entry)),
            TapeKind::Float => View::Float(f64::from_bits(u64::from(entry.a) << 32 | u64::from(entry.b))),
            TapeKind::Text | TapeKind::TextDecoded | TapeKind::TextLossy => {
                View::String(self.tape.text(entry))
            }
            TapeKind::Array => View::Array(Items {
                tape: self.tape,
                next: self.index + 1,
                left: entry.a,
            }),
            TapeKind::Object => View::Object(Members {
                tape: self.tape,
                next: self.index + 1,
                left: entry.a,
            }),
        }
    }

    /// Where the value stands in the source.
    #[inline(always)]
    pub fn span(self) -> Span {
        let entry = self.tape.entry(self.index);
        Span {
            start: entry.start as usize,
            end: entry.end as usize,
        }
    }

    /// The bytes of the source that this value was read from.
    pub fn source_text(self) -> &'t str {
        let span = self.span();
        self.tape.source.get(span.start..span.end).unwrap_or_default()
    }

    /// The text, if this is a string.
    #[inline(always)]
    pub fn as_str(self) -> Option<&'t str> {
        let entry = self.tape.entry(self.index);
        match entry.kind {
            TapeKind::Text | TapeKind::TextDecoded | TapeKind::TextLossy => Some(self.tape.text(entry)),
            _ => None,
        }
    }

    /// Whether this is a string.
    #[inline(always)]
    pub fn is_string(self) -> bool {
        let kind = self.tape.entry(self.index).kind;
        matches!(kind, TapeKind::Text | TapeKind::TextDecoded | TapeKind::TextLossy)
    }

    /// Whether this is `null`.
    #[inline(always)]
    pub fn is_null(self) -> bool {
        self.tape.entry(self.index).kind == TapeKind::Null
    }

    pub(super) fn entry(self) -> &'t Entry {
        self.tape.entry(self.index)
    }

    /// Which entry of the tape this is: four bytes to remember a place by.
    #[inline(always)]
    pub fn place(self) -> u32 {
        self.index
    }

    /// The key before the value at a place of the same tape.
    pub fn key_before(self, place: u32) -> &'t str {
        let value = Node {
            tape: self.tape,
            index: place,
        };
        Member { value }.key()
    }

    /// The members, if this is an object.
    #[inline(always)]
    pub fn as_members(self) -> Option<Members<'t>> {
        let entry = self.tape.entry(self.index);
        (entry.kind == TapeKind::Object).then_some(Members {
            tape: self.tape,
            next: self.index + 1,
            left: entry.a,
        })
    }

    /// The first text in this value, keys included, that holds half a surrogate pair; only [`super::parse_lossy`] lets one pass.
    #[inline(always)]
    pub fn first_lossy(self) -> Option<Node<'t>> {
        if !self.tape.lossy {
            return None;
        }
        (self.index..self.tape.after(self.index))
            .find(|index| self.tape.entry(*index).kind == TapeKind::TextLossy)
            .map(|index| Node {
                tape: self.tape,
                index,
            })
    }

    /// What JSON calls this type: `null`, `boolean`, `integer`, `number`, `string`, `array` or `object`.
    pub fn type_name(self) -> &'static str {
        match self.tape.entry(self.index).kind {
            TapeKind::Null => "null",
            TapeKind::True | TapeKind::False => "boolean",
            TapeKind::Int | TapeKind::IntDecoded => "integer",
            TapeKind::Float => "number",
            TapeKind::Text | TapeKind::TextDecoded | TapeKind::TextLossy => "string",
            TapeKind::Array => "array",
            TapeKind::Object => "object",
        }
    }

    /// An owned copy of the value and everything in it. Where a key stands twice in one object, the last value counts.
    pub fn to_json(self) -> Json {
        self.build().finish()
    }

    /// An owned copy, unless a key stands twice in one object: two readers may take different ones for the value.
    ///
    /// # Errors
    /// With the first such key.
    pub fn to_json_unique(self) -> Result<Json, RepeatedKey> {
        match self.build().finish_with_repeated() {
            (json, None) => Ok(json),
            (_, Some(key)) => Err(RepeatedKey(key)),
        }
    }

    fn build(self) -> Builder {
        enum Open {
            Items(u32),
            Members(u32),
        }
        let mut builder = Builder::new();
        let mut open: Vec<Open> = Vec::new();
        let mut index = self.index;
        loop {
            let node = Node {
                tape: self.tape,
                index,
            };
            index += 1;
            match node.view() {
                View::Null => builder.value(Json::Null),
                View::Bool(value) => builder.value(Json::Bool(value)),
                View::Int(text) => builder.value(Integer::parse(text).map_or(Json::Null, Json::Int)),
                View::Float(value) => builder.value(Json::Float(value)),
                View::String(text) => builder.value(Json::String(text.to_owned())),
                View::Array(items) => {
                    builder.begin_array(items.len());
                    open.push(Open::Items(items.left));
                }
                View::Object(members) => {
                    builder.begin_object(members.len());
                    open.push(Open::Members(members.left));
                }
            }
            // Close what is complete, then read the key of the next member, if a member is next.
            loop {
                match open.last_mut() {
                    None => return builder,
                    Some(Open::Items(0) | Open::Members(0)) => {
                        open.pop();
                        builder.end();
                    }
                    Some(Open::Items(left)) => {
                        *left -= 1;
                        break;
                    }
                    Some(Open::Members(left)) => {
                        *left -= 1;
                        builder.key(self.tape.text(self.tape.entry(index)).to_owned());
                        index += 1;
                        break;
                    }
                }
            }
        }
    }
}

/// The elements of an array.
#[derive(Debug, Clone)]
pub struct Items<'t> {
    tape: &'t Tape<'t>,
    next: u32,
    left: u32,
}

impl<'t> Iterator for Items<'t> {
    type Item = Node<'t>;

    #[inline(always)]
    fn next(&mut self) -> Option<Node<'t>> {
        self.left = self.left.checked_sub(1)?;
        let node = Node {
            tape: self.tape,
            index: self.next,
        };
        self.next = self.tape.after(self.next);
        Some(node)
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.left as usize, Some(self.left as usize))
    }
}

impl ExactSizeIterator for Items<'_> {}

/// One member of an object.
#[derive(Debug, Clone, Copy)]
pub struct Member<'t> {
    /// The value.
    pub value: Node<'t>,
}

impl<'t> Member<'t> {
    /// The key, decoded.
    #[inline(always)]
    pub fn key(&self) -> &'t str {
        self.value.tape.text(self.key_entry())
    }

    /// The key's bytes: enough for comparing, and cheaper to come by.
    #[inline(always)]
    pub fn key_bytes(&self) -> &'t [u8] {
        self.value.tape.text_bytes(self.key_entry())
    }

    /// Where the key stands in the source.
    pub fn key_span(&self) -> Span {
        let key = self.key_entry();
        Span {
            start: key.start as usize,
            end: key.end as usize,
        }
    }

    /// Whether the key holds half a surrogate pair, see [`super::parse_lossy`].
    pub fn is_lossy_key(&self) -> bool {
        self.key_entry().kind == TapeKind::TextLossy
    }

    /// A key stands right before its value.
    #[inline(always)]
    fn key_entry(&self) -> &'t Entry {
        self.value.tape.entry(self.value.index.wrapping_sub(1))
    }
}

/// The members of an object as written.
#[derive(Debug, Clone)]
pub struct Members<'t> {
    tape: &'t Tape<'t>,
    next: u32,
    left: u32,
}

impl<'t> Iterator for Members<'t> {
    type Item = Member<'t>;

    #[inline(always)]
    fn next(&mut self) -> Option<Member<'t>> {
        self.left = self.left.checked_sub(1)?;
        let value = Node {
            tape: self.tape,
            index: self.next + 1,
        };
        self.next = self.tape.after(value.index);
        Some(Member { value })
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.left as usize, Some(self.left as usize))
    }
}

impl ExactSizeIterator for Members<'_> {}
