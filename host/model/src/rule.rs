//! Governance rules: a condition, what follows when it matches, and who hears of it.

mod hook;

pub(crate) use hook::is_hook;
pub use hook::{HOOK_MAX, HOOK_PATTERN, Hook, NotAHook};

use crate::duration::Duration;
use crate::record::{Field, FieldKind, Fields, Format, ObjectWriter, Record, choice};
use mizzen_json::Json;

/// The longest condition of a rule, in characters.
pub const RULE_CONDITION_MAX: usize = 4096;

/// A rule's table.
pub static RULE: Record = Record {
    name: "Rule",
    about: "A governance condition and what follows when it matches. Rules are evaluated in order; the first match decides.",
    fields: &[
        Field::required(
            "id",
            FieldKind::text(1, 128),
            "The rule's id, unique in its council.",
        ),
        Field::required("name", FieldKind::text(1, 256), "The rule's name, for people."),
        Field::required(
            "condition",
            FieldKind::text(1, RULE_CONDITION_MAX),
            "YAML: a scalar is a CEL expression, a mapping combines with all, any and not.",
        ),
        Field::required(
            "action",
            FieldKind::Choice(RuleAction::NAMES),
            "What follows when the condition matches.",
        ),
        Field::optional(
            "hook",
            FieldKind::formatted(Format::Hook),
            "Who hears of a match: webhook:URL or notify:CHANNEL:TARGET.",
        ),
        Field::optional(
            "enforcement",
            FieldKind::Choice(Enforcement::NAMES),
            "mandatory (the default) stops; advisory is recorded as a warning and goes on.",
        ),
        Field::optional(
            "expires",
            FieldKind::formatted(Format::Duration),
            "With action escalate: how long a person has to answer before it counts as denied; never longer than the host allows.",
        ),
    ],
};

choice! {
    /// What follows when a rule matches.
    pub enum RuleAction {
        /// Go on; later rules are not asked.
        Allow = "allow",
        /// Stop.
        Deny = "deny",
        /// Wait for a person.
        Escalate = "escalate",
    }
}

choice! {
    /// Whether a match stops a run.
    pub enum Enforcement {
        /// It does.
        Mandatory = "mandatory",
        /// It is recorded as a warning, and the run goes on.
        Advisory = "advisory",
    }
}

/// A governance rule.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rule {
    /// The id, unique in the council.
    pub id: String,
    /// The name, for people.
    pub name: String,
    /// The condition as written.
    pub condition: String,
    /// What follows when it matches.
    pub action: RuleAction,
    /// Who hears of a match.
    pub hook: Option<Hook>,
    /// Whether a match stops a run, when it is said.
    pub enforcement: Option<Enforcement>,
    /// How long a person has to answer an escalation, when it is said.
    pub expires: Option<Duration>,
}

impl Rule {
    pub(crate) fn build(value: &Json) -> Option<Self> {
        let fields = Fields::of(value)?;
        Some(Self {
            id: fields.owned("id")?,
            name: fields.owned("name")?,
            condition: fields.owned("condition")?,
            action: RuleAction::parse(fields.text("action")?)?,
            hook: fields.optional("hook", Hook::parse)?,
            enforcement: fields.optional("enforcement", |text| Enforcement::parse(text).ok_or(()))?,
            expires: fields.optional("expires", Duration::parse)?,
        })
    }

    /// Whether a match stops a run: mandatory unless the rule says otherwise (D6).
    pub fn enforcement(&self) -> Enforcement {
        self.enforcement.unwrap_or(Enforcement::Mandatory)
    }

    /// The rule as JSON.
    pub fn to_json(&self) -> Json {
        ObjectWriter::new()
            .text("id", &self.id)
            .text("name", &self.name)
            .text("condition", &self.condition)
            .text("action", &self.action)
            .optional_text("hook", self.hook.as_ref())
            .optional_text("enforcement", self.enforcement.as_ref())
            .optional_text("expires", self.expires.as_ref())
            .done()
    }
}
