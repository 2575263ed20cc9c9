//! Where a value of a match stands: in which fact, slot and field. Conditions name places, not copies: a fact that matches a
//! pattern in a thousand ways is kept once.

use crate::fact::{Fact, FactId};
use crate::value::Value;
use std::borrow::Cow;

/// A value of one fact.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Getter {
    /// The fact itself, as `?f <-` binds it.
    Address,
    /// The value of a slot that has one.
    Slot(usize),
    /// A field of a slot that has several, counted from its beginning.
    First { slot: usize, offset: usize },
    /// A field counted from the end of the slot: it stands behind the only `$?`.
    Last { slot: usize, offset: usize },
    /// What the only `$?` of a slot takes.
    Span {
        slot: usize,
        before: usize,
        after: usize,
    },
    /// A field, or a `$?`, of a slot with two `$?`.
    Split { slot: usize, item: usize, shape: Shape },
}

/// The items of a slot with two `$?`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Shape {
    /// Which item is the first `$?`.
    pub(crate) first: usize,
    /// Which item is the second one.
    pub(crate) second: usize,
    /// How many items there are.
    pub(crate) items: usize,
}

impl Shape {
    /// The fields that the `$?`s share, where there are enough for the other items.
    pub(crate) fn slack(self, fields: usize) -> Option<usize> {
        fields.checked_sub(self.items.checked_sub(2)?)
    }

    /// The fields of an item, when the first `$?` takes `split` of them.
    fn fields(self, item: usize, fields: usize, split: usize) -> Option<std::ops::Range<usize>> {
        let rest = self.slack(fields)?.checked_sub(split)?;
        let taken = match item {
            _ if item == self.first => split,
            _ if item == self.second => rest,
            _ => 1,
        };
        let mut start = item;
        if item > self.first {
            start = start + split - 1;
        }
        if item > self.second {
            start = start + rest - 1;
        }
        Some(start..start + taken)
    }

    fn is_several(self, item: usize) -> bool {
        item == self.first || item == self.second
    }
}

fn fields(fact: &Fact, slot: usize) -> Option<&[Value]> {
    match fact.slots().get(slot)? {
        Value::Multifield(fields) => Some(fields),
        _ => None,
    }
}

impl Getter {
    /// The value; nothing where the fact has no such place. `split` is what the first of two `$?` takes.
    pub(crate) fn get<'f>(self, id: FactId, fact: &'f Fact, split: usize) -> Option<Cow<'f, Value>> {
        let several = |part: &[Value]| Cow::Owned(Value::Multifield(part.into()));
        Some(match self {
            Self::Address => Cow::Owned(Value::Fact(id)),
            Self::Slot(slot) => Cow::Borrowed(fact.slots().get(slot)?),
            Self::First { slot, offset } => Cow::Borrowed(fields(fact, slot)?.get(offset)?),
            Self::Last { slot, offset } => Cow::Borrowed(fields(fact, slot)?.iter().nth_back(offset)?),
            Self::Span { slot, before, after } => {
                let whole = fact.slots().get(slot)?;
                if before == 0 && after == 0 {
                    return Some(Cow::Borrowed(whole));
                }
                let fields = fields(fact, slot)?;
                several(fields.get(before..fields.len().checked_sub(after)?)?)
            }
            Self::Split { slot, item, shape } => {
                let fields = fields(fact, slot)?;
                let part = fields.get(shape.fields(item, fields.len(), split)?)?;
                match shape.is_several(item) {
                    true => several(part),
                    false => Cow::Borrowed(part.first()?),
                }
            }
        })
    }

    /// How many values it may have to copy, at most.
    pub(crate) fn copies(self, fact: &Fact) -> usize {
        match self {
            Self::Span { slot, .. } | Self::Split { slot, .. } => {
                fields(fact, slot).map_or(0, <[Value]>::len)
            }
            _ => 0,
        }
    }
}

/// Whose fact it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Side {
    /// The fact that is being matched.
    Own,
    /// One that was matched before, by its position among the conditions.
    Left(usize),
    /// One of the match of a group that must not hold, by the same count.
    Group(usize),
}

/// A value of a match.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Place {
    pub(crate) side: Side,
    pub(crate) getter: Getter,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_of_a_fact_with_two_spans_are_found_from_the_split() {
        let fact = Fact::ordered("a", (0..5).map(Value::Integer).collect());
        let shape = Shape {
            first: 1,
            second: 3,
            items: 5,
        };
        assert_eq!(shape.slack(5), Some(2));
        assert_eq!(shape.slack(2), None);
        // ?0 $?1 ?2 $?3 ?4, where the first `$?` takes one field.
        let shown: Vec<String> = (0..5)
            .map(|item| {
                let getter = Getter::Split { slot: 0, item, shape };
                match &*getter.get(FactId(1), &fact, 1).unwrap() {
                    Value::Multifield(values) => format!("{values:?}"),
                    value => value.to_string(),
                }
            })
            .collect();
        assert_eq!(shown, ["0", "[Integer(1)]", "2", "[Integer(3)]", "4"]);
        let outside = Getter::Last { slot: 0, offset: 5 };
        assert_eq!(outside.get(FactId(1), &fact, 0), None);
    }
}
