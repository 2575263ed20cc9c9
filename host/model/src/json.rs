//! JSON as this project reads and writes it.
//!
//! Hashes, fingerprints and the IR's wire form depend on exact bytes, so reading and writing live here and not in a general
//! library: integers of any size survive, floats print as Python prints them, objects keep their order, every value knows where
//! it stood in the source, and neither reading, writing, comparing, cloning nor dropping ever recurses.
//!
//! Two shapes:
//! - [`Tape`]: a parsed text, flat, borrowed from its source, with a byte span for every value and key. Validators read this.
//! - [`Json`]: an owned value. Free-form payloads and documents that are changed and written again are this.
//!
//! Writers are on [`Json`]: [`Json::to_compact`], [`Json::to_canonical`], [`Json::to_canonical_ascii`].
//!
//! Not here: what a document must look like. To add a writer form, add a variant to [`Form`].

mod build;
mod exact;
mod failure;
mod number;
mod object;
mod parse;
mod pointer;
mod position;
mod pretty;
mod scan;
mod serde_value;
mod tape;
mod value;
mod walk;
mod within;
mod write;

pub(crate) use build::Builder;
pub use exact::NotExact;
pub use failure::{ParseCode, ParseError};
pub use number::{Integer, NotFinite, python_float};
pub use object::{Array, Object};
pub(crate) use parse::check_size;
pub use parse::{Limits, parse, parse_bytes, parse_lossy};
pub use pointer::{Pointer, escape_token, is_pointer};
pub use position::{Position, Span, position_of};
pub use serde_value::{TooDeep, serde_to_canonical, serde_write_canonical};
pub(crate) use tape::{Entry, Kind};
pub use tape::{Items, Member, Members, Node, RepeatedKey, Tape, View};
pub use value::Json;
pub use walk::{Event, Order, Walk};
pub use write::{Form, write_string};
