//! Refuses schemas whose evaluation could explode.
//!
//! A validator follows every reference every time. Two shapes make that exponential: references that fan out in place
//! (`allOf` of two references to a schema that does the same, and so on), and recursion that looks at the same child
//! twice (`{"properties": {"a": {"allOf": [{"$ref": "#"}, {"$ref": "#"}]}}}` doubles with every level of the value).
//! The first is bounded by counting what is evaluated in place at one value; the second is refused.
//! The walk keeps its own stack and stops at fixed sizes, so a hostile schema cannot hurt the guard either.

use serde_json::{Map, Value};
use std::collections::HashMap;

/// Nested values of a schema.
const MAX_DEPTH: usize = 64;
/// Values in a schema.
const MAX_NODES: usize = 20_000;
/// Schemas that are evaluated at one place of the value.
const MAX_IN_PLACE: u64 = 2_000;
/// Schemas that a non-recursive schema expands to.
const MAX_EXPANDED: u64 = 50_000;
/// A pattern is a line of text.
const MAX_PATTERN: usize = 1_000;
/// An enumeration is a list that somebody wrote.
const MAX_ENUM: usize = 2_000;

/// Why a schema is not accepted.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the schema at {path:?} is refused: {reason}")]
pub struct SchemaRefusal {
    /// An RFC 6901 pointer into the schema.
    pub path: String,
    /// What is wrong and what to do.
    pub reason: String,
}

impl SchemaRefusal {
    /// The same, of a schema that is a field of a document.
    #[must_use]
    pub fn within(self, field: &str) -> Self {
        Self {
            path: format!("{field}{}", self.path),
            ..self
        }
    }
}

/// Keywords whose subschemas look at the same value.
const IN_PLACE: &[&str] = &[
    "allOf",
    "anyOf",
    "oneOf",
    "not",
    "if",
    "then",
    "else",
    "dependentSchemas",
];
/// Keywords whose subschemas look at children of the value.
const DESCENDING: &[&str] = &[
    "properties",
    "patternProperties",
    "additionalProperties",
    "propertyNames",
    "unevaluatedProperties",
    "items",
    "prefixItems",
    "contains",
    "unevaluatedItems",
];
/// Keywords that hold schemas which only references reach.
const DEFINITIONS: &[&str] = &["$defs", "definitions"];

pub(super) fn check(schema: &Value) -> Result<(), SchemaRefusal> {
    check_dialect(schema)?;
    let graph = Graph::read(schema)?;
    graph.check_in_place()?;
    graph.check_recursion()
}

/// What schemas mean here. Another `$schema` may demand what is not done (that `format` is checked, for one) or give keywords another
/// meaning, so it is refused and not read as this one.
const DIALECT: &str = "https://json-schema.org/draft/2020-12/schema";

fn check_dialect(schema: &Value) -> Result<(), SchemaRefusal> {
    let refused = |path: &str, reason: &str| {
        Err(SchemaRefusal {
            path: path.to_owned(),
            reason: reason.to_owned(),
        })
    };
    match schema.get("$schema") {
        None => {}
        Some(Value::String(named)) if named.trim_end_matches('#') == DIALECT => {}
        Some(_) => {
            return refused(
                "/$schema",
                "schemas are read as JSON Schema 2020-12; leave $schema out, or write https://json-schema.org/draft/2020-12/schema",
            );
        }
    }
    if schema.get("$vocabulary").is_some() {
        return refused(
            "/$vocabulary",
            "a schema of its own vocabulary is not read; leave $vocabulary out",
        );
    }
    Ok(())
}

/// A child of the value, as far as a keyword tells which.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Child {
    /// The property of this name.
    Property(String),
    /// Any property; these overlap with each other and with named ones.
    AnyProperty,
    /// Any item.
    AnyItem,
}

impl Child {
    fn may_be(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Property(a), Self::Property(b)) => a == b,
            (Self::AnyItem, Self::AnyItem) => true,
            (Self::AnyItem, _) | (_, Self::AnyItem) => false,
            _ => true,
        }
    }
}

#[derive(Default)]
struct Node {
    path: String,
    in_place: Vec<usize>,
    children: Vec<(Child, usize)>,
    reference: Option<String>,
}

struct Graph {
    nodes: Vec<Node>,
}

impl Graph {
    fn read(schema: &Value) -> Result<Self, SchemaRefusal> {
        bound(schema)?;
        let mut graph = Self {
            nodes: vec![Node::default()],
        };
        let mut by_path = HashMap::from([(String::new(), 0)]);
        let mut anchors = HashMap::new();
        let mut waiting = vec![(0, schema)];
        while let Some((index, schema)) = waiting.pop() {
            let Value::Object(object) = schema else {
                if schema.is_boolean() {
                    continue;
                }
                return Err(graph.refusal(index, "a schema is an object, true or false"));
            };
            for name in ["$anchor", "$dynamicAnchor"] {
                if let Some(Value::String(anchor)) = object.get(name) {
                    anchors.insert(format!("#{anchor}"), index);
                }
            }
            if object.contains_key("$id") && index != 0 {
                return Err(graph.refusal(
                    index,
                    "an inner $id changes what references mean; use $defs and #/$defs/NAME",
                ));
            }
            for (keyword, child, sub) in subschemas(object) {
                let path = format!("{}/{keyword}", graph.path(index));
                let at = graph.nodes.len();
                by_path.insert(path.clone(), at);
                graph.nodes.push(Node {
                    path,
                    ..Node::default()
                });
                if let Some(node) = graph.nodes.get_mut(index) {
                    match child {
                        AppliesTo::Same => node.in_place.push(at),
                        AppliesTo::Child(child) => node.children.push((child, at)),
                        AppliesTo::Nowhere => {}
                    }
                }
                waiting.push((at, sub));
            }
            for name in ["$ref", "$dynamicRef", "$recursiveRef"] {
                match object.get(name) {
                    None => {}
                    Some(Value::String(target)) if target.starts_with('#') => {
                        if let Some(node) = graph.nodes.get_mut(index) {
                            node.reference = Some(target.clone());
                        }
                    }
                    Some(_) => {
                        return Err(graph.refusal(
                            index,
                            "references must stay inside of the schema: write #/$defs/NAME",
                        ));
                    }
                }
            }
        }
        graph.resolve(&by_path, &anchors)?;
        Ok(graph)
    }

    /// A reference is one more schema at the same place.
    fn resolve(
        &mut self,
        by_path: &HashMap<String, usize>,
        anchors: &HashMap<String, usize>,
    ) -> Result<(), SchemaRefusal> {
        for index in 0..self.nodes.len() {
            let Some(reference) = self.nodes.get_mut(index).and_then(|node| node.reference.take()) else {
                continue;
            };
            let pointer = mizzen_json::percent::decode_lossy(reference.trim_start_matches('#'));
            let target = anchors
                .get(&reference)
                .or_else(|| by_path.get(&*pointer))
                .copied();
            match (target, self.nodes.get_mut(index)) {
                (Some(target), Some(node)) => node.in_place.push(target),
                _ => {
                    return Err(self.refusal(
                        index,
                        &format!("`{reference}` leads to no schema; define it under $defs"),
                    ));
                }
            }
        }
        Ok(())
    }

    fn path(&self, index: usize) -> &str {
        self.nodes.get(index).map_or("", |node| node.path.as_str())
    }

    fn refusal(&self, index: usize, reason: &str) -> SchemaRefusal {
        SchemaRefusal {
            path: self.path(index).to_owned(),
            reason: reason.to_owned(),
        }
    }

    /// Counts what is evaluated at one value, for every schema. A cycle without a step into the value never ends.
    fn check_in_place(&self) -> Result<(), SchemaRefusal> {
        let cost = self.costs(|node| node.in_place.clone());
        for (index, cost) in cost.iter().enumerate() {
            match cost {
                None => {
                    return Err(self.refusal(
                        index,
                        "it refers to itself without looking into the value, so checking it would never end",
                    ));
                }
                Some(cost) if *cost > MAX_IN_PLACE => {
                    return Err(self.refusal(index, &format!("its references fan out to {cost} schemas at one place; the limit is {MAX_IN_PLACE}")));
                }
                Some(_) => {}
            }
        }
        let all = |node: &Node| {
            node.in_place
                .iter()
                .copied()
                .chain(node.children.iter().map(|(_, at)| *at))
                .collect()
        };
        match self.costs(all).first() {
            Some(Some(cost)) if *cost > MAX_EXPANDED => Err(self.refusal(
                0,
                &format!("its references expand to {cost} schemas; the limit is {MAX_EXPANDED}"),
            )),
            // Recursive schemas have no expanded size; the next check looks at them.
            _ => Ok(()),
        }
    }

    /// For every node, how many nodes following these edges visits; none where that never ends.
    fn costs(&self, edges: impl Fn(&Node) -> Vec<usize>) -> Vec<Option<u64>> {
        #[derive(Clone, Copy, PartialEq)]
        enum Mark {
            New,
            Open,
            Done(Option<u64>),
        }
        let mut marks = vec![Mark::New; self.nodes.len()];
        for start in 0..self.nodes.len() {
            let mut stack = vec![(start, false)];
            while let Some((index, leaving)) = stack.pop() {
                let (Some(mark), Some(node)) = (marks.get(index).copied(), self.nodes.get(index)) else {
                    continue;
                };
                let next = edges(node);
                if leaving {
                    let mut cost = Some(1u64);
                    for at in &next {
                        cost = match (cost, marks.get(*at)) {
                            (Some(cost), Some(Mark::Done(Some(more)))) => Some(cost.saturating_add(*more)),
                            _ => None,
                        };
                    }
                    if let Some(mark) = marks.get_mut(index) {
                        *mark = Mark::Done(cost);
                    }
                } else if mark == Mark::New {
                    if let Some(mark) = marks.get_mut(index) {
                        *mark = Mark::Open;
                    }
                    stack.push((index, true));
                    stack.extend(next.into_iter().map(|at| (at, false)));
                }
            }
        }
        marks
            .into_iter()
            .map(|mark| if let Mark::Done(cost) = mark { cost } else { None })
            .collect()
    }

    /// In a recursive schema, no child of the value may be looked at twice by schemas that lead back.
    fn check_recursion(&self) -> Result<(), SchemaRefusal> {
        let component = self.components();
        for index in 0..self.nodes.len() {
            let mut back: Vec<(Child, usize)> = Vec::new();
            let mut closure = vec![index];
            let mut visited = 0u64;
            while let Some(at) = closure.pop() {
                visited += 1;
                // In-place costs are bounded by now, so this ends.
                if visited > MAX_IN_PLACE {
                    break;
                }
                let Some(node) = self.nodes.get(at) else { continue };
                closure.extend(&node.in_place);
                for (child, to) in &node.children {
                    if component.get(*to) == component.get(index) {
                        back.push((child.clone(), *to));
                    }
                }
            }
            // Few edges lead back in any schema that a person wrote; a pair that overlaps is found at once.
            for (position, (child, _)) in back.iter().enumerate() {
                if back
                    .iter()
                    .skip(position + 1)
                    .any(|(other, _)| child.may_be(other))
                {
                    return Err(self.refusal(index, "it is recursive and looks at the same child twice, which doubles the work at every level; refer to itself once for each child"));
                }
            }
        }
        Ok(())
    }

    /// The strongly connected component of every node, by Kosaraju's two passes with explicit stacks.
    fn components(&self) -> Vec<usize> {
        let edges = |node: &Node| -> Vec<usize> {
            node.in_place
                .iter()
                .copied()
                .chain(node.children.iter().map(|(_, at)| *at))
                .collect()
        };
        let mut reverse = vec![Vec::new(); self.nodes.len()];
        for (index, node) in self.nodes.iter().enumerate() {
            for to in edges(node) {
                if let Some(from) = reverse.get_mut(to) {
                    from.push(index);
                }
            }
        }
        let mut seen = vec![false; self.nodes.len()];
        let mut order = Vec::with_capacity(self.nodes.len());
        for start in 0..self.nodes.len() {
            let mut stack = vec![(start, false)];
            while let Some((index, leaving)) = stack.pop() {
                if leaving {
                    order.push(index);
                } else if let (Some(seen @ false), Some(node)) = (seen.get_mut(index), self.nodes.get(index))
                {
                    *seen = true;
                    stack.push((index, true));
                    stack.extend(edges(node).into_iter().map(|at| (at, false)));
                }
            }
        }
        let mut component = vec![usize::MAX; self.nodes.len()];
        for root in order.into_iter().rev() {
            let mut stack = vec![root];
            while let Some(index) = stack.pop() {
                if let (Some(mark @ &mut usize::MAX), Some(from)) =
                    (component.get_mut(index), reverse.get(index))
                {
                    *mark = root;
                    stack.extend(from);
                }
            }
        }
        component
    }
}

enum AppliesTo {
    Same,
    Child(Child),
    Nowhere,
}

/// How a keyword holds schemas.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Holds {
    /// By names, which are no keywords.
    Keyed,
    /// One, or a list of them.
    Plainly,
}

/// How a keyword holds schemas, where it does.
pub(super) fn holds(keyword: &str) -> Option<Holds> {
    match keyword {
        "properties" | "patternProperties" | "dependentSchemas" => Some(Holds::Keyed),
        _ if DEFINITIONS.contains(&keyword) => Some(Holds::Keyed),
        _ if IN_PLACE.contains(&keyword) || DESCENDING.contains(&keyword) => Some(Holds::Plainly),
        _ => None,
    }
}

/// The subschemas of a schema, with the pointer to each and where it looks.
fn subschemas(object: &Map<String, Value>) -> Vec<(String, AppliesTo, &Value)> {
    let mut found = Vec::new();
    for (keyword, value) in object {
        let name = keyword.as_str();
        let place = |key: Option<&str>| match name {
            _ if IN_PLACE.contains(&name) => AppliesTo::Same,
            "properties" => {
                AppliesTo::Child(key.map_or(Child::AnyProperty, |key| Child::Property(key.to_owned())))
            }
            "items" | "prefixItems" | "contains" | "unevaluatedItems" => AppliesTo::Child(Child::AnyItem),
            _ if DESCENDING.contains(&name) => AppliesTo::Child(Child::AnyProperty),
            _ => AppliesTo::Nowhere,
        };
        match (holds(name), value) {
            (None, _) => {}
            (Some(Holds::Keyed), Value::Object(map)) => {
                for (key, sub) in map {
                    found.push((format!("{keyword}/{}", escaped(key)), place(Some(key)), sub));
                }
            }
            (Some(_), Value::Array(list)) => {
                for (index, sub) in list.iter().enumerate() {
                    found.push((format!("{keyword}/{index}"), place(None), sub));
                }
            }
            (Some(_), other) => found.push((keyword.clone(), place(None), other)),
        }
    }
    found
}

pub(super) fn escaped(key: &str) -> String {
    key.replace('~', "~0").replace('/', "~1")
}

/// Size, depth, patterns and enumerations, before anything else looks at the schema.
fn bound(schema: &Value) -> Result<(), SchemaRefusal> {
    let refuse = |reason: String| {
        Err(SchemaRefusal {
            path: String::new(),
            reason,
        })
    };
    let mut nodes = 0;
    let mut waiting = vec![(schema, 1)];
    while let Some((value, depth)) = waiting.pop() {
        nodes += 1;
        if nodes > MAX_NODES {
            return refuse(format!("it has more than {MAX_NODES} values"));
        }
        if depth > MAX_DEPTH {
            return refuse(format!("it nests deeper than {MAX_DEPTH}"));
        }
        match value {
            Value::Array(items) => waiting.extend(items.iter().map(|item| (item, depth + 1))),
            Value::Object(map) => {
                for (key, value) in map {
                    match value {
                        Value::String(pattern) if key == "pattern" && pattern.len() > MAX_PATTERN => {
                            return refuse(format!(
                                "a pattern has {} bytes; the limit is {MAX_PATTERN}",
                                pattern.len()
                            ));
                        }
                        Value::Array(list) if key == "enum" && list.len() > MAX_ENUM => {
                            return refuse(format!(
                                "an enum has {} values; the limit is {MAX_ENUM}",
                                list.len()
                            ));
                        }
                        Value::Object(patterns)
                            if key == "patternProperties"
                                && patterns.keys().any(|pattern| pattern.len() > MAX_PATTERN) =>
                        {
                            return refuse(format!("a pattern is longer than {MAX_PATTERN} bytes"));
                        }
                        _ => {}
                    }
                    waiting.push((value, depth + 1));
                }
            }
            _ => {}
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn ordinary_schemas_pass_recursive_ones_included() {
        for schema in [
            json!(true),
            json!({}),
            json!({"type": "object", "properties": {"a": {"$ref": "#/$defs/x"}, "b": {"$ref": "#/$defs/x"}}, "$defs": {"x": {"type": "string"}}}),
            json!({"properties": {"left": {"$ref": "#"}, "right": {"$ref": "#"}}}),
            json!({"anyOf": [{"type": "string"}, {"type": "array", "items": {"$ref": "#"}}, {"type": "object", "additionalProperties": {"$ref": "#"}}]}),
            json!({"$defs": {"a/b": {}}, "$ref": "#/$defs/a~1b"}),
            json!({"$defs": {"n": {"$anchor": "node", "properties": {"next": {"$ref": "#node"}}}}, "$ref": "#node"}),
            json!({"enum": ["allOf", {"$ref": "nowhere"}], "default": {"$ref": "x"}}),
        ] {
            assert_eq!(check(&schema), Ok(()), "{schema}");
        }
    }

    fn fan_out(levels: usize) -> Value {
        let mut defs = Map::new();
        for level in 0..levels {
            let next = format!("#/$defs/d{}", level + 1);
            defs.insert(
                format!("d{level}"),
                json!({"allOf": [{"$ref": next}, {"$ref": next}]}),
            );
        }
        defs.insert(format!("d{levels}"), json!({}));
        json!({"$ref": "#/$defs/d0", "$defs": defs})
    }

    #[test]
    fn schemas_that_could_explode_are_refused_with_the_reason() {
        let deep = (0..200).fold(json!({}), |inner, _| json!({"not": inner}));
        let wide: Vec<_> = (0..30_000).collect();
        let twice = json!({"allOf": [{"$ref": "#"}, {"$ref": "#"}]});
        for (schema, said) in [
            (json!({"$ref": "#"}), "never end"),
            (json!({"allOf": [{"$ref": "#"}]}), "never end"),
            (fan_out(30), "fan out"),
            (json!({"properties": {"a": twice}}), "same child twice"),
            (json!({"items": twice}), "same child twice"),
            (
                json!({"oneOf": [{"properties": {"a": {"$ref": "#"}}}, {"properties": {"a": {"$ref": "#"}}}]}),
                "same child twice",
            ),
            (
                json!({"properties": {"a": {"$ref": "#"}}, "patternProperties": {".": {"$ref": "#"}}}),
                "same child twice",
            ),
            (
                json!({"$ref": "https://example.com/schema"}),
                "inside of the schema",
            ),
            (json!({"$ref": "#/$defs/missing"}), "leads to no schema"),
            (json!({"properties": {"a": {"$id": "x", "$ref": "#"}}}), "$id"),
            (json!({"properties": {"a": 7}}), "object, true or false"),
            (deep, "nests deeper"),
            (json!({"const": wide}), "more than"),
            (json!({"pattern": "a".repeat(2000)}), "pattern"),
            (json!({"enum": (0..3000).collect::<Vec<_>>()}), "enum"),
        ] {
            let error = check(&schema).unwrap_err();
            assert!(error.to_string().contains(said), "{error}");
        }
    }

    #[test]
    fn expansion_through_children_is_counted_too() {
        let mut defs = Map::new();
        for level in 0..20 {
            let next = json!({"$ref": format!("#/$defs/d{}", level + 1)});
            defs.insert(
                format!("d{level}"),
                json!({"properties": {"a": next, "b": next, "c": next}}),
            );
        }
        defs.insert("d20".into(), json!({}));
        let error = check(&json!({"$ref": "#/$defs/d0", "$defs": defs})).unwrap_err();
        assert!(error.reason.contains("expand"), "{error}");
    }
}
