use super::*;

fn check(text: &str, column: u32, message: &str, hint: &str) {
    let error = match Condition::compile_gate(text) {
        Ok(_) => panic!("{text} compiles"),
        Err(error) => error,
    };
    assert_eq!(error.position.column, column, "{text}: {error}");
    assert!(error.message.contains(message), "{text}: {error}");
    let said = error.hint.as_deref().unwrap_or_default();
    assert!(
        if hint.is_empty() {
            true
        } else {
            said.contains(hint)
        },
        "{text}: {error}"
    );
}

#[test]
fn unknown_names_are_refused_with_their_place_and_the_nearest_name() {
    check("outptu.x > 1", 1, "unknown variable `outptu`", "`output`");
    check(
        "true && foo.bar",
        9,
        "unknown variable `foo`",
        "`input`, `steps`, `output`, `error`, `chain`, `council`",
    );
    check(
        "input.text.startswith('a')",
        12,
        "unknown function `startswith`",
        "`startsWith`",
    );
    check("len(input) > 1", 1, "unknown function `len`", "`size`");
    check("now() > 1", 1, "unknown function `now`", "no clock");
    check("random() > 1", 1, "unknown function `random`", "no randomness");
    check("steps.all(s, t.x)", 14, "unknown variable `t`", "");
    check("steps.all(s, true) && s.x", 23, "unknown variable `s`", "");
    check("if == 1", 1, "reserved word", "");
    check("a.b.c(1)", 1, "unknown variable `a`", "");
}

#[test]
fn what_is_not_cel_is_refused_with_what_to_write() {
    check("", 1, "empty", "");
    check("   // nothing", 14, "empty", "");
    check("output.x = 1", 10, "'='", "`==`");
    check("true and false", 6, "found `and`", "`&&`");
    check("true & false", 6, "'&'", "`&&`");
    check("$input.x == 1", 1, "'$'", "maps");
    check("output.x ==", 12, "found the end", "");
    check("(true", 6, "expected `)`", "");
    check("true)", 5, "expected an operator or the end", "");
    check("[1, 2", 6, "expected `]`", "");
    check("{1: 2", 6, "expected `}`", "");
    check("true ? true", 12, "expected `:`", "");
    check("'abc", 1, "never closed", "");
    check("'a\nb' == ''", 3, "ends with its line", "");
    check(
        r"'\q' == ''",
        2,
        r"\q is no escape; write \\ for a backslash, or a raw string",
        "",
    );
    check(r"'\ud800' == ''", 2, "no Unicode character", "");
    check(r"b'\u0041' == b''", 3, "is no escape", "");
    check("12abc == 1", 3, "a number ends", "");
    check("99999999999999999999 == 1", 1, "64 bits", "");
    check("9223372036854775808 == 1", 1, "64 bits", "9223372036854775808u");
    check("-9223372036854775809 == 1", 2, "64 bits", "");
    check("1e999 == 1.0", 1, "does not fit into a double", "");
    check("has(output)", 1, "one field selection", "has(output.field)");
    check("has(output['x'])", 1, "one field selection", "");
    check("all(steps, true)", 1, "called on a list", "");
    check("steps.all(1, true)", 11, "a variable name", "");
    check("steps.all(x)", 12, "expected `,`", "");
    check("steps.all(x, true, true)", 18, "expected `)`", "");
    check("contains('a', 'b')", 1, "called on a value", "");
    check("'1'.int() == 1", 5, "not called on a value", "");
    check("size() == 1", 1, "takes 1 argument", "");
    check("size(input,) == 1", 11, "comma", "");
    check("output.?x == 1", 8, "a field", "has()");
    check("output.in == 1", 8, "cannot follow a dot", "[\"in\"]");
    check("Foo{a: 1} == 1", 1, "unknown variable `Foo`", "");
    check("output{a: 1} == 1", 7, "found `{`", "messages");
    check("output.x.matches('(')", 18, "no regular expression", "");
    check("“a” == 'a'", 1, "'“'", "straight quotes");
}

#[test]
fn what_can_never_decide_is_refused() {
    check("1 + 1", 3, "a sum", "compare");
    check("'text'", 1, "a string", "");
    check("null", 1, "null", "");
    check("size(input)", 1, "a number", "");
    check("[true]", 1, "a list", "");
    check("output.ok && 'yes'", 14, "a string", "");
    check("!1", 2, "a number", "");
    check("1 ? true : false", 1, "a number", "");
    check("steps.all(s, 1)", 14, "a number", "");
}
