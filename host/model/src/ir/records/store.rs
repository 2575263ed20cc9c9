//! Stores.

use crate::ir::record::{literal, record};
use crate::record::choice;
use mizzen_json::Object;

record! {
    /// A store binding inside a document.
    pub struct StoreRef {
        /// Local binding name, used in capability strings.
        name: String,
        /// Provider plugin id.
        provider: String,
    }
}

impl StoreRef {
    /// The capabilities to read and to write this store.
    pub fn to_capabilities(&self) -> Vec<String> {
        default_capabilities(&self.name)
    }
}

choice! {
    /// What kind of store it is.
    pub enum Protocol {
        /// Nearest neighbours.
        Vector = "vector",
        /// Nodes and edges.
        Graph = "graph",
        /// Documents.
        Doc = "doc",
        /// Agent memory.
        Memory = "memory",
        /// Facts.
        Fact = "fact",
    }
}

literal!(Protocol);

record! {
    /// The registration record of a store.
    pub struct StoreSpec {
        /// Local binding name.
        name: String,
        /// Provider plugin id.
        provider: String,
        /// What kind of store it is.
        protocol: Protocol,
        /// JSON Schema of the provider's configuration.
        config_schema: Object,
        /// Explicit capabilities; the default pair when empty.
        capabilities: Vec<String> = Vec::new(),
    }
}

impl StoreSpec {
    /// The explicit capabilities, or the default pair when there are none.
    pub fn effective_capabilities(&self) -> Vec<String> {
        if self.capabilities.is_empty() {
            default_capabilities(&self.name)
        } else {
            self.capabilities.clone()
        }
    }
}

fn default_capabilities(name: &str) -> Vec<String> {
    vec![format!("db.{name}:read"), format!("db.{name}:write")]
}
