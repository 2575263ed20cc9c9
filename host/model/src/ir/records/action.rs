//! What a rule does: a union told apart by `kind`. No action can hold another one, so rules stay inspectable without recursion.

use crate::ir::duration::IsoDuration;
use crate::ir::record::{Emit, Reader, Record, SchemaBook, Value, Writer, record};
use mizzen_json::nearest;
use mizzen_json::{Integer, Json, Node, Object};

record! {
    /// Go to a node.
    pub struct GotoAction tagged "goto" {
        /// Node id.
        target: String,
    }
}

record! {
    /// Stop the run.
    pub struct HaltAction tagged "halt" {
        /// Operator-facing message.
        reason: String = String::new(),
    }
}

record! {
    /// Fan out to several nodes.
    pub struct ParallelAction tagged "parallel" {
        /// Node ids fanned out in parallel.
        targets: Vec<String>,
        /// Join node id.
        join: String = String::new(),
        /// `all`, `any`, `race` or `quorum`.
        strategy: String = "all".to_owned(),
    }
}

record! {
    /// Run a node again.
    pub struct RetryAction tagged "retry" {
        /// Node id.
        target: String,
        /// Milliseconds to wait before.
        backoff_ms: Integer = Integer::from(0),
    }
}

record! {
    /// Assert a fact.
    pub struct AssertAction tagged "assert" {
        /// Fact template name.
        fact: String,
        /// Slots, a JSON object as text.
        slots: String = String::new(),
    }
}

record! {
    /// Retract facts.
    pub struct RetractAction tagged "retract" {
        /// Which facts.
        pattern: String,
    }
}

record! {
    /// Pause the run and ask a person.
    pub struct InterruptAction tagged "interrupt" {
        /// Operator-facing prompt.
        prompt: String,
        /// Free-form payload shown with the prompt.
        interrupt_payload: Object = Object::new(),
        /// Capability that the answer needs.
        requested_capability: Option<String> = None,
        /// How long to wait; nothing means without bound.
        timeout: Option<IsoDuration> = None,
        /// `halt`, or `goto:<node_id>`.
        on_timeout: String = "halt".to_owned(),
    }
}

impl InterruptAction {
    /// The node to go on at when nobody answers in time.
    pub fn timeout_target(&self) -> Option<&str> {
        self.on_timeout.strip_prefix("goto:")
    }
}

/// One action of a rule.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Action {
    /// `goto`
    Goto(GotoAction),
    /// `halt`
    Halt(HaltAction),
    /// `parallel`
    Parallel(ParallelAction),
    /// `retry`
    Retry(RetryAction),
    /// `assert`
    Assert(AssertAction),
    /// `retract`
    Retract(RetractAction),
    /// `interrupt`; boxed, because it is three times as large as the others and much rarer.
    Interrupt(Box<InterruptAction>),
}

impl Action {
    /// Every discriminator.
    pub const KINDS: &'static [&'static str] = &[
        "goto",
        "halt",
        "parallel",
        "retry",
        "assert",
        "retract",
        "interrupt",
    ];

    /// The discriminator on the wire.
    pub fn kind(&self) -> &'static str {
        match self {
            Action::Goto(_) => "goto",
            Action::Halt(_) => "halt",
            Action::Parallel(_) => "parallel",
            Action::Retry(_) => "retry",
            Action::Assert(_) => "assert",
            Action::Retract(_) => "retract",
            Action::Interrupt(_) => "interrupt",
        }
    }
}

impl Emit for Action {
    fn emit(&self, out: &mut Writer) {
        match self {
            Action::Goto(action) => action.emit(out),
            Action::Halt(action) => action.emit(out),
            Action::Parallel(action) => action.emit(out),
            Action::Retry(action) => action.emit(out),
            Action::Assert(action) => action.emit(out),
            Action::Retract(action) => action.emit(out),
            Action::Interrupt(action) => action.emit(out),
        }
    }
}

impl Value for Action {
    fn read<'t>(node: Node<'t>, reader: &mut Reader<'t>) -> Option<Self> {
        let members = reader.members(node, "Action")?;
        // The last of a repeated key counts, here as everywhere.
        let Some(kind) = members.filter(|member| member.key_bytes() == b"kind").last() else {
            let hint = format!(
                "add the discriminator `kind`: one of {}",
                Action::KINDS.join(", ")
            );
            return reader.refuse(node, "union_tag_not_found", "an action with a `kind`", hint);
        };
        let tag = kind.value.as_str().unwrap_or_default();
        match tag {
            "goto" => GotoAction::read(node, reader).map(Action::Goto),
            "halt" => HaltAction::read(node, reader).map(Action::Halt),
            "parallel" => ParallelAction::read(node, reader).map(Action::Parallel),
            "retry" => RetryAction::read(node, reader).map(Action::Retry),
            "assert" => AssertAction::read(node, reader).map(Action::Assert),
            "retract" => RetractAction::read(node, reader).map(Action::Retract),
            "interrupt" => InterruptAction::read(node, reader)
                .map(Box::new)
                .map(Action::Interrupt),
            _ => {
                let hint = match nearest(tag, Action::KINDS.iter().copied()) {
                    Some(name) => format!("did you mean kind `{name}`?"),
                    None => format!("set `kind` to one of {}", Action::KINDS.join(", ")),
                };
                let expected = format!("a `kind` among {}", Action::KINDS.join(", "));
                reader.refuse_at(kind.value, "union_tag_invalid", expected, hint)
            }
        }
    }

    fn schema(book: &mut SchemaBook) -> Json {
        let members = vec![
            GotoAction::schema(book),
            HaltAction::schema(book),
            ParallelAction::schema(book),
            RetryAction::schema(book),
            AssertAction::schema(book),
            RetractAction::schema(book),
            InterruptAction::schema(book),
        ];
        SchemaBook::union(members)
    }
}

impl Record for Action {
    const NAME: &'static str = "Action";
    const FIELDS: &'static [&'static str] = &["kind"];
}
