//! Mounted packs: where a Bosun pack governs, and the words that packs answer in.
//!
//! A mount stands in a council, in a chain, in `mizzen.toml` for the whole host, or in an IR document's `governance`
//! (whose record, [`ir::PackMount`], is the seed's to the letter: it has no `mode` and is mandatory).

use crate::facts::FACTS_VERSION;
use crate::ir::{self, PackCompatError, PackRequires, check_pack_compat};
use crate::manifest::API_VERSION;
use crate::record::{Field, FieldKind, Fields, Format, ObjectWriter, Record, choice};
use mizzen_json::Json;

/// The longest id of a pack, in characters.
pub const PACK_ID_MAX: usize = 128;
/// The form of a pack's id: the IR's stable slug.
pub const PACK_ID_PATTERN: &str = r"^[a-z0-9][a-z0-9_.\-]{0,127}$";
/// The most mounts of one council, chain or host.
pub const MOUNTS_MAX: usize = 64;
const REQUIREMENT: FieldKind = FieldKind::text(1, 64);

/// The table of what a mount needs of its host.
pub static PACK_REQUIRES: Record = Record {
    name: "PackRequires",
    about: "Which host a pack needs; checked when the mount is registered, and when the pack is loaded.",
    fields: &[
        Field::optional(
            "stargraph_facts_version",
            REQUIREMENT,
            "The version of the fact vocabulary, such as 1.0; a range such as ^1 may be written.",
        ),
        Field::optional(
            "api_version",
            REQUIREMENT,
            "The version of the plugin contract, such as 1; a range may be written.",
        ),
    ],
};

/// A mount's table.
pub static PACK_MOUNT: Record = Record {
    name: "PackMount",
    about: "A Bosun pack that governs here. It can stop, ask, retry, redact and annotate, never allow.",
    fields: &[
        Field::required("id", FieldKind::formatted(Format::PackId), "The pack's id."),
        Field::optional(
            "version",
            FieldKind::formatted(Format::SemVer),
            "The version that is pinned; without it the installed default.",
        ),
        Field::optional(
            "requires",
            FieldKind::Record(&PACK_REQUIRES),
            "Which host the mount needs.",
        ),
        Field::optional(
            "mode",
            FieldKind::Choice(PackMode::NAMES),
            "mandatory (the default): what the pack says is done, and a pack that does not answer vetoes. advisory: all of it is \
             recorded and nothing is done.",
        ),
    ],
};

choice! {
    /// Whether what a pack says is done.
    pub enum PackMode {
        /// It is, and a pack that does not answer vetoes.
        Mandatory = "mandatory",
        /// It is recorded.
        Advisory = "advisory",
    }
}

choice! {
    /// What a pack can ask for, the strongest first.
    pub enum PackAction {
        /// Stop.
        Veto = "veto",
        /// Ask a person.
        Escalate = "escalate",
        /// Make the call again, within the step's policy.
        Retry = "retry",
        /// Take a text out.
        Redact = "redact",
        /// Record it.
        Annotate = "annotate",
    }
}

choice! {
    /// How much a decision matters.
    #[derive(Default, PartialOrd, Ord)]
    pub enum PackSeverity {
        /// Worth recording.
        #[default]
        Info = "info",
        /// Worth a look.
        Warning = "warning",
        /// Something is wrong.
        Violation = "violation",
    }
}

choice! {
    /// Who mounted a pack.
    pub enum PackOrigin {
        /// The operator, for every run.
        Host = "host",
        /// The council.
        Council = "council",
        /// The chain.
        Chain = "chain",
        /// The graph.
        Graph = "graph",
    }
}

pub(crate) fn is_pack_id(text: &str) -> bool {
    ir::validate_pack_id(text).is_ok()
}

/// A mounted pack.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mount {
    /// The pack's id.
    pub id: String,
    /// The version that is pinned.
    pub version: Option<String>,
    /// Which host the mount needs.
    pub requires: Option<PackRequires>,
    /// Whether what the pack says is done, when it is said.
    pub mode: Option<PackMode>,
}

impl Mount {
    /// Reads a mount.
    ///
    /// # Errors
    /// Every problem, in table order.
    pub fn parse(document: &Json) -> Result<Self, crate::problem::Problems> {
        crate::record::read(&PACK_MOUNT, document, Self::from_fields)
    }

    pub(crate) fn build(value: &Json) -> Option<Self> {
        Self::from_fields(&Fields::of(value)?)
    }

    fn from_fields(fields: &Fields<'_>) -> Option<Self> {
        let requires = match fields.get("requires") {
            None => None,
            Some(value) => {
                let fields = Fields::of(value)?;
                Some(PackRequires {
                    stargraph_facts_version: fields.owned("stargraph_facts_version"),
                    api_version: fields.owned("api_version"),
                })
            }
        };
        Some(Self {
            id: fields.owned("id")?,
            version: fields.owned("version"),
            requires,
            mode: fields.optional("mode", |text| PackMode::parse(text).ok_or(()))?,
        })
    }

    /// Whether what the pack says is done: mandatory unless the mount says otherwise.
    pub fn mode(&self) -> PackMode {
        self.mode.unwrap_or(PackMode::Mandatory)
    }

    /// Whether this host is the one that the mount needs.
    ///
    /// # Errors
    /// With the field, what is required and what is there.
    pub fn check_compat(&self) -> Result<(), PackCompatError> {
        let mount = ir::PackMount {
            id: self.id.clone(),
            version: self.version.clone(),
            requires: self.requires.clone(),
        };
        check_pack_compat(&mount, FACTS_VERSION, API_VERSION)
    }

    /// The mount as JSON.
    pub fn to_json(&self) -> Json {
        let requires = self.requires.as_ref().map(|requires| {
            ObjectWriter::new()
                .optional_text(
                    "stargraph_facts_version",
                    requires.stargraph_facts_version.as_ref(),
                )
                .optional_text("api_version", requires.api_version.as_ref())
                .done()
        });
        ObjectWriter::new()
            .text("id", &self.id)
            .optional_text("version", self.version.as_ref())
            .optional("requires", requires)
            .optional_text("mode", self.mode.as_ref())
            .done()
    }
}

impl From<&ir::PackMount> for Mount {
    fn from(mount: &ir::PackMount) -> Self {
        Self {
            id: mount.id.clone(),
            version: mount.version.clone(),
            requires: mount.requires.clone(),
            mode: None,
        }
    }
}
