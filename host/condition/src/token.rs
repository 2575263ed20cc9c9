//! The tokens of CEL.

use super::error::Position;

/// One token and where it starts.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Token {
    pub(crate) kind: TokenKind,
    pub(crate) position: Position,
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) enum TokenKind {
    Identifier(Box<str>),
    /// A field name between backticks, for names that are no identifiers.
    Quoted(Box<str>),
    /// Unsigned here; the parser joins a minus sign, so that the smallest integer can be written.
    Int(u64),
    Uint(u64),
    Double(f64),
    String(Box<str>),
    Bytes(Box<[u8]>),
    Sign(Sign),
    End,
}

/// Everything that is not a name or a literal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Sign {
    Plus,
    Minus,
    Star,
    Slash,
    Percent,
    Equal,
    NotEqual,
    Less,
    LessEqual,
    Greater,
    GreaterEqual,
    And,
    Or,
    Not,
    Question,
    Colon,
    Dot,
    Comma,
    OpenParen,
    CloseParen,
    OpenBracket,
    CloseBracket,
    OpenBrace,
    CloseBrace,
}

impl Sign {
    /// Every sign with its spelling; longer ones first, because the lexer takes the first that fits.
    pub(crate) const SPELLINGS: [(&'static str, Self); 24] = [
        ("==", Self::Equal),
        ("!=", Self::NotEqual),
        ("<=", Self::LessEqual),
        (">=", Self::GreaterEqual),
        ("&&", Self::And),
        ("||", Self::Or),
        ("+", Self::Plus),
        ("-", Self::Minus),
        ("*", Self::Star),
        ("/", Self::Slash),
        ("%", Self::Percent),
        ("<", Self::Less),
        (">", Self::Greater),
        ("!", Self::Not),
        ("?", Self::Question),
        (":", Self::Colon),
        (".", Self::Dot),
        (",", Self::Comma),
        ("(", Self::OpenParen),
        (")", Self::CloseParen),
        ("[", Self::OpenBracket),
        ("]", Self::CloseBracket),
        ("{", Self::OpenBrace),
        ("}", Self::CloseBrace),
    ];

    pub(crate) fn spelling(self) -> &'static str {
        Self::SPELLINGS
            .iter()
            .find(|(_, sign)| *sign == self)
            .map_or("", |(text, _)| text)
    }

    /// Whether it counts against the bound on operators.
    pub(crate) fn is_operator(self) -> bool {
        !matches!(
            self,
            Self::Colon
                | Self::Dot
                | Self::Comma
                | Self::OpenParen
                | Self::CloseParen
                | Self::OpenBracket
                | Self::CloseBracket
                | Self::OpenBrace
                | Self::CloseBrace
        )
    }
}

impl TokenKind {
    /// How an error message calls it.
    pub(crate) fn describe(&self) -> String {
        match self {
            Self::Identifier(name) | Self::Quoted(name) => format!("`{name}`"),
            Self::Int(_) | Self::Uint(_) | Self::Double(_) => "a number".to_owned(),
            Self::String(_) => "a string".to_owned(),
            Self::Bytes(_) => "bytes".to_owned(),
            Self::Sign(sign) => format!("`{}`", sign.spelling()),
            Self::End => "the end".to_owned(),
        }
    }
}
