use super::*;

fn check(cases: &[(&str, bool)]) {
    for (text, wanted) in cases {
        match evaluate(&gate(text)) {
            Ok(answer) => assert_eq!(answer, *wanted, "{text}"),
            Err(error) => panic!("{text}: {error}"),
        }
    }
}

fn check_errors(cases: &[(&str, EvalErrorKind)]) {
    for (text, wanted) in cases {
        match evaluate(&gate(text)) {
            Ok(answer) => panic!("{text} is {answer}"),
            Err(error) => assert_eq!(error.kind(), *wanted, "{text}: {error}"),
        }
    }
}

#[test]
fn the_condition_of_the_seed_means_what_it_says() {
    check(&[
        ("output.confidence >= 0.85", true),
        ("output.confidence >= 0.95", false),
    ]);
}

#[test]
fn json_numbers_keep_their_type_and_compare_by_value() {
    check(&[
        ("type(input.count) == int", true),
        ("type(output.confidence) == double", true),
        ("type(output.whole) == double", true),
        ("type(input.big) == uint", true),
        (
            "input.count == 3.0 && input.count == 3u && output.whole == 3",
            true,
        ),
        (
            "input.count < 3.5 && 2.5 < input.count && input.count <= 3u",
            true,
        ),
        ("input.big > 9223372036854775807", true),
        ("-1 < 0u && 0u > -1", true),
        ("9007199254740993 == 9007199254740992.0", false),
        ("9007199254740993 > 9007199254740992.0", true),
        ("9223372036854775807 < 9223372036854775808.0", true),
        ("1 == 1.5 || 1 > 1.5 || -1 < -1.5", false),
        ("0.0 == -0.0", true),
        ("0.0/0.0 == 0.0/0.0", false),
        ("0.0/0.0 < 1.0 || 0.0/0.0 >= 1.0", false),
        ("0.0/0.0 != 1", true),
        ("1.0/0.0 > 9223372036854775807", true),
    ]);
}

#[test]
fn arithmetic_is_exact_or_an_error() {
    check(&[
        ("1 + 2 * 3 - 4 / 2 == 5", true),
        ("7 % 3 == 1 && -7 % 3 == -1 && -7 / 2 == -3", true),
        ("2u * 3u - 1u == 5u", true),
        ("0.1 + 0.2 != 0.3", true),
        ("1.0 / 0.0 > 1.0", true),
        ("-9223372036854775808 < -9223372036854775807", true),
        ("--3 == 3 && -(-3) == 3", true),
        ("0xff == 255 && 0x10u == 16u && 1e3 == 1000.0 && .5 == 0.5", true),
        (
            "'a' + \"b\" == 'ab' && [1] + [2] == [1, 2] && b'a' + b'b' == b'ab'",
            true,
        ),
    ]);
    check_errors(&[
        ("9223372036854775807 + 1 > 0", EvalErrorKind::Arithmetic),
        ("-9223372036854775807 - 2 < 0", EvalErrorKind::Arithmetic),
        ("9223372036854775807 * 2 > 0", EvalErrorKind::Arithmetic),
        ("-(-9223372036854775808) > 0", EvalErrorKind::Arithmetic),
        ("-9223372036854775808 / -1 > 0", EvalErrorKind::Arithmetic),
        ("-9223372036854775808 % -1 == 0", EvalErrorKind::Arithmetic),
        ("0u - 1u > 0u", EvalErrorKind::Arithmetic),
        ("1 / 0 == 1", EvalErrorKind::Arithmetic),
        ("1 % 0 == 1", EvalErrorKind::Arithmetic),
        ("1 + 1.0 == 2.0", EvalErrorKind::NoSuchOverload),
        ("1 + 1u == 2", EvalErrorKind::NoSuchOverload),
        ("5.0 % 2.0 == 1.0", EvalErrorKind::NoSuchOverload),
        ("-1u == 1u", EvalErrorKind::NoSuchOverload),
        ("'a' + 1 == 'a1'", EvalErrorKind::NoSuchOverload),
    ]);
}

#[test]
fn logic_absorbs_errors_where_the_other_side_decides() {
    check(&[
        ("false && input.missing", false),
        ("input.missing && false", false),
        ("true || input.missing", true),
        ("input.missing || true", true),
        ("input.missing || 1 / 0 == 1 || true", true),
        ("(input.missing || false) && false", false),
        ("input.count && false", false),
        ("true ? true : input.missing", true),
        ("!!output.ok && !!!(!output.ok)", true),
        ("false ? input.missing : true ? true : false", true),
    ]);
    check_errors(&[
        ("input.missing && true", EvalErrorKind::NoSuchKey),
        ("input.missing || false", EvalErrorKind::NoSuchKey),
        ("input.count && true", EvalErrorKind::NoSuchOverload),
        ("input.count ? true : true", EvalErrorKind::NoSuchOverload),
        ("!input.count", EvalErrorKind::NoSuchOverload),
        ("!!input.count", EvalErrorKind::NoSuchOverload),
        ("input.missing ? true : true", EvalErrorKind::NoSuchKey),
        ("output", EvalErrorKind::NotABoolean),
    ]);
}

#[test]
fn comprehensions_go_over_lists_and_keys() {
    check(&[
        (
            "steps.all(s, s.output.score > 0.4) && !steps.all(s, s.output.score > 0.6)",
            true,
        ),
        ("steps.exists(s, s.output.score > 0.8)", true),
        (
            "steps.exists_one(s, s.output.score > 0.8) && !steps.exists_one(s, s.output.score > 0.1)",
            true,
        ),
        ("steps.map(s, s.output.score) == [0.5, 0.9]", true),
        ("steps.map(s, has(s.status), s.status) == ['completed']", true),
        ("steps.filter(s, has(s.status)).size() == 1", true),
        (
            "steps.filter(s, has(s.status)).all(s, s.status == 'completed')",
            true,
        ),
        (
            "error.exists(k, k == 'code') && error.all(k, k in ['code', 'message'])",
            true,
        ),
        ("{1: 'a', 'b': 2}.exists(k, k == 'b')", true),
        ("[].all(x, false) && ![].exists(x, true)", true),
        ("[1, 0, 2].exists(x, 2 / x == 1)", true),
        ("[0, 2].all(x, 4 / x == 3)", false),
        ("[1, 2].all(input, input > 0) && input.count == 3", true),
    ]);
    check_errors(&[
        ("[0, 2].exists(x, 4 / x == 3)", EvalErrorKind::Arithmetic),
        ("[1, 0].all(x, 1 / x == 1)", EvalErrorKind::Arithmetic),
        ("[1, 0].exists_one(x, 1 / x == 1)", EvalErrorKind::Arithmetic),
        (
            "[1, 0].filter(x, 1 / x == 1).size() == 1",
            EvalErrorKind::Arithmetic,
        ),
        ("input.count.all(x, true)", EvalErrorKind::NoSuchOverload),
        ("[1].all(x, x)", EvalErrorKind::NoSuchOverload),
    ]);
}

#[test]
fn fields_keys_and_indexes_are_there_or_an_error() {
    check(&[
        (
            "has(output.confidence) && !has(output.missing) && has(output.none)",
            true,
        ),
        ("output.none == null && null == null", true),
        (
            "input['odd name'] == 1 && input[\"in\"] == 2 && input.`odd name` == 1",
            true,
        ),
        ("'odd name' in input && !('x' in input) && !(3 in input)", true),
        (
            "'a' in output.tags && !('c' in output.tags) && 2.0 in [1, 2]",
            true,
        ),
        (
            "output.tags[0] == 'a' && output.tags[1u] == 'b' && output.tags[1.0] == 'b'",
            true,
        ),
        ("steps[1].output.score == 0.9 && .input.count == 3", true),
        (
            "{'a': 1}.a == 1 && {1: 'x'}[1.0] == 'x' && {1: 'x'}[1u] == 'x'",
            true,
        ),
        ("{'a': [1, {'b': 2}]} == {'a': [1.0, {'b': 2u}]}", true),
        (
            "[1, 2] == [1] || {'a': 1} == {'b': 1} || 'a' == 1 || null == false",
            false,
        ),
        ("output.tags == ['a', 'b',] && {'x': 1,}.x == 1", true),
        ("output.map(k, k).size() == 5", true),
    ]);
    check_errors(&[
        ("output.missing == 1", EvalErrorKind::NoSuchKey),
        ("output['missing'] == 1", EvalErrorKind::NoSuchKey),
        ("output.confidence.x == 1", EvalErrorKind::NoSuchOverload),
        ("has(output.confidence.x)", EvalErrorKind::NoSuchOverload),
        ("has(output.missing.x)", EvalErrorKind::NoSuchKey),
        ("output.none.x == 1", EvalErrorKind::NoSuchOverload),
        ("output.tags[2] == 'c'", EvalErrorKind::OutOfRange),
        ("output.tags[-1] == 'c'", EvalErrorKind::OutOfRange),
        ("output.tags[0.5] == 'c'", EvalErrorKind::OutOfRange),
        ("output.tags['0'] == 'c'", EvalErrorKind::NoSuchOverload),
        ("'abc'[0] == 'a'", EvalErrorKind::NoSuchOverload),
        ("'a' in 'abc'", EvalErrorKind::NoSuchOverload),
        ("{1.5: 2}[1.5] == 2", EvalErrorKind::NoSuchOverload),
        ("{'a': 1, 'a': 2}.a == 1", EvalErrorKind::DuplicateKey),
        ("[1] < [2]", EvalErrorKind::NoSuchOverload),
        ("'1' < 2", EvalErrorKind::NoSuchOverload),
    ]);
}

#[test]
fn texts_have_their_functions() {
    check(&[
        (
            "input.text.contains('ell') && input.text.startsWith('he') && input.text.endsWith('lo')",
            true,
        ),
        (
            "input.text.matches('^h.*o$') && matches(input.text, 'l{2}') && !input.text.matches('^x')",
            true,
        ),
        ("input.text.matches('^' + input.text + '$')", true),
        (
            "size('héé') == 3 && 'héé'.size() == 3 && size(b'h\\303\\251') == 3 && size([1, 2]) == 2 && size({}) == 0",
            true,
        ),
        (
            "'a' < 'b' && 'Z' < 'a' && 'a' < 'aa' && b'a' < b'b' && false < true",
            true,
        ),
        (
            r#"'\n\t\\\'\"\x41\u00e9\U0001F600\101' == "\n\t\\'\"A\u00e9😀A""#,
            true,
        ),
        (r#"r'\d' == '\\d' && r"\"  == '\\' && R'''a'b''' == "a'b""#, true),
        (
            "'''two\nlines''' == 'two\\nlines' && \"\"\"a\"b\"\"\" == 'a\"b'",
            true,
        ),
        (
            r"b'\xff\377' == b'\377\xff' && bytes('é') == b'\303\251' && string(b'abc') == 'abc' && br'\x' == b'\\x'",
            true,
        ),
        ("true // a comment\n && true", true),
    ]);
    check_errors(&[
        ("input.count.contains('a')", EvalErrorKind::NoSuchOverload),
        ("input.text.startsWith(1)", EvalErrorKind::NoSuchOverload),
        ("input.count.matches('a')", EvalErrorKind::NoSuchOverload),
        ("input.text.matches(input.text + '(')", EvalErrorKind::BadPattern),
        ("size(1) == 1", EvalErrorKind::NoSuchOverload),
    ]);
}

#[test]
fn conversions_convert_or_say_that_they_cannot() {
    check(&[
        (
            "int('42') == 42 && int('-7') == -7 && int(3.9) == 3 && int(-3.9) == -3 && int(5u) == 5",
            true,
        ),
        ("uint('42') == 42u && uint(3.9) == 3u && uint(5) == 5u", true),
        (
            "double('0.5') == 0.5 && double(3) == 3.0 && double(3u) == 3.0",
            true,
        ),
        ("double(input.count) * 0.5 == 1.5", true),
        (
            "string(42) == '42' && string(0.5) == '0.5' && string(true) == 'true' && string('a') == 'a'",
            true,
        ),
        (
            "bool('true') && !bool('false') && bool(true) && dyn(1) == 1",
            true,
        ),
        (
            "type(1) == int && type('') == string && type([]) == list && type({}) == map && type(null) == null_type",
            true,
        ),
        (
            "type(type(1)) == type && type(true) == bool && type(b'') == bytes && type(1.0) != type(1)",
            true,
        ),
    ]);
    check_errors(&[
        ("int('x') == 1", EvalErrorKind::BadConversion),
        ("int('9223372036854775808') == 1", EvalErrorKind::BadConversion),
        ("int(1e19) == 1", EvalErrorKind::Arithmetic),
        ("int(0.0/0.0) == 1", EvalErrorKind::Arithmetic),
        ("int(18446744073709551615u) == 1", EvalErrorKind::Arithmetic),
        ("uint(-1) == 1u", EvalErrorKind::Arithmetic),
        ("uint(-0.5) == 0u", EvalErrorKind::Arithmetic),
        ("double('x') == 1.0", EvalErrorKind::BadConversion),
        ("bool('yes')", EvalErrorKind::BadConversion),
        ("string(b'\\377') == ''", EvalErrorKind::BadConversion),
        ("string([1]) == ''", EvalErrorKind::NoSuchOverload),
        ("int([1]) == 1", EvalErrorKind::NoSuchOverload),
    ]);
}

#[test]
fn a_variable_without_a_value_is_an_error_of_its_own() {
    let condition = gate("output.confidence > 0.5");
    let error = condition
        .evaluate(&Context::new(), &mut Fuel::default())
        .unwrap_err();
    assert_eq!(error.kind(), EvalErrorKind::Unavailable);
    assert!(error.to_string().contains("`output`"), "{error}");
    assert_eq!(condition.variables().collect::<Vec<_>>(), [Variable::Output]);
    let decided = gate("false && output.confidence > 0.5");
    assert_eq!(decided.evaluate(&Context::new(), &mut Fuel::default()), Ok(false));
}

#[test]
fn an_error_says_where_it_happened() {
    let error = evaluate(&gate("true &&\n  input.count + 'a' == 3")).unwrap_err();
    assert_eq!(
        (error.position().line, error.position().column),
        (2, 15),
        "{error}"
    );
    assert_eq!(error.to_string(), "2:15: `+` does not take int and string");
    let error = evaluate(&gate("input.count * 0.5 > 1.0")).unwrap_err();
    assert!(error.to_string().contains("double("), "{error}");
}
