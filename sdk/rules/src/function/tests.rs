use super::*;
use crate::budget::Budget;
use crate::expression::{self, Scope};
use crate::reader::{TextLimits, read};

fn evaluate(text: &str) -> Result<Value, Failure> {
    let forms = read(text, TextLimits::WHEN).unwrap();
    let expression = expression::compile(&forms[0], &Scope::default()).unwrap();
    expression.evaluate(&[], &mut Meter::new(Budget::default()))
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
