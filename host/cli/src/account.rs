//! An execution as a person reads it: one row for every rule, gate and step, in the order in which they count.

use mizzen_json::steers_a_terminal;
use mizzen_model::execution::{
    ChainExecutionResult, ExecutionError, GateEvaluation, NestedExecution, NestedStatus, PackEvaluation,
    RuleEvaluation, StepExecution, StepStatus,
};
use mizzen_model::gate::GatePosition;
use mizzen_model::governance::PackAction;
use mizzen_model::pack::Moment;
use mizzen_model::rule::RuleAction;
use std::collections::HashMap;
use std::io::IsTerminal;

/// Sprites by id.
pub(crate) type Names = HashMap<String, String>;

/// How a row is to be taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Tone {
    /// As it should be.
    Good,
    /// Something stopped here.
    Bad,
    /// It is not over.
    Open,
    /// Nothing happened here.
    Idle,
}

/// One row.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Row {
    /// Tells the rows of an execution apart, and what they say of the same thing at different times.
    pub(crate) key: String,
    kind: &'static str,
    what: String,
    state: String,
    note: String,
    pub(crate) tone: Tone,
}

impl Row {
    /// Whether what it says is final.
    pub(crate) fn is_settled(&self) -> bool {
        self.tone != Tone::Open && self.state != StepStatus::Pending.as_str()
    }
}

/// Everything that was decided and done, rules first, each gate where it was evaluated.
pub(crate) fn rows(result: &ChainExecutionResult, names: &Names) -> Vec<Row> {
    let mut rows: Vec<Row> = result
        .rules
        .iter()
        .enumerate()
        .map(|(at, it)| rule(at, it))
        .collect();
    let gates = |of: Option<u32>, wanted: &'static [GatePosition]| {
        let gates = result.gates.iter().enumerate();
        gates
            .filter(move |(_, it)| it.step == of && wanted.contains(&it.position))
            .map(|(at, it)| gate(at, it, names))
    };
    // What packs said of calls that tools make is told with those.
    let packs = |of: Option<u32>, wanted: &'static [Moment]| {
        let packs = result.packs.iter().flatten().enumerate();
        packs
            .filter(move |(_, it)| it.step == of && it.call.is_none() && wanted.contains(&it.moment))
            .map(|(at, it)| pack(at, it))
    };
    let packs_of_calls = |of: Option<u32>| {
        let packs = result.packs.iter().flatten().enumerate();
        packs
            .filter(move |(_, it)| it.step == of && it.call.is_some())
            .map(|(at, it)| pack(at, it))
    };
    rows.extend(packs(None, &[Moment::BeforeRun]));
    rows.extend(packs_of_calls(None));
    rows.extend(gates(None, &[GatePosition::Before]));
    for it in &result.steps {
        rows.extend(gates(Some(it.order), &[GatePosition::Before]));
        rows.extend(packs(Some(it.order), &[Moment::BeforeStep]));
        rows.push(step(it, result, names));
        rows.extend(it.calls.iter().map(|call| nested(it.order, call)));
        rows.extend(packs_of_calls(Some(it.order)));
        rows.extend(packs(Some(it.order), &[Moment::AfterStep, Moment::OnError]));
        rows.extend(gates(
            Some(it.order),
            &[GatePosition::After, GatePosition::OnError],
        ));
    }
    rows.extend(gates(None, &[GatePosition::After, GatePosition::OnError]));
    rows.extend(packs(None, &[Moment::AtEnd]));
    rows
}

/// The last line: how it stands, how long it took, and why.
pub(crate) fn end(result: &ChainExecutionResult) -> Row {
    let time = result.duration_ms.map(|ms| format!("{ms} ms"));
    // The row of a step has its error in full: here it is named.
    let failed = |error: &ExecutionError| {
        let step = result
            .steps
            .iter()
            .find(|step| step.error.as_ref() == Some(error))?;
        Some(format!("{} in step {}", error.code, step.order))
    };
    let reason = result
        .error
        .as_ref()
        .map(|error| failed(error).unwrap_or_else(|| told(error)));
    let note: Vec<String> = time.into_iter().chain(reason).collect();
    Row {
        key: "end".to_owned(),
        kind: "end",
        what: result.status.to_string(),
        state: String::new(),
        note: note.join(", "),
        tone: if result.status.is_final() {
            Tone::Good
        } else {
            Tone::Open
        },
    }
}

/// An error with its code, once: what hosts recorded earlier may begin with `denied: ` or `unavailable: `.
fn told(error: &ExecutionError) -> String {
    let said = error.message.split_once(": ");
    match said.filter(|(word, _)| word.eq_ignore_ascii_case(&error.code)) {
        Some((_, rest)) => format!("{}: {rest}", error.code),
        None => format!("{}: {}", error.code, error.message),
    }
}

fn rule(at: usize, it: &RuleEvaluation) -> Row {
    let (state, tone) = match (it.matched, it.action) {
        (false, _) => ("not matched".to_owned(), Tone::Idle),
        (true, RuleAction::Allow) => ("allow".to_owned(), Tone::Good),
        (true, action) => (action.to_string(), Tone::Bad),
    };
    Row {
        key: format!("rule {at}"),
        kind: "rule",
        what: it.name.clone(),
        state,
        note: if it.matched {
            it.reason.clone()
        } else {
            String::new()
        },
        tone,
    }
}

fn gate(at: usize, it: &GateEvaluation, names: &Names) -> Row {
    let position = match it.step {
        Some(step) => format!("{} step {step}", it.position),
        None => it.position.to_string(),
    };
    let vetoed = it.decision == mizzen_model::execution::GateDecision::Veto;
    Row {
        key: format!("gate {at}"),
        kind: "gate",
        what: format!("{position}, {}", name(names, &it.sprite_id.to_string())),
        state: it.decision.to_string(),
        note: it.reason.clone(),
        tone: if vetoed { Tone::Bad } else { Tone::Good },
    }
}

fn pack(at: usize, it: &PackEvaluation) -> Row {
    let stops = matches!(it.action, PackAction::Veto | PackAction::Escalate);
    let moment = it.moment.as_str();
    Row {
        key: format!("pack {at}"),
        kind: "pack",
        what: match (it.step, &it.call) {
            (Some(step), Some(call)) => format!("{}, {moment} {step}/{call}", it.pack_id),
            (Some(step), None) => format!("{}, {moment} {step}", it.pack_id),
            (None, Some(call)) => format!("{}, {moment} gate/{call}", it.pack_id),
            (None, None) => format!("{}, {moment}", it.pack_id),
        },
        state: it.action.to_string(),
        note: match (it.applied, &it.not_applied) {
            (true, _) => it.reason.clone(),
            (false, Some(why)) => format!("(not done: {why}) {}", it.reason),
            (false, None) => format!("(not done) {}", it.reason),
        },
        tone: match (it.applied, stops) {
            (true, true) => Tone::Bad,
            (true, false) if it.action != PackAction::Annotate => Tone::Good,
            (_, _) => Tone::Idle,
        },
    }
}

fn step(it: &StepExecution, of: &ChainExecutionResult, names: &Names) -> Row {
    let tone = match it.status {
        StepStatus::Completed => Tone::Good,
        StepStatus::Failed => Tone::Bad,
        StepStatus::Running => Tone::Open,
        StepStatus::Pending | StepStatus::Skipped => Tone::Idle,
    };
    let note = match (&it.error, &it.output) {
        (Some(error), _) => told(error),
        (None, Some(output)) => output.to_string(),
        (None, None) => String::new(),
    };
    Row {
        key: format!("step {} {}", it.order, it.status),
        kind: if it.node.is_some() { "node" } else { "step" },
        // A tool that is called without a council has no sprite, nor has the node of a graph.
        what: match (&of.tool, &it.node) {
            (Some(tool), _) => format!("{} {tool}", it.order),
            (None, Some(node)) if node.iteration > 1 => {
                format!("{} {} #{}", it.order, node.id, node.iteration)
            }
            (None, Some(node)) => format!("{} {}", it.order, node.id),
            (None, None) => format!(
                "{} {}.{}",
                it.order,
                name(names, &it.sprite_id.to_string()),
                it.action
            ),
        },
        state: it.status.to_string(),
        note,
        tone,
    }
}

/// A call that a step's tool made.
fn nested(step: u32, it: &NestedExecution) -> Row {
    Row {
        key: format!("call {step} {} {} {}", it.attempt, it.path, it.status),
        kind: "call",
        what: format!("{step}/{} {} → {}", it.path, it.caller, it.tool),
        state: it.status.to_string(),
        note: it.error.as_ref().map_or_else(String::new, told),
        tone: match it.status {
            NestedStatus::Running => Tone::Open,
            NestedStatus::Completed => Tone::Good,
            NestedStatus::Failed | NestedStatus::Denied => Tone::Bad,
        },
    }
}

fn name(names: &Names, id: &str) -> String {
    names.get(id).cloned().unwrap_or_else(|| id.to_owned())
}

/// How lines are laid out.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Layout {
    /// Columns of the terminal, or as many as a line may have.
    pub(crate) width: usize,
    /// Whether states may be coloured.
    pub(crate) coloured: bool,
    /// Columns that a name has at least: lines that come one after the other stand below each other.
    pub(crate) name: usize,
}

/// Plain lines are for logs and files: long enough for a reason, no longer than anybody reads.
pub(crate) const PLAIN: Layout = Layout {
    width: 400,
    coloured: false,
    name: 36,
};

impl Layout {
    /// What fits standard output: the terminal's width, and colours where a person wants them.
    pub(crate) fn of_stdout() -> Self {
        let width =
            terminal_size::terminal_size().map_or(120, |(terminal_size::Width(width), _)| usize::from(width));
        let wanted = std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty());
        Self {
            width: width.saturating_sub(1),
            coloured: wanted && std::io::stdout().is_terminal(),
            name: 24,
        }
    }
}

/// The rows as lines, in columns. What a guest or a client wrote cannot move the cursor or leave its line.
pub(crate) fn lines(rows: &[Row], layout: Layout) -> Vec<String> {
    // A narrow terminal still shows something of every column.
    let most = (layout.width / 2).clamp(8, 44);
    let column = |of: fn(&Row) -> &str, least: usize| {
        let widest = rows.iter().map(|row| columns(&shown(of(row)))).max().unwrap_or(0);
        widest.clamp(least.min(most), most)
    };
    let (what, state) = (column(|row| &row.what, layout.name), column(|row| &row.state, 11));
    rows.iter()
        .map(|row| {
            let head = format!("{}  {}  ", pad(row.kind, 4), pad(&shown(&row.what), what));
            let state = pad(&shown(&row.state), state);
            let left = layout.width.saturating_sub(columns(&head) + columns(&state) + 2);
            let line = format!("{}  {}", paint(&state, row, layout), cut(&shown(&row.note), left));
            format!("{head}{}", line.trim_end())
        })
        .collect()
}

fn paint(state: &str, row: &Row, layout: Layout) -> String {
    let code = match row.tone {
        _ if !layout.coloured => return state.to_owned(),
        Tone::Good => 32,
        Tone::Bad => 31,
        Tone::Open => 33,
        Tone::Idle => 2,
    };
    format!("\u{1b}[{code}m{state}\u{1b}[0m")
}

/// Text without what a terminal would obey: control characters, and marks that turn the direction of writing.
pub(crate) fn shown(text: &str) -> String {
    text.chars()
        .map(|c| match c {
            '\n' | '\t' => ' ',
            c if steers_a_terminal(c) => '\u{fffd}',
            c => c,
        })
        .collect()
}

/// Columns that a text may take: what is not ASCII may be twice as wide.
fn columns(text: &str) -> usize {
    text.chars().map(|c| if c.is_ascii() { 1 } else { 2 }).sum()
}

/// No more than so many columns.
pub(crate) fn cut(text: &str, most: usize) -> String {
    if columns(text) <= most {
        return text.to_owned();
    }
    if most < 2 {
        return String::new();
    }
    let mut left = most - 2;
    let kept: String = text
        .chars()
        .take_while(|c| {
            let wide = if c.is_ascii() { 1 } else { 2 };
            let fits = wide <= left;
            left = left.saturating_sub(wide);
            fits
        })
        .collect();
    format!("{kept}…")
}

fn pad(text: &str, width: usize) -> String {
    let text = cut(text, width);
    let missing = width.saturating_sub(columns(&text));
    format!("{text}{}", " ".repeat(missing))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(what: &str, note: &str) -> Row {
        Row {
            key: String::new(),
            kind: "gate",
            what: what.to_owned(),
            state: "allow".to_owned(),
            note: note.to_owned(),
            tone: Tone::Good,
        }
    }

    #[test]
    fn what_others_wrote_stays_on_its_line_and_moves_nothing() {
        let hostile = row("\u{1b}[2J\u{202e}evil\r\n", &"x\u{7}é\n".repeat(200));
        for width in [0, 1, 20, 80] {
            let layout = Layout {
                width,
                coloured: false,
                name: 24,
            };
            for line in lines(std::slice::from_ref(&hostile), layout) {
                assert!(!line.chars().any(char::is_control), "{line:?}");
                assert!(!line.contains('\u{202e}'));
                assert!(columns(&line) <= width.max(30), "{width}: {line}");
            }
        }
    }

    #[test]
    fn an_error_says_its_code_once_and_stands_in_full_once() {
        let check = |code: &str, message: &str, expected: &str| {
            let error = ExecutionError::new(code, message.to_owned(), Some(0));
            assert_eq!(told(&error), expected);
        };
        check("DENIED", "denied: net:x", "DENIED: net:x");
        check(
            "UNAVAILABLE",
            "unavailable: `x:1` cannot be reached",
            "UNAVAILABLE: `x:1` cannot be reached",
        );
        check(
            "TIMEOUT",
            "the timeout of step 0 was up",
            "TIMEOUT: the timeout of step 0 was up",
        );
        let mut result: ChainExecutionResult = serde_json::from_value(serde_json::json!({
            "execution_id": "11111111-1111-4111-8111-111111111111", "council_id": "11111111-1111-4111-8111-111111111111",
            "chain_id": "11111111-1111-4111-8111-111111111111", "status": "failed", "started_at": "2026-04-27T10:00:00Z",
            "gates": [], "rules": [], "error": {"code": "DENIED", "message": "denied: net:x", "step": 0},
            "steps": [{
                "order": 0, "sprite_id": "11111111-1111-4111-8111-111111111111", "action": "fetch", "status": "failed",
                "attempts": 1, "error": {"code": "DENIED", "message": "denied: net:x", "step": 0},
            }],
        }))
        .unwrap();
        assert_eq!(end(&result).note, "DENIED in step 0");
        assert_eq!(rows(&result, &Names::new())[0].note, "DENIED: net:x");
        // What no row says is said at the end.
        result.steps.clear();
        assert_eq!(end(&result).note, "DENIED: net:x");
    }

    #[test]
    fn rows_stand_in_columns() {
        let rows = [
            row("a", "first"),
            row("a longer name than the others have", "second"),
        ];
        let lines = lines(&rows, PLAIN);
        assert_eq!(lines[0].find("allow"), lines[1].find("allow"));
        assert_eq!(
            lines[0],
            "gate  a                                     allow        first"
        );
    }
}
