//! The releases that the plugin keeps, and their addresses.

use mizzen_sdk::kv;
use mizzen_sdk::prelude::*;
use serde::{Deserialize, Serialize};

/// Where something runs.
#[input]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
pub enum Environment {
    /// For trying.
    Staging,
    /// For everybody.
    Production,
}

impl Environment {
    const fn as_str(self) -> &'static str {
        match self {
            Self::Staging => "staging",
            Self::Production => "production",
        }
    }
}

/// A release, as it is kept.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Release {
    /// Counts the releases of a service in an environment, from 1.
    pub revision: u32,
    /// BLAKE3 of the code.
    pub digest: String,
    /// The code.
    pub code: String,
}

/// How long a release's address begins.
const SCHEME: &str = "delivery://";

/// The address of a release, which is also the end of its key.
pub fn url(environment: Environment, service: &str, revision: u32) -> String {
    format!("{SCHEME}{}/{service}/{revision}", environment.as_str())
}

/// The newest release of a service.
pub fn newest(environment: Environment, service: &str) -> Result<Option<Release>, ToolError> {
    read(&format!("newest/{}/{service}", environment.as_str()))
}

/// The release at an address.
pub fn at(url: &str) -> Result<Option<Release>, ToolError> {
    let place = url
        .strip_prefix(SCHEME)
        .filter(|place| place.split('/').count() == 3)
        .ok_or_else(|| ToolError::invalid_input("/url", "write delivery://ENVIRONMENT/SERVICE/REVISION"))?;
    read(&format!("release/{place}"))
}

/// Keeps a release. Its own record first: a newest release that cannot be found must not exist.
pub fn keep(environment: Environment, service: &str, release: &Release) -> Result<(), ToolError> {
    let bytes = serde_bytes(release)?;
    let place = format!("{}/{service}", environment.as_str());
    kv::set(&format!("release/{place}/{}", release.revision), &bytes)?;
    kv::set(&format!("newest/{place}"), &bytes)
}

fn serde_bytes(release: &Release) -> Result<Vec<u8>, ToolError> {
    let value = json!({ "revision": release.revision, "digest": release.digest, "code": release.code });
    Ok(value.to_string().into_bytes())
}

fn read(key: &str) -> Result<Option<Release>, ToolError> {
    let damaged = || ToolError::failed("RELEASE_DAMAGED", format!("{key} cannot be read"));
    let Some(bytes) = kv::get(key)? else {
        return Ok(None);
    };
    let text = String::from_utf8(bytes).map_err(|_| damaged())?;
    let value: Value = text.parse().map_err(|_| damaged())?;
    Release::deserialize(value).map(Some).map_err(|_| damaged())
}
