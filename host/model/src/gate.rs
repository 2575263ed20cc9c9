//! Gates: checkpoints at which the gate agent can veto.

use crate::id::SpriteId;
use crate::record::{Field, FieldKind, Fields, ObjectWriter, Record, choice};
use crate::sprite::UUID;
use mizzen_json::Json;

/// The longest condition of a gate, in characters.
pub const GATE_CONDITION_MAX: usize = 2048;
/// The longest veto message, in characters.
pub const VETO_MESSAGE_MAX: usize = 1024;

const POSITION: Field = Field::required(
    "position",
    FieldKind::Choice(GatePosition::NAMES),
    "When the gate is evaluated: before the first step, after the last, or when a step fails.",
);
const SPRITE_ID: Field = Field::required("sprite_id", UUID, "The gate agent of the council.");
const CONDITION: Field = Field::required(
    "condition",
    FieldKind::text(1, GATE_CONDITION_MAX),
    "CEL over input, steps, output, error, chain and council. True allows; false and errors veto.",
);
const VETO_MESSAGE: Field = Field::optional(
    "veto_message",
    FieldKind::text(0, VETO_MESSAGE_MAX),
    "What is said when the gate vetoes.",
);
const SCOPE: Field = Field::optional(
    "scope",
    FieldKind::Choice(GateScope::NAMES),
    "chain (the default), or step: an after gate is then evaluated after every step.",
);

/// A gate's table.
pub static GATE: Record = Record {
    name: "Gate",
    about: "A checkpoint of a chain at which the gate agent can veto.",
    fields: &[POSITION, SPRITE_ID, CONDITION, VETO_MESSAGE, SCOPE],
};

/// The table of a gate that belongs to one step.
pub static STEP_GATE: Record = Record {
    name: "StepGate",
    about: "A checkpoint of one step at which the gate agent can veto.",
    fields: &[
        Field::optional(
            "position",
            FieldKind::Choice(GatePosition::NAMES),
            "May be said, and must then be that of the list it stands in: before or after.",
        ),
        SPRITE_ID,
        CONDITION,
        VETO_MESSAGE,
    ],
};

choice! {
    /// When a gate is evaluated.
    pub enum GatePosition {
        /// Before the first step; in a step, before its call.
        Before = "before",
        /// After the last step; in a step, after its call.
        After = "after",
        /// When a step fails.
        OnError = "on_error",
    }
}

choice! {
    /// What a chain's gate stands at (D1).
    pub enum GateScope {
        /// The chain.
        Chain = "chain",
        /// Every step.
        Step = "step",
    }
}

/// A gate of a chain.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Gate {
    /// When it is evaluated.
    pub position: GatePosition,
    /// Who evaluates it.
    pub sprite_id: SpriteId,
    /// The condition as written.
    pub condition: String,
    /// What is said when it vetoes.
    pub veto_message: Option<String>,
    /// What it stands at, when it is said.
    pub scope: Option<GateScope>,
}

/// A gate of one step. Its position is the list it stands in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StepGate {
    /// The position, when it is said.
    pub position: Option<GatePosition>,
    /// Who evaluates it.
    pub sprite_id: SpriteId,
    /// The condition as written.
    pub condition: String,
    /// What is said when it vetoes.
    pub veto_message: Option<String>,
}

impl Gate {
    pub(crate) fn build(value: &Json) -> Option<Self> {
        let fields = Fields::of(value)?;
        Some(Self {
            position: GatePosition::parse(fields.text("position")?)?,
            sprite_id: SpriteId::parse(fields.text("sprite_id")?).ok()?,
            condition: fields.owned("condition")?,
            veto_message: fields.owned("veto_message"),
            scope: fields.optional("scope", |text| GateScope::parse(text).ok_or(()))?,
        })
    }

    /// What the gate stands at: the chain unless it says otherwise.
    pub fn scope(&self) -> GateScope {
        self.scope.unwrap_or(GateScope::Chain)
    }

    /// The gate as JSON.
    pub fn to_json(&self) -> Json {
        ObjectWriter::new()
            .text("position", &self.position)
            .text("sprite_id", &self.sprite_id)
            .text("condition", &self.condition)
            .optional_text("veto_message", self.veto_message.as_ref())
            .optional_text("scope", self.scope.as_ref())
            .done()
    }
}

impl StepGate {
    pub(crate) fn build(value: &Json) -> Option<Self> {
        let fields = Fields::of(value)?;
        Some(Self {
            position: fields.optional("position", |text| GatePosition::parse(text).ok_or(()))?,
            sprite_id: SpriteId::parse(fields.text("sprite_id")?).ok()?,
            condition: fields.owned("condition")?,
            veto_message: fields.owned("veto_message"),
        })
    }

    /// The gate as JSON.
    pub fn to_json(&self) -> Json {
        ObjectWriter::new()
            .optional_text("position", self.position.as_ref())
            .text("sprite_id", &self.sprite_id)
            .text("condition", &self.condition)
            .optional_text("veto_message", self.veto_message.as_ref())
            .done()
    }
}
