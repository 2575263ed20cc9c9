//! Specifications: what a function is called, what it takes, what it computes, and examples of it.
//!
//! ```text
//! area(width, height)
//! The area of a rectangle.
//! = width * height
//! area(2, 3) is 6
//! ```
//!
//! Parameters and results are numbers. The description and the examples may be left out; a reviewer will mind.

use crate::expression::Expression;
use crate::language::is_name;
use mizzen_sdk::prelude::*;

const MOST_PARAMETERS: usize = 8;
const MOST_EXAMPLES: usize = 32;
const LONGEST_LINE: usize = 1_024;

/// A specification in which everything fits together.
#[derive(Debug, Clone, PartialEq)]
pub struct Spec {
    /// What the function is called.
    pub name: String,
    /// What it takes.
    pub parameters: Vec<String>,
    /// What it is for; empty when the spec has no description.
    pub about: String,
    /// What it computes.
    pub body: Expression,
    /// Values, and what comes of them.
    pub examples: Vec<(Vec<f64>, f64)>,
}

/// Where in the input a specification stands.
const PATH: &str = "/spec";

impl Spec {
    /// Reads a specification. Its examples must hold.
    pub fn parse(text: &str) -> Result<Self, ToolError> {
        let wrong = |number: usize, message: String| {
            ToolError::invalid_input(PATH, format!("line {number}: {message}"))
        };
        let mut lines = text
            .lines()
            .zip(1_usize..)
            .map(|(line, number)| (number, line.trim()))
            .filter(|(_, line)| !line.is_empty());
        let (number, signature) = lines
            .next()
            .ok_or_else(|| ToolError::invalid_input(PATH, "it is empty; begin with `name(parameter, …)`"))?;
        let (name, parameters) = signature_of(signature).map_err(|message| wrong(number, message))?;
        let mut about = Vec::new();
        let mut body = None;
        let mut examples = Vec::new();
        for (number, line) in lines {
            if line.len() > LONGEST_LINE {
                return Err(wrong(number, format!("it is longer than {LONGEST_LINE} bytes")));
            }
            match (&body, line.strip_prefix('=')) {
                (None, Some(expression)) => {
                    body = Some(
                        Expression::parse(expression, &parameters)
                            .map_err(|message| wrong(number, message))?,
                    );
                }
                (None, None) => about.push(line),
                (Some(_), Some(_)) => return Err(wrong(number, "there is one `= …` already".to_owned())),
                (Some(body), None) => {
                    let example = example_of(line, &name, parameters.len())
                        .map_err(|message| wrong(number, message))?;
                    let computed = body.compute(&example.0, &mut Vec::new());
                    if computed != Some(example.1) {
                        let message = format!(
                            "the example does not hold: it is {}",
                            computed.unwrap_or(f64::NAN)
                        );
                        return Err(wrong(number, message));
                    }
                    examples.push(example);
                    if examples.len() > MOST_EXAMPLES {
                        return Err(wrong(
                            number,
                            format!("there are more than {MOST_EXAMPLES} examples"),
                        ));
                    }
                }
            }
        }
        let body = body.ok_or_else(|| {
            ToolError::invalid_input(PATH, "a line `= expression` is missing: what is computed?")
        })?;
        Ok(Self {
            name,
            parameters,
            about: about.join(" "),
            body,
            examples,
        })
    }
}

fn signature_of(line: &str) -> Result<(String, Vec<String>), String> {
    let (name, rest) = line
        .split_once('(')
        .ok_or_else(|| "write `name(parameter, …)`".to_owned())?;
    let inside = rest
        .strip_suffix(')')
        .ok_or_else(|| "the parameters end with `)`".to_owned())?;
    let checked = |name: &str| {
        if is_name(name.trim()) {
            return Ok(name.trim().to_owned());
        }
        let shown: String = name.trim().chars().take(40).collect();
        Err(format!(
            "`{shown}` cannot be a name in every language: write lower-case letters, digits and _"
        ))
    };
    let name = checked(name)?;
    let mut parameters: Vec<String> = Vec::new();
    for parameter in inside.split(',').filter(|_| !inside.trim().is_empty()) {
        let parameter = checked(parameter)?;
        if parameters.contains(&parameter) || parameter == name {
            return Err(format!("`{parameter}` stands there twice"));
        }
        parameters.push(parameter);
        if parameters.len() > MOST_PARAMETERS {
            return Err(format!("there are more than {MOST_PARAMETERS} parameters"));
        }
    }
    Ok((name, parameters))
}

/// `name(1, 2) is 3`.
fn example_of(line: &str, name: &str, parameters: usize) -> Result<(Vec<f64>, f64), String> {
    let form = || format!("write an example as `{name}(…) is …`");
    let (call, result) = line.split_once(") is ").ok_or_else(form)?;
    let values = call
        .strip_prefix(name)
        .and_then(|call| call.trim_start().strip_prefix('('))
        .ok_or_else(form)?;
    let number = |text: &str| {
        let text = text.trim();
        text.parse::<f64>()
            .ok()
            .filter(|value| value.is_finite())
            .ok_or_else(|| format!("`{}` is not a number", text.chars().take(40).collect::<String>()))
    };
    let values: Vec<f64> = values
        .split(',')
        .filter(|_| !values.trim().is_empty())
        .map(number)
        .collect::<Result<_, _>>()?;
    if values.len() != parameters {
        return Err(format!(
            "{name} takes {parameters} values, {} are given",
            values.len()
        ));
    }
    Ok((values, number(result)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_specification_has_a_name_parameters_a_purpose_a_body_and_examples() {
        let spec = Spec::parse(
            "mean(a, b)\nThe middle\nof two.\n\n= (a + b) / 2\nmean(1, 2) is 1.5\nmean(-2,2) is 0",
        )
        .unwrap();
        assert_eq!(
            (spec.name.as_str(), spec.about.as_str()),
            ("mean", "The middle of two.")
        );
        assert_eq!(spec.parameters, ["a", "b"]);
        assert_eq!(spec.examples, [(vec![1.0, 2.0], 1.5), (vec![-2.0, 2.0], 0.0)]);
        assert!(
            Spec::parse("two()\n= 2\ntwo() is 2")
                .unwrap()
                .parameters
                .is_empty()
        );
    }

    #[test]
    fn what_does_not_fit_is_refused_with_its_line() {
        for (text, reason) in [
            ("", "it is empty"),
            ("area", "line 1: write `name(parameter"),
            ("area(a", "line 1: the parameters end"),
            ("fn(a)\n= a", "line 1: `fn` cannot be a name"),
            ("f(a, a)\n= a", "line 1: `a` stands there twice"),
            ("f(a)", "a line `= expression` is missing"),
            ("f(a)\n= a + c", "line 2: `c` is not one of the parameters"),
            ("f(a)\n= a\n= a", "line 3: there is one"),
            (
                "f(a)\n= a\nf(1) is 2",
                "line 3: the example does not hold: it is 1",
            ),
            ("f(a)\n= a\nf(1, 2) is 2", "line 3: f takes 1 values, 2 are given"),
            ("f(a)\n= a\nf(x) is 2", "line 3: `x` is not a number"),
            ("f(a)\n= a\ng(1) is 1", "line 3: write an example"),
            ("f(a, b)\n= a / b\nf(0, 0) is 0", "does not hold: it is NaN"),
        ] {
            let error = Spec::parse(text).unwrap_err().to_string();
            assert!(error.contains(reason), "{text:?}: {error}");
        }
    }
}
