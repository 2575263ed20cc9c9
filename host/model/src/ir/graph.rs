//! A document as a picture: Mermaid or DOT.
//!
//! Identifiers in the picture are ours (`n0`, `r0`, …) and labels are escaped, so that no id or condition can break out of it.

use super::records::{Action, IRDocument};
use std::collections::HashMap;
use std::fmt::Write as _;

/// The language of a picture.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum GraphFormat {
    /// Mermaid, for Markdown.
    Mermaid,
    /// DOT, for Graphviz.
    Dot,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Shape {
    Node,
    Halt,
    Rule,
    Missing,
}

struct Vertex {
    name: String,
    label: String,
    shape: Shape,
}

struct Edge {
    from: String,
    to: String,
    label: String,
    dashed: bool,
}

/// The most of a label that is drawn.
const LABEL_CHARS: usize = 60;

/// Draws the nodes in fall-through order, the rules, and where their actions lead.
pub fn draw(document: &IRDocument, format: GraphFormat) -> String {
    let (vertices, edges) = collect(document);
    match format {
        GraphFormat::Mermaid => mermaid(&vertices, &edges),
        GraphFormat::Dot => dot(&vertices, &edges),
    }
}

struct Places<'d> {
    names: HashMap<&'d str, String>,
    missing: Vec<Vertex>,
}

impl<'d> Places<'d> {
    /// The vertex of a node id; one that does not exist is drawn as missing.
    fn of(&mut self, id: &'d str) -> String {
        if let Some(name) = self.names.get(id) {
            return name.clone();
        }
        let name = format!("m{}", self.missing.len());
        self.missing.push(Vertex {
            name: name.clone(),
            label: format!("{id} (missing)"),
            shape: Shape::Missing,
        });
        self.names.insert(id, name.clone());
        name
    }
}

fn collect(document: &IRDocument) -> (Vec<Vertex>, Vec<Edge>) {
    let mut vertices = Vec::new();
    let mut edges = Vec::new();
    let mut places = Places {
        names: HashMap::new(),
        missing: Vec::new(),
    };
    for (index, node) in document.nodes.iter().enumerate() {
        let name = format!("n{index}");
        let shape = if node.kind == "halt" {
            Shape::Halt
        } else {
            Shape::Node
        };
        if index + 1 < document.nodes.len() && shape == Shape::Node {
            let to = format!("n{}", index + 1);
            edges.push(Edge {
                from: name.clone(),
                to,
                label: String::new(),
                dashed: false,
            });
        }
        vertices.push(Vertex {
            name: name.clone(),
            label: format!("{} ({})", node.id, node.kind),
            shape,
        });
        places.names.entry(node.id.as_str()).or_insert(name);
    }
    for (index, rule) in document.rules.iter().enumerate() {
        let name = format!("r{index}");
        let label = if rule.when.is_empty() {
            rule.id.clone()
        } else {
            format!("{}: {}", rule.id, rule.when)
        };
        vertices.push(Vertex {
            name: name.clone(),
            label,
            shape: Shape::Rule,
        });
        for action in &rule.then {
            let mut edge = |to: String, label: &str| {
                edges.push(Edge {
                    from: name.clone(),
                    to,
                    label: label.to_owned(),
                    dashed: true,
                });
            };
            match action {
                Action::Goto(goto) => edge(places.of(&goto.target), "goto"),
                Action::Retry(retry) => edge(places.of(&retry.target), "retry"),
                Action::Parallel(parallel) => {
                    for target in &parallel.targets {
                        edge(places.of(target), &format!("parallel {}", parallel.strategy));
                    }
                    if !parallel.join.is_empty() {
                        edge(places.of(&parallel.join), "join");
                    }
                }
                Action::Interrupt(interrupt) => {
                    if let Some(target) = interrupt.timeout_target() {
                        edge(places.of(target), "on timeout");
                    }
                }
                Action::Halt(_) | Action::Assert(_) | Action::Retract(_) => {}
            }
        }
    }
    for (index, block) in document.parallel.iter().enumerate() {
        let name = format!("p{index}");
        vertices.push(Vertex {
            name: name.clone(),
            label: format!("parallel {}", block.strategy),
            shape: Shape::Rule,
        });
        for target in &block.targets {
            edges.push(Edge {
                from: name.clone(),
                to: places.of(target),
                label: String::new(),
                dashed: true,
            });
        }
        if !block.join.is_empty() {
            edges.push(Edge {
                from: name,
                to: places.of(&block.join),
                label: "join".to_owned(),
                dashed: true,
            });
        }
    }
    vertices.extend(places.missing);
    (vertices, edges)
}

fn shorten(text: &str) -> String {
    let mut short: String = text
        .chars()
        .take(LABEL_CHARS)
        .map(|c| if c.is_control() { ' ' } else { c })
        .collect();
    if text.chars().nth(LABEL_CHARS).is_some() {
        short.push('…');
    }
    short
}

fn mermaid(vertices: &[Vertex], edges: &[Edge]) -> String {
    // Everything that is syntax to Mermaid or HTML becomes an entity.
    let quote = |text: &str| {
        shorten(text).chars().fold(String::new(), |mut out, c| {
            match c {
                '"' | '#' | '<' | '>' | '&' | ';' | '`' | '|' | '\\' | '{' | '}' | '[' | ']' | '%' => {
                    let _ = write!(out, "#{};", c as u32);
                }
                _ => out.push(c),
            }
            out
        })
    };
    let mut out = "flowchart TD\n".to_owned();
    for vertex in vertices {
        let label = quote(&vertex.label);
        // Writing to a String cannot fail.
        let _ = match vertex.shape {
            Shape::Node => writeln!(out, "  {}[\"{label}\"]", vertex.name),
            Shape::Halt => writeln!(out, "  {}([\"{label}\"])", vertex.name),
            Shape::Rule => writeln!(out, "  {}{{{{\"{label}\"}}}}", vertex.name),
            Shape::Missing => writeln!(out, "  {}[/\"{label}\"/]", vertex.name),
        };
    }
    for edge in edges {
        let line = if edge.dashed { "-.->" } else { "-->" };
        let _ = if edge.label.is_empty() {
            writeln!(out, "  {} {line} {}", edge.from, edge.to)
        } else {
            writeln!(
                out,
                "  {} {line}|\"{}\"| {}",
                edge.from,
                quote(&edge.label),
                edge.to
            )
        };
    }
    out
}

fn dot(vertices: &[Vertex], edges: &[Edge]) -> String {
    let quote = |text: &str| shorten(text).replace('\\', "\\\\").replace('"', "\\\"");
    let mut out = "digraph ir {\n  rankdir=TB;\n  node [fontname=\"sans-serif\"];\n".to_owned();
    for vertex in vertices {
        let style = match vertex.shape {
            Shape::Node => "shape=box",
            Shape::Halt => "shape=doublecircle",
            Shape::Rule => "shape=hexagon",
            Shape::Missing => "shape=box, style=dashed, color=red",
        };
        let _ = writeln!(
            out,
            "  {} [label=\"{}\", {style}];",
            vertex.name,
            quote(&vertex.label)
        );
    }
    for edge in edges {
        let style = if edge.dashed { "dashed" } else { "solid" };
        let _ = writeln!(
            out,
            "  {} -> {} [label=\"{}\", style={style}];",
            edge.from,
            edge.to,
            quote(&edge.label)
        );
    }
    out.push_str("}\n");
    out
}
