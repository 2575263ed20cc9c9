//! JSONPath (RFC 9535) without filters, parsed.

use std::fmt;

/// A path longer than this is a mistake.
const LONGEST: usize = 10_000;

/// One step from the root.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Segment {
    /// Whether it looks at every descendant too.
    pub(crate) descends: bool,
    pub(crate) selectors: Vec<Selector>,
}

#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Selector {
    Name(String),
    Index(i64),
    Slice {
        start: Option<i64>,
        end: Option<i64>,
        step: i64,
    },
    Wildcard,
}

/// What was expected and where, counted in characters from 1.
#[derive(Debug)]
pub(crate) struct PathError {
    pub(crate) position: usize,
    expected: &'static str,
}

impl fmt::Display for PathError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "expected {}", self.expected)
    }
}

pub(crate) fn parse(text: &str) -> Result<Vec<Segment>, PathError> {
    if text.len() > LONGEST {
        return Err(PathError {
            position: LONGEST,
            expected: "the end of the path",
        });
    }
    let mut parser = Parser {
        characters: text.chars().collect(),
        position: 0,
    };
    if !parser.take('$') {
        return Err(parser.expected("`$` or `/`"));
    }
    let mut segments = Vec::new();
    while parser.peek().is_some() {
        // Space stands between segments, and neither at the end nor inside of one.
        parser.space();
        segments.push(parser.segment()?);
    }
    Ok(segments)
}

struct Parser {
    characters: Vec<char>,
    position: usize,
}

impl Parser {
    fn peek(&self) -> Option<char> {
        self.characters.get(self.position).copied()
    }

    fn take(&mut self, wanted: char) -> bool {
        let found = self.peek() == Some(wanted);
        self.position += usize::from(found);
        found
    }

    fn next(&mut self) -> Option<char> {
        let found = self.peek();
        self.position += usize::from(found.is_some());
        found
    }

    fn space(&mut self) {
        while self.peek().is_some_and(|c| matches!(c, ' ' | '\t' | '\n' | '\r')) {
            self.position += 1;
        }
    }

    fn expected(&self, expected: &'static str) -> PathError {
        PathError {
            position: self.position + 1,
            expected,
        }
    }

    fn segment(&mut self) -> Result<Segment, PathError> {
        let dot = self.take('.');
        let descends = dot && self.take('.');
        if self.peek() == Some('[') && dot == descends {
            self.position += 1;
            return Ok(Segment {
                descends,
                selectors: self.bracketed()?,
            });
        }
        if !dot {
            return Err(self.expected("`.`, `[` or the end"));
        }
        let selector = if self.take('*') {
            Selector::Wildcard
        } else {
            Selector::Name(self.shorthand()?)
        };
        Ok(Segment {
            descends,
            selectors: vec![selector],
        })
    }

    fn shorthand(&mut self) -> Result<String, PathError> {
        let first = |c: char| c.is_ascii_alphabetic() || c == '_' || !c.is_ascii();
        let mut name = String::new();
        while let Some(c) = self
            .peek()
            .filter(|&c| first(c) || (c.is_ascii_digit() && !name.is_empty()))
        {
            name.push(c);
            self.position += 1;
        }
        if name.is_empty() {
            Err(self.expected("a name or `*`; other names are written ['so']"))
        } else {
            Ok(name)
        }
    }

    fn bracketed(&mut self) -> Result<Vec<Selector>, PathError> {
        let mut selectors = Vec::new();
        loop {
            self.space();
            selectors.push(self.selector()?);
            self.space();
            if self.take(']') {
                return Ok(selectors);
            }
            if !self.take(',') {
                return Err(self.expected("`,` or `]`"));
            }
        }
    }

    fn selector(&mut self) -> Result<Selector, PathError> {
        match self.peek() {
            Some('*') => {
                self.position += 1;
                Ok(Selector::Wildcard)
            }
            Some(quote @ ('\'' | '"')) => {
                self.position += 1;
                self.quoted(quote).map(Selector::Name)
            }
            Some('?') => Err(self.expected("no filter: filters are not supported")),
            _ => self.index_or_slice(),
        }
    }

    fn index_or_slice(&mut self) -> Result<Selector, PathError> {
        let start = self.integer()?;
        self.space();
        if !self.take(':') {
            return start
                .map(Selector::Index)
                .ok_or_else(|| self.expected("a name in quotes, a number, `:` or `*`"));
        }
        self.space();
        let end = self.integer()?;
        self.space();
        let mut step = None;
        if self.take(':') {
            self.space();
            step = self.integer()?;
        }
        Ok(Selector::Slice {
            start,
            end,
            step: step.unwrap_or(1),
        })
    }

    fn integer(&mut self) -> Result<Option<i64>, PathError> {
        let begin = self.position;
        let negative = self.take('-');
        let mut digits = String::new();
        while let Some(c) = self.peek().filter(char::is_ascii_digit) {
            digits.push(c);
            self.position += 1;
        }
        if digits.is_empty() {
            return if negative {
                Err(self.expected("a digit"))
            } else {
                Ok(None)
            };
        }
        let padded = digits.starts_with('0') && (digits.len() > 1 || negative);
        // RFC 9535 keeps integers within what a double holds exactly.
        let number = digits
            .parse::<i64>()
            .ok()
            .filter(|number| *number < 1 << 53 && !padded);
        match number {
            Some(number) => Ok(Some(if negative { -number } else { number })),
            None => Err(PathError {
                position: begin + 1,
                expected: "a number without leading zeros, below 2^53",
            }),
        }
    }

    fn quoted(&mut self, quote: char) -> Result<String, PathError> {
        let mut name = String::new();
        loop {
            match self.next() {
                None => return Err(self.expected("the closing quote")),
                Some(c) if c == quote => return Ok(name),
                Some('\\') => name.push(self.escape(quote)?),
                Some(c) if u32::from(c) < 0x20 => return Err(self.expected("an escaped control character")),
                Some(c) => name.push(c),
            }
        }
    }

    fn escape(&mut self, quote: char) -> Result<char, PathError> {
        match self.next() {
            Some('b') => Ok('\u{8}'),
            Some('f') => Ok('\u{c}'),
            Some('n') => Ok('\n'),
            Some('r') => Ok('\r'),
            Some('t') => Ok('\t'),
            Some(c @ ('/' | '\\')) => Ok(c),
            Some(c) if c == quote => Ok(c),
            Some('u') => {
                let first = self.hex()?;
                let scalar = if (0xd800..0xdc00).contains(&first) {
                    if !(self.take('\\') && self.take('u')) {
                        return Err(self.expected("the second half of a surrogate pair"));
                    }
                    let second = self.hex()?;
                    let low = second.checked_sub(0xdc00).filter(|low| *low < 0x400);
                    low.map(|low| 0x10000 + ((first - 0xd800) << 10) + low)
                } else {
                    Some(first)
                };
                scalar
                    .and_then(char::from_u32)
                    .ok_or_else(|| self.expected("a Unicode scalar value"))
            }
            _ => Err(self.expected("an escape of JSON")),
        }
    }

    fn hex(&mut self) -> Result<u32, PathError> {
        let mut value = 0;
        for _ in 0..4 {
            let digit = self
                .next()
                .and_then(|c| c.to_digit(16))
                .ok_or_else(|| self.expected("four hexadecimal digits"))?;
            value = value * 16 + digit;
        }
        Ok(value)
    }
}
