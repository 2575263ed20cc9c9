//! Entries about calls that tools make (D23): asked for, ended, and made again after the host stopped.

use super::super::body::Body;
use super::EntryKind;
use mizzen_engine::plan::{Repeatable, ToolFacts};
use mizzen_engine::run::{Callee, Command, Event, NestedAsked, Within};
use mizzen_model::id::ExecutionId;
use mizzen_model::tool_spec::SideEffects;
use serde_json::Value;

/// The outermost call: a step's, or the gate agent's.
fn write_within(body: &mut Body, within: Within) {
    match within {
        Within::Step { order, attempt } => {
            body.number("step", order);
            body.number("attempt", attempt);
        }
        Within::Gate { question } => body.number("question", question),
    }
}

pub(super) fn read_within(value: &Value) -> Option<Within> {
    let number = |name: &str| u32::try_from(value.get(name)?.as_u64()?).ok();
    match number("question") {
        Some(question) => Some(Within::Gate { question }),
        None => Some(Within::Step {
            order: number("step")?,
            attempt: number("attempt")?,
        }),
    }
}

/// That a call is asked for, without its input.
pub(super) fn asked(asked: &NestedAsked) -> Body {
    let mut body = Body::of_kind(EntryKind::NestedCalled);
    write_within(&mut body, asked.within);
    body.text("path", &asked.path);
    body.text("caller", &asked.caller);
    let Callee {
        tool,
        digest,
        repeatable,
    } = &asked.callee;
    body.text("tool", &tool.tool);
    body.text("version", &tool.version);
    body.text("plugin", &tool.plugin);
    body.text("digest", digest);
    body.text("side_effects", tool.side_effects.as_str());
    body.written("repeatable", (*repeatable == Repeatable::Yes).to_string());
    body
}

pub(super) fn read_asked(value: &Value) -> Option<Event> {
    let text = |name: &str| Some(value.get(name)?.as_str()?.to_owned());
    let input = match value.get("input") {
        Some(input) => input.clone(),
        // The packs did not let it through: what follows says so, and needs nothing of it.
        None => value.get("withheld").map(|_| Value::Null)?,
    };
    Some(Event::NestedAsked(Box::new(NestedAsked {
        within: read_within(value)?,
        path: text("path")?,
        caller: text("caller")?,
        callee: Callee {
            tool: ToolFacts {
                tool: text("tool")?,
                version: text("version")?,
                plugin: text("plugin")?,
                side_effects: SideEffects::parse(value.get("side_effects")?.as_str()?)?,
            },
            digest: text("digest")?,
            repeatable: match value.get("repeatable")?.as_bool()? {
                true => Repeatable::Yes,
                false => Repeatable::No,
            },
        },
        input,
    })))
}

/// That a call has ended, without how.
pub(super) fn ended(within: Within, path: &str) -> Body {
    let mut body = Body::of_kind(EntryKind::NestedEnded);
    write_within(&mut body, within);
    body.text("path", path);
    body
}

/// That the host stopped while the outermost call was under way, and makes it again.
pub(super) fn interrupted(within: Within) -> Body {
    let mut body = Body::of_kind(EntryKind::Interrupted);
    write_within(&mut body, within);
    body
}

/// The key of a call that a tool makes: stable over attempts and restarts, as a step's is.
pub(in super::super) fn key_of(id: ExecutionId, within: Within, path: &str) -> String {
    match within {
        Within::Step { order, .. } => format!("{id}/{order}/0/{path}"),
        Within::Gate { question } => format!("{id}/gate/{question}/{path}"),
    }
}

/// What is said before a tool's call that changes the world; none for one that does not.
pub(in super::super) fn intent_of(id: ExecutionId, command: &Command) -> Option<Body> {
    let Command::NestedCall {
        within, path, callee, ..
    } = command
    else {
        return None;
    };
    if !callee.changes_the_world() {
        return None;
    }
    let mut body = Body::of_kind(EntryKind::Intent);
    write_within(&mut body, *within);
    body.text("path", path);
    body.text("tool", &callee.tool.tool);
    body.text("digest", &callee.digest);
    body.text("idempotency_key", &key_of(id, *within, path));
    Some(body)
}
