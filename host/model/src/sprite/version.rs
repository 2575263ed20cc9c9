//! The version of a sprite: SemVer 2.0.0, all of it.
//!
//! The `semver` crate judges and orders pre-releases and build metadata. The three numbers are kept as digits: SemVer and the JSON Schema
//! allow more than 64 bits of each. [`SemVer::precedence`] is the order, and not `Ord`, because build metadata has none (D9).

use semver::{BuildMetadata, Prerelease};
use std::cmp::Ordering;
use std::fmt;

/// The expression that semver.org publishes.
pub const SEMVER_PATTERN: &str = concat!(
    r"^(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)",
    r"(?:-((?:0|[1-9]\d*|\d*[a-zA-Z-][0-9a-zA-Z-]*)(?:\.(?:0|[1-9]\d*|\d*[a-zA-Z-][0-9a-zA-Z-]*))*))?",
    r"(?:\+([0-9a-zA-Z-]+(?:\.[0-9a-zA-Z-]+)*))?$"
);
/// The longest version, in characters.
pub const SEMVER_MAX: usize = 256;

/// A text that is not a version.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("not a version: expected SemVer 2.0.0 such as 1.0.0, 1.0.0-alpha.1 or 1.0.0+build.123")]
pub struct NotAVersion;

/// A SemVer 2.0.0 version. Equality is equality of the text; [`SemVer::precedence`] is the order.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct SemVer(String);

/// The numbers and the pre-release of a version.
struct Parts<'a> {
    core: [&'a str; 3],
    pre_release: Prerelease,
}

fn is_number(text: &str) -> bool {
    !text.is_empty()
        && text.bytes().all(|byte| byte.is_ascii_digit())
        && (text == "0" || !text.starts_with('0'))
}

fn split(text: &str) -> Option<Parts<'_>> {
    let (rest, build) = match text.split_once('+') {
        Some((rest, build)) => (rest, Some(build)),
        None => (text, None),
    };
    let (core, pre_release) = match rest.split_once('-') {
        Some((core, pre_release)) => (core, Some(pre_release)),
        None => (rest, None),
    };
    let mut numbers = core.split('.');
    let core = [numbers.next()?, numbers.next()?, numbers.next()?];
    let valid = numbers.next().is_none()
        && core.iter().all(|number| is_number(number))
        // An empty one is the crate's way to say that there is none.
        && build.is_none_or(|text| BuildMetadata::new(text).is_ok_and(|build| !build.is_empty()));
    let pre_release = match pre_release {
        None => Prerelease::EMPTY,
        Some(text) => Prerelease::new(text).ok().filter(|pre| !pre.is_empty())?,
    };
    valid.then_some(Parts { core, pre_release })
}

/// Whether a text follows [`SEMVER_PATTERN`]; the length is judged separately.
pub(crate) fn is_semver(text: &str) -> bool {
    split(text).is_some()
}

/// Compares numbers of any size: without leading zeros, the longer one is greater.
fn compare_numbers(left: &str, right: &str) -> Ordering {
    left.len().cmp(&right.len()).then_with(|| left.cmp(right))
}

impl SemVer {
    /// Reads a version.
    ///
    /// # Errors
    /// [`NotAVersion`] when the text is not SemVer 2.0.0 or longer than [`SEMVER_MAX`].
    pub fn parse(text: &str) -> Result<Self, NotAVersion> {
        if text.len() <= SEMVER_MAX && is_semver(text) {
            Ok(Self(text.to_owned()))
        } else {
            Err(NotAVersion)
        }
    }

    /// The text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// SemVer precedence (section 11): build metadata does not count.
    pub fn precedence(&self, other: &SemVer) -> Ordering {
        let (Some(left), Some(right)) = (split(&self.0), split(&other.0)) else {
            // Unreachable: both texts were split when they were parsed.
            return self.0.cmp(&other.0);
        };
        let core = left
            .core
            .iter()
            .zip(right.core)
            .map(|(a, b)| compare_numbers(a, b));
        let core = core.fold(Ordering::Equal, Ordering::then);
        core.then_with(|| left.pre_release.cmp(&right.pre_release))
    }
}

impl fmt::Display for SemVer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_semver_2() {
        for good in [
            "0.0.0",
            "1.2.3",
            "1.0.0-alpha",
            "1.0.0-alpha.1",
            "1.0.0-0.3.7",
            "1.0.0-x-y-z.--",
            "1.0.0+20130313144700",
            "1.0.0-beta+exp.sha.5114f85",
            "1.0.0+001",
            "99999999999999999999999.999999999999999999.99999999999999999",
            "1.0.0-0A.is.legal",
            "1.0.0--",
        ] {
            assert!(SemVer::parse(good).is_ok(), "{good}");
        }
        for bad in [
            "",
            "1",
            "1.2",
            "1.2.3.4",
            "01.1.1",
            "1.01.1",
            "1.1.01",
            "1.2.3-",
            "1.2.3+",
            "1.2.3-01",
            "1.2.3-a..b",
            "v1.2.3",
            "1.2.3 ",
            "1.2.3\n",
            "1.2.3-é",
            "1.2.3+a+b",
            "1.2.3-a_b",
            "-1.0.3",
            "^1.2.3",
            "1.2.x",
        ] {
            assert_eq!(SemVer::parse(bad), Err(NotAVersion), "{bad:?}");
        }
        assert!(SemVer::parse(&format!("1.0.0-{}", "a".repeat(251))).is_err());
    }

    #[test]
    fn precedence_is_that_of_the_specification() {
        let ascending = [
            "0.9.9",
            "1.0.0-1",
            "1.0.0-2",
            "1.0.0-10",
            "1.0.0-alpha",
            "1.0.0-alpha.1",
            "1.0.0-alpha.beta",
            "1.0.0-beta",
            "1.0.0-beta.2",
            "1.0.0-beta.11",
            "1.0.0-rc.1",
            "1.0.0-rc.18446744073709551615",
            "1.0.0-rc.18446744073709551616",
            "1.0.0",
            "1.0.1",
            "1.10.0",
            "2.0.0",
            "18446744073709551616.0.0",
            "18446744073709551617.0.0",
        ];
        let versions: Vec<SemVer> = ascending
            .iter()
            .map(|text| SemVer::parse(text).unwrap())
            .collect();
        for (i, left) in versions.iter().enumerate() {
            for (j, right) in versions.iter().enumerate() {
                assert_eq!(left.precedence(right), i.cmp(&j), "{left} {right}");
            }
        }
    }

    #[test]
    fn build_metadata_has_no_precedence() {
        let one = SemVer::parse("1.0.0+a").unwrap();
        let other = SemVer::parse("1.0.0+b").unwrap();
        assert!(one.precedence(&other).is_eq());
        assert_ne!(one, other);
    }
}
