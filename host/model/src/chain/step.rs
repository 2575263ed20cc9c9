//! One step of a chain.

use super::{ChainCondition, STEPS_MAX};
use crate::duration::Duration;
use crate::gate::{GatePosition, STEP_GATE, StepGate};
use crate::id::SpriteId;
use crate::record::{Field, FieldKind, Fields, Format, ObjectWriter, Record};
use crate::sprite::{CAPABILITY_NAME_MAX, UUID};
use mizzen_json::{Json, Object};

/// The most entries of one map.
const MAP_MAX: usize = 256;
/// The most retries of one step.
const RETRIES_MAX: i64 = 10;

const GATES: FieldKind = FieldKind::list(const { &FieldKind::Record(&STEP_GATE) }, 0, 64);

/// A step's table.
pub static CHAIN_STEP: Record = Record {
    name: "ChainStep",
    about: "One ordered action: a sprite's capability with mapped input and output.",
    fields: &[
        Field::required(
            "order",
            FieldKind::Integer {
                min: 0,
                max: STEPS_MAX as i64 - 1,
            },
            "Zero-based execution order.",
        ),
        Field::required("sprite_id", UUID, "The sprite that executes the step."),
        Field::required(
            "action",
            FieldKind::text(1, CAPABILITY_NAME_MAX),
            "The capability to invoke.",
        ),
        Field::optional(
            "input_map",
            FieldKind::Object { max: MAP_MAX },
            "Parameters, each a literal or an expression such as $input.user_prompt or $steps[0].output.code.",
        ),
        Field::optional(
            "output_map",
            FieldKind::Object { max: MAP_MAX },
            "What to capture from the response, such as $.code; empty keeps the whole response.",
        ),
        Field::optional("gates_before", GATES, "Checkpoints before the step's call."),
        Field::optional("gates_after", GATES, "Checkpoints after the step's call."),
        Field::optional(
            "timeout",
            FieldKind::formatted(Format::Duration),
            "How long the step may take, retries included.",
        ),
        Field::optional(
            "retries",
            FieldKind::Integer {
                min: 0,
                max: RETRIES_MAX,
            },
            "How often a failed call is made again, where its side effects allow.",
        ),
        Field::optional(
            "retry_backoff",
            FieldKind::formatted(Format::Duration),
            "The pause before the first retry; it doubles, with jitter.",
        ),
    ],
};

/// One step of a chain.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChainStep {
    /// Zero-based execution order.
    pub order: u32,
    /// The sprite that executes the step.
    pub sprite_id: SpriteId,
    /// The capability to invoke.
    pub action: String,
    /// Parameters and their sources.
    pub input_map: Option<Object>,
    /// What to capture from the response.
    pub output_map: Option<Object>,
    /// Checkpoints before the call.
    pub gates_before: Option<Vec<StepGate>>,
    /// Checkpoints after the call.
    pub gates_after: Option<Vec<StepGate>>,
    /// How long the step may take.
    pub timeout: Option<Duration>,
    /// How often a failed call is made again.
    pub retries: Option<u32>,
    /// The pause before the first retry.
    pub retry_backoff: Option<Duration>,
}

impl ChainStep {
    pub(crate) fn build(value: &Json) -> Option<Self> {
        let fields = Fields::of(value)?;
        let retries = match fields.integer("retries") {
            Some(number) => Some(u32::try_from(number).ok()?),
            None => None,
        };
        Some(Self {
            order: u32::try_from(fields.integer("order")?).ok()?,
            sprite_id: SpriteId::parse(fields.text("sprite_id")?).ok()?,
            action: fields.owned("action")?,
            input_map: fields.object("input_map"),
            output_map: fields.object("output_map"),
            gates_before: fields.optional_list("gates_before", StepGate::build)?,
            gates_after: fields.optional_list("gates_after", StepGate::build)?,
            timeout: fields.optional("timeout", Duration::parse)?,
            retries,
            retry_backoff: fields.optional("retry_backoff", Duration::parse)?,
        })
    }

    /// The gates before the call.
    pub fn gates_before(&self) -> &[StepGate] {
        self.gates_before.as_deref().unwrap_or_default()
    }

    /// The gates after the call.
    pub fn gates_after(&self) -> &[StepGate] {
        self.gates_after.as_deref().unwrap_or_default()
    }

    pub(super) fn conditions(&self, place: usize) -> impl Iterator<Item = ChainCondition<'_>> {
        let lists = [
            ("gates_before", GatePosition::Before, self.gates_before()),
            ("gates_after", GatePosition::After, self.gates_after()),
        ];
        lists.into_iter().flat_map(move |(list, position, gates)| {
            gates.iter().enumerate().map(move |(index, gate)| ChainCondition {
                path: format!("/steps/{place}/{list}/{index}/condition"),
                condition: &gate.condition,
                position,
                step: Some(place),
            })
        })
    }

    /// The step as JSON.
    pub fn to_json(&self) -> Json {
        let mut writer = ObjectWriter::new()
            .set("order", i64::from(self.order))
            .text("sprite_id", &self.sprite_id)
            .text("action", &self.action)
            .optional("input_map", self.input_map.clone())
            .optional("output_map", self.output_map.clone());
        for (name, gates) in [
            ("gates_before", &self.gates_before),
            ("gates_after", &self.gates_after),
        ] {
            if let Some(gates) = gates {
                writer = writer.list(name, gates, StepGate::to_json);
            }
        }
        writer
            .optional_text("timeout", self.timeout.as_ref())
            .optional("retries", self.retries.map(i64::from))
            .optional_text("retry_backoff", self.retry_backoff.as_ref())
            .done()
    }
}
