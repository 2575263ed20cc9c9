//! What one pattern remembers: its matches, and indexes over the variables by which others join it.

use crate::budget::{Exhausted, Meter};
use crate::fact::{FactId, Map};
use crate::pattern::{Pattern, Values};
use crate::value::Value;
use std::collections::BTreeSet;

/// Which match of a memory. Ids grow, so their order is that of the facts.
pub(crate) type RecordId = u32;

#[derive(Debug, Clone)]
pub(crate) struct Record {
    pub(crate) fact: FactId,
    pub(crate) values: Values,
}

#[derive(Debug)]
struct Index {
    /// Places in the values of a record.
    places: Box<[usize]>,
    buckets: Map<Box<[Value]>, BTreeSet<RecordId>>,
}

impl Index {
    fn key(&self, values: &[Value]) -> Box<[Value]> {
        self.places
            .iter()
            .filter_map(|place| values.get(*place).cloned())
            .collect()
    }
}

#[derive(Debug)]
pub(crate) struct Memory {
    pub(crate) pattern: Pattern,
    records: Vec<Option<Record>>,
    live: BTreeSet<RecordId>,
    by_fact: Map<FactId, Vec<RecordId>>,
    indexes: Vec<Index>,
}

impl Memory {
    pub(crate) fn new(pattern: Pattern) -> Self {
        Self {
            pattern,
            records: Vec::new(),
            live: BTreeSet::new(),
            by_fact: Map::default(),
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
                buckets: Map::default(),
            });
            self.indexes.len() - 1
        }))
    }

    pub(crate) fn insert(
        &mut self,
        fact: FactId,
        values: Values,
        meter: &mut Meter,
    ) -> Result<RecordId, Exhausted> {
        meter.reserve(160 + self.indexes.len() * 96 + values.len() * 32)?;
        let id = RecordId::try_from(self.records.len()).unwrap_or(RecordId::MAX);
        for index in &mut self.indexes {
            index.buckets.entry(index.key(&values)).or_default().insert(id);
        }
        self.records.push(Some(Record { fact, values }));
        self.live.insert(id);
        self.by_fact.entry(fact).or_default().push(id);
        Ok(id)
    }

    pub(crate) fn of_fact(&self, fact: FactId) -> &[RecordId] {
        self.by_fact.get(&fact).map_or(&[], Vec::as_slice)
    }

    /// Forgets a fact and gives back what was known of it.
    pub(crate) fn remove(&mut self, fact: FactId) -> Vec<Record> {
        let ids = self.by_fact.remove(&fact).unwrap_or_default();
        let mut removed = Vec::with_capacity(ids.len());
        for id in ids {
            self.live.remove(&id);
            let Some(record) = self.records.get_mut(id as usize).and_then(Option::take) else {
                continue;
            };
            for index in &mut self.indexes {
                let key = index.key(&record.values);
                if let Some(bucket) = index.buckets.get_mut(&key) {
                    bucket.remove(&id);
                    if bucket.is_empty() {
                        index.buckets.remove(&key);
                    }
                }
            }
            removed.push(record);
        }
        removed
    }

    pub(crate) fn get(&self, id: RecordId) -> Option<&Record> {
        self.records.get(id as usize)?.as_ref()
    }

    /// All records, or those whose indexed places have the values of `key`.
    pub(crate) fn lookup(&self, index: Option<usize>, key: &[Value]) -> Option<&BTreeSet<RecordId>> {
        match index.and_then(|index| self.indexes.get(index)) {
            Some(index) => index.buckets.get(key),
            None => Some(&self.live),
        }
    }

    pub(crate) fn len(&self) -> usize {
        self.live.len()
    }
}
