//! The small grammars of the contract that a macro can check: names, namespaces, permissions, versions, money.
//!
//! The host checks all of them again; a compile error only comes sooner and points at the line.

use proc_macro2::Span;
use syn::{Error, LitStr, Result};

/// Parses a string literal against a rule, or says what was expected.
fn check(literal: &LitStr, valid: impl Fn(&str) -> bool, expected: &str) -> Result<String> {
    let text = literal.value();
    if valid(&text) {
        Ok(text)
    } else {
        Err(Error::new(literal.span(), format!("`{text}` is not {expected}")))
    }
}

fn is_word(text: &str, longest: usize) -> bool {
    let mut characters = text.chars();
    text.len() <= longest
        && characters.next().is_some_and(|first| first.is_ascii_lowercase())
        && characters.all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_' || c == '-')
}

/// A tool's name, wherever it comes from.
pub(crate) fn tool_name(text: &str, span: Span) -> Result<String> {
    if is_word(text, 64) {
        return Ok(text.to_owned());
    }
    Err(Error::new(
        span,
        format!("`{text}` is not a tool name: [a-z][a-z0-9_-]{{0,63}}; set one with name = \"…\""),
    ))
}

/// A namespace: words joined by dots.
pub(crate) fn namespace(literal: &LitStr) -> Result<String> {
    check(
        literal,
        |text| text.len() <= 128 && text.split('.').all(|segment| is_word(segment, 128)),
        "a namespace: words of [a-z][a-z0-9_-]* joined by `.`, at most 128 characters",
    )
}

/// A permission: `name` or `name:scope`.
pub(crate) fn permission(literal: &LitStr) -> Result<String> {
    check(
        literal,
        |text| {
            let (name, scope) = match text.split_once(':') {
                Some((name, scope)) => (name, Some(scope)),
                None => (text, None),
            };
            let name_fits = name.split('.').all(|segment| is_word(segment, 128));
            let scope_fits =
                scope.is_none_or(|scope| !scope.is_empty() && scope.chars().all(|c| c.is_ascii_graphic()));
            text.len() <= 256 && name_fits && scope_fits
        },
        "a permission: `name` or `name:scope`, such as `clock` or `net:api.example.com`",
    )
}

/// A SemVer version, checked for shape.
pub(crate) fn version(literal: &LitStr) -> Result<String> {
    check(literal, is_semver, "a SemVer version such as 1.4.0")
}

fn is_semver(text: &str) -> bool {
    let (text, build) = match text.split_once('+') {
        Some((text, build)) => (text, Some(build)),
        None => (text, None),
    };
    let (core, pre) = match text.split_once('-') {
        Some((core, pre)) => (core, Some(pre)),
        None => (text, None),
    };
    let number = |part: &str| {
        !part.is_empty()
            && part.bytes().all(|b| b.is_ascii_digit())
            && (part.len() == 1 || !part.starts_with('0'))
    };
    let identifier =
        |part: &str| !part.is_empty() && part.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-');
    let numeric = |part: &str| part.bytes().all(|b| b.is_ascii_digit());
    core.split('.').count() == 3
        && core.split('.').all(number)
        && pre.is_none_or(|pre| {
            pre.split('.')
                .all(|part| identifier(part) && (!numeric(part) || number(part)))
        })
        && build.is_none_or(|build| build.split('.').all(identifier))
}

/// Money as decimal text; never a float.
pub(crate) fn decimal(literal: &LitStr) -> Result<String> {
    check(
        literal,
        |text| {
            let (whole, fraction) = match text.split_once('.') {
                Some((whole, fraction)) => (whole, Some(fraction)),
                None => (text, None),
            };
            let digits = |part: &str| !part.is_empty() && part.bytes().all(|b| b.is_ascii_digit());
            text.len() <= 40 && digits(whole) && fraction.is_none_or(digits)
        },
        "an amount such as \"0.0025\"",
    )
}

#[cfg(test)]
mod tests {
    use super::is_semver;

    #[test]
    fn versions_are_semver_or_refused() {
        for good in [
            "0.1.0",
            "1.0.0-alpha.1",
            "1.0.0-0a",
            "1.2.3+build.007",
            "10.20.30-rc-1+x",
        ] {
            assert!(is_semver(good), "{good}");
        }
        for bad in [
            "", "1", "1.0", "1.0.0.0", "01.0.0", "1.0.0-", "1.0.0-01", "1.0.0+", "v1.0.0", "1.0.0-ä",
        ] {
            assert!(!is_semver(bad), "{bad}");
        }
    }
}
