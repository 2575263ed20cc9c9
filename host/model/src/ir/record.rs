//! How a record is declared once and gets its reader, writer and schema from that.
//!
//! `record!` takes the fields of a record as the seed's tables list them: name, type, and the default when there is one. A field
//! without a default is required; one marked `slug` is held to the stable-id grammar by the stage after this one. Unknown keys are
//! refused by every record.

mod fields;
mod literal;
mod reader;
mod schema;
mod writer;

pub use fields::StringMap;
pub(crate) use literal::literal;
pub use reader::Reader;
pub use schema::{FieldList, SchemaBook};
pub(crate) use schema::{decimal_schema, duration_schema, object};
pub use writer::{Emit, Writer};

use mizzen_json::{Json, Node};

/// Something that can stand in a record: it can be read with every error at once, written, and described.
pub trait Value: Emit + Sized {
    /// Reads the value; what is wrong goes to `reader`, and then the answer is `None`.
    fn read<'t>(node: Node<'t>, reader: &mut Reader<'t>) -> Option<Self>;

    /// The JSON Schema of the value.
    fn schema(book: &mut SchemaBook) -> Json;
}

/// A record: a JSON object with declared fields and no others.
pub trait Record: Value {
    /// The record's name, as in the seed.
    const NAME: &'static str;
    /// The fields on the wire, in declared order.
    const FIELDS: &'static [&'static str];
}

/// Whether a field is written: defaults are not.
pub(crate) fn differs<T: PartialEq>(value: &T, default: &T) -> bool {
    value != default
}

/// The order of the fields by code point, found by the compiler.
#[allow(
    clippy::indexing_slicing,
    reason = "runs while compiling, where an index out of bounds is a compile error"
)]
pub(crate) const fn sorted<const N: usize>(fields: &[&str]) -> [usize; N] {
    let mut order = [0; N];
    let mut next = 0;
    while next < N {
        let mut at = next;
        while at > 0 && is_before(fields[next].as_bytes(), fields[order[at - 1]].as_bytes()) {
            order[at] = order[at - 1];
            at -= 1;
        }
        order[at] = next;
        next += 1;
    }
    order
}

#[allow(clippy::indexing_slicing, reason = "as for `sorted`")]
const fn is_before(left: &[u8], right: &[u8]) -> bool {
    let mut at = 0;
    while at < left.len() && at < right.len() {
        if left[at] != right[at] {
            return left[at] < right[at];
        }
        at += 1;
    }
    left.len() < right.len()
}

/// Declares a record. `tagged "x"` adds the discriminator `kind`, which is always written.
macro_rules! record {
    (
        $(#[doc = $doc:literal])*
        pub struct $name:ident $(tagged $tag:literal)? {
            $(
                $(#[doc = $field_doc:literal])*
                $field:ident $(as $wire:literal)? $(slug $slug:path)? : $type:ty $(= $default:expr)?
            ),* $(,)?
        }
    ) => {
        $(#[doc = $doc])*
        #[derive(Debug, Clone, PartialEq, Eq)]
        pub struct $name {
            $(
                $(#[doc = $field_doc])*
                pub $field: $type,
            )*
        }

        impl $crate::ir::record::Record for $name {
            const NAME: &'static str = stringify!($name);
            const FIELDS: &'static [&'static str] =
                &[$($crate::ir::record::record!(@kind $tag),)? $($crate::ir::record::record!(@wire $field $($wire)?)),*];
        }

        impl $crate::ir::record::Value for $name {
            fn read<'t>(
                node: ::mizzen_json::Node<'t>,
                reader: &mut $crate::ir::record::Reader<'t>,
            ) -> Option<Self> {
                let members = reader.members(node, stringify!($name))?;
                $(let mut $field = None;)*
                let mut unknown = Vec::new();
                for member in members {
                    let key = member.key_bytes();
                    $(
                        if key == $crate::ir::record::record!(@wire $field $($wire)?).as_bytes() {
                            $field = Some(member);
                            continue;
                        }
                    )*
                    $(
                        if key == $crate::ir::record::record!(@kind $tag).as_bytes() {
                            continue;
                        }
                    )?
                    unknown.push(member);
                }
                // Every field is read before the first failure is looked at, so that all errors are reported.
                $(
                    let $field: Option<$type> = match $field {
                        Some(member) => {
                            $(reader.slug(member, $slug);)?
                            reader.member(member)
                        }
                        None => $crate::ir::record::record!(
                            @absent reader, node, $crate::ir::record::record!(@wire $field $($wire)?) $(, $default)?
                        ),
                    };
                )*
                if !unknown.is_empty() {
                    reader.refuse_unknown(unknown, <Self as $crate::ir::record::Record>::FIELDS);
                }
                Some($name { $($field: $field?,)* })
            }

            fn schema(book: &mut $crate::ir::record::SchemaBook) -> ::mizzen_json::Json {
                book.record(stringify!($name), concat!($($doc,)*), |fields| {
                    $(fields.kind($tag);)?
                    $(
                        fields.field::<$type>(
                            $crate::ir::record::record!(@wire $field $($wire)?),
                            concat!($($field_doc,)*),
                            $crate::ir::record::record!(@default $type $(, $default)?),
                        );
                    )*
                })
            }
        }

        impl $crate::ir::record::Emit for $name {
            fn emit(&self, out: &mut $crate::ir::record::Writer) {
                const FIELDS: &[&str] = <$name as $crate::ir::record::Record>::FIELDS;
                const SORTED: [usize; FIELDS.len()] = $crate::ir::record::sorted(FIELDS);
                let fields: &[Option<(&str, &dyn $crate::ir::record::Emit)>] = &[
                    $(Some((
                        "\"kind\":",
                        &$tag as &dyn $crate::ir::record::Emit,
                    )),)?
                    $(
                        $crate::ir::record::record!(@present self.$field $(, $default)?).then_some((
                            $crate::ir::record::record!(@prefix $field $($wire)?),
                            &self.$field as &dyn $crate::ir::record::Emit,
                        )),
                    )*
                ];
                out.record(fields, &SORTED);
            }
        }
    };

    (@wire $field:ident) => { stringify!($field) };
    (@wire $field:ident $wire:literal) => { $wire };
    (@kind $tag:literal) => { "kind" };
    (@prefix $field:ident) => { concat!("\"", stringify!($field), "\":") };
    (@prefix $field:ident $wire:literal) => { concat!("\"", $wire, "\":") };
    (@absent $reader:ident, $node:ident, $wire:expr) => { $reader.missing($node, $wire) };
    (@absent $reader:ident, $node:ident, $wire:expr, $default:expr) => { Some($default) };
    (@default $type:ty) => { None };
    (@default $type:ty, $default:expr) => {{
        let default: $type = $default;
        Some(default)
    }};
    (@present $value:expr) => { true };
    (@present $value:expr, $default:expr) => { $crate::ir::record::differs(&$value, &$default) };
}

pub(crate) use record;
