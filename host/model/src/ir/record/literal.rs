//! Closed sets of strings.

/// Declares an enum whose variants are texts on the wire. `also` names other spellings that are read.
macro_rules! literal {
    (
        $(#[$meta:meta])*
        pub enum $name:ident {
            $( $(#[$variant_meta:meta])* $variant:ident = $wire:literal $(also $other:literal)? ),* $(,)?
        }
    ) => {
        $(#[$meta])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        pub enum $name {
            $( $(#[$variant_meta])* $variant, )*
        }

        impl $name {
            /// Every value, as on the wire.
            pub const ALL: &'static [&'static str] = &[$($wire),*];

            /// The text on the wire.
            pub fn as_str(self) -> &'static str {
                match self {
                    $( $name::$variant => $wire, )*
                }
            }

            /// From the text on the wire.
            pub fn parse(text: &str) -> Option<Self> {
                match text {
                    $( $wire $(| $other)? => Some($name::$variant), )*
                    _ => None,
                }
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(self.as_str())
            }
        }

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
                        format!("one of {}", $name::ALL.join(", ")),
                        format!("use one of {}", $name::ALL.join(", ")),
                    ),
                }
            }

            fn schema(_: &mut $crate::ir::record::SchemaBook) -> ::mizzen_json::Json {
                $crate::ir::record::SchemaBook::one_of(&[$($wire, $($other,)?)*])
            }
        }
    };
}

pub(crate) use literal;
