//! What one pattern remembers: its matches, and indexes over the variables by which others join it.

use crate::budget::{Exhausted, Meter};
use crate::fact::{FactId, HashedMap, hash_of};
use crate::pattern::{Pattern, Values};
use crate::value::Value;
use std::sync::Arc;

/// Which match of a memory. Ids grow, so their order is that of the facts.
pub(crate) type RecordId = u32;

#[derive(Debug, Clone)]
pub(crate) struct Record {
    pub(crate) fact: FactId,
    pub(crate) values: Values,
    gone: bool,
}

/// Records in order. One that is gone stays listed until half of them are, or until it is the first. Most lists have one.
#[derive(Debug, Default)]
enum Ids {
    #[default]
    None,
    One(RecordId),
    Many {
        listed: Vec<RecordId>,
        first: usize,
        gone: usize,
    },
}

impl Ids {
    fn with_room(count: usize) -> Self {
        Self::Many {
            listed: Vec::with_capacity(count),
            first: 0,
            gone: 0,
        }
    }

    fn push(&mut self, id: RecordId) {
        match self {
            Self::None => *self = Self::One(id),
            Self::One(only) => {
                *self = Self::Many {
                    listed: vec![*only, id],
                    first: 0,
                    gone: 0,
                }
            }
            Self::Many { listed, .. } => listed.push(id),
        }
    }

    /// One of them is gone.
    fn forget(&mut self, records: &[Record]) {
        let is_gone = |id: &RecordId| records.get(*id as usize).is_none_or(|record| record.gone);
        match self {
            Self::None => {}
            Self::One(only) => {
                if is_gone(only) {
                    *self = Self::None;
                }
            }
            Self::Many { listed, first, gone } => {
                *gone += 1;
                while listed.get(*first).is_some_and(is_gone) {
                    *first += 1;
                    *gone = gone.saturating_sub(1);
                }
                if (*first + *gone) * 2 > listed.len() {
                    listed.retain(|id| !is_gone(id));
                    (*first, *gone) = (0, 0);
                }
            }
        }
    }

    fn as_slice(&self) -> &[RecordId] {
        match self {
            Self::None => &[],
            Self::One(only) => std::slice::from_ref(only),
            Self::Many { listed, first, .. } => listed.get(*first..).unwrap_or_default(),
        }
    }

    fn is_empty(&self) -> bool {
        self.as_slice().is_empty()
    }

    fn len(&self) -> usize {
        let gone = match self {
            Self::None | Self::One(_) => 0,
            Self::Many { gone, .. } => *gone,
        };
        self.as_slice().len() - gone
    }
}

/// The records with one key, which are the values of the indexed places of any of them, and the next key with the same hash. The
/// first that is listed is never gone.
#[derive(Debug, Default)]
struct Bucket {
    ids: Ids,
    next: Option<Box<Bucket>>,
}

impl Bucket {
    fn has_key<'v>(
        &self,
        places: &[usize],
        records: &[Record],
        key: impl Iterator<Item = &'v Value>,
    ) -> bool {
        let first = self.ids.as_slice().first();
        let record = first.and_then(|id| records.get(*id as usize));
        record.is_some_and(|record| {
            places
                .iter()
                .filter_map(|place| record.values.get(*place))
                .eq(key)
        })
    }
}

#[derive(Debug)]
struct Index {
    /// Places in the values of a record.
    places: Box<[usize]>,
    buckets: HashedMap<Bucket>,
}

impl Index {
    fn insert(
        &mut self,
        id: RecordId,
        values: &[Value],
        records: &[Record],
        meter: &mut Meter,
    ) -> Result<(), Exhausted> {
        let key = self.places.iter().filter_map(|place| values.get(*place));
        let mut bucket = self.buckets.entry(hash_of(key.clone())).or_default();
        while !bucket.ids.is_empty() && !bucket.has_key(&self.places, records, key.clone()) {
            // Keys that were made to collide pay for it.
            meter.spend(1)?;
            bucket = bucket.next.get_or_insert_default();
        }
        bucket.ids.push(id);
        Ok(())
    }

    /// Forgets a record that is gone. Its values are still there.
    fn forget(&mut self, values: &[Value], records: &[Record]) {
        let key = self.places.iter().filter_map(|place| values.get(*place));
        let hash = hash_of(key.clone());
        let Some(first) = self.buckets.get_mut(&hash) else {
            return;
        };
        if first.has_key(&self.places, records, key.clone()) {
            first.ids.forget(records);
            if first.ids.is_empty() {
                match first.next.take() {
                    Some(next) => *first = *next,
                    None => drop(self.buckets.remove(&hash)),
                }
            }
            return;
        }
        let mut place = &mut first.next;
        while let Some(bucket) = place {
            if bucket.has_key(&self.places, records, key.clone()) {
                bucket.ids.forget(records);
                if bucket.ids.is_empty() {
                    *place = bucket.next.take();
                }
                return;
            }
            place = match place {
                Some(bucket) => &mut bucket.next,
                None => return,
            };
        }
    }
}

#[derive(Debug)]
pub(crate) struct Memory {
    pub(crate) pattern: Arc<Pattern>,
    /// By id, and so by fact: ids of facts grow, and a fact's matches come all at once.
    records: Vec<Record>,
    live: Ids,
    indexes: Vec<Index>,
}

impl Memory {
    pub(crate) fn new(pattern: Arc<Pattern>) -> Self {
        Self {
            pattern,
            records: Vec::new(),
            live: Ids::default(),
            indexes: Vec::new(),
        }
    }

    /// The index over these places, made while the network is built and the memory empty. No places: no index.
    pub(crate) fn index(&mut self, places: &[usize]) -> Option<usize> {
        if places.is_empty() {
            return None;
        }
        let known = self.indexes.iter().position(|index| *index.places == *places);
        Some(known.unwrap_or_else(|| {
            self.indexes.push(Index {
                places: places.into(),
                buckets: HashedMap::default(),
            });
            self.indexes.len() - 1
        }))
    }

    /// Room for that many records, found when they come.
    pub(crate) fn make_room(&mut self, count: usize) {
        self.records.reserve(count);
        if self.live.is_empty() {
            self.live = Ids::with_room(count);
        }
        moved(&mut self.indexes);
        for index in &mut self.indexes {
            index.buckets.reserve(count);
        }
    }

    /// The id of the next record.
    pub(crate) fn next_id(&self) -> RecordId {
        RecordId::try_from(self.records.len()).unwrap_or(RecordId::MAX)
    }

    pub(crate) fn insert(
        &mut self,
        fact: FactId,
        values: Values,
        meter: &mut Meter,
    ) -> Result<RecordId, Exhausted> {
        meter.reserve(160 + self.indexes.len() * 96 + values.len() * 32)?;
        let id = self.next_id();
        for index in &mut self.indexes {
            index.insert(id, &values, &self.records, meter)?;
        }
        self.records.push(Record {
            fact,
            values,
            gone: false,
        });
        self.live.push(id);
        Ok(id)
    }

    /// The records of a fact, one after another.
    pub(crate) fn of_fact(&self, fact: FactId) -> std::ops::Range<RecordId> {
        let from = self.records.partition_point(|record| record.fact < fact);
        let rest = self.records.get(from..).unwrap_or_default();
        let count = rest
            .iter()
            .take_while(|record| record.fact == fact && !record.gone)
            .count();
        let id = |at: usize| RecordId::try_from(at).unwrap_or(RecordId::MAX);
        id(from)..id(from + count)
    }

    /// Forgets a fact and gives back what was known of it.
    pub(crate) fn remove(&mut self, fact: FactId) -> Vec<Record> {
        let mut removed = Vec::new();
        for id in self.of_fact(fact) {
            if let Some(record) = self.records.get_mut(id as usize) {
                record.gone = true;
            }
            let Some(record) = self.records.get(id as usize) else {
                continue;
            };
            // Indexes know a key by the values of its records: they go last.
            for index in &mut self.indexes {
                index.forget(&record.values, &self.records);
            }
            self.live.forget(&self.records);
            let values = self
                .records
                .get_mut(id as usize)
                .map(|record| std::mem::take(&mut record.values));
            removed.push(Record {
                fact,
                values: values.unwrap_or_default(),
                gone: true,
            });
        }
        removed
    }

    pub(crate) fn get(&self, id: RecordId) -> Option<&Record> {
        self.records.get(id as usize).filter(|record| !record.gone)
    }

    /// All records, or those whose indexed places have the values of `key`; some of them may be gone, but not the first.
    pub(crate) fn lookup<'k>(
        &self,
        index: Option<usize>,
        key: impl Iterator<Item = &'k Value> + Clone,
        meter: &mut Meter,
    ) -> Result<&[RecordId], Exhausted> {
        let Some(index) = index.and_then(|index| self.indexes.get(index)) else {
            return Ok(self.live.as_slice());
        };
        let mut bucket = index.buckets.get(&hash_of(key.clone()));
        while let Some(found) = bucket {
            if found.has_key(&index.places, &self.records, key.clone()) {
                return Ok(found.ids.as_slice());
            }
            meter.spend(1)?;
            bucket = found.next.as_deref();
        }
        Ok(&[])
    }

    pub(crate) fn len(&self) -> usize {
        self.live.len()
    }
}

/// Moves what changes to where the rest of it is.
pub(crate) fn moved<T>(list: &mut Vec<T>) {
    let mut anew = Vec::with_capacity(list.len());
    anew.append(list);
    *list = anew;
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record(fact: u64) -> Record {
        Record {
            fact: FactId(fact),
            values: Box::new([]),
            gone: false,
        }
    }

    #[test]
    fn what_is_gone_is_never_first_and_never_most_of_a_list() {
        let mut records: Vec<Record> = (0..100).map(record).collect();
        let mut ids = Ids::default();
        (0..100).for_each(|id| ids.push(id));
        // In an order that leaves holes: 7 and 100 have no common divisor.
        for (left, at) in (0..100).rev().zip((0..100_usize).map(|n| n * 7 % 100)) {
            records[at].gone = true;
            ids.forget(&records);
            let live = |id: &&RecordId| !records[**id as usize].gone;
            assert_eq!(ids.len(), left);
            assert_eq!(ids.as_slice().iter().filter(live).count(), left);
            assert!(ids.as_slice().first().is_none_or(|id| live(&id)), "{ids:?}");
            assert!(ids.as_slice().len() <= 2 * left, "{ids:?}");
        }
    }
}
