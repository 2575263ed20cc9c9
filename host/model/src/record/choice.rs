//! Fixed sets of words, as enums.

/// Defines an enum whose variants have a fixed spelling, and the list of spellings for the record's table.
macro_rules! choice {
    (
        $(#[$doc:meta])*
        pub enum $name:ident { $( $(#[$variant_doc:meta])* $variant:ident = $text:literal, )+ }
    ) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        pub enum $name { $( $(#[$variant_doc])* $variant, )+ }

        impl $name {
            /// Every spelling, in the seed's order.
            pub const NAMES: &'static [&'static str] = &[$($text),+];

            /// The spelling in documents.
            pub fn as_str(self) -> &'static str {
                match self { $( Self::$variant => $text, )+ }
            }

            /// The value with that spelling.
            pub fn parse(text: &str) -> Option<Self> {
                match text { $( $text => Some(Self::$variant), )+ _ => None }
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
