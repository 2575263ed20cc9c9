//! Reads a tape into records and collects every structural error on the way.

use super::Value;
use crate::ir::error::{Stage, ValidationError, describe, describe_text};
use crate::ir::slug::SlugError;
use mizzen_json::nearest;
use mizzen_json::{Json, Member, Members, Node, Object, Span, View, escape_token};
use std::borrow::Cow;
use std::collections::HashSet;
use std::fmt::Write as _;
use std::marker::PhantomData;

/// One step of the way to the value being read: the entry of a member's value on the tape, or a place in an array.
#[derive(Debug, Clone, Copy)]
enum Step {
    Member(u32),
    Item(u32),
}

/// Where the reading is, and what was wrong so far.
#[derive(Debug)]
pub struct Reader<'t> {
    path: Vec<Step>,
    structure: Findings,
    ids: Findings,
    keep: Keep,
    tape: PhantomData<&'t ()>,
}

/// The errors of one stage.
#[derive(Debug)]
struct Findings {
    errors: Vec<ValidationError>,
    limit: usize,
    dropped: usize,
}

impl Findings {
    fn new(limit: usize) -> Self {
        Findings {
            errors: Vec::new(),
            limit,
            dropped: 0,
        }
    }

    fn has_room(&mut self) -> bool {
        let room = self.errors.len() < self.limit;
        if !room {
            self.dropped += 1;
        }
        room
    }
}

/// What becomes of what is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Keep {
    Records,
    Errors,
}

impl<'t> Reader<'t> {
    /// A reader that keeps at most `limit` errors of each stage and counts the rest.
    pub fn new(limit: usize) -> Self {
        Reader {
            path: Vec::new(),
            structure: Findings::new(limit),
            ids: Findings::new(limit),
            keep: Keep::Records,
            tape: PhantomData,
        }
    }

    /// A reader for callers that want the errors only: texts, payloads and elements are checked and not kept, so what it reads is
    /// hollow and must be thrown away.
    pub fn for_errors(limit: usize) -> Self {
        Reader {
            keep: Keep::Errors,
            ..Reader::new(limit)
        }
    }

    /// Whether what is read is kept.
    #[inline]
    pub(super) fn keeps_records(&self) -> bool {
        self.keep == Keep::Records
    }

    /// A text of the document, to keep.
    #[inline]
    pub fn text(&self, node: Node<'t>) -> String {
        match self.keep {
            Keep::Records => node.as_str().unwrap_or_default().to_owned(),
            Keep::Errors => String::new(),
        }
    }

    /// A free-form payload of the document, to keep.
    pub fn payload(&self, node: Node<'t>) -> Object {
        match (self.keep, node.view()) {
            (Keep::Records, View::Object(_)) => match node.to_json() {
                Json::Object(object) => object,
                _ => Object::new(),
            },
            _ => Object::new(),
        }
    }

    /// The structural errors in order, and how many more there were.
    pub fn finish(self) -> (Vec<ValidationError>, usize) {
        (self.structure.errors, self.structure.dropped)
    }

    /// The errors of the first stage that has any: structure, then ids.
    pub(crate) fn finish_with_ids(self) -> (Vec<ValidationError>, usize) {
        let first = if self.structure.errors.is_empty() {
            self.ids
        } else {
            self.structure
        };
        (first.errors, first.dropped)
    }

    /// Reads the value of a member.
    #[inline]
    pub fn member<T: Value>(&mut self, member: Member<'t>) -> Option<T> {
        self.path.push(Step::Member(member.value.place()));
        let value = T::read(member.value, self);
        self.path.pop();
        value
    }

    /// Reads an element of an array. A tape has fewer than 2^32 entries, so every index fits.
    #[inline]
    pub fn item<T: Value>(&mut self, index: usize, node: Node<'t>) -> Option<T> {
        self.path.push(Step::Item(index as u32));
        let value = T::read(node, self);
        self.path.pop();
        value
    }

    /// Holds a text to the stable-id grammar. What is no text is the structure's business.
    #[inline]
    pub fn slug(&mut self, member: Member<'t>, validate: fn(&str) -> Result<(), SlugError>) {
        if let Some(id) = member.value.as_str()
            && let Err(error) = validate(id)
        {
            self.refuse_slug(member, id, &error);
        }
    }

    #[cold]
    fn refuse_slug(&mut self, member: Member<'t>, id: &str, error: &SlugError) {
        if self.ids.has_room() {
            let path = self.pointer(member.value, Some(member.key()));
            self.ids.errors.push(ValidationError {
                stage: Stage::Slug,
                code: "slug_invalid",
                path,
                expected: Cow::Borrowed("a slug matching ^[a-z0-9][a-z0-9_\\-.]{0,127}$"),
                actual: Some(describe_text(id)),
                hint: Cow::Owned(error.to_string()),
                span: Some(member.value.span()),
            });
        }
    }

    /// The members of an object, or an error that a record was expected.
    #[inline(always)]
    pub fn members(&mut self, node: Node<'t>, name: &'static str) -> Option<Members<'t>> {
        let members = node.as_members();
        if members.is_none() {
            self.refuse_non_object(node, name);
        }
        members
    }

    #[cold]
    fn refuse_non_object(&mut self, node: Node<'t>, name: &'static str) {
        let hint = "replace it by an object with the record's fields";
        self.refuse::<()>(node, "model_type", format!("an object ({name})"), hint);
    }

    /// Reports a value that cannot stand here.
    pub fn refuse<T>(
        &mut self,
        node: Node<'t>,
        code: &'static str,
        expected: impl Into<Cow<'static, str>>,
        hint: impl Into<Cow<'static, str>>,
    ) -> Option<T> {
        self.refuse_at(node, code, expected, hint)
    }

    /// Reports that the value being read cannot stand here because of `culprit` inside it: the path is the value's, the span the
    /// culprit's.
    pub fn refuse_at<T>(
        &mut self,
        culprit: Node<'t>,
        code: &'static str,
        expected: impl Into<Cow<'static, str>>,
        hint: impl Into<Cow<'static, str>>,
    ) -> Option<T> {
        if self.structure.has_room() {
            let path = self.pointer(culprit, None);
            self.structure.errors.push(ValidationError {
                stage: Stage::Structural,
                code,
                path,
                expected: expected.into(),
                actual: Some(describe(culprit)),
                hint: hint.into(),
                span: Some(culprit.span()),
            });
        }
        None
    }

    /// Reports a required member that is not there, at the path it should have had.
    pub fn missing<T>(&mut self, object: Node<'t>, key: &'static str) -> Option<T> {
        if self.structure.has_room() {
            let path = self.pointer(object, Some(key));
            let span = object.span();
            self.structure.errors.push(ValidationError {
                stage: Stage::Structural,
                code: "missing",
                path,
                expected: Cow::Owned(format!("the required field `{key}`")),
                actual: None,
                hint: Cow::Owned(format!("add the required field `{key}`")),
                // The first character, in JSON the bracket: a whole object underlined says nothing.
                span: Some(Span {
                    start: span.start,
                    end: span.start + object.source_text().chars().next().map_or(0, char::len_utf8),
                }),
            });
        }
        None
    }

    /// Reports members that the record does not have, each key once, in document order.
    pub fn refuse_unknown(&mut self, unknown: Vec<Member<'t>>, known: &'static [&'static str]) {
        // A hostile object may repeat one key a million times.
        let mut seen = HashSet::new();
        let several = unknown.len() > 1;
        for member in unknown {
            if several && !seen.insert(member.key()) {
                continue;
            }
            if !self.structure.has_room() {
                continue;
            }
            let path = self.pointer(member.value, Some(member.key()));
            let hint = match nearest(member.key(), known.iter().copied()) {
                Some(name) => format!("did you mean `{name}`? unknown keys are forbidden"),
                None if known.len() <= 6 => {
                    format!(
                        "remove it: unknown keys are forbidden; this record has {}",
                        known.join(", ")
                    )
                }
                None => "remove it: unknown keys are forbidden".to_owned(),
            };
            self.structure.errors.push(ValidationError {
                stage: Stage::Structural,
                code: "extra_forbidden",
                path,
                expected: Cow::Borrowed("no such field"),
                actual: Some(describe(member.value)),
                hint: Cow::Owned(hint),
                span: Some(member.key_span()),
            });
        }
    }

    /// Where the reading is, `last` below it; `on` is any value of the same tape.
    fn pointer(&self, on: Node<'t>, last: Option<&str>) -> String {
        let mut text = String::new();
        for step in &self.path {
            // Writing to a String cannot fail.
            let _ = match step {
                Step::Member(place) => write!(text, "/{}", escape_token(on.key_before(*place))),
                Step::Item(index) => write!(text, "/{index}"),
            };
        }
        if let Some(key) = last {
            text.push('/');
            text.push_str(&escape_token(key));
        }
        text
    }
}
