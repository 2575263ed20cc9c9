//! The plugin manifest as an IR record.

pub use crate::manifest::Provides;

use crate::ir::record::{Emit, Reader, SchemaBook, Value, Writer, literal, object, record};
use crate::record::choice;
use mizzen_json::{Integer, Json, Node};

choice! {
    /// The plugin contract this build speaks.
    pub enum PluginApiVersion {
        /// Version 1.
        V1 = "1",
    }
}

literal!(PluginApiVersion, Provides);

/// Load priority, 0 to 10000.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct LoadOrder(u16);

impl LoadOrder {
    /// The largest order.
    pub const MAX: u16 = 10_000;

    /// From a number in range.
    pub fn new(order: u16) -> Option<Self> {
        (order <= LoadOrder::MAX).then_some(LoadOrder(order))
    }

    /// The number.
    pub fn get(self) -> u16 {
        self.0
    }
}

impl Default for LoadOrder {
    fn default() -> Self {
        LoadOrder(5_000)
    }
}

impl Emit for LoadOrder {
    fn emit(&self, out: &mut Writer) {
        Integer::from(i64::from(self.0)).emit(out);
    }
}

impl Value for LoadOrder {
    fn read<'t>(node: Node<'t>, reader: &mut Reader<'t>) -> Option<Self> {
        let order = Integer::read(node, reader)?;
        if order.is_negative() {
            return reader.refuse(
                node,
                "greater_than_equal",
                "an integer of at least 0",
                "use an order from 0 to 10000",
            );
        }
        match order
            .as_i64()
            .and_then(|order| u16::try_from(order).ok())
            .and_then(LoadOrder::new)
        {
            Some(order) => Some(order),
            None => reader.refuse(
                node,
                "less_than_equal",
                "an integer of at most 10000",
                "use an order from 0 to 10000",
            ),
        }
    }

    fn schema(_: &mut SchemaBook) -> Json {
        object([
            ("type", "integer".into()),
            ("minimum", 0.into()),
            ("maximum", i64::from(LoadOrder::MAX).into()),
        ])
    }
}

record! {
    /// Identity, namespaces and the kinds of entity that a plugin provides.
    pub struct PluginManifest {
        /// Plugin distribution name.
        name: String,
        /// Plugin semver.
        version: String,
        /// Pinned to "1".
        api_version: PluginApiVersion,
        /// Namespaces the plugin claims.
        namespaces: Vec<String>,
        /// Kinds of entity it contributes.
        provides: Vec<Provides>,
        /// Load priority.
        order: LoadOrder = LoadOrder::default(),
    }
}
