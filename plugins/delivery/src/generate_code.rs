//! `delivery.generate_code`.

use crate::expression::number;
use crate::language::Language;
use crate::spec::Spec;
use mizzen_sdk::prelude::*;

/// What to write, and in which language.
#[input]
pub struct Generate {
    /// The language.
    language: Language,
    /// `name(parameter, …)`, then what it is for, then `= expression`, then examples such as `name(2, 3) is 6`; one line each.
    #[schemars(length(min = 1, max = 16_384))]
    spec: String,
}

/// A function and its tests.
#[output]
#[derive(Debug, PartialEq, Eq)]
pub struct Generated {
    /// What the function is called.
    name: String,
    /// The code.
    code: String,
    /// How many examples became tests.
    tests: usize,
}

/// Writes a documented function with its tests in Rust, Python or TypeScript from a specification, whose examples must hold.
#[tool(
    side_effects = "none",
    tags = ["code", "generate"],
    example(
        name = "writes a function with its test",
        input = {
            "language": "python",
            "spec": "area(width, height)\nThe area of a rectangle.\n= width * height\narea(2, 3) is 6"
        },
        output = {
            "name": "area",
            "code": "def area(width: float, height: float) -> float:\n    \"\"\"The area of a rectangle.\"\"\"\n    return width * height\n\n\ndef test_area() -> None:\n    assert area(2.0, 3.0) == 6.0\n",
            "tests": 1
        }
    ),
    example(
        name = "writes no more than is specified",
        input = { "language": "rust", "spec": "twice(x)\n= x * 2" },
        output = { "name": "twice", "code": "pub fn twice(x: f64) -> f64 {\n    x * 2.0\n}\n", "tests": 0 }
    )
)]
pub fn generate_code(input: Generate) -> Result<Generated, ToolError> {
    let spec = Spec::parse(&input.spec)?;
    let code = match input.language {
        Language::Rust => rust(&spec),
        Language::Python => python(&spec),
        Language::Typescript => typescript(&spec),
    };
    Ok(Generated {
        code,
        tests: spec.examples.len(),
        name: spec.name,
    })
}

/// What a comment of any of the languages cannot be ended by.
fn about(spec: &Spec) -> String {
    spec.about
        .replace("*/", "* /")
        .replace('"', "'")
        .replace('\\', "/")
}

fn list(spec: &Spec, separator: &str, of_each: impl Fn(&str) -> String) -> String {
    let each: Vec<String> = spec.parameters.iter().map(|name| of_each(name)).collect();
    each.join(separator)
}

/// The calls of the examples with their results.
fn examples(spec: &Spec, language: Language) -> Vec<(String, String)> {
    let call = |values: &[f64]| {
        let values: Vec<String> = values.iter().map(|value| number(*value, language)).collect();
        format!("{}({})", spec.name, values.join(", "))
    };
    spec.examples
        .iter()
        .map(|(values, result)| (call(values), number(*result, language)))
        .collect()
}

fn rust(spec: &Spec) -> String {
    let mut code = String::new();
    if !spec.about.is_empty() {
        code.push_str(&format!("/// {}\n", about(spec)));
    }
    let parameters = list(spec, ", ", |name| format!("{name}: f64"));
    let body = spec.body.write(&spec.parameters, Language::Rust);
    code.push_str(&format!(
        "pub fn {}({parameters}) -> f64 {{\n    {body}\n}}\n",
        spec.name
    ));
    if !spec.examples.is_empty() {
        code.push_str(
            "\n#[cfg(test)]\nmod tests {\n    use super::*;\n\n    #[test]\n    fn its_examples_hold() {\n",
        );
        for (call, result) in examples(spec, Language::Rust) {
            code.push_str(&format!("        assert_eq!({call}, {result});\n"));
        }
        code.push_str("    }\n}\n");
    }
    code
}

fn python(spec: &Spec) -> String {
    let parameters = list(spec, ", ", |name| format!("{name}: float"));
    let mut code = format!("def {}({parameters}) -> float:\n", spec.name);
    if !spec.about.is_empty() {
        code.push_str(&format!("    \"\"\"{}\"\"\"\n", about(spec)));
    }
    let body = spec.body.write(&spec.parameters, Language::Python);
    code.push_str(&format!("    return {body}\n"));
    if !spec.examples.is_empty() {
        code.push_str(&format!("\n\ndef test_{}() -> None:\n", spec.name));
        for (call, result) in examples(spec, Language::Python) {
            code.push_str(&format!("    assert {call} == {result}\n"));
        }
    }
    code
}

fn typescript(spec: &Spec) -> String {
    let mut code = String::new();
    if !spec.about.is_empty() {
        code.push_str(&format!("/** {} */\n", about(spec)));
    }
    let parameters = list(spec, ", ", |name| format!("{name}: number"));
    let body = spec.body.write(&spec.parameters, Language::Typescript);
    code.push_str(&format!(
        "export function {}({parameters}): number {{\n  return {body};\n}}\n",
        spec.name
    ));
    if !spec.examples.is_empty() {
        code.push_str(&format!("\nexport function test_{}(): void {{\n", spec.name));
        for (call, result) in examples(spec, Language::Typescript) {
            code.push_str(&format!("  console.assert({call} === {result});\n"));
        }
        code.push_str("}\n");
    }
    code
}

#[cfg(test)]
mod tests {
    use super::*;

    const SPEC: &str = "mean(a, b)\nThe middle of \"two\" */.\n= (a + b) / 2\nmean(1, 2) is 1.5";

    fn generate(language: Language) -> String {
        generate_code(Generate {
            language,
            spec: SPEC.to_owned(),
        })
        .unwrap()
        .code
    }

    #[test]
    fn every_language_has_the_same_parts() {
        assert_eq!(
            generate(Language::Rust),
            "/// The middle of 'two' * /.\npub fn mean(a: f64, b: f64) -> f64 {\n    (a + b) / 2.0\n}\n\n#[cfg(test)]\nmod tests {\n    use super::*;\n\n    #[test]\n    fn its_examples_hold() {\n        assert_eq!(mean(1.0, 2.0), 1.5);\n    }\n}\n"
        );
        assert_eq!(
            generate(Language::Python),
            "def mean(a: float, b: float) -> float:\n    \"\"\"The middle of 'two' * /.\"\"\"\n    return (a + b) / 2.0\n\n\ndef test_mean() -> None:\n    assert mean(1.0, 2.0) == 1.5\n"
        );
        assert_eq!(
            generate(Language::Typescript),
            "/** The middle of 'two' * /. */\nexport function mean(a: number, b: number): number {\n  return (a + b) / 2;\n}\n\nexport function test_mean(): void {\n  console.assert(mean(1, 2) === 1.5);\n}\n"
        );
    }
}
