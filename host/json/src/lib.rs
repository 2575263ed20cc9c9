//! JSON as this project reads and writes it, and YAML and TOML read the same way.
//!
//! Hashes, fingerprints and the IR's wire form depend on exact bytes, so reading and writing live here and not in a general
//! library: integers of any size survive, floats print as Python prints them, objects keep their order, every value knows where
//! it stood in the source, and neither reading, writing, comparing, cloning nor dropping ever recurses.
//!
//! Two shapes:
//! - [`Tape`]: a parsed text, flat, borrowed from its source, with a byte span for every value and key. Validators read this.
//!   [`yaml`] reads YAML onto the same tape.
//! - [`Json`]: an owned value. Free-form payloads and documents that are changed and written again are this.
//!
//! Writers are on [`Json`]: [`Json::to_compact`], [`Json::to_canonical`], [`Json::to_canonical_ascii`].
//!
//! [`strict_toml`] reads what people write for the host. Beside the readers stands what their messages need: pointers, positions,
//! excerpts of hostile text, "did you mean", percent-decoding.
//!
//! Pure: no IO, clock, randomness or async. Not here: what a document must look like (`host/model`). To add a writer form, add a
//! variant to [`Form`].

#![forbid(unsafe_code)]

mod build;
mod exact;
mod excerpt;
mod failure;
mod nearest;
mod number;
mod object;
mod parse;
pub mod percent;
mod pointer;
mod position;
mod pretty;
mod problem;
mod scan;
mod serde_value;
pub mod strict_toml;
mod tape;
mod value;
mod walk;
mod within;
mod write;
pub mod yaml;

pub(crate) use build::Builder;
pub use exact::NotExact;
pub use excerpt::{quote, shorten, steers_a_terminal};
pub use failure::{ParseCode, ParseError};
pub use nearest::nearest;
pub use number::{Integer, NotFinite, python_float};
pub use object::{Array, Object};
pub(crate) use parse::check_size;
pub use parse::{ReadLimits, parse, parse_bytes, parse_lossy};
pub use pointer::{Pointer, escape_token, field_path, is_pointer, item_path};
pub use position::{Position, Span, position_of};
pub use problem::Problem;
pub use serde_value::{TooDeep, serde_to_canonical, serde_write_canonical};
pub(crate) use tape::{Entry, TapeKind};
pub use tape::{Items, Member, Members, Node, RepeatedKey, Tape, View};
pub use value::Json;
pub use walk::{Event, Order, Walk};
pub use write::{Form, write_string};
