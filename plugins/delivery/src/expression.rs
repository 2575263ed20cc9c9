//! Arithmetic over named numbers: read, computed, and written in a language.
//!
//! Kept as a list of operations on a stack, so that nothing that uses an expression recurses; only the parser does, and no
//! deeper than [`DEEPEST`].

use crate::language::{Language, is_name};

/// Parentheses, signs and calls inside of each other.
const DEEPEST: usize = 32;
/// Operations in one expression.
const LONGEST: usize = 256;

/// One operation; its operands were pushed before.
#[derive(Debug, Clone, PartialEq)]
enum Operation {
    Number(f64),
    Parameter(usize),
    Negate,
    Binary(char),
    Call(Function),
}

/// A function that every language has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Function {
    Min,
    Max,
    Abs,
}

impl Function {
    fn parse(name: &str) -> Option<Self> {
        Some(match name {
            "min" => Self::Min,
            "max" => Self::Max,
            "abs" => Self::Abs,
            _ => return None,
        })
    }

    const fn operands(self) -> usize {
        match self {
            Self::Min | Self::Max => 2,
            Self::Abs => 1,
        }
    }

    const fn written(self, language: Language) -> &'static str {
        match (language, self) {
            (Language::Rust, Self::Min) => "f64::min",
            (Language::Rust, Self::Max) => "f64::max",
            (Language::Rust, Self::Abs) => "f64::abs",
            (Language::Python, Self::Min) => "min",
            (Language::Python, Self::Max) => "max",
            (Language::Python, Self::Abs) => "abs",
            (Language::Typescript, Self::Min) => "Math.min",
            (Language::Typescript, Self::Max) => "Math.max",
            (Language::Typescript, Self::Abs) => "Math.abs",
        }
    }
}

/// An expression over parameters, known by their place.
#[derive(Debug, Clone, PartialEq)]
pub struct Expression {
    operations: Vec<Operation>,
}

/// A number as a language writes it.
pub fn number(value: f64, language: Language) -> String {
    match language {
        Language::Typescript => format!("{value}"),
        Language::Rust | Language::Python => format!("{value:?}"),
    }
}

impl Expression {
    /// Reads an expression over these parameters.
    pub fn parse(text: &str, parameters: &[String]) -> Result<Self, String> {
        let mut parser = Parser {
            rest: text.trim(),
            parameters,
            operations: Vec::new(),
            depth: 0,
        };
        parser.sum()?;
        parser.skip_space();
        if !parser.rest.is_empty() {
            let shown: String = parser.rest.chars().take(20).collect();
            return Err(format!(
                "`{shown}` is not expected; write + - * / ( ) min max abs"
            ));
        }
        Ok(Self {
            operations: parser.operations,
        })
    }

    /// Computes it. `None` only when there are fewer values than parameters.
    pub fn compute(&self, values: &[f64], stack: &mut Vec<f64>) -> Option<f64> {
        stack.clear();
        for operation in &self.operations {
            let value = match operation {
                Operation::Number(value) => *value,
                Operation::Parameter(place) => *values.get(*place)?,
                Operation::Negate => -stack.pop()?,
                Operation::Call(Function::Abs) => stack.pop()?.abs(),
                Operation::Call(function @ (Function::Min | Function::Max)) => {
                    let (right, left) = (stack.pop()?, stack.pop()?);
                    if *function == Function::Min {
                        left.min(right)
                    } else {
                        left.max(right)
                    }
                }
                Operation::Binary(operator) => {
                    let (right, left) = (stack.pop()?, stack.pop()?);
                    match operator {
                        '+' => left + right,
                        '-' => left - right,
                        '*' => left * right,
                        _ => left / right,
                    }
                }
            };
            stack.push(value);
        }
        stack.pop()
    }

    /// Writes it in a language, with the parentheses that it needs.
    pub fn write(&self, parameters: &[String], language: Language) -> String {
        /// How tightly the outermost operator of a written part binds.
        type Part = (String, u8);
        let within = |part: Part, least: u8| {
            if part.1 < least {
                format!("({})", part.0)
            } else {
                part.0
            }
        };
        let mut stack: Vec<Part> = Vec::new();
        for operation in &self.operations {
            let part = match operation {
                Operation::Number(value) => (number(*value, language), 4),
                Operation::Parameter(place) => (parameters.get(*place).cloned().unwrap_or_default(), 4),
                Operation::Negate => (format!("-{}", within(stack.pop().unwrap_or_default(), 4)), 3),
                Operation::Call(function) => {
                    let first = stack.len().saturating_sub(function.operands());
                    let operands: Vec<String> =
                        stack.split_off(first).into_iter().map(|part| part.0).collect();
                    (
                        format!("{}({})", function.written(language), operands.join(", ")),
                        4,
                    )
                }
                Operation::Binary(operator) => {
                    let (right, left) = (stack.pop().unwrap_or_default(), stack.pop().unwrap_or_default());
                    let binds = if matches!(operator, '+' | '-') { 1 } else { 2 };
                    // Everything groups to the left, so a right side of the same strength keeps its parentheses.
                    (
                        format!("{} {operator} {}", within(left, binds), within(right, binds + 1)),
                        binds,
                    )
                }
            };
            stack.push(part);
        }
        stack.pop().map(|part| part.0).unwrap_or_default()
    }
}

struct Parser<'a> {
    rest: &'a str,
    parameters: &'a [String],
    operations: Vec<Operation>,
    depth: usize,
}

impl<'a> Parser<'a> {
    fn skip_space(&mut self) {
        self.rest = self.rest.trim_start();
    }

    fn take(&mut self, wanted: &[char]) -> Option<char> {
        self.skip_space();
        let found = self.rest.chars().next().filter(|c| wanted.contains(c))?;
        self.rest = self.rest.strip_prefix(found).unwrap_or_default();
        Some(found)
    }

    fn word(&mut self, is_part: impl Fn(char) -> bool) -> &'a str {
        let end = self.rest.find(|c| !is_part(c)).unwrap_or(self.rest.len());
        let (word, rest) = self.rest.split_at(end);
        self.rest = rest;
        word
    }

    fn push(&mut self, operation: Operation) -> Result<(), String> {
        if self.operations.len() >= LONGEST {
            return Err(format!("it has more than {LONGEST} operations"));
        }
        self.operations.push(operation);
        Ok(())
    }

    fn sum(&mut self) -> Result<(), String> {
        self.product()?;
        while let Some(operator) = self.take(&['+', '-']) {
            self.product()?;
            self.push(Operation::Binary(operator))?;
        }
        Ok(())
    }

    fn product(&mut self) -> Result<(), String> {
        self.operand()?;
        while let Some(operator) = self.take(&['*', '/']) {
            self.operand()?;
            self.push(Operation::Binary(operator))?;
        }
        Ok(())
    }

    fn operand(&mut self) -> Result<(), String> {
        if self.depth >= DEEPEST {
            return Err(format!("it is nested deeper than {DEEPEST}"));
        }
        self.depth += 1;
        let read = self.operand_inside();
        self.depth -= 1;
        read
    }

    fn operand_inside(&mut self) -> Result<(), String> {
        if self.take(&['-']).is_some() {
            self.operand()?;
            return self.push(Operation::Negate);
        }
        if self.take(&['(']).is_some() {
            self.sum()?;
            return self.close();
        }
        let digits = self.word(|c| c.is_ascii_digit() || c == '.');
        if !digits.is_empty() {
            let value: f64 = digits
                .parse()
                .map_err(|_| format!("`{digits}` is not a number"))?;
            if !value.is_finite() {
                return Err(format!("`{digits}` is too large"));
            }
            return self.push(Operation::Number(value));
        }
        let name = self.word(|c| c.is_ascii_alphanumeric() || c == '_');
        if let Some(function) = Function::parse(name) {
            return self.call(name, function);
        }
        match self.parameters.iter().position(|parameter| parameter == name) {
            Some(place) => self.push(Operation::Parameter(place)),
            None if name.is_empty() => Err("a number, a parameter or `(` is missing".to_owned()),
            None if is_name(name) => Err(format!("`{name}` is not one of the parameters")),
            None => Err(format!("`{name}` is not a name")),
        }
    }

    fn call(&mut self, name: &str, function: Function) -> Result<(), String> {
        self.take(&['('])
            .ok_or_else(|| format!("`{name}` needs its operands in parentheses"))?;
        for operand in 0..function.operands() {
            if operand > 0 {
                self.take(&[','])
                    .ok_or_else(|| format!("`{name}` takes {} operands", function.operands()))?;
            }
            self.sum()?;
        }
        self.close()?;
        self.push(Operation::Call(function))
    }

    fn close(&mut self) -> Result<(), String> {
        self.take(&[')'])
            .map(|_| ())
            .ok_or_else(|| "a `)` is missing".to_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parameters() -> Vec<String> {
        vec!["a".to_owned(), "b".to_owned()]
    }

    #[test]
    fn what_is_written_means_what_was_read() {
        // Text, as Rust writes it, and its value for a = 7, b = 2.
        for (text, written, value) in [
            ("a+b*2", "a + b * 2.0", 11.0),
            ("(a+b)*2", "(a + b) * 2.0", 18.0),
            ("a-(b-1)", "a - (b - 1.0)", 6.0),
            ("a-b-1", "a - b - 1.0", 4.0),
            ("a/(b/2)", "a / (b / 2.0)", 7.0),
            ("-(a+b)", "-(a + b)", -9.0),
            ("--a", "-(-a)", 7.0),
            ("-a*b", "-a * b", -14.0),
            (
                "max(a, b) - abs(min(-a, b))",
                "f64::max(a, b) - f64::abs(f64::min(-a, b))",
                0.0,
            ),
            ("0.5*a", "0.5 * a", 3.5),
        ] {
            let read = Expression::parse(text, &parameters()).unwrap();
            assert_eq!(read.write(&parameters(), Language::Rust), written);
            assert_eq!(read.compute(&[7.0, 2.0], &mut Vec::new()), Some(value), "{text}");
            let again = written.replace("f64::", "");
            assert_eq!(Expression::parse(&again, &parameters()).unwrap(), read, "{text}");
        }
    }

    #[test]
    fn each_language_has_its_own_words() {
        let read = Expression::parse("min(a, 1) / 2", &parameters()).unwrap();
        assert_eq!(read.write(&parameters(), Language::Python), "min(a, 1.0) / 2.0");
        assert_eq!(
            read.write(&parameters(), Language::Typescript),
            "Math.min(a, 1) / 2"
        );
    }

    #[test]
    fn what_is_no_expression_is_refused_with_the_reason() {
        for (text, reason) in [
            ("", "is missing"),
            ("a +", "is missing"),
            ("(a", "`)` is missing"),
            ("a b", "`b` is not expected"),
            ("c", "not one of the parameters"),
            ("1.2.3", "not a number"),
            ("min(a)", "takes 2 operands"),
            ("abs a", "in parentheses"),
            ("a; drop", "`; drop` is not expected"),
        ] {
            let error = Expression::parse(text, &parameters()).unwrap_err();
            assert!(error.contains(reason), "{text}: {error}");
        }
    }

    #[test]
    fn depth_and_length_are_bounded() {
        for text in ["(".repeat(100_000), "-".repeat(100_000), "abs(".repeat(100_000)] {
            assert!(
                Expression::parse(&text, &parameters())
                    .unwrap_err()
                    .contains("nested")
            );
        }
        let long = vec!["a"; LONGEST].join("+");
        assert!(
            Expression::parse(&long, &parameters())
                .unwrap_err()
                .contains("operations")
        );
    }
}
