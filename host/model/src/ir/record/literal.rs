//! Closed sets of strings.

/// Lets enums of `choice!` stand in records.
macro_rules! literal {
    ($($name:ident),+ $(,)?) => { $(
        impl $crate::ir::record::Emit for $name {
            fn emit(&self, out: &mut $crate::ir::record::Writer) {
                out.string(self.as_str());
            }
        }

        impl $crate::ir::record::Value for $name {
            fn read<'t>(
                node: ::mizzen_json::Node<'t>,
                reader: &mut $crate::ir::record::Reader<'t>,
            ) -> Option<Self> {
                let found = match node.view() {
                    ::mizzen_json::View::String(text) => $name::parse(text),
                    _ => None,
                };
                match found {
                    Some(value) => Some(value),
                    None => reader.refuse(
                        node,
                        "literal_error",
                        format!("one of {}", $name::NAMES.join(", ")),
                        format!("use one of {}", $name::NAMES.join(", ")),
                    ),
                }
            }

            fn schema(_: &mut $crate::ir::record::SchemaBook) -> ::mizzen_json::Json {
                $crate::ir::record::SchemaBook::one_of($name::SPELLINGS)
            }
        }
    )+ };
}

pub(crate) use literal;
