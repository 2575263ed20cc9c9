use super::*;

fn check(text: &str, wanted: bool) {
    let condition = Condition::compile_rule(text).unwrap_or_else(|error| panic!("{text}: {error}"));
    match evaluate(&condition) {
        Ok(answer) => assert_eq!(answer, wanted, "{text}"),
        Err(error) => panic!("{text}: {error}"),
    }
}

fn check_refused(text: &str, message: &str) {
    match Condition::compile_rule(text) {
        Ok(_) => panic!("{text} compiles"),
        Err(error) => assert!(error.to_string().contains(message), "{text}: {error}"),
    }
}

#[test]
fn a_scalar_is_an_expression_however_yaml_writes_it() {
    check("input.count == 3", true);
    check("\"input.count == 3\"", true);
    check("'chain.name == ''review'''", true);
    check("|\n  input.count == 3 &&\n  chain.name == 'review'\n", true);
    check(">\n  input.count == 3\n  && false\n", false);
    check("---\ninput.count == 3\n", true);
    check("input.count == 3 # as always", true);
}

#[test]
fn an_expression_that_yaml_would_misread_is_still_an_expression() {
    check("!has(input.missing)", true);
    check("input.count == 3 ? true : false", true);
    check("chain.name != 'a: b'", true);
    check("\"BECK-02\" in chain.steps.map(s, s.sprite)", true);
    check("[1, 2].exists(x, x == input.count)", false);
    check("{'a': 1}.a == 1", true);
    check("-1 < input.count", true);
}

#[test]
fn mappings_combine() {
    check("all:\n  - input.count == 3\n  - chain.name == 'review'\n", true);
    check("all: [input.count == 3, chain.name == 'x']", false);
    check("any:\n- input.count == 4\n- chain.name == 'review'\n", true);
    check("any: ['false', 'false']", false);
    check("not: input.count == 3", false);
    check(
        "not:\n  any:\n    - input.count == 4\n    - all: [true, false]\n",
        true,
    );
    check("all: [true]\nnot: false\n", true);
    check("{all: [true], any: [false, false]}", false);
    check("all:\n  - not: {all: [false]}\n  - any: [false, true]\n", true);
    check(
        "all:\n  - \"!has(input.missing)\"\n  - council.sprites.exists(s, s.protected)\n",
        true,
    );
    check("any:\n  - input.missing == 1\n  - true\n", true);
    check("all:\n  - input.missing == 1\n  - false\n", false);
}

#[test]
fn yaml_that_says_nothing_clear_is_refused() {
    check_refused("- input.count > 1", "all:");
    check_refused("- true\n- false", "all:");
    check_refused("all: true", "takes a list");
    check_refused("all: {any: [true]}", "takes a list");
    check_refused("not: [true]", "`not` takes one condition");
    check_refused("all: []", "no condition in it");
    check_refused("all: [{}]", "no condition in it");
    check_refused("all:", "empty");
    check_refused("al: [true]", "unknown variable `al`");
    check_refused("all: [true]\nsome: [true]", "`some` does not combine");
    check_refused("all: [true]\nall: [false]", "twice");
    check_refused("all: [1]", "neither true nor false");
    check_refused("all: [&a true, *a]", "not allowed");
    check_refused("all: [!!bool true]", "not allowed");
    check_refused("all: [!has(input.x)]", "quote");
    check_refused("all: [true]\n---\nall: [false]", "one YAML document");
    check_refused("all: [true", "YAML");
    check_refused("all: [[true]]", "how its conditions combine");
    check_refused("any: [unknown.x == 1]", "unknown variable `unknown`");
    check_refused(
        "output.confidence > 0.5",
        "`output` has no value where this condition is evaluated",
    );
    check_refused("'text", "never closed");
    check_refused("", "empty");
}

#[test]
fn positions_are_those_of_the_whole_text() {
    let error = Condition::compile_rule("all:\n  - true\n  - input.x == foo\n").unwrap_err();
    assert_eq!((error.position.line, error.position.column), (3, 16), "{error}");
    let error = Condition::compile_rule("any: [true, 'foo']").unwrap_err();
    assert_eq!((error.position.line, error.position.column), (1, 14), "{error}");
}

#[test]
fn limits_hold_for_the_rule_as_a_whole() {
    let part = format!("  - {}\n", vec!["true"; 101].join("&&"));
    check_refused(&format!("any:\n{part}{part}{part}"), "more than 256 operators");
    let parts = "  - true\n".repeat(460);
    check_refused(&format!("any:\n{parts}"), "characters at most");
    let parts = "- input.a.b.c\n".repeat(200);
    check_refused(&format!("any:\n{parts}"), "more than 512 parts");
    let nest = format!("{}true{}", "{not: ".repeat(40), "}".repeat(40));
    check_refused(&nest, "nested deeper than 32");
    check(&format!("{}true{}", "{not: ".repeat(30), "}".repeat(30)), true);
    check_refused(&"[".repeat(4000), "nested deeper");
    check_refused(&"{a: ".repeat(1000), "nested deeper");
    check_refused(&"- ".repeat(2000), "");
    check_refused(&"? ".repeat(2000), "");
    check_refused(&"all:\n ".repeat(600), "");
}
