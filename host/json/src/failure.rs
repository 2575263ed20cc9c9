//! Why a text was not read.

use super::Span;

/// What kind of fault stopped the parser.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ParseCode {
    /// The text is larger than [`ReadLimits::bytes`].
    TooLarge,
    /// Nested deeper than [`ReadLimits::depth`].
    TooDeep,
    /// More values than [`ReadLimits::values`].
    TooManyValues,
    /// YAML's aliases stand for more than is in proportion to the text.
    TooManyAliases,
    /// The bytes are not UTF-8.
    InvalidUtf8,
    /// A byte order mark stands before the text.
    ByteOrderMark,
    /// The text holds no value, or ends inside one.
    UnexpectedEnd,
    /// A character that cannot stand there.
    UnexpectedCharacter,
    /// Something follows the value.
    TrailingData,
    /// A key is missing or is not a string.
    ExpectedKey,
    /// A colon is missing after a key.
    ExpectedColon,
    /// A comma or the end of the container is missing.
    ExpectedComma,
    /// A comma with nothing after it.
    TrailingComma,
    /// A string has no closing quote.
    UnterminatedString,
    /// A control character stands unescaped in a string.
    ControlCharacter,
    /// An escape that JSON does not have.
    InvalidEscape,
    /// Half of a surrogate pair.
    LoneSurrogate,
    /// Something like a number that is not one.
    InvalidNumber,
    /// A number too large for a 64-bit float.
    NumberOutOfRange,
    /// `NaN`, `Infinity`: not JSON.
    NotANumber,
    /// The text is not YAML that this reader accepts.
    InvalidYaml,
}

impl ParseCode {
    /// The stable name for machines.
    pub fn as_str(self) -> &'static str {
        match self {
            ParseCode::TooLarge => "too_large",
            ParseCode::TooDeep => "too_deep",
            ParseCode::TooManyValues => "too_many_values",
            ParseCode::TooManyAliases => "too_many_aliases",
            ParseCode::InvalidUtf8 => "invalid_utf8",
            ParseCode::ByteOrderMark => "byte_order_mark",
            ParseCode::UnexpectedEnd => "unexpected_end",
            ParseCode::UnexpectedCharacter => "unexpected_character",
            ParseCode::TrailingData => "trailing_data",
            ParseCode::ExpectedKey => "expected_key",
            ParseCode::ExpectedColon => "expected_colon",
            ParseCode::ExpectedComma => "expected_comma",
            ParseCode::TrailingComma => "trailing_comma",
            ParseCode::UnterminatedString => "unterminated_string",
            ParseCode::ControlCharacter => "control_character",
            ParseCode::InvalidEscape => "invalid_escape",
            ParseCode::LoneSurrogate => "lone_surrogate",
            ParseCode::InvalidNumber => "invalid_number",
            ParseCode::NumberOutOfRange => "number_out_of_range",
            ParseCode::NotANumber => "not_a_number",
            ParseCode::InvalidYaml => "invalid_yaml",
        }
    }
}

/// Why a text was not read, and where it stopped.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message} at byte {}", span.start)]
pub struct ParseError {
    /// What kind of fault.
    pub code: ParseCode,
    /// The fault and what to do, without the place.
    pub message: String,
    /// The bytes it is about.
    pub span: Span,
}

/// The error with the words for its code.
pub(super) fn failure(code: ParseCode, start: usize, end: usize) -> ParseError {
    let message = match code {
        ParseCode::TooLarge => "the text is too large",
        ParseCode::TooDeep => {
            "arrays and objects are nested too deep: flatten the document or raise the limit"
        }
        ParseCode::TooManyValues => "the text holds too many values: split it or raise the limit",
        ParseCode::TooManyAliases => {
            "the aliases stand for far more than the text holds: write out what they name"
        }
        ParseCode::InvalidUtf8 => "the bytes are not UTF-8: save the text as UTF-8",
        ParseCode::ByteOrderMark => "a byte order mark stands before the text: save it without one",
        ParseCode::UnexpectedEnd => "the text ends where a value is expected",
        ParseCode::UnexpectedCharacter => "expected a value",
        ParseCode::TrailingData => "expected the end of the text after the value",
        ParseCode::ExpectedKey => "expected a key in double quotes",
        ParseCode::ExpectedColon => "expected ':' after the key",
        ParseCode::ExpectedComma => "expected ',' or the end of the array or object",
        ParseCode::TrailingComma => "a comma must be followed by something: remove it",
        ParseCode::UnterminatedString => "the string has no closing quote",
        ParseCode::ControlCharacter => "a control character must be escaped in a string",
        ParseCode::InvalidEscape => "not an escape that JSON knows: write '\\\\' for a backslash",
        ParseCode::LoneSurrogate => "half of a surrogate pair is not a character: write both halves",
        ParseCode::InvalidNumber => "not a number by the JSON grammar",
        ParseCode::NumberOutOfRange => "the number is too large for a 64-bit float: write it as a string",
        ParseCode::NotANumber => "JSON has no NaN and no Infinity: use null or a string",
        ParseCode::InvalidYaml => "not YAML that can be read as JSON",
    };
    ParseError {
        code,
        message: message.to_owned(),
        span: Span { start, end },
    }
}
