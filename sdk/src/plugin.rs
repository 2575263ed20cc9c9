//! A plugin: a namespace and its tools.

use crate::{Context, Descriptor, Tool, ToolError};

/// One tool of a plugin, type-erased.
#[derive(Debug, Clone, Copy)]
pub struct Entry {
    name: &'static str,
    describe: fn() -> Descriptor,
    invoke: fn(&str, &Context) -> Result<String, ToolError>,
}

impl Entry {
    /// The entry of a tool.
    pub const fn of<T: Tool>() -> Self {
        Entry {
            name: T::NAME,
            describe: T::describe,
            invoke: T::invoke,
        }
    }
}

/// A namespace and its tools. Made by [`export_plugin!`](crate::export_plugin).
#[derive(Debug, Clone, Copy)]
pub struct Plugin {
    namespace: &'static str,
    tools: &'static [Entry],
}

impl Plugin {
    /// A plugin. Two tools of one name do not compile when this is evaluated as a constant.
    pub const fn new(namespace: &'static str, tools: &'static [Entry]) -> Self {
        let mut rest = tools;
        while let [first, others @ ..] = rest {
            let mut later = others;
            while let [other, more @ ..] = later {
                assert!(
                    !same(first.name.as_bytes(), other.name.as_bytes()),
                    "two tools of this plugin have one name"
                );
                later = more;
            }
            rest = others;
        }
        Plugin { namespace, tools }
    }

    /// The namespace of tools without one of their own.
    pub const fn namespace(&self) -> &'static str {
        self.namespace
    }

    /// The description of every tool, in the order of the export.
    pub fn describe(&self) -> Vec<Descriptor> {
        self.tools.iter().map(|tool| (tool.describe)()).collect()
    }

    /// Calls a tool by name with JSON text.
    pub fn invoke(&self, name: &str, input: &str, context: &Context) -> Result<String, ToolError> {
        match self.tools.iter().find(|tool| tool.name == name) {
            Some(tool) => (tool.invoke)(input, context),
            None => Err(ToolError::failed(
                "UNKNOWN_TOOL",
                format!("this plugin has no tool `{name}`"),
            )),
        }
    }
}

const fn same(left: &[u8], right: &[u8]) -> bool {
    match (left, right) {
        ([], []) => true,
        ([a, left @ ..], [b, right @ ..]) => *a == *b && same(left, right),
        _ => false,
    }
}
