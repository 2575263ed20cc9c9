//! Versions: of the IR, and of what a pack needs from its host.

use super::error::{Stage, ValidationError, describe_text};
use super::records::PackMount;
use std::borrow::Cow;

/// The IR version this build understands.
pub const STARGRAPH_IR_VERSION: &str = "1.0.0";

/// The text is not `MAJOR.MINOR.PATCH`.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("a version is MAJOR.MINOR.PATCH, three numbers with dots between, such as {STARGRAPH_IR_VERSION}")]
pub struct VersionError;

/// Splits `MAJOR.MINOR.PATCH`. A number beyond 64 bits counts as the largest one: only its being larger matters.
pub fn parse_version(text: &str) -> Result<(u64, u64, u64), VersionError> {
    let mut parts = text.split('.').map(|part| {
        let digits = !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
        digits
            .then(|| part.parse::<u64>().unwrap_or(u64::MAX))
            .ok_or(VersionError)
    });
    let mut next = || parts.next().unwrap_or(Err(VersionError));
    let version = (next()?, next()?, next()?);
    if parts.next().is_some() {
        Err(VersionError)
    } else {
        Ok(version)
    }
}

/// The error of a version this build does not read: malformed (D12), or of another major.
pub fn check_version(ir_version: &str) -> Option<ValidationError> {
    let error = |code, expected: String, hint: String| {
        Some(ValidationError {
            stage: Stage::Version,
            code,
            path: "/ir_version".to_owned(),
            expected: Cow::Owned(expected),
            actual: Some(describe_text(ir_version)),
            hint: Cow::Owned(hint),
            span: None,
        })
    };
    let (supported, _, _) = parse_version(STARGRAPH_IR_VERSION).unwrap_or_default();
    match parse_version(ir_version) {
        Err(malformed) => error(
            "version_malformed",
            "MAJOR.MINOR.PATCH".to_owned(),
            malformed.to_string(),
        ),
        Ok((major, _, _)) if major != supported => error(
            "version_mismatch",
            format!("IR version {supported}.x.y"),
            format!(
                "version_mismatch: this build reads IR major version {supported}, the document is of major {major}"
            ),
        ),
        Ok(_) => None,
    }
}

/// A pack needs another host than this one.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "pack {pack_id:?} requires {field} {required:?}, this host has {actual:?}: use a version of the pack made for it"
)]
pub struct PackCompatError {
    /// The pack.
    pub pack_id: String,
    /// `stargraph_facts_version` or `api_version`.
    pub field: &'static str,
    /// What the pack asks for.
    pub required: String,
    /// What the host has.
    pub actual: String,
}

/// Checks what a pack requires against the host's versions: the facts version first, then the api version.
///
/// A plain version must be equal, text for text. Our extension: a range (`^1`, `~1.2`, `>=1, <3`, `1.*`) is matched by semver.
pub fn check_pack_compat(
    pack: &PackMount,
    stargraph_facts_version: &str,
    api_version: &str,
) -> Result<(), PackCompatError> {
    let Some(requires) = &pack.requires else {
        return Ok(());
    };
    let fields = [
        (
            "stargraph_facts_version",
            &requires.stargraph_facts_version,
            stargraph_facts_version,
        ),
        ("api_version", &requires.api_version, api_version),
    ];
    for (field, required, actual) in fields {
        if let Some(required) = required
            && required != actual
            && !in_range(required, actual)
        {
            return Err(PackCompatError {
                pack_id: pack.id.clone(),
                field,
                required: required.clone(),
                actual: actual.to_owned(),
            });
        }
    }
    Ok(())
}

fn in_range(required: &str, actual: &str) -> bool {
    let is_range = required.starts_with(['^', '~', '>', '<', '=', '*']) || required.ends_with(".*");
    // Hosts state "1" or "1.0"; semver wants three numbers.
    let missing = 2usize.saturating_sub(actual.matches('.').count());
    let padded = format!("{actual}{}", ".0".repeat(missing));
    match (
        semver::VersionReq::parse(required),
        semver::Version::parse(&padded),
    ) {
        (Ok(range), Ok(version)) => is_range && range.matches(&version),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ir::PackRequires;

    #[test]
    fn versions_are_three_numbers() {
        let check = |text: &str, expected: Option<(u64, u64, u64)>| {
            assert_eq!(parse_version(text).ok(), expected, "{text:?}")
        };
        check("1.2.3", Some((1, 2, 3)));
        check("01.0.0", Some((1, 0, 0)));
        check("1.99999999999999999999999.0", Some((1, u64::MAX, 0)));
        for bad in [
            "",
            "1",
            "1.0",
            "1.0.0.0",
            "1..0",
            "1.x.0",
            "v1.0.0",
            "1.0.0-rc1",
            "1.0.0+b",
            " 1.0.0",
            "1.0.0\n",
            "+1.0.0",
            "1_0.0.0",
            "١.0.0",
            "-1.0.0",
        ] {
            check(bad, None);
        }
    }

    #[test]
    fn another_major_and_a_malformed_version_are_errors() {
        let code = |text: &str| check_version(text).map(|error| error.code);
        assert_eq!(code("1.0.0"), None);
        assert_eq!(code("1.99.7"), None);
        assert_eq!(code("2.0.0"), Some("version_mismatch"));
        assert_eq!(code("0.9.0"), Some("version_mismatch"));
        assert_eq!(code("1.0"), Some("version_malformed"));
    }

    #[test]
    fn packs_are_checked_facts_version_first() {
        let pack = |facts: Option<&str>, api: Option<&str>| PackMount {
            id: "p".to_owned(),
            version: None,
            requires: Some(PackRequires {
                stargraph_facts_version: facts.map(str::to_owned),
                api_version: api.map(str::to_owned),
            }),
        };
        let check = |facts: Option<&str>, api: Option<&str>, refused: Option<&str>| {
            let answer = check_pack_compat(&pack(facts, api), "1.0", "1");
            assert_eq!(
                answer.err().map(|error| error.field),
                refused,
                "{facts:?} {api:?}"
            );
        };
        check(None, None, None);
        check(Some("1.0"), Some("1"), None);
        check(Some("1"), None, Some("stargraph_facts_version"));
        check(Some("1.0.0"), None, Some("stargraph_facts_version"));
        check(Some("2.0"), Some("2"), Some("stargraph_facts_version"));
        check(Some("1.0"), Some("2"), Some("api_version"));
        check(Some("^1"), Some("^1"), None);
        check(Some("~1.0"), Some(">=1, <2"), None);
        check(Some("1.*"), Some("*"), None);
        check(Some("^2"), None, Some("stargraph_facts_version"));
        check(Some("^nonsense"), None, Some("stargraph_facts_version"));
        check(Some(""), None, Some("stargraph_facts_version"));
    }

    #[test]
    fn a_mount_without_requirements_is_accepted() {
        let pack = PackMount {
            id: "p".to_owned(),
            version: None,
            requires: None,
        };
        assert_eq!(check_pack_compat(&pack, "9", "9"), Ok(()));
    }
}
