//! `delivery.released`.

use crate::releases::at;
use mizzen_sdk::prelude::*;

/// Where to look.
#[input]
pub struct Address {
    /// The address that `delivery.deploy` gave.
    #[schemars(length(max = 256))]
    pub url: String,
}

/// What is there.
#[output]
#[derive(Debug, PartialEq, Eq)]
pub struct Found {
    /// The release, if there is one.
    pub release: Option<Shown>,
}

/// A release.
#[output]
#[derive(Debug, PartialEq, Eq)]
pub struct Shown {
    /// Counts the releases of its service in its environment, from 1.
    revision: u32,
    /// BLAKE3 of the code.
    digest: String,
    /// The code.
    pub code: String,
}

/// Shows what was released at an address.
#[tool(
    side_effects = "read",
    permissions = ["kv:read"],
    tags = ["release"],
    example(name = "finds nothing where nothing was released", input = { "url": "delivery://staging/nothing/1" }, output = { "release": null })
)]
pub fn released(input: Address) -> Result<Found, ToolError> {
    let release = at(&input.url)?.map(|release| Shown {
        revision: release.revision,
        digest: release.digest,
        code: release.code,
    });
    Ok(Found { release })
}
