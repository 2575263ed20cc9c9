//! Types of facts.

use crate::ir::record::record;

record! {
    /// A fact template: a name and typed slots.
    pub struct FactTemplate {
        /// Template name.
        name: String,
        /// Typed slots.
        slots: Vec<SlotDef> = Vec::new(),
    }
}

record! {
    /// One slot of a fact template.
    pub struct SlotDef {
        /// Slot name.
        name: String,
        /// Slot type.
        slot_type as "type": String,
        /// Default value.
        default: Option<String> = None,
    }
}
