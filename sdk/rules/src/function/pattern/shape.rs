//! With which bytes a match of a regular expression can begin, and how long it can be. Most texts have no place that could be a
//! beginning, and then nothing has to be searched.
//!
//! Only what is plain is understood; of everything else it says nothing, and a match may begin everywhere.

/// How deep groups may nest to be understood.
const DEEPEST: usize = 16;
/// How many bytes of a beginning are looked at: enough to tell a date from a number of another kind.
const BEGINNING: usize = 10;
/// Repetitions that are followed one by one.
const MOST_REPETITIONS: u32 = 64;

/// A set of bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Bytes([u64; 4]);

impl Bytes {
    const NONE: Self = Self([0; 4]);

    fn has(&self, byte: u8) -> bool {
        self.0
            .get(usize::from(byte >> 6))
            .is_some_and(|word| word >> (byte & 63) & 1 == 1)
    }

    fn add(&mut self, bytes: std::ops::RangeInclusive<u8>) {
        for byte in bytes {
            if let Some(word) = self.0.get_mut(usize::from(byte >> 6)) {
                *word |= 1 << (byte & 63);
            }
        }
    }

    fn join(&mut self, other: Self) {
        for (word, more) in self.0.iter_mut().zip(other.0) {
            *word |= more;
        }
    }
}

/// What is known of the matches of a pattern.
#[derive(Debug, Clone)]
pub(super) struct Shape {
    /// The bytes at the first places of every match.
    beginning: Box<[Bytes]>,
    /// No match has more bytes; nothing where there is no such bound.
    pub(super) longest: Option<usize>,
}

impl Shape {
    /// What is known of a pattern that compiles; `None` where it can match nothing at all or is not understood.
    pub(super) fn of(pattern: &str) -> Option<Self> {
        let mut reader = Reader {
            left: pattern.chars().peekable(),
        };
        let part = reader.alternatives(0)?;
        // What is left is a group that nothing opened. Behind the shortest match may stand anything.
        let shortest = usize::try_from(part.lengths.trailing_zeros()).ok()?;
        (reader.left.next().is_none() && shortest > 0).then(|| Self {
            beginning: part.places.iter().copied().take(shortest).collect(),
            longest: part.longest,
        })
    }

    /// The first place from `at` on where a match could begin.
    pub(super) fn begin(&self, text: &str, at: usize) -> Option<usize> {
        let bytes = text.as_bytes().get(at..)?;
        let (first, more) = self.beginning.split_first()?;
        let fits = |place: usize| {
            let rest = bytes.get(place + 1..).unwrap_or_default();
            rest.len() >= more.len() && more.iter().zip(rest).all(|(set, byte)| set.has(*byte))
        };
        let found = bytes
            .iter()
            .enumerate()
            .find(|(place, byte)| first.has(**byte) && fits(*place));
        found.map(|(place, _)| at + place)
    }
}

/// What a part of a pattern can match.
#[derive(Debug, Clone, Copy)]
struct Part {
    /// The bytes at its first places, where it is as long.
    places: [Bytes; BEGINNING],
    /// A bit for every length that it can have; the last one stands for all greater ones too.
    lengths: u16,
    longest: Option<usize>,
}

impl Part {
    const LAST: u16 = 1 << BEGINNING;

    /// Takes no byte.
    const NOTHING: Self = Self {
        places: [Bytes::NONE; BEGINNING],
        lengths: 1,
        longest: Some(0),
    };

    /// Never matches; to be joined with others.
    const NEVER: Self = Self {
        lengths: 0,
        ..Self::NOTHING
    };

    /// One character of a range.
    fn character(from: char, to: char) -> Self {
        let mut part = Self::NEVER;
        // Characters of each width have their own first bytes, which grow with the characters.
        for (width, low, high) in [
            (1, '\0', '\x7f'),
            (2, '\u{80}', '\u{7ff}'),
            (3, '\u{800}', '\u{ffff}'),
            (4, '\u{10000}', char::MAX),
        ] {
            let (low, high) = (from.max(low), to.min(high));
            if low > high {
                continue;
            }
            let lead = |c: char| c.encode_utf8(&mut [0; 4]).bytes().next().unwrap_or(0);
            for (place, bytes) in part.places.iter_mut().take(width).enumerate() {
                match place {
                    0 => bytes.add(lead(low)..=lead(high)),
                    _ => bytes.add(0x80..=0xbf),
                }
            }
            part.lengths |= 1 << width;
            part.longest = part.longest.max(Some(width));
        }
        part
    }

    fn one_of(characters: &[char]) -> Self {
        characters
            .iter()
            .fold(Self::NEVER, |all, c| all.or(Self::character(*c, *c)))
    }

    fn or(mut self, other: Self) -> Self {
        for (bytes, more) in self.places.iter_mut().zip(other.places) {
            bytes.join(more);
        }
        self.lengths |= other.lengths;
        self.longest = self.longest.zip(other.longest).map(|(a, b)| a.max(b));
        self
    }

    fn then(mut self, next: Self) -> Self {
        let before = self.lengths;
        let mut lengths = 0_u32;
        for length in (0..=BEGINNING).filter(|length| before >> length & 1 == 1) {
            for (bytes, more) in self.places.iter_mut().skip(length).zip(next.places) {
                bytes.join(more);
            }
            lengths |= u32::from(next.lengths) << length;
        }
        // Everything beyond the places is one length.
        let known = u32::from(Self::LAST) - 1;
        let longer = if lengths > known { Self::LAST } else { 0 };
        self.lengths = u16::try_from(lengths & known).unwrap_or(0) | longer;
        self.longest = self.longest.zip(next.longest).map(|(a, b)| a.saturating_add(b));
        self
    }

    /// So many of it, one after another; without a most, any number.
    fn times(self, least: u32, most: Option<u32>) -> Option<Self> {
        if least > MOST_REPETITIONS || most.is_some_and(|most| most < least) {
            return None;
        }
        // A part that takes something fills all places after as many repetitions as there are places.
        let last = most
            .unwrap_or(u32::MAX)
            .min(least.saturating_add(u32::try_from(BEGINNING).ok()?));
        let mut all = Self::NEVER;
        let mut repeated = Self::NOTHING;
        for count in 0..=last {
            if count >= least {
                all = all.or(repeated);
            }
            repeated = repeated.then(self);
        }
        if most.is_none_or(|most| most > last) {
            all.lengths |= Self::LAST;
        }
        let most = most.and_then(|most| usize::try_from(most).ok());
        all.longest = self.longest.zip(most).map(|(one, most)| one.saturating_mul(most));
        Some(all)
    }
}

struct Reader<'p> {
    left: std::iter::Peekable<std::str::Chars<'p>>,
}

impl Reader<'_> {
    fn alternatives(&mut self, depth: usize) -> Option<Part> {
        let mut all = self.sequence(depth)?;
        while self.left.next_if_eq(&'|').is_some() {
            all = all.or(self.sequence(depth)?);
        }
        Some(all)
    }

    fn sequence(&mut self, depth: usize) -> Option<Part> {
        let mut all = Part::NOTHING;
        while let Some(c) = self.left.next_if(|c| !matches!(c, '|' | ')')) {
            let part = self.atom(c, depth)?;
            all = all.then(self.repetition(part)?);
        }
        Some(all)
    }

    fn atom(&mut self, c: char, depth: usize) -> Option<Part> {
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
            '[' => self.class()?,
            '\\' => match self.left.next()? {
                'b' => {
                    // `\b{start}` and the like.
                    if self.left.peek() == Some(&'{') {
                        return None;
                    }
                    Part::NOTHING
                }
                'B' | 'A' | 'z' => Part::NOTHING,
                'x' => Part::one_of(&[self.hexadecimal()?]),
                other => escaped(other)?,
            },
            '^' | '$' => Part::NOTHING,
            '.' | '{' | '}' | ']' | '?' | '*' | '+' => return None,
            other => Part::one_of(&[other]),
        })
    }

    fn repetition(&mut self, mut part: Part) -> Option<Part> {
        loop {
            let (least, most) = match self.left.peek() {
                Some('?') => (0, Some(1)),
                Some('*') => (0, None),
                Some('+') => (1, None),
                Some('{') => {
                    self.left.next();
                    let mut text = String::new();
                    while let Some(c) = self.left.next_if(|c| *c != '}') {
                        text.push(c);
                    }
                    let (least, most) = text.split_once(',').unwrap_or((&text, &text));
                    // `{2,}` has no end.
                    let most = match most {
                        "" => None,
                        most => Some(most.parse().ok()?),
                    };
                    (least.parse().ok()?, most)
                }
                _ => return Some(part),
            };
            self.left.next()?;
            part = part.times(least, most)?;
        }
    }

    /// After `\x`: `{A0}`.
    fn hexadecimal(&mut self) -> Option<char> {
        self.left.next_if_eq(&'{')?;
        let mut code = 0_u32;
        loop {
            match self.left.next()? {
                '}' => return char::from_u32(code),
                c => code = code.checked_mul(16)?.checked_add(c.to_digit(16)?)?,
            }
        }
    }

    /// After `[`, up to `]`: single characters and ranges, and the named classes.
    fn class(&mut self) -> Option<Part> {
        let mut all = Part::NEVER;
        let mut is_first = true;
        loop {
            let c = match self.left.next()? {
                ']' if !is_first => return Some(all),
                // A class that is turned around, one inside of another, and operations on classes.
                ']' | '^' | '[' | '&' | '~' => return None,
                '\\' => match self.left.next()? {
                    c @ ('d' | 's' | 'w') => {
                        all = all.or(escaped(c)?);
                        is_first = false;
                        continue;
                    }
                    'x' => self.hexadecimal()?,
                    c => plain(c)?,
                },
                c => c,
            };
            is_first = false;
            let end = match self.left.next_if_eq(&'-') {
                None => c,
                // At the end it is a character; `--` is an operation.
                Some(_) => match self.left.peek()? {
                    ']' => {
                        all = all.or(Part::one_of(&['-']));
                        c
                    }
                    '-' | '[' => return None,
                    '\\' => {
                        self.left.next();
                        self.left.next_if_eq(&'x')?;
                        self.hexadecimal()?
                    }
                    _ => self.left.next()?,
                },
            };
            if end < c {
                return None;
            }
            all = all.or(Part::character(c, end));
        }
    }
}

/// What stands for itself behind a backslash.
fn plain(c: char) -> Option<char> {
    c.is_ascii_punctuation().then_some(c)
}

fn escaped(c: char) -> Option<Part> {
    let digit = Part::character('0', '9');
    Some(match c {
        'd' => digit,
        'w' => digit
            .or(Part::character('a', 'z'))
            .or(Part::character('A', 'Z'))
            .or(Part::one_of(&['_'])),
        's' => Part::character('\t', '\r').or(Part::one_of(&[' '])),
        other => Part::one_of(&[plain(other)?]),
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
            r"[é-ü]{2}|[ \x{A0}\x{2010}-\x{2015}-]x",
            r"\x{e9}z?",
            "[aé]+",
            "(?:ab|c){1,3}d{2}",
        ];
        let alphabet: Vec<char> = "abcdxyz019 -_.+@()*éü–]\n\tQq".chars().collect();
        let mut state = 7_u64;
        let mut next = |below: usize| {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            usize::try_from(state >> 33).unwrap() % below
        };
        let (mut understood, mut bounded) = (0, 0);
        for pattern in patterns {
            let Ok(regex) = Regex::new(pattern) else { continue };
            let Some(shape) = Shape::of(pattern) else {
                continue;
            };
            understood += 1;
            bounded += usize::from(shape.longest.is_some());
            for _ in 0..3_000 {
                let text: String = (0..next(24)).map(|_| alphabet[next(alphabet.len())]).collect();
                for found in regex.find_iter(&text) {
                    assert_eq!(
                        shape.begin(&text, found.start()),
                        Some(found.start()),
                        "{pattern} in {text:?}"
                    );
                    assert!(
                        shape.longest.is_none_or(|longest| found.len() <= longest),
                        "{pattern} in {text:?}"
                    );
                }
            }
        }
        assert!(understood >= 25 && bounded >= 15, "{understood} {bounded}");
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
            r"\x{110000}",
            "[ü-é]",
            r"\b{start}a",
            &("(".repeat(20) + "a" + &")".repeat(20)),
        ] {
            assert!(Shape::of(pattern).is_none(), "{pattern}");
        }
        for (pattern, longest) in [
            ("a{2,3}", Some(3)),
            ("[é-ü]x?", Some(3)),
            ("a+", None),
            ("a{2,}", None),
            ("b(?:ab*)", None),
        ] {
            assert_eq!(Shape::of(pattern).unwrap().longest, longest, "{pattern}");
        }
    }

    #[test]
    fn what_cannot_be_a_beginning_is_not_searched() {
        let check = |pattern: &str, text: &str, place: Option<usize>| {
            assert_eq!(
                Shape::of(pattern).unwrap().begin(text, 0),
                place,
                "{pattern} in {text:?}"
            );
        };
        let number = r"\b\d{3}[ -]\d{2}[ -]\d{4}\b";
        check(number, "in 2026-11-17 and 123-45-6789", Some(18));
        check(number, "in 2026-11-17 at 08:48:25, 123-45", None);
        check("(?:ab?|c)d", "acdabd", Some(1));
        check("a{3}", "aabaa", None);
        check("a{2,}b", "abaaaaaaaaaaaab", Some(2));
        check("é", "e–é", Some(4));
    }
}
