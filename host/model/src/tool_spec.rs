//! The descriptor of a tool, as written ([`ToolDraft`]) and as checked ([`ToolSpec`]).
//!
//! A draft comes out of a guest and is hostile; everything in it is bounded here. What the schemas *mean* (whether they
//! compile, whether they could explode) is the engine's to decide; here they must be JSON objects of a sane size.

mod draft;
mod effects;

pub use draft::{ExampleDraft, LegacySideEffects, ToolDraft};

use crate::namespace::{Namespace, ToolId, ToolName};
use crate::permission::{Permission, PermissionSet};
use crate::record::choice;
use mizzen_json::shorten;
use semver::Version;
use serde::{Deserialize, Serialize, Serializer};
use serde_json::Value;
use std::fmt;

const MAX_DESCRIPTION: usize = 4 * 1024;
const MAX_SCHEMA: usize = 256 * 1024;
const MAX_PERMISSIONS: usize = 64;
const MAX_EXAMPLES: usize = 64;
const MAX_EXAMPLE: usize = 64 * 1024;
const MAX_TAGS: usize = 32;
const MAX_TEXT: usize = 128;
const MAX_VERSION: usize = 64;

/// The field of a [`ToolProblem`] about a claim that is weaker than the tool's permissions.
pub const SIDE_EFFECTS: &str = "side_effects";

choice! {
    /// How a tool touches the world, the weakest effect first.
    #[derive(Default, PartialOrd, Ord, Serialize, Deserialize)]
    #[serde(rename_all = "lowercase")]
    pub enum SideEffects {
        /// A function of its input and nothing else.
        #[default]
        None = "none",
        /// Reads state outside of the sandbox.
        Read = "read",
        /// Changes state that the host keeps.
        Write = "write",
        /// Changes state that the host does not keep.
        External = "external",
    }
}

impl SideEffects {
    /// The legacy form, in which a tool had side effects or had none.
    pub const fn up_converted(legacy: bool) -> Self {
        if legacy { Self::Write } else { Self::None }
    }

    /// Whether it changes nothing: a `cleared` host runs it (D18), and it can be done again after a crash.
    pub const fn is_harmless(self) -> bool {
        matches!(self, Self::None | Self::Read)
    }
}

choice! {
    /// What a replay of a recorded run does with a call. The underscore spelling is read too (D19).
    #[derive(Default, PartialOrd, Ord, Serialize)]
    #[serde(rename_all = "kebab-case")]
    pub enum ReplayPolicy {
        /// A stand-in must be supplied; the call is never made again.
        #[default]
        MustStub = "must-stub" also "must_stub",
        /// A replay that reaches the call stops with an error.
        FailLoud = "fail-loud" also "fail_loud",
        /// The result that was recorded is given again.
        RecordedResult = "recorded-result" also "recorded_result",
    }
}

/// An amount as decimal text, such as `0.0025`; never a float.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Decimal(String);

impl Decimal {
    /// Reads digits with an optional fraction, at most 32 characters.
    pub fn parse(text: &str) -> Option<Self> {
        let (whole, fraction) = text
            .split_once('.')
            .map_or((text, None), |(whole, part)| (whole, Some(part)));
        let digits = |part: &str| !part.is_empty() && part.bytes().all(|b| b.is_ascii_digit());
        let fits = text.len() <= 32
            && digits(whole)
            && fraction.is_none_or(digits)
            && (whole == "0" || !whole.starts_with('0'));
        fits.then(|| Self(text.to_owned()))
    }

    /// The text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Decimal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl Serialize for Decimal {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.0)
    }
}

/// An input and, where the answer is determined by it, the output. `mizzen plugin test` runs them.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Example {
    /// What the example shows.
    pub name: String,
    /// The input.
    pub input: Value,
    /// The output that must come back; none when only success is expected.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub output: Option<Value>,
}

/// A checked tool.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ToolSpec {
    name: ToolName,
    namespace: Namespace,
    version: Version,
    description: String,
    input_schema: Value,
    output_schema: Value,
    side_effects: SideEffects,
    replay_policy: ReplayPolicy,
    permissions: PermissionSet,
    idempotency_key: Option<String>,
    cost_estimate: Option<Decimal>,
    examples: Vec<Example>,
    tags: Vec<String>,
    deprecated: bool,
}

/// One thing that is wrong with a described tool.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error, Serialize)]
#[error("{field}: {message}")]
pub struct ToolProblem {
    /// The field of the descriptor.
    pub field: &'static str,
    /// What is wrong, and what is expected.
    pub message: String,
}

impl ToolSpec {
    /// Checks a draft.
    ///
    /// # Errors
    /// With everything that is wrong with it.
    pub fn check(draft: ToolDraft) -> Result<Self, Vec<ToolProblem>> {
        let mut problems = Vec::new();
        let mut wrong = |field: &'static str, message: String| problems.push(ToolProblem { field, message });
        let name = ToolName::parse(&draft.name)
            .map_err(|error| wrong("name", error.to_string()))
            .ok();
        let namespace = Namespace::parse(&draft.namespace)
            .map_err(|error| wrong("namespace", error.to_string()))
            .ok();
        let version = match Version::parse(&draft.version) {
            Ok(version) if draft.version.len() <= MAX_VERSION => Some(version),
            _ => {
                wrong(
                    "version",
                    format!(
                        "`{}` is not a SemVer version of at most {MAX_VERSION} characters",
                        shorten(&draft.version)
                    ),
                );
                None
            }
        };
        if draft.description.trim().is_empty() || draft.description.len() > MAX_DESCRIPTION {
            wrong(
                "description",
                format!(
                    "it has {} bytes; write 1 to {MAX_DESCRIPTION}",
                    draft.description.len()
                ),
            );
        }
        let mut schema = |field: &'static str, text: &str| match bounded_json(text, MAX_SCHEMA) {
            Ok(value) if value.is_object() => Some(value),
            Ok(_) => {
                wrong(field, "a schema is a JSON object".to_owned());
                None
            }
            Err(error) => {
                wrong(field, error);
                None
            }
        };
        let input_schema = schema("input_schema", &draft.input_schema);
        let output_schema = schema("output_schema", &draft.output_schema);
        if draft.permissions.len() > MAX_PERMISSIONS {
            wrong("permissions", format!("there are more than {MAX_PERMISSIONS}"));
        }
        let mut permissions = Vec::new();
        for text in draft.permissions.iter().take(MAX_PERMISSIONS) {
            match Permission::parse(text) {
                Ok(permission) => permissions.push(permission),
                Err(error) => wrong("permissions", error.to_string()),
            }
        }
        // D22: a claim that is too weak would be believed by profiles, recovery and retries.
        let strongest = permissions
            .iter()
            .max_by_key(|permission| SideEffects::of_permission(permission));
        if let Some(permission) = strongest
            && SideEffects::of_permission(permission) > draft.side_effects
        {
            let least = SideEffects::of_permission(permission);
            wrong(
                SIDE_EFFECTS,
                format!(
                    "it claims `{}`, and its permission `{permission}` is at least `{least}`; write side_effects = \"{least}\"",
                    draft.side_effects
                ),
            );
        }
        if let Some(key) = &draft.idempotency_key {
            let declared = input_schema
                .as_ref()
                .and_then(|schema| schema.get("properties"))
                .and_then(|all| all.get(key));
            if key.is_empty() || key.len() > MAX_TEXT || declared.is_none() {
                wrong(
                    "idempotency_key",
                    format!(
                        "`{}` is not a property of the input schema; name one of its top-level properties",
                        shorten(key)
                    ),
                );
            }
        }
        let cost_estimate = draft.cost_estimate.as_deref().and_then(|text| {
            let parsed = Decimal::parse(text);
            if parsed.is_none() {
                wrong(
                    "cost_estimate",
                    format!("`{}` is not a decimal such as 0.0025", shorten(text)),
                );
            }
            parsed
        });
        if draft.examples.len() > MAX_EXAMPLES {
            wrong("examples", format!("there are more than {MAX_EXAMPLES}"));
        }
        let mut examples = Vec::new();
        for example in draft.examples.iter().take(MAX_EXAMPLES) {
            let output = example
                .output
                .as_deref()
                .map(|text| bounded_json(text, MAX_EXAMPLE))
                .transpose();
            match (bounded_json(&example.input, MAX_EXAMPLE), output) {
                (Ok(input), Ok(output)) if example.name.len() <= MAX_TEXT => {
                    examples.push(Example {
                        name: example.name.clone(),
                        input,
                        output,
                    });
                }
                (Err(error), _) | (_, Err(error)) => {
                    wrong("examples", format!("`{}`: {error}", shorten(&example.name)))
                }
                _ => wrong(
                    "examples",
                    format!("the name `{}` is too long", shorten(&example.name)),
                ),
            }
        }
        let tag_fits =
            |tag: &String| !tag.is_empty() && tag.len() <= MAX_TEXT && !tag.chars().any(char::is_control);
        if draft.tags.len() > MAX_TAGS || !draft.tags.iter().all(tag_fits) {
            wrong(
                "tags",
                format!("write at most {MAX_TAGS}, each of 1 to {MAX_TEXT} bytes"),
            );
        }
        let parts = (name, namespace, version, input_schema, output_schema);
        let (Some(name), Some(namespace), Some(version), Some(input_schema), Some(output_schema)) = parts
        else {
            return Err(problems);
        };
        if !problems.is_empty() {
            return Err(problems);
        }
        Ok(Self {
            name,
            namespace,
            version,
            description: draft.description,
            input_schema,
            output_schema,
            side_effects: draft.side_effects,
            replay_policy: draft.replay_policy,
            permissions: permissions.into_iter().collect(),
            idempotency_key: draft.idempotency_key,
            cost_estimate,
            examples,
            tags: draft.tags,
            deprecated: draft.deprecated,
        })
    }

    /// The full id, `namespace.name`.
    pub fn id(&self) -> ToolId {
        ToolId::new(&self.namespace, &self.name)
    }

    /// The name inside of the namespace.
    pub const fn name(&self) -> &ToolName {
        &self.name
    }

    /// The namespace.
    pub const fn namespace(&self) -> &Namespace {
        &self.namespace
    }

    /// The tool's own version.
    pub const fn version(&self) -> &Version {
        &self.version
    }

    /// For the person or model that chooses a tool.
    pub fn description(&self) -> &str {
        &self.description
    }

    /// JSON Schema of the input: an object.
    pub const fn input_schema(&self) -> &Value {
        &self.input_schema
    }

    /// JSON Schema of the output: an object.
    pub const fn output_schema(&self) -> &Value {
        &self.output_schema
    }

    /// How it touches the world.
    pub const fn side_effects(&self) -> SideEffects {
        self.side_effects
    }

    /// What a replay does with a call.
    pub const fn replay_policy(&self) -> ReplayPolicy {
        self.replay_policy
    }

    /// The permissions it asks for.
    pub const fn permissions(&self) -> &PermissionSet {
        &self.permissions
    }

    /// The top-level input property whose value makes repeated calls the same call.
    pub fn idempotency_key(&self) -> Option<&str> {
        self.idempotency_key.as_deref()
    }

    /// What one call costs, as an estimate.
    pub const fn cost_estimate(&self) -> Option<&Decimal> {
        self.cost_estimate.as_ref()
    }

    /// Examples, run as tests.
    pub fn examples(&self) -> &[Example] {
        &self.examples
    }

    /// Words to find the tool by.
    pub fn tags(&self) -> &[String] {
        &self.tags
    }

    /// Still works, but should no longer be chosen.
    pub const fn deprecated(&self) -> bool {
        self.deprecated
    }
}

/// JSON text of at most `max` bytes; `serde_json` itself refuses what nests deeper than 128.
fn bounded_json(text: &str, max: usize) -> Result<Value, String> {
    if text.len() > max {
        return Err(format!("it has {} bytes; at most {max} are allowed", text.len()));
    }
    serde_json::from_str(text).map_err(|error| format!("it is not JSON: {error}"))
}

#[cfg(test)]
mod tests;
