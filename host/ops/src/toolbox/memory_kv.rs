//! Keys and values in memory, for one-off calls (`mizzen plugin run`) and tests. The store keeps them durably.

use mizzen_engine::ToolError;
use mizzen_sandbox::{KeyPage, KeyValue, Pending};
use std::collections::BTreeMap;
use std::ops::Bound;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// A quota and what is kept under it.
#[derive(Debug)]
pub struct MemoryKv {
    quota: usize,
    values: Mutex<BTreeMap<String, Vec<u8>>>,
}

impl MemoryKv {
    /// Nothing yet, and room for this many bytes of keys and values.
    pub fn new(quota: usize) -> Self {
        Self {
            quota,
            values: Mutex::default(),
        }
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<String, Vec<u8>>> {
        self.values.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl KeyValue for MemoryKv {
    fn get<'a>(&'a self, key: &'a str) -> Pending<'a, Result<Option<Vec<u8>>, ToolError>> {
        Box::pin(async move { Ok(self.lock().get(key).cloned()) })
    }

    fn set<'a>(&'a self, key: &'a str, value: Vec<u8>) -> Pending<'a, Result<(), ToolError>> {
        Box::pin(async move {
            let mut values = self.lock();
            let used: usize = values
                .iter()
                .filter(|(k, _)| *k != key)
                .map(|(k, v)| k.len() + v.len())
                .sum();
            if used + key.len() + value.len() > self.quota {
                return Err(ToolError::Unavailable(format!(
                    "the plugin's quota of {} bytes is used up",
                    self.quota
                )));
            }
            values.insert(key.to_owned(), value);
            Ok(())
        })
    }

    fn delete<'a>(&'a self, key: &'a str) -> Pending<'a, Result<bool, ToolError>> {
        Box::pin(async move { Ok(self.lock().remove(key).is_some()) })
    }

    fn list_keys<'a>(&'a self, asked: KeyPage<'a>) -> Pending<'a, Result<Vec<String>, ToolError>> {
        Box::pin(async move {
            let values = self.lock();
            let start = match asked.after {
                Some(after) if after >= asked.prefix => Bound::Excluded(after),
                _ => Bound::Included(asked.prefix),
            };
            let keys = values
                .range::<str, _>((start, Bound::Unbounded))
                .map(|(key, _)| key);
            Ok(keys
                .take_while(|key| key.starts_with(asked.prefix))
                .take(asked.limit as usize)
                .cloned()
                .collect())
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn the_quota_counts_keys_and_values_and_what_is_replaced_is_free_again() {
        let kv = MemoryKv::new(10);
        for (key, value, fits) in [
            ("abc", 7, true),
            ("abc", 8, false),
            ("abc", 2, true),
            ("d", 4, true),
            ("e", 0, false),
            ("d", 5, false),
        ] {
            let set = kv.set(key, vec![0; value]).await;
            assert_eq!(set.is_ok(), fits, "{key} {value}");
        }
        assert_eq!(
            kv.get("abc").await.unwrap().unwrap().len(),
            2,
            "a refused value changes nothing"
        );
        assert!(kv.delete("d").await.unwrap() && !kv.delete("d").await.unwrap());
        assert!(kv.set("e", vec![0; 4]).await.is_ok());
    }

    #[tokio::test]
    async fn keys_are_listed_by_prefix_after_one_of_them_up_to_a_limit() {
        let kv = MemoryKv::new(1000);
        for key in ["a", "b1", "b2", "b3", "c"] {
            kv.set(key, Vec::new()).await.unwrap();
        }
        for (prefix, after, limit, expected) in [
            ("", None, 9, &["a", "b1", "b2", "b3", "c"][..]),
            ("b", None, 2, &["b1", "b2"]),
            ("b", Some("b1"), 9, &["b2", "b3"]),
            ("b", Some("a"), 9, &["b1", "b2", "b3"]),
            ("b", Some("c"), 9, &[]),
            ("x", None, 9, &[]),
            ("b", None, 0, &[]),
        ] {
            let page = KeyPage { prefix, after, limit };
            assert_eq!(
                kv.list_keys(page).await.unwrap(),
                expected,
                "{prefix} {after:?} {limit}"
            );
        }
    }
}
