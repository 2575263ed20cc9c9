//! Fixed sets of words, as enums.

/// Defines an enum whose variants have a fixed spelling, and the lists of spellings for tables and schemas. `also` names another
/// spelling that is read and never written.
macro_rules! choice {
    (
        $(#[$doc:meta])*
        pub enum $name:ident {
            $( $(#[$variant_doc:meta])* $variant:ident = $text:literal $(also $other:literal)? ),+ $(,)?
        }
    ) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        pub enum $name { $( $(#[$variant_doc])* $variant, )+ }

        impl $name {
            /// Every value, in the seed's order.
            pub const ALL: [Self; Self::NAMES.len()] = [$(Self::$variant),+];

            /// Every spelling that is written, in the seed's order.
            pub const NAMES: &'static [&'static str] = &[$($text),+];

            /// Every spelling that is read.
            pub const SPELLINGS: &'static [&'static str] = &[$($text, $($other,)?)+];

            /// The spelling in documents.
            pub const fn as_str(self) -> &'static str {
                match self { $( Self::$variant => $text, )+ }
            }

            /// The value with that spelling.
            pub fn parse(text: &str) -> Option<Self> {
                match text { $( $text $(| $other)? => Some(Self::$variant), )+ _ => None }
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(self.as_str())
            }
        }
    };
}

pub(crate) use choice;
