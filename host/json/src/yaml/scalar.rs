//! What a scalar means: the core schema of YAML 1.2. `yes`, `no`, `on` and `off` are texts there, and so they are here.

use crate::Integer;
use saphyr_parser::Tag;

#[derive(Debug, PartialEq)]
pub(super) enum Scalar {
    Null,
    Bool(bool),
    Int(Integer),
    Float(f64),
    Text,
}

/// The meaning of a scalar by its tag, or by its looks when it is plain.
pub(super) fn resolve(text: &str, plain: bool, tag: Option<&Tag>) -> Result<Scalar, String> {
    let Some(tag) = tag else {
        return if plain { by_looks(text) } else { Ok(Scalar::Text) };
    };
    let meaning = match tag.suffix.as_str() {
        "str" if tag.is_yaml_core_schema() => return Ok(Scalar::Text),
        // The lone `!` only says "not plain".
        "" if tag.handle == "!" => return Ok(Scalar::Text),
        "null" | "bool" | "int" | "float" if tag.is_yaml_core_schema() => by_looks(text)?,
        _ => return Err(format!("the tag {tag} has no meaning in JSON: remove it")),
    };
    let fits = matches!(
        (&meaning, tag.suffix.as_str()),
        (Scalar::Null, "null")
            | (Scalar::Bool(_), "bool")
            | (Scalar::Int(_), "int" | "float")
            | (Scalar::Float(_), "float")
    );
    match (fits, meaning) {
        (true, Scalar::Int(integer)) if tag.suffix == "float" => {
            let value: f64 = integer.to_string().parse().unwrap_or(f64::INFINITY);
            if value.is_finite() {
                Ok(Scalar::Float(value))
            } else {
                Err(out_of_range())
            }
        }
        (true, meaning) => Ok(meaning),
        (false, _) => Err(format!(
            "this is no !!{}: correct it or remove the tag",
            tag.suffix
        )),
    }
}

fn out_of_range() -> String {
    "the number is too large for a 64-bit float: write it as a string".to_owned()
}

fn by_looks(text: &str) -> Result<Scalar, String> {
    Ok(match text {
        "" | "~" | "null" | "Null" | "NULL" => Scalar::Null,
        "true" | "True" | "TRUE" => Scalar::Bool(true),
        "false" | "False" | "FALSE" => Scalar::Bool(false),
        _ => {
            let starts_like_number =
                text.starts_with(|c: char| c.is_ascii_digit() || matches!(c, '+' | '-' | '.'));
            if !starts_like_number {
                return Ok(Scalar::Text);
            }
            return number(text);
        }
    })
}

fn number(text: &str) -> Result<Scalar, String> {
    let unsigned = text.strip_prefix(['+', '-']).unwrap_or(text);
    if matches!(unsigned, ".inf" | ".Inf" | ".INF" | ".nan" | ".NaN" | ".NAN") {
        return Err("JSON has no NaN and no Infinity: use null or a string".to_owned());
    }
    for (prefix, radix) in [("0x", 16), ("0o", 8)] {
        if let Some(digits) = text.strip_prefix(prefix)
            && !digits.is_empty()
            && digits.chars().all(|c| c.is_digit(radix))
        {
            let value = i64::from_str_radix(digits, radix)
                .map_err(|_| "the number does not fit 64 bits: write it in decimal digits".to_owned())?;
            return Ok(Scalar::Int(Integer::from(value)));
        }
    }
    if let Some(integer) =
        Integer::parse(text.strip_prefix('+').unwrap_or(text)).filter(|_| is_digits(unsigned))
    {
        return Ok(Scalar::Int(integer));
    }
    if !is_float(unsigned) {
        return Ok(Scalar::Text);
    }
    match text.parse::<f64>() {
        Ok(value) if value.is_finite() => Ok(Scalar::Float(value)),
        Ok(_) => Err(out_of_range()),
        Err(_) => Ok(Scalar::Text),
    }
}

fn is_digits(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

/// `(\. [0-9]+ | [0-9]+ (\. [0-9]*)?) ([eE] [-+]? [0-9]+)?`
fn is_float(unsigned: &str) -> bool {
    let (mantissa, exponent) = match unsigned.split_once(['e', 'E']) {
        Some((mantissa, exponent)) => (
            mantissa,
            Some(exponent.strip_prefix(['+', '-']).unwrap_or(exponent)),
        ),
        None => (unsigned, None),
    };
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let digits_or_nothing = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    (is_digits(whole) || (whole.is_empty() && is_digits(fraction)))
        && digits_or_nothing(fraction)
        && exponent.is_none_or(is_digits)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plain_scalars_follow_the_core_schema() {
        let check = |text: &str, expected: Scalar| assert_eq!(by_looks(text), Ok(expected), "{text}");
        check("", Scalar::Null);
        check("~", Scalar::Null);
        check("TRUE", Scalar::Bool(true));
        check("yes", Scalar::Text);
        check("off", Scalar::Text);
        check("12", Scalar::Int(12.into()));
        check("+12", Scalar::Int(12.into()));
        check("-0", Scalar::Int(0.into()));
        check("012", Scalar::Int(12.into()));
        check("0x1F", Scalar::Int(31.into()));
        check("0o17", Scalar::Int(15.into()));
        check("1.5", Scalar::Float(1.5));
        check("1.", Scalar::Float(1.0));
        check(".5", Scalar::Float(0.5));
        check("-1e3", Scalar::Float(-1000.0));
        check("1.0.0", Scalar::Text);
        check("1:30", Scalar::Text);
        check("-", Scalar::Text);
        check("+-1", Scalar::Text);
        check(".", Scalar::Text);
        check("1e", Scalar::Text);
        check("0x", Scalar::Text);
        check("infinity", Scalar::Text);
        check("-inf", Scalar::Text);
        assert!(by_looks(".inf").is_err());
        assert!(by_looks("-.nan").is_err());
        assert!(by_looks("1e999").is_err());
    }
}
