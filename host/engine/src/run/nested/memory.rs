//! What became of the calls that a tool made, for the time when its own call is made again: after a failed attempt, or because the
//! host stopped. A change of the world is not made twice, and what may have been made is not made again.

use super::{NestedReply, size};
use crate::plan::Repeatable;
use serde_json::Value;
use std::collections::HashSet;

/// Calls that tools may ask for in one attempt, on all levels. Each is journaled, so a guest's own limit of host calls (ten thousand
/// for each of them) is too much.
const CALLS_MAX: usize = 1_000;
/// What is kept of them, in bytes: inputs are journaled and answers remembered.
const BYTES_MAX: u64 = 16 << 20;

/// The calls of one step, or of one question to the gate agent.
#[derive(Debug, Default)]
pub(super) struct Memory {
    records: Vec<Record>,
    /// Paths that were asked for since the outermost call was made, or made again.
    asked: HashSet<String>,
}

/// One call that was commanded.
#[derive(Debug)]
struct Record {
    path: String,
    attempt: u32,
    tool: String,
    /// BLAKE3 of the canonical input, as packs let it through.
    input: [u8; 32],
    changes_the_world: bool,
    repeatable: Repeatable,
    state: State,
    /// Of input and answer.
    bytes: u64,
}

#[derive(Debug)]
enum State {
    /// It is being made.
    UnderWay,
    /// Its caller ended first, or the host stopped: what came of it, nobody knows.
    Lost,
    /// It was answered so.
    Ended(NestedReply),
}

/// A call that is about to be made.
#[derive(Debug, Clone, Copy)]
pub(super) struct Due<'a> {
    pub(super) path: &'a str,
    pub(super) attempt: u32,
    pub(super) tool: &'a str,
    pub(super) input: &'a Value,
    pub(super) changes_the_world: bool,
    pub(super) repeatable: Repeatable,
}

impl Due<'_> {
    fn hash(&self) -> [u8; 32] {
        *blake3::hash(mizzen_json::serde_to_canonical(self.input).as_bytes()).as_bytes()
    }
}

/// What is known of a call before it is made.
#[derive(Debug, PartialEq)]
pub(super) enum Known {
    /// Nothing that forbids it.
    Nothing,
    /// It was made before, and this came of it.
    Answered(NestedReply),
    /// Something that must not be repeated may have been done in its place.
    InDoubt {
        /// The tool that may have done it.
        tool: String,
    },
}

impl Memory {
    /// Why no further call can be made.
    pub(super) fn is_full(&self) -> Option<String> {
        if self.asked.len() >= CALLS_MAX {
            return Some(format!(
                "the tools of this step have asked for {CALLS_MAX} calls, which is the most they may: make some of them steps"
            ));
        }
        let bytes = self.records.iter().map(|record| record.bytes).sum::<u64>();
        (bytes >= BYTES_MAX).then(|| {
            format!(
                "inputs and answers of the calls in this step have {BYTES_MAX} bytes, which is the most they may: hand on less"
            )
        })
    }

    /// A call is asked for; false when it was before.
    pub(super) fn ask(&mut self, path: &str) -> bool {
        self.asked.insert(path.to_owned())
    }

    /// Whether no call was asked for since the outermost one was made.
    pub(super) fn is_fresh(&self) -> bool {
        self.asked.is_empty()
    }

    /// The outermost call is made again, because the host stopped: it asks for the same calls again.
    pub(super) fn again(&mut self) {
        self.asked.clear();
    }

    /// The next attempt begins. What no rule looks at any more is forgotten.
    pub(super) fn next_attempt(&mut self) {
        self.asked.clear();
        self.records.retain(|record| record.changes_the_world);
    }

    /// What is known of a call. An answer of the same attempt is given again as it was: the call is made again because the host
    /// stopped. Of an earlier attempt only what changed the world is not done again: a read is worth a second look.
    pub(super) fn look(&self, due: &Due<'_>) -> Known {
        let input = due.hash();
        let same =
            |record: &&Record| record.path == due.path && record.tool == due.tool && record.input == input;
        let ended = |record: &Record| match &record.state {
            State::Ended(reply) if record.attempt == due.attempt => Some(reply.clone()),
            State::Ended(NestedReply::Failed(_)) if record.repeatable == Repeatable::Yes => None,
            State::Ended(reply) if record.changes_the_world => Some(reply.clone()),
            State::Ended(_) | State::UnderWay | State::Lost => None,
        };
        if let Some(reply) = self.records.iter().rev().filter(same).find_map(ended) {
            return Known::Answered(reply);
        }
        // A tool that takes another way the second time must not come to the same change by it: neither in another place, nor with
        // another input in the same one (a time stands in it, or packs have taken something else out).
        let doubtful = |record: &&Record| {
            record.repeatable == Repeatable::No
                && match record.state {
                    State::Lost => record.path == due.path || record.tool == due.tool,
                    State::Ended(_) => record.path == due.path && record.tool == due.tool,
                    State::UnderWay => false,
                }
        };
        match self.records.iter().find(doubtful) {
            Some(record) => Known::InDoubt {
                tool: record.tool.clone(),
            },
            None => Known::Nothing,
        }
    }

    /// A call is made.
    pub(super) fn begin(&mut self, due: &Due<'_>) {
        self.records.push(Record {
            path: due.path.to_owned(),
            attempt: due.attempt,
            tool: due.tool.to_owned(),
            input: due.hash(),
            changes_the_world: due.changes_the_world,
            repeatable: due.repeatable,
            state: State::UnderWay,
            bytes: size(due.input),
        });
    }

    /// The call that is made at a path has ended.
    pub(super) fn end(&mut self, path: &str, reply: &NestedReply) {
        let under_way = |record: &&mut Record| record.path == path && matches!(record.state, State::UnderWay);
        if let Some(record) = self.records.iter_mut().rev().find(under_way) {
            record.state = State::Ended(reply.clone());
            record.bytes = record.bytes.saturating_add(reply.size());
        }
    }

    /// Nobody hears any more what comes of the call at a path.
    pub(super) fn lose(&mut self, path: &str) {
        for record in self.records.iter_mut().filter(|record| record.path == path) {
            if matches!(record.state, State::UnderWay) {
                record.state = State::Lost;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::run::{CallFailure, Transient};
    use serde_json::json;

    fn failed() -> NestedReply {
        NestedReply::Failed(CallFailure {
            code: "UNAVAILABLE".to_owned(),
            message: String::new(),
            transient: Transient::Yes,
            tool_code: None,
        })
    }

    fn due<'a>(path: &'a str, attempt: u32, kind: &str, input: &'a Value) -> Due<'a> {
        Due {
            path,
            attempt,
            tool: match kind {
                "read" => "t.read",
                "keep" => "t.keep",
                "pay" => "t.pay",
                _ => "t.other",
            },
            input,
            changes_the_world: kind != "read",
            repeatable: if kind == "pay" {
                Repeatable::No
            } else {
                Repeatable::Yes
            },
        }
    }

    #[test]
    fn what_was_done_is_not_done_again() {
        let (one, two) = (json!({"n": 1}), json!({"n": 2}));
        let answer = NestedReply::Answered(json!("done"));
        let denied = NestedReply::Denied("no".to_owned());
        let doubt = |kind: &str| Known::InDoubt {
            tool: format!("t.{kind}"),
        };
        let known = |reply: &NestedReply| Known::Answered(reply.clone());
        // What was made as 1 in the first attempt, what came of it, then what is due, and what is known of that.
        let check = |kind: &str, came: Option<&NestedReply>, due: Due<'_>, wanted: Known| {
            let mut memory = Memory::default();
            memory.begin(&self::due("1", 1, kind, &one));
            match came {
                Some(reply) => memory.end("1", reply),
                None => memory.lose("1"),
            }
            let about = format!("{kind} {came:?} {due:?}");
            assert_eq!(memory.look(&due), wanted, "{about}");
        };
        for kind in ["read", "keep", "pay"] {
            // The host stopped: the same attempt again.
            for came in [&answer, &denied, &failed()] {
                check(kind, Some(came), due("1", 1, kind, &one), known(came));
                let other = match kind {
                    "pay" => doubt("pay"),
                    _ => Known::Nothing,
                };
                check(kind, Some(came), due("1", 1, kind, &two), other);
                check(kind, Some(came), due("1", 1, "other", &one), Known::Nothing);
                check(kind, Some(came), due("2", 1, kind, &one), Known::Nothing);
            }
        }
        // A later attempt.
        for came in [&answer, &denied] {
            check("read", Some(came), due("1", 2, "read", &one), Known::Nothing);
            check("keep", Some(came), due("1", 2, "keep", &one), known(came));
            check("pay", Some(came), due("1", 2, "pay", &one), known(came));
        }
        check("keep", Some(&failed()), due("1", 2, "keep", &one), Known::Nothing);
        check("pay", Some(&failed()), due("1", 2, "pay", &one), known(&failed()));
        // What came of it is not known.
        for attempt in [1, 2] {
            for kind in ["read", "keep"] {
                check(kind, None, due("1", attempt, kind, &one), Known::Nothing);
            }
            check("pay", None, due("1", attempt, "pay", &one), doubt("pay"));
            check("pay", None, due("1", attempt, "pay", &two), doubt("pay"));
            check("pay", None, due("1", attempt, "read", &one), doubt("pay"));
            check("pay", None, due("2", attempt, "pay", &one), doubt("pay"));
            check("pay", None, due("2", attempt, "read", &one), Known::Nothing);
        }
    }

    #[test]
    fn calls_are_bounded_in_number_and_size() {
        let input = json!({"n": 1});
        let mut memory = Memory::default();
        for number in 0..CALLS_MAX {
            assert_eq!(memory.is_full(), None);
            let path = number.to_string();
            assert!(memory.ask(&path) && !memory.ask(&path));
            memory.begin(&due(&path, 1, "read", &input));
            memory.end(&path, &NestedReply::Answered(json!(1)));
        }
        assert!(memory.is_full().unwrap().contains("1000 calls"));
        memory.next_attempt();
        assert_eq!(memory.is_full(), None);
        let mut memory = Memory::default();
        let large = json!("x".repeat(3 << 20));
        for number in 0..3 {
            assert_eq!(memory.is_full(), None);
            let path = number.to_string();
            memory.begin(&due(&path, 1, "read", &large));
            memory.end(&path, &NestedReply::Answered(large.clone()));
        }
        assert!(memory.is_full().unwrap().contains("16777216 bytes"));
        memory.again();
        assert!(memory.is_full().is_some());
        memory.next_attempt();
        assert_eq!(memory.is_full(), None);
    }
}
