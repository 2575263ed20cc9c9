//! The functions of CEL that conditions have. To add one: a variant, a row in [`TABLE`], an arm in `call.rs`.

/// A function, whichever way it is written: `size(x)` or `x.size()`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Function {
    Size,
    Contains,
    StartsWith,
    EndsWith,
    Matches,
    Int,
    Uint,
    Double,
    String,
    Bytes,
    Bool,
    Type,
    Dyn,
    Timestamp,
    Duration,
    GetFullYear,
    GetMonth,
    GetDate,
    GetDayOfMonth,
    GetDayOfYear,
    GetDayOfWeek,
    GetHours,
    GetMinutes,
    GetSeconds,
    GetMilliseconds,
}

/// Ways of writing a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Style {
    /// `name(a, b)`.
    Global,
    /// `a.name(b)`.
    Member,
}

struct Row {
    name: &'static str,
    function: Function,
    /// The number of arguments, the receiver included.
    arity: usize,
    styles: &'static [Style],
}

const fn row(name: &'static str, function: Function, arity: usize, styles: &'static [Style]) -> Row {
    Row {
        name,
        function,
        arity,
        styles,
    }
}

const TABLE: [Row; 25] = [
    row("size", Function::Size, 1, &[Style::Global, Style::Member]),
    row("contains", Function::Contains, 2, &[Style::Member]),
    row("startsWith", Function::StartsWith, 2, &[Style::Member]),
    row("endsWith", Function::EndsWith, 2, &[Style::Member]),
    row("matches", Function::Matches, 2, &[Style::Global, Style::Member]),
    row("int", Function::Int, 1, &[Style::Global]),
    row("uint", Function::Uint, 1, &[Style::Global]),
    row("double", Function::Double, 1, &[Style::Global]),
    row("string", Function::String, 1, &[Style::Global]),
    row("bytes", Function::Bytes, 1, &[Style::Global]),
    row("bool", Function::Bool, 1, &[Style::Global]),
    row("type", Function::Type, 1, &[Style::Global]),
    row("dyn", Function::Dyn, 1, &[Style::Global]),
    row("timestamp", Function::Timestamp, 1, &[Style::Global]),
    row("duration", Function::Duration, 1, &[Style::Global]),
    row("getFullYear", Function::GetFullYear, 1, &[Style::Member]),
    row("getMonth", Function::GetMonth, 1, &[Style::Member]),
    row("getDate", Function::GetDate, 1, &[Style::Member]),
    row("getDayOfMonth", Function::GetDayOfMonth, 1, &[Style::Member]),
    row("getDayOfYear", Function::GetDayOfYear, 1, &[Style::Member]),
    row("getDayOfWeek", Function::GetDayOfWeek, 1, &[Style::Member]),
    row("getHours", Function::GetHours, 1, &[Style::Member]),
    row("getMinutes", Function::GetMinutes, 1, &[Style::Member]),
    row("getSeconds", Function::GetSeconds, 1, &[Style::Member]),
    row("getMilliseconds", Function::GetMilliseconds, 1, &[Style::Member]),
];

/// Why a call does not resolve.
pub(crate) enum Unresolved {
    /// No function has this name.
    Name,
    /// It is written the other way.
    Style(Style),
    /// It takes another number of arguments, not counting the receiver of a member call.
    Arity(usize),
}

impl Function {
    /// The function that a call means; `arguments` counts the receiver.
    pub(crate) fn resolve(name: &str, style: Style, arguments: usize) -> Result<Self, Unresolved> {
        let row = TABLE
            .iter()
            .find(|row| row.name == name)
            .ok_or(Unresolved::Name)?;
        match row.styles {
            [only] if *only != style => return Err(Unresolved::Style(*only)),
            _ => {}
        }
        if row.arity != arguments {
            return Err(Unresolved::Arity(match style {
                Style::Global => row.arity,
                Style::Member => row.arity.saturating_sub(1),
            }));
        }
        Ok(row.function)
    }

    pub(crate) fn names() -> impl Iterator<Item = &'static str> {
        TABLE.iter().map(|row| row.name)
    }

    pub(crate) fn name(self) -> &'static str {
        TABLE
            .iter()
            .find(|row| row.function == self)
            .map_or("", |row| row.name)
    }

    pub(crate) fn never_bool(self) -> Option<&'static str> {
        match self {
            Self::Size | Self::Int | Self::Uint | Self::Double => Some("a number"),
            Self::String => Some("a string"),
            Self::Bytes => Some("bytes"),
            Self::Type => Some("a type"),
            Self::Timestamp => Some("a timestamp"),
            Self::Duration => Some("a duration"),
            Self::GetFullYear
            | Self::GetMonth
            | Self::GetDate
            | Self::GetDayOfMonth
            | Self::GetDayOfYear
            | Self::GetDayOfWeek
            | Self::GetHours
            | Self::GetMinutes
            | Self::GetSeconds
            | Self::GetMilliseconds => Some("a number"),
            Self::Contains | Self::StartsWith | Self::EndsWith | Self::Matches | Self::Bool | Self::Dyn => {
                None
            }
        }
    }
}
