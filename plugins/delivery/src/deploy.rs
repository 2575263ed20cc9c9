//! `delivery.deploy`.

use crate::language::is_name;
use crate::releases::{Environment, Release, keep, newest, url};
use mizzen_sdk::prelude::*;

/// What to release, and where.
#[input]
pub struct Deploy {
    /// What is released: lower-case letters, digits and _.
    #[schemars(length(min = 1, max = 40))]
    service: String,
    /// Where it is to run.
    environment: Environment,
    /// The code.
    #[schemars(length(min = 1, max = 65_536))]
    code: String,
    /// Whether a reviewer approved it; nothing else is released.
    approved: bool,
}

/// A release.
#[output]
#[derive(Debug, PartialEq, Eq)]
pub struct Deployed {
    /// Its address: `delivery.released` reads it.
    url: String,
    /// Counts the releases of the service in the environment, from 1.
    revision: u32,
    /// BLAKE3 of the code.
    digest: String,
    /// The revision that it takes the place of.
    replaces: Option<u32>,
}

/// Releases reviewed code: keeps it in the plugin's store as the newest revision of a service. The same code again is the same release.
#[tool(
    side_effects = "write",
    permissions = ["kv:read", "kv:write"],
    idempotency_key = "code",
    tags = ["deploy", "release"],
    example(
        name = "releases a first revision",
        input = { "service": "area", "environment": "staging", "code": "pub fn area() {}\n", "approved": true },
        output = {
            "url": "delivery://staging/area/1", "revision": 1, "replaces": null,
            "digest": "blake3:9c56a5843e4132d76a6184a8762cd7415b2b111874e2347f12a086a2266a5aee"
        }
    )
)]
pub fn deploy(input: Deploy) -> Result<Deployed, ToolError> {
    if !input.approved {
        return Err(ToolError::denied(
            "only code that a reviewer approved is released",
        ));
    }
    if !is_name(&input.service) {
        return Err(ToolError::invalid_input(
            "/service",
            "write lower-case letters, digits and _, and no word that a language keeps for itself",
        ));
    }
    let digest = format!("blake3:{}", blake3::hash(input.code.as_bytes()).to_hex());
    let before = newest(input.environment, &input.service)?;
    let (revision, replaces) = match &before {
        // Released already, perhaps by a call whose output was lost.
        Some(release) if release.digest == digest => (release.revision, release.revision.checked_sub(1)),
        Some(release) => (release.revision.saturating_add(1), Some(release.revision)),
        None => (1, None),
    };
    if before.is_none_or(|release| release.revision != revision) {
        let release = Release {
            revision,
            digest: digest.clone(),
            code: input.code,
        };
        keep(input.environment, &input.service, &release)?;
    }
    Ok(Deployed {
        url: url(input.environment, &input.service, revision),
        revision,
        digest,
        replaces: replaces.filter(|revision| *revision > 0),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::released::{Address, released};
    use mizzen_sdk::testing::Host;

    fn request(code: &str) -> Deploy {
        Deploy {
            service: "area".to_owned(),
            environment: Environment::Production,
            code: code.to_owned(),
            approved: true,
        }
    }

    #[test]
    fn revisions_count_up_and_the_same_code_is_the_same_release() {
        let ((), _) = Host::new().run(|| {
            let release = |code: &str| {
                let deployed = deploy(request(code)).unwrap();
                (deployed.revision, deployed.replaces)
            };
            assert_eq!(release("one"), (1, None));
            assert_eq!(release("one"), (1, None));
            assert_eq!(release("two"), (2, Some(1)));
            assert_eq!(release("two"), (2, Some(1)));
            assert_eq!(release("one"), (3, Some(2)));
            let first = released(Address {
                url: "delivery://production/area/1".to_owned(),
            });
            assert_eq!(first.unwrap().release.unwrap().code, "one");
        });
    }

    #[test]
    fn what_nobody_approved_is_not_released() {
        let ((), host) = Host::new().run(|| {
            let refused = deploy(Deploy {
                approved: false,
                ..request("one")
            });
            assert!(matches!(refused, Err(ToolError::Denied(_))));
            let refused = deploy(Deploy {
                service: "../area".to_owned(),
                ..request("one")
            });
            assert!(matches!(refused, Err(ToolError::InvalidInput { .. })));
        });
        let (newest, _) = host.run(|| newest(Environment::Production, "area"));
        assert_eq!(newest, Ok(None));
    }
}
