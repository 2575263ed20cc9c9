//! Looking at matches: what stands at a place, and whether tests hold.

use super::Rete;
use crate::budget::{Exhausted, Meter};
use crate::expression::{Bindings, unbound};
use crate::fact::{Fact, FactId, Facts, Mixing};
use crate::function::Failure;
use crate::matches::{Kind, Match, MatchId, Matches, NONE};
use crate::network::Join;
use crate::place::{Getter, Place, Side};
use crate::rule::Test;
use crate::value::Value;
use std::borrow::Cow;
use std::hash::{Hash as _, Hasher as _};

/// A fact, and what the first of two `$?` takes of it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Seen<'f> {
    pub(crate) id: FactId,
    pub(crate) fact: &'f Fact,
    pub(crate) split: usize,
}

impl<'f> Seen<'f> {
    pub(crate) fn get(self, getter: Getter, meter: &mut Meter) -> Result<Cow<'f, Value>, Failure> {
        let copies = getter.copies(self.fact);
        if copies > 0 {
            meter.spend(u64::try_from(copies).unwrap_or(u64::MAX))?;
        }
        getter.get(self.id, self.fact, self.split).ok_or_else(unbound)
    }
}

/// A fact that looks for its patterns.
impl Bindings<Place> for Seen<'_> {
    fn value(&self, place: &Place, meter: &mut Meter) -> Result<Cow<'_, Value>, Failure> {
        self.get(place.getter, meter)
    }
}

/// What meets at a join.
#[derive(Debug, Clone, Copy)]
struct Facing<'s> {
    facts: &'s Facts,
    matches: &'s Matches,
    left: (MatchId, usize),
    right: (MatchId, usize),
}

impl Bindings<Place> for Facing<'_> {
    fn value(&self, place: &Place, meter: &mut Meter) -> Result<Cow<'_, Value>, Failure> {
        let at = |(id, length): (MatchId, usize), position| self.matches.fact_at(id, length, position);
        let id = match place.side {
            Side::Own => self.right.0,
            Side::Left(position) => at(self.left, position),
            Side::Group(position) => at(self.right, position),
        };
        seen(self.facts, self.matches, id)
            .ok_or_else(unbound)?
            .get(place.getter, meter)
    }
}

/// The fact of a match of one.
fn seen<'s>(facts: &'s Facts, matches: &Matches, id: MatchId) -> Option<Seen<'s>> {
    let found = matches.at(id);
    let Kind::Fact(fact) = found.kind else {
        return None;
    };
    Some(Seen {
        id: fact,
        fact: &facts.get(fact)?.fact,
        split: found.split as usize,
    })
}

/// Evaluates a test. An error is noted, with where it happened.
pub(super) fn holds<B: Bindings<Place> + ?Sized>(
    test: &Test,
    bindings: &B,
    meter: &mut Meter,
    errors: &mut Vec<String>,
) -> Result<Option<bool>, Exhausted> {
    match test.expression.holds(bindings, meter) {
        Ok(holds) => Ok(Some(holds)),
        Err(Failure::Exhausted(exhausted)) => Err(exhausted),
        Err(Failure::Error(message)) => {
            // A hundred tell as much as all of them.
            if errors.len() < 100 {
                let note = format!("in {}: {message}", test.text);
                if !errors.contains(&note) {
                    errors.push(note);
                }
            }
            Ok(None)
        }
    }
}

impl Rete<'_> {
    /// The fact at a position of a match of that many conditions.
    pub(crate) fn seen_at(&self, id: MatchId, length: usize, position: usize) -> Option<Seen<'_>> {
        let fact = self.matches.fact_at(id, length, position);
        seen(&self.facts, &self.matches, fact)
    }

    /// Whether all tests hold for what meets at a join. One that cannot be evaluated does not hold; where it says what must not be,
    /// it does, as in CLIPS.
    pub(super) fn passes(
        &mut self,
        tests: &[Test],
        join: &Join,
        left: MatchId,
        right: MatchId,
    ) -> Result<bool, Exhausted> {
        if tests.is_empty() {
            return Ok(true);
        }
        let facing = Facing {
            facts: &self.facts,
            matches: &self.matches,
            left: (left, join.left_length),
            right: (right, join.right_length),
        };
        for test in tests {
            match holds(test, &facing, &mut self.meter, &mut self.errors)? {
                Some(true) => {}
                Some(false) => return Ok(false),
                None => return Ok(join.is_blocked_from_right() && right != NONE),
            }
        }
        Ok(true)
    }

    /// The hash of the values of some places of a match of that many conditions, which is about to be made.
    pub(super) fn hash_of_new(
        &mut self,
        key: &[Place],
        new: &Match,
        length: usize,
    ) -> Result<u64, Exhausted> {
        if key.is_empty() {
            return Ok(0);
        }
        let mut hasher = Mixing::default();
        for place in key {
            let found = match place.side {
                Side::Left(position) | Side::Group(position) if position + 1 < length => {
                    self.matches.fact_at(new.left, length - 1, position)
                }
                _ => new.right,
            };
            let value = match seen(&self.facts, &self.matches, found) {
                Some(seen) => seen.get(place.getter, &mut self.meter),
                None => Err(unbound()),
            };
            add(&mut hasher, value, &mut self.meter)?;
        }
        Ok(hasher.finish())
    }

    /// The hash of the values of a fact by which its matches with a pattern are found.
    pub(super) fn hash_of_fact(&mut self, key: &[Getter], seen: Seen<'_>) -> Result<u64, Exhausted> {
        if key.is_empty() {
            return Ok(0);
        }
        let mut hasher = Mixing::default();
        for getter in key {
            add(&mut hasher, seen.get(*getter, &mut self.meter), &mut self.meter)?;
        }
        Ok(hasher.finish())
    }
}

fn add(
    hasher: &mut Mixing,
    value: Result<Cow<'_, Value>, Failure>,
    meter: &mut Meter,
) -> Result<(), Exhausted> {
    match value {
        Ok(value) => {
            meter.spend_bytes(value.lexeme().map_or(0, str::len))?;
            value.hash(hasher);
            Ok(())
        }
        Err(Failure::Exhausted(exhausted)) => Err(exhausted),
        // A value that is not there is the same as any other that is not: the tests decide.
        Err(Failure::Error(_)) => Ok(()),
    }
}
