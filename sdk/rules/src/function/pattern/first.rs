//! With which bytes a match of a regular expression can begin. Most texts have none of them, and then nothing has to be searched.
//!
//! Only what is plain is understood; of everything else it says nothing, and every byte may be the first.

/// How deep groups may nest to be understood.
const DEEPEST: usize = 16;

/// A set of bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Bytes([u64; 4]);

impl Bytes {
    const NONE: Self = Self([0; 4]);

    pub(super) fn has(&self, byte: u8) -> bool {
        self.0
            .get(usize::from(byte >> 6))
            .is_some_and(|word| word >> (byte & 63) & 1 == 1)
    }

    fn add(&mut self, byte: u8) {
        if let Some(word) = self.0.get_mut(usize::from(byte >> 6)) {
            *word |= 1 << (byte & 63);
        }
    }

    fn with(mut self, other: Self) -> Self {
        for (word, more) in self.0.iter_mut().zip(other.0) {
            *word |= more;
        }
        self
    }

    fn where_ascii(holds: impl Fn(char) -> bool) -> Self {
        let mut bytes = Self::NONE;
        (0..128_u8)
            .filter(|byte| holds(char::from(*byte)))
            .for_each(|byte| bytes.add(byte));
        bytes
    }

    fn of_char(c: char) -> Self {
        let mut bytes = Self::NONE;
        let mut buffer = [0; 4];
        let encoded = c.encode_utf8(&mut buffer);
        encoded.bytes().take(1).for_each(|byte| bytes.add(byte));
        bytes
    }
}

/// The bytes of a pattern that compiles; `None` where it can match nothing at all or is not understood.
pub(super) fn first_bytes(pattern: &str) -> Option<Bytes> {
    let mut reader = Reader {
        left: pattern.chars().peekable(),
    };
    let part = reader.alternatives(0)?;
    // A group that nothing opened.
    (reader.left.next().is_none() && !part.empty).then_some(part.first)
}

/// What a part of a pattern can begin with, and whether it can match without taking any byte.
#[derive(Debug, Clone, Copy)]
struct Part {
    first: Bytes,
    empty: bool,
}

struct Reader<'p> {
    left: std::iter::Peekable<std::str::Chars<'p>>,
}

impl Reader<'_> {
    fn alternatives(&mut self, depth: usize) -> Option<Part> {
        let mut all = self.sequence(depth)?;
        while self.left.next_if_eq(&'|').is_some() {
            let other = self.sequence(depth)?;
            all.first = all.first.with(other.first);
            all.empty |= other.empty;
        }
        Some(all)
    }

    fn sequence(&mut self, depth: usize) -> Option<Part> {
        let mut all = Part {
            first: Bytes::NONE,
            empty: true,
        };
        while let Some(c) = self.left.next_if(|c| !matches!(c, '|' | ')')) {
            let mut part = self.atom(c, depth)?;
            self.repetition(&mut part)?;
            if all.empty {
                all.first = all.first.with(part.first);
                all.empty = part.empty;
            }
        }
        Some(all)
    }

    fn atom(&mut self, c: char, depth: usize) -> Option<Part> {
        let taken = |first: Bytes| Part { first, empty: false };
        let nothing = Part {
            first: Bytes::NONE,
            empty: true,
        };
        Some(match c {
            '(' => {
                if depth >= DEEPEST {
                    return None;
                }
                // A group without flags, or one that is numbered.
                if self.left.next_if_eq(&'?').is_some() {
                    self.left.next_if_eq(&':')?;
                }
                let inner = self.alternatives(depth + 1)?;
                self.left.next_if_eq(&')')?;
                inner
            }
            '[' => taken(self.class()?),
            '\\' => match self.left.next()? {
                'b' => {
                    // `\b{start}` and the like.
                    if self.left.peek() == Some(&'{') {
                        return None;
                    }
                    nothing
                }
                'B' | 'A' | 'z' => nothing,
                other => taken(escaped(other)?),
            },
            '^' | '$' => nothing,
            '.' | '{' | '}' | ']' | '?' | '*' | '+' => return None,
            other => taken(Bytes::of_char(other)),
        })
    }

    fn repetition(&mut self, part: &mut Part) -> Option<()> {
        loop {
            match self.left.peek() {
                Some('?' | '*') => {
                    self.left.next();
                    part.empty = true;
                }
                Some('+') => {
                    self.left.next();
                }
                Some('{') => {
                    self.left.next();
                    let mut text = String::new();
                    loop {
                        match self.left.next()? {
                            '}' => break,
                            c if c.is_ascii_digit() || c == ',' => text.push(c),
                            _ => return None,
                        }
                    }
                    let least: u32 = text.split(',').next()?.parse().ok()?;
                    part.empty |= least == 0;
                }
                _ => return Some(()),
            }
        }
    }

    /// After `[`, up to `]`: single characters and ranges of ASCII, and the named classes.
    fn class(&mut self) -> Option<Bytes> {
        let mut bytes = Bytes::NONE;
        let mut is_first = true;
        loop {
            let c = match self.left.next()? {
                ']' if !is_first => return Some(bytes),
                // A class that is turned around, one inside of another, and operations on classes.
                ']' | '^' | '[' | '&' | '~' => return None,
                '\\' => {
                    let c = self.left.next()?;
                    if matches!(c, 'd' | 's' | 'w') {
                        bytes = bytes.with(escaped(c)?);
                        is_first = false;
                        continue;
                    }
                    plain(c)?
                }
                c => c,
            };
            is_first = false;
            let end = match self.left.next_if_eq(&'-') {
                None => c,
                // At the end it is a character; `--` is an operation.
                Some(_) => match self.left.peek()? {
                    ']' => {
                        bytes.add(b'-');
                        c
                    }
                    '-' | '\\' | '[' => return None,
                    _ => self.left.next()?,
                },
            };
            if !c.is_ascii() || !end.is_ascii() || end < c {
                return None;
            }
            bytes = bytes.with(Bytes::where_ascii(|other| (c..=end).contains(&other)));
        }
    }
}

/// What stands for itself behind a backslash.
fn plain(c: char) -> Option<char> {
    c.is_ascii_punctuation().then_some(c)
}

fn escaped(c: char) -> Option<Bytes> {
    Some(match c {
        'd' => Bytes::where_ascii(|c| c.is_ascii_digit()),
        'w' => Bytes::where_ascii(|c| c.is_ascii_alphanumeric() || c == '_'),
        's' => Bytes::where_ascii(|c| matches!(c, '\t'..='\r' | ' ')),
        other => Bytes::of_char(plain(other)?),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use regex_lite::Regex;

    #[test]
    fn a_match_begins_with_one_of_them() {
        let patterns = [
            r"\b(?:\d[ -]?){12,18}\d\b",
            r"(?:\+\d{1,3}[ .-]?)?(?:\(\d{3}\) ?|\b\d{3}[ .-])\d{3}[ .-]\d{4}\b",
            r"\b[A-Za-z0-9._%+-]+@[A-Za-z0-9-]+(?:\.[A-Za-z0-9-]+)*\.[A-Za-z][A-Za-z]+\b",
            "abc",
            "a|b",
            "a?b",
            "a*b|c",
            "(a|b)?c",
            "(?:a{0,2})b",
            "a{2}",
            "a{0}b",
            "x+?y",
            "[a-c-]d",
            r"[\d_]+",
            r"\s\S",
            "é|z",
            "^a",
            "a$",
            r"\.\*",
            "()a",
            "(|a)b",
            "a??b",
            "[]]",
            r"\Aq",
            r"(\w)-",
            "ab|",
            "a{,2}b",
            "$b",
            r"[\]\-]x",
        ];
        let alphabet: Vec<char> = "abcdxyz019 -_.+@()*é]\n\tQq".chars().collect();
        let mut state = 7_u64;
        let mut next = |below: usize| {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            usize::try_from(state >> 33).unwrap() % below
        };
        let mut understood = 0;
        for pattern in patterns {
            let Ok(regex) = Regex::new(pattern) else { continue };
            let Some(bytes) = first_bytes(pattern) else {
                continue;
            };
            understood += 1;
            for _ in 0..3_000 {
                let text: String = (0..next(24)).map(|_| alphabet[next(alphabet.len())]).collect();
                for found in regex.find_iter(&text) {
                    let first = found.as_str().bytes().next();
                    assert!(first.is_some_and(|byte| bytes.has(byte)), "{pattern} in {text:?}");
                }
            }
        }
        assert!(understood >= 20, "{understood}");
    }

    #[test]
    fn what_is_not_plain_says_nothing() {
        for pattern in [
            "",
            "a?",
            "a*",
            "(a|)",
            ".",
            "[^a]",
            r"\D",
            r"\W",
            r"\S",
            "(?i)a",
            "(?i:a)",
            "(?P<n>a)",
            r"\x41",
            r"\u0041",
            "[[:alpha:]]",
            "[a&&b]",
            "[a--b]",
            r"\pL",
            r"\n",
            "^",
            "$",
            r"\b",
            "é*",
            "[é]",
            r"\b{start}a",
            &("(".repeat(20) + "a" + &")".repeat(20)),
        ] {
            assert_eq!(first_bytes(pattern), None, "{pattern}");
        }
        assert!(first_bytes("a").is_some_and(|bytes| bytes.has(b'a') && !bytes.has(b'b')));
    }
}
