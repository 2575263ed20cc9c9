use super::*;
use crate::budget::Budget;
use crate::expression::{self, Scope};
use crate::reader::{TextLimits, read};

fn evaluate(text: &str) -> Result<Value, Failure> {
    let forms = read(text, TextLimits::WHEN).unwrap();
    let expression = expression::compile(&forms[0], &Scope::default()).unwrap();
    Ok(expression
        .evaluate(&[][..], &mut Meter::new(Budget::default()))?
        .into_owned())
}

/// The results are those of CLIPS 6.40.
#[test]
fn functions_answer_as_clips_does() {
    for (text, wanted) in [
        ("(/ 4 2)", "2.0"),
        ("(/ 7 2)", "3.5"),
        ("(div 7 2)", "3"),
        ("(div 7.5 2)", "3"),
        ("(div -7 2)", "-3"),
        ("(div 7 2 2)", "1"),
        ("(mod -7 2)", "-1"),
        ("(mod 7.5 2)", "1.5"),
        ("(** 2 3)", "8.0"),
        ("(+ 1 2.0)", "3.0"),
        ("(+ 1 2 3)", "6"),
        ("(- 5 1)", "4"),
        ("(* 2 3)", "6"),
        ("(abs -3)", "3"),
        ("(min 1 2.0)", "1"),
        ("(max 1 1.0)", "1"),
        ("(= 1 1.0)", "TRUE"),
        ("(= 1 1 2)", "FALSE"),
        ("(<> 1 2 1)", "FALSE"),
        ("(< 1 2 3)", "TRUE"),
        ("(> 3 2 2)", "FALSE"),
        ("(eq 1 1.0)", "FALSE"),
        ("(eq a a a)", "TRUE"),
        ("(eq a \"a\")", "FALSE"),
        ("(neq a b a)", "FALSE"),
        ("(str-cat a \"b\" 1 2.5 1.0 1e20)", "\"ab12.51.01e+20\""),
        ("(str-length \"héé\")", "3"),
        ("(str-index \"b\" \"abc\")", "2"),
        ("(str-index \"z\" \"abc\")", "FALSE"),
        ("(str-index \"\" \"abc\")", "1"),
        ("(sub-string 2 3 \"abcd\")", "\"bc\""),
        ("(sub-string 3 2 \"abcd\")", "\"\""),
        ("(sub-string 0 9 \"abcd\")", "\"abcd\""),
        ("(upcase abc)", "ABC"),
        ("(lowcase \"ABC\")", "\"abc\""),
        ("(not a)", "FALSE"),
        ("(and a b)", "TRUE"),
        ("(or FALSE a)", "TRUE"),
        ("(numberp 1)", "TRUE"),
        ("(lexemep \"a\")", "TRUE"),
        ("(symbolp TRUE)", "TRUE"),
        ("(integerp 1.0)", "FALSE"),
        (
            "(matches \"123-45-6789\" \"^\\\\d{3}-\\\\d{2}-\\\\d{4}$\")",
            "TRUE",
        ),
        ("(fathom-matches abc \"^b\")", "FALSE"),
    ] {
        assert_eq!(
            evaluate(text).map(|value| value.to_string()),
            Ok(wanted.to_owned()),
            "{text}"
        );
    }
}

/// Cards, by a pattern that takes as many digits as it can get.
#[test]
fn a_number_is_found_whatever_stands_beside_it() {
    let pattern = "\\\\b[2-6](?:[ -]?\\\\d){12,18}\\\\b";
    for (text, wanted) in [
        ("4111111111111111", true),
        ("4111 1111 1111 1111", true),
        ("4111 1111 1111 1112", false),
        ("order 4111 1111 1111 1112, card 5500-0000-0000-0004", true),
        // The longest match is not the card.
        ("4111 1111 1111 1111 12/27", true),
        ("4111 1111 1111 1111 123", true),
        ("4111 1111 1111 1112 12/27", false),
        // The first match is not the card.
        ("2 4111 1111 1111 1111", true),
        ("4567 4111 1111 1111 1111", true),
        ("4567 8901 4111 1111 1111 1111 123", true),
        ("x4111111111111111", false),
        ("41111111111111111111111", false),
        ("", false),
        ("é4é", false),
    ] {
        let asked = format!("(luhn-matches \"{text}\" \"{pattern}\")");
        assert_eq!(evaluate(&asked), Ok(Value::boolean(wanted)), "{text}");
    }
    // Patterns that match nothing, everything or the empty text end too.
    for (pattern, wanted) in [("", false), ("1*", false), (".*", true), ("(?:\\\\d|)", false)] {
        let asked = format!("(luhn-matches \"é 18 é 1 é\" \"{pattern}\")");
        assert_eq!(evaluate(&asked), Ok(Value::boolean(wanted)), "{pattern}");
    }
}

#[test]
fn a_search_is_paid_for_by_what_it_can_see() {
    let spend = |text: &str, pattern: &str, function: &str| {
        let forms = read(&format!("({function} ?t \"{pattern}\")"), TextLimits::WHEN).unwrap();
        let mut scope = Scope::default();
        scope.bind("t", 0);
        let expression = expression::compile(&forms[0], &scope).unwrap();
        let mut meter = Meter::new(Budget::default());
        let bindings = [Some(Value::string(text))];
        let result = expression.evaluate(&bindings[..], &mut meter);
        let result = result.map(std::borrow::Cow::into_owned);
        (result, meter.used())
    };
    let prose = "lorem ipsum ".repeat(5_000);
    let digits = "\\\\d{3}-\\\\d{4}";
    let (found, price) = spend(&prose, digits, "matches");
    assert_eq!(found, Ok(Value::boolean(false)));
    assert!(price < 20_000, "nothing can match: {price}");
    let (_, price) = spend(&format!("{prose}1"), digits, "matches");
    assert!(price < 20_000, "only the end has to be searched: {price}");
    let (_, price) = spend(&format!("in 2026 {prose}"), digits, "matches");
    assert!(price < 20_000, "a year is no beginning: {price}");
    let (_, price) = spend(&format!("123-4567x{prose}"), "\\\\d{3}-\\\\d{4}\\\\b", "matches");
    assert!(price > 200_000, "all of it has to be searched: {price}");
    // A match at every place, each of which looks at all that is left: the time is quadratic, and so is the price.
    let (found, _) = spend(&"1".repeat(20_000), "(?:.*y|1)", "luhn-matches");
    assert!(matches!(found, Err(Failure::Exhausted(_))), "{found:?}");
    let (found, _) = spend(&"1 ".repeat(20_000), ".*", "luhn-matches");
    assert!(matches!(found, Ok(_) | Err(Failure::Exhausted(_))), "{found:?}");
    // Many numbers that are no cards are not.
    let numbers = "4000000000000001 ".repeat(500);
    let (found, price) = spend(&numbers, "\\\\b[2-6]\\\\d{12,18}\\\\b", "luhn-matches");
    assert_eq!(found, Ok(Value::boolean(false)), "{price}");
}

#[test]
fn what_is_too_large_is_a_budget_error() {
    for text in [
        "(matches (lowcase \"a\") (str-cat \"(a{1000}){1000}\" \"\"))".to_owned(),
        format!(
            "(matches (lowcase \"a\") (str-cat \"{}{}\" \"\"))",
            "(".repeat(300),
            ")".repeat(300)
        ),
        "(luhn-matches (lowcase \"a\") (str-cat \"((((a{90}){90}){90}){90})\" \"\"))".to_owned(),
    ] {
        let result = evaluate(&text);
        assert!(
            matches!(result, Err(Failure::Exhausted(Exhausted::Pattern(_)))),
            "{text}: {result:?}"
        );
    }
    let wrong = evaluate("(matches (lowcase \"a\") (str-cat \"(\" \"\"))");
    assert!(matches!(wrong, Err(Failure::Error(_))), "{wrong:?}");
}

#[test]
fn wrong_types_and_overflows_are_errors() {
    for text in [
        "(+ 1 a)",
        "(< \"1\" 2)",
        "(/ 1 0)",
        "(mod 5 0)",
        "(div 5 0)",
        "(** 0 -1)",
        "(+ 9223372036854775807 1)",
        "(abs -9223372036854775808)",
        "(** 10 400)",
        "(length$ abc)",
        "(str-length 5)",
        "(matches 5 \"a\")",
    ] {
        assert!(
            matches!(evaluate(text), Err(Failure::Error(_))),
            "{text}: {:?}",
            evaluate(text)
        );
    }
}

/// docs/packs.md has every function, with its number of arguments and an example that gives what it says.
#[test]
fn the_guide_lists_every_function() {
    let guide = include_str!("../../../../docs/packs.md");
    let section = guide.split("\n## Functions\n").nth(1).unwrap();
    let section = section.split("\n## ").next().unwrap();
    let mut listed = Vec::new();
    let mut scope = Scope::default();
    scope.bind("list", 0);
    let list = Value::Multifield(["a", "b", "c"].map(Value::symbol).to_vec().into());
    for line in section.lines().filter(|line| line.starts_with("| `(")) {
        let cells: Vec<&str> = line
            .split('|')
            .map(|cell| cell.trim().trim_matches('`'))
            .collect();
        let [_, call, _, example, wanted, _] = cells.as_slice() else {
            panic!("{line}");
        };
        let mut words = call.trim_matches(['(', ')']).split(' ');
        let name = words.next().unwrap();
        let (arguments, more): (Vec<&str>, Vec<&str>) = words.partition(|word| *word != "…");
        let (_, least, most) = Function::parse(name).unwrap_or_else(|| panic!("there is no {name}"));
        assert_eq!(arguments.len(), least, "{call}");
        assert_eq!(!more.is_empty(), most > least, "{call}");
        listed.push(name);
        let forms = read(example, TextLimits::WHEN).unwrap();
        assert_eq!(forms[0].head(), Some(name), "{example}");
        let expression = expression::compile(&forms[0], &scope).unwrap();
        let bindings = [Some(list.clone())];
        let found = expression
            .evaluate(&bindings[..], &mut Meter::new(Budget::default()))
            .unwrap();
        assert_eq!(found.to_string(), *wanted, "{example}");
    }
    assert_eq!(listed, Function::names().collect::<Vec<_>>());
}

/// W24: `(matches "forbidden" ?t)` was never true, and nothing said so.
#[test]
fn swapped_arguments_of_matches_are_refused() {
    let mut scope = Scope::default();
    scope.bind("t", 0);
    let compile = |text: &str| {
        let forms = read(text, TextLimits::WHEN).unwrap();
        expression::compile(&forms[0], &scope)
    };
    for name in ["matches", "fathom-matches", "luhn-matches"] {
        for second in ["?t", "(lowcase ?t)"] {
            let error = compile(&format!("({name} \"forbidden\" {second})")).unwrap_err();
            assert!(
                error.message.contains(&format!("({name} TEXT PATTERN)")),
                "{error}"
            );
            assert!(
                error.hint.contains(&format!("({name} {second} \"forbidden\")")),
                "{error}"
            );
        }
        assert!(compile(&format!("({name} ?t \"forbidden\")")).is_ok());
        assert!(compile(&format!("({name} ?t ?t)")).is_ok());
        assert!(compile(&format!("({name} \"a text\" \"a\")")).is_ok());
        let broken = compile(&format!("({name} ?t \"(\")")).unwrap_err();
        assert!(broken.message.contains("no regular expression"), "{broken}");
    }
}
