//! Programs to compare: a seed means the same program for ever.
//!
//! They share patterns, so that the network shares its steps and joins; they assert, retract and modify what other rules negate,
//! so that activations come, go and come again.

/// A generator of its own, so that a seed means the same program for ever.
struct Random(u64);

impl Random {
    fn below(&mut self, limit: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) as usize % limit
    }

    fn one<'a>(&mut self, choices: &[&'a str]) -> &'a str {
        choices[self.below(choices.len())]
    }

    fn chance(&mut self, percent: usize) -> bool {
        self.below(100) < percent
    }
}

const VALUES: [&str; 9] = ["0", "1", "2", "3", "0.5", "1.0", "x", "y", "\"x\""];
const NUMBERS: [&str; 6] = ["0", "1", "2", "3", "0.5", "1.0"];
const NAMES: [&str; 4] = ["?x", "?y", "?z", "?w"];
const SPANS: [&str; 2] = ["$?a", "$?b"];

#[derive(Clone, Default)]
struct Bound {
    singles: Vec<&'static str>,
    spans: Vec<&'static str>,
}

/// Conditions that rules begin with: their text, what they bind, and the facts that they can take away, with slots or without.
type Beginning = (String, Bound, Vec<(String, bool)>);

struct Generator {
    random: Random,
    bound: Bound,
    /// Patterns of rules before: the next rule may begin with the same.
    beginnings: Vec<Beginning>,
    /// Facts that the rule can take away, and whether they have slots.
    addresses: Vec<(String, bool)>,
}

impl Generator {
    fn value(&mut self) -> &'static str {
        self.random.one(&VALUES)
    }

    fn known(&mut self) -> Option<&'static str> {
        let count = self.bound.singles.len();
        (count > 0).then(|| self.bound.singles[self.random.below(count)])
    }

    fn bind(&mut self) -> &'static str {
        let name = self.random.one(&NAMES);
        if !self.bound.singles.contains(&name) {
            self.bound.singles.push(name);
        }
        name
    }

    /// A test that is true or false for every value: CLIPS would only print an error for the others.
    fn test(&mut self, subject: &str) -> String {
        let other = match self.known() {
            Some(known) if self.random.chance(50) => known.to_owned(),
            _ => self.value().to_owned(),
        };
        // CLIPS refuses a constant of the wrong type when it reads the rule.
        let number = match other.starts_with('?') {
            true => other.clone(),
            false => self.random.one(&NUMBERS).to_owned(),
        };
        match self.random.below(9) {
            0 => format!("(eq {subject} {other})"),
            1 => format!("(neq {subject} {other})"),
            2 => format!("(and (numberp {subject}) (numberp {number}) (< {subject} {number}))"),
            3 => format!("(and (numberp {subject}) (numberp {number}) (= {subject} {number}))"),
            4 => format!("(and (integerp {subject}) (= (mod {subject} 2) 0))"),
            5 => format!("(or (symbolp {subject}) (floatp {subject}))"),
            6 => format!("(not (eq {subject} {other}))"),
            7 => format!("(and (lexemep {subject}) (eq (upcase {subject}) X))"),
            _ => format!("(and (numberp {subject}) (>= (+ {subject} 1) (* 2 {subject})))"),
        }
    }

    fn field(&mut self) -> String {
        match self.random.below(20) {
            0..=5 => self.bind().to_owned(),
            6 | 7 => self.known().map_or_else(|| "?".to_owned(), str::to_owned),
            8 | 9 => self.value().to_owned(),
            10 => format!("~{}", self.value()),
            11 => format!("{}|{}", self.value(), self.value()),
            12 => {
                let not = self.value();
                format!("{}&~{not}", self.bind())
            }
            13 => {
                let name = self.bind();
                format!("{name}&:{}", self.test(name))
            }
            14 => {
                let (one, two) = (self.value(), self.value());
                format!("{}&{one}|{two}", self.bind())
            }
            15 => match self.known() {
                Some(known) => format!("~{known}"),
                None => "?".to_owned(),
            },
            16 => match self.known() {
                Some(known) => format!("{known}|{}", self.value()),
                None => "?".to_owned(),
            },
            17 => match self.known() {
                Some(known) => {
                    let name = self.bind();
                    format!("{name}&:(neq {name} {known})")
                }
                None => "?".to_owned(),
            },
            18 => format!("=(+ {} 1)", self.random.one(&["0", "1", "2"])),
            _ => "?".to_owned(),
        }
    }

    fn span(&mut self) -> String {
        match self.random.below(6) {
            0 | 1 => {
                let name = self.random.one(&SPANS);
                if !self.bound.spans.contains(&name) {
                    self.bound.spans.push(name);
                }
                name.to_owned()
            }
            2 => {
                let name = self.random.one(&SPANS);
                if !self.bound.spans.contains(&name) {
                    self.bound.spans.push(name);
                }
                let single = name.trim_start_matches('$');
                format!("{name}&:(> (length$ {single}) {})", self.random.below(3))
            }
            _ => "$?".to_owned(),
        }
    }

    /// A pattern, and whether its fact has slots.
    fn pattern(&mut self) -> (String, bool) {
        match self.random.below(18) {
            0 | 1 => (format!("(t (n {}) (s {}))", self.field(), self.field()), true),
            2 => (format!("(t (n {}))", self.field()), true),
            3 => {
                let (before, behind) = (self.span(), self.span());
                (format!("(t (m {before} {} {behind}))", self.field()), true)
            }
            4 => (format!("(t (s {}) (m {}))", self.field(), self.span()), true),
            5 => (format!("(b2 {} {})", self.field(), self.span()), false),
            6 => (format!("(b2 {} {})", self.span(), self.field()), false),
            7 => {
                let (before, behind) = (self.span(), self.span());
                (format!("(b2 {before} {} {behind})", self.field()), false)
            }
            8 => (format!("(b2 {})", self.span()), false),
            9..=11 => (format!("(b0 {})", self.field()), false),
            12 | 13 => (format!("(b1 {} {})", self.field(), self.field()), false),
            14 => ("(go)".to_owned(), false),
            15 => (format!("(d{} {})", self.random.below(3), self.field()), false),
            16 => (format!("(d{} {})", self.random.below(3), self.value()), false),
            _ => (format!("(d3 {} {})", self.field(), self.field()), false),
        }
    }

    /// Something after which the same variables have values as before.
    fn closed(&mut self, depth: usize) -> String {
        let before = self.bound.clone();
        let text = match self.random.below(14) {
            0..=3 => format!("(not {})", self.pattern().0),
            10 => {
                let first = self.pattern().0;
                self.bound = before.clone();
                format!("(not (or {first} {}))", self.pattern().0)
            }
            11 => {
                let test = self.any_test();
                format!("(not (and (test {test}) {}))", self.pattern().0)
            }
            12 => {
                let first = self.pattern().0;
                self.bound = before.clone();
                format!("(exists (or {first} {}))", self.pattern().0)
            }
            13 if depth < 2 => {
                let inner = self.closed(depth + 1);
                let test = self.any_test();
                format!("(not (and {inner} (test {test})))")
            }
            4 => format!("(not (and {} {}))", self.pattern().0, self.pattern().0),
            5 => format!("(exists {})", self.pattern().0),
            6 => format!("(forall {} {})", self.pattern().0, self.pattern().0),
            7 => format!("(exists {} {})", self.pattern().0, self.pattern().0),
            8 if depth < 2 => {
                let first = self.pattern().0;
                let inner = self.closed(depth + 1);
                format!("(not (and {first} {inner}))")
            }
            9 if depth < 2 => {
                let inner = self.closed(depth + 1);
                let last = self.pattern().0;
                format!("(not (and {inner} {last}))")
            }
            _ => {
                let first = self.pattern().0;
                let Some(known) = self.known() else {
                    self.bound = before;
                    return format!("(not {first})");
                };
                let test = self.test(known);
                format!("(not (and {first} (test {test})))")
            }
        };
        self.bound = before;
        text
    }

    fn any_test(&mut self) -> String {
        let count = self.addresses.len();
        match self.known() {
            _ if count > 1 && self.random.chance(20) => {
                let (one, two) = (self.random.below(count), self.random.below(count));
                format!("(neq {} {})", self.addresses[one].0, self.addresses[two].0)
            }
            Some(known) => self.test(known),
            None => self.random.one(&["(= 1 1)", "(eq a b)", "(> 2 1)"]).to_owned(),
        }
    }

    fn condition(&mut self) -> String {
        match self.random.below(18) {
            0 => format!("(test {})", self.any_test()),
            16 => {
                let before = self.bound.clone();
                let (first, second) = (self.pattern().0, self.pattern().0);
                self.bound = before.clone();
                let other = match self.random.below(3) {
                    0 => self.closed(1),
                    1 => format!("(test {})", self.any_test()),
                    _ => self.pattern().0,
                };
                self.bound = before;
                format!("(or (and {first} {second}) {other})")
            }
            1..=4 => self.closed(0),
            5 => {
                let before = self.bound.clone();
                let first = self.pattern().0;
                self.bound = before.clone();
                let second = self.pattern().0;
                self.bound = before;
                format!("(or {first} {second})")
            }
            6..=10 => {
                let (pattern, has_slots) = self.pattern();
                let name = format!("?f{}", self.addresses.len());
                let text = format!("{name} <- {pattern}");
                self.addresses.push((name, has_slots));
                text
            }
            _ => self.pattern().0,
        }
    }

    fn made(&mut self) -> String {
        match self.known() {
            Some(known) if self.random.chance(75) => known.to_owned(),
            _ => self.value().to_owned(),
        }
    }

    fn action(&mut self) -> String {
        let count = self.addresses.len();
        match self.random.below(12) {
            0 | 1 if count > 0 => {
                // A fact that is gone cannot be modified: CLIPS prints that, here it is an error.
                let (name, _) = self.addresses.remove(self.random.below(count));
                format!("(retract {name})")
            }
            2..=4 => {
                let with_slots: Vec<String> = self
                    .addresses
                    .iter()
                    .filter(|(_, slots)| *slots)
                    .map(|(name, _)| name.clone())
                    .collect();
                match with_slots.as_slice() {
                    [only] => {
                        self.addresses.clear();
                        match self.random.below(3) {
                            0 => format!("(modify {only} (n {}))", self.made()),
                            1 => format!("(modify {only} (s {}))", self.made()),
                            _ => format!("(modify {only} (m {} {}))", self.made(), self.made()),
                        }
                    }
                    _ => format!("(assert (d0 {}))", self.made()),
                }
            }
            5 => format!("(assert (b0 {}))", self.made()),
            6 => format!("(assert (d3 {} {}))", self.made(), self.made()),
            7 => format!("(assert (b1 {} {}))", self.made(), self.made()),
            8 if !self.bound.spans.is_empty() => {
                let span = self.bound.spans[self.random.below(self.bound.spans.len())];
                format!("(assert (b2 {span}))")
            }
            9 => format!("(assert (t (n {}) (s {})))", self.made(), self.made()),
            at => format!("(assert (d{} {}))", at % 3, self.made()),
        }
    }

    fn rule(&mut self, number: usize) -> String {
        self.bound = Bound::default();
        self.addresses.clear();
        let mut left = Vec::new();
        let known = self.beginnings.len();
        if known > 0 && self.random.chance(45) {
            let (text, bound, addresses) = self.beginnings[self.random.below(known)].clone();
            left.push(text);
            self.bound = bound;
            self.addresses = addresses;
        }
        for _ in 0..=self.random.below(3) {
            let next = self.condition();
            left.push(next);
            let beginning = (left.join(" "), self.bound.clone(), self.addresses.clone());
            self.beginnings.push(beginning);
        }
        let actions: Vec<String> = (0..=self.random.below(2)).map(|_| self.action()).collect();
        let salience = match self.random.below(6) {
            0 => "(declare (salience 10)) ",
            1 => "(declare (salience -10)) ",
            _ => "",
        };
        format!(
            "(defrule r{number} {salience}{} => {})",
            left.join(" "),
            actions.join(" ")
        )
    }

    fn fact(&mut self) -> String {
        match self.random.below(6) {
            0 => format!("(b0 {})", self.value()),
            1 | 2 => format!("(b1 {} {})", self.value(), self.value()),
            3 => {
                let fields: Vec<_> = (0..self.random.below(4)).map(|_| self.value()).collect();
                format!("(b2 {})", fields.join(" "))
            }
            4 => format!("(d{} {})", self.random.below(3), self.value()),
            _ => {
                let many: Vec<_> = (0..self.random.below(3)).map(|_| self.value()).collect();
                let (number, symbol) = (self.value(), self.random.one(&["x", "y"]));
                format!("(t (n {number}) (s {symbol}) (m {}))", many.join(" "))
            }
        }
    }
}

/// Functions that CLIPS has too, and how many arguments they take.
const FUNCTIONS: [(&str, usize, usize); 36] = [
    ("=", 2, 3),
    ("<>", 2, 3),
    ("<", 2, 3),
    ("<=", 2, 3),
    (">", 2, 3),
    (">=", 2, 3),
    ("eq", 2, 3),
    ("neq", 2, 3),
    ("and", 2, 3),
    ("or", 2, 3),
    ("not", 1, 1),
    ("+", 2, 3),
    ("-", 2, 3),
    ("*", 2, 3),
    ("/", 2, 3),
    ("div", 2, 3),
    ("mod", 2, 2),
    ("**", 2, 2),
    ("abs", 1, 1),
    ("min", 1, 3),
    ("max", 1, 3),
    ("numberp", 1, 1),
    ("integerp", 1, 1),
    ("floatp", 1, 1),
    ("symbolp", 1, 1),
    ("stringp", 1, 1),
    ("lexemep", 1, 1),
    ("str-cat", 1, 3),
    ("str-length", 1, 1),
    ("str-index", 2, 2),
    ("sub-string", 3, 3),
    ("upcase", 1, 1),
    ("lowcase", 1, 1),
    ("member$", 2, 2),
    ("length$", 1, 1),
    ("nth$", 2, 2),
];

const ARGUMENTS: [&str; 40] = [
    "0",
    "1",
    "-1",
    "2",
    "3",
    "-7",
    "10",
    "9007199254740993",
    "9223372036854775807",
    "-9223372036854775808",
    "0.0",
    "-0.0",
    "0.5",
    "-0.5",
    "1.0",
    "1.5",
    "2.0",
    "-3.7",
    "0.1",
    "0.3",
    "5.5",
    "1e20",
    "-1e20",
    "1e-07",
    "1e300",
    "123456.789",
    "1e15",
    "1e16",
    "3.141592653589793",
    "TRUE",
    "FALSE",
    "nil",
    "abc",
    "ABC",
    "\"\"",
    "\"abc\"",
    "\"b\"",
    "\"a b c\"",
    "\"Grün é\"",
    "\"1\"",
];

/// A call of a function on values that are only known when it is evaluated: CLIPS refuses constants of a wrong type beforehand.
pub(crate) fn call(seed: u64) -> Vec<String> {
    let mut random = Random(seed.wrapping_mul(0xD1B5_4A32_D192_ED03) | 1);
    for _ in 0..8 {
        random.below(2);
    }
    let (function, least, most) = FUNCTIONS[random.below(FUNCTIONS.len())];
    let count = least + random.below(most - least + 1);
    // Half of the calls have numbers alone.
    let kinds = match random.chance(50) {
        true => 29,
        false => ARGUMENTS.len(),
    };
    let values: Vec<&str> = (0..4).map(|_| ARGUMENTS[random.below(kinds)]).collect();
    let mut arguments: Vec<String> = (0..count).map(|at| format!("?v{at}")).collect();
    if matches!(function, "member$" | "length$" | "nth$") {
        arguments[count - 1] = "?rest".to_owned();
    }
    vec![
        format!("(deffacts d (args {}))", values.join(" ")),
        format!(
            "(defrule r (args ?v0 $?rest) (args ? ?v1 ?v2 ?) => (assert (value ({function} {}))) (assert (done)))",
            arguments.join(" ")
        ),
    ]
}

/// The program of a seed, construct by construct.
pub(crate) fn program(seed: u64) -> Vec<String> {
    let mut random = Random(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1);
    for _ in 0..8 {
        random.below(2);
    }
    let mut generator = Generator {
        random,
        bound: Bound::default(),
        beginnings: Vec::new(),
        addresses: Vec::new(),
    };
    let mut facts = vec!["(go)".to_owned()];
    for _ in 0..2 + generator.random.below(8) {
        facts.push(generator.fact());
    }
    let mut constructs = vec![
        "(deftemplate t (slot n) (slot s (default y)) (multislot m))".to_owned(),
        format!("(deffacts start {})", facts.join(" ")),
    ];
    for number in 0..2 + generator.random.below(5) {
        constructs.push(generator.rule(number));
    }
    constructs
}
