//! An estimate of how long a component takes to compile, made before it is compiled.
//!
//! Most code takes time in proportion to its size. Some does not: Cranelift takes minutes for ten kilobytes of nested loops
//! that share a thousand locals, and nothing can stop it. So one pass over the functions adds up what they cost beyond their
//! size. The numbers are microseconds of an unoptimised build of this host, fitted to code that is known to be slow. They are
//! estimates: random code took up to seven times as long. Code of real toolchains stays far below what its size allows.

use std::fmt;
use wasmparser::{
    FrameKind, FuncValidator, FuncValidatorAllocations, FunctionBody, Operator, Parser, ValidPayload,
    Validator, WasmFeatures, WasmModuleResources,
};

/// What a byte of code may cost. Real code costs two of these.
const PER_BYTE: u64 = 12;
/// What one function may cost beyond that: six seconds. Above it, estimates are far too low for the worst known code.
const MOST_OF_ONE: u64 = 6_000_000;
/// The same for all functions together.
const MOST: u64 = 40_000_000;
/// What an empty function costs.
const PER_FUNCTION: u64 = 200;
/// Loops inside of each other: beyond this, their cost grows with a high power of their number.
const MOST_LOOPS: usize = 100;

/// Why a component is not compiled.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct TooMuch(String);

impl fmt::Display for TooMuch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Refuses a component whose compilation would take out of proportion to its size.
pub(crate) fn check(component: &[u8]) -> Result<(), TooMuch> {
    let invalid = |error: wasmparser::BinaryReaderError| TooMuch(error.to_string());
    // The compiler decides which features are allowed.
    let mut validator = Validator::new_with_features(WasmFeatures::all());
    let mut memory = FuncValidatorAllocations::default();
    let mut beyond = 0_u64;
    for payload in Parser::new(0).parse_all(component) {
        let payload = payload.map_err(invalid)?;
        let ValidPayload::Func(function, body) = validator.payload(&payload).map_err(invalid)? else {
            continue;
        };
        let mut function = function.into_validator(std::mem::take(&mut memory));
        let work = Work::of(&mut function, &body).map_err(invalid)?;
        let bytes = body.range().len() as u64;
        let more = work.micros().saturating_sub(bytes.saturating_mul(PER_BYTE));
        beyond = beyond.saturating_add(more);
        if beyond > MOST || more > MOST_OF_ONE || work.loops > MOST_LOOPS {
            let (at, index) = (body.range().start, function.index());
            return Err(TooMuch(format!(
                "it would take too long to compile: function {index}, whose {bytes} bytes begin at byte {at}, has {work}. Split \
                 such functions into smaller ones (at most {MOST_LOOPS} loops inside of each other are compiled)"
            )));
        }
        memory = function.into_allocations();
    }
    Ok(())
}

/// The properties of a function that determine its compile time.
#[derive(Debug, Default)]
struct Work {
    /// Operators, each as many times as it has operands and results.
    operators: u64,
    /// Branches and joins of the control flow.
    joins: u64,
    /// The most values on the operand stack.
    stack: u64,
    /// The most locals that may be alive at once.
    live: u64,
    /// Joins over which locals are alive, of all locals.
    carried: u64,
    /// The most loops inside of each other.
    loops: usize,
}

impl fmt::Display for Work {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{} joins of its flow of control, {} loops inside of each other, {} locals and {} operands alive at once",
            self.joins, self.loops, self.live, self.stack
        )
    }
}

impl Work {
    fn micros(&self) -> u64 {
        let alive = self.live.saturating_add(self.stack);
        let square = |number: u64| number.saturating_mul(number);
        [
            PER_FUNCTION,
            self.operators.saturating_mul(4),
            square(self.joins) / 100,
            square(alive).saturating_mul(6) / 100,
            self.carried.saturating_mul(8) / 10,
        ]
        .into_iter()
        .fold(0, u64::saturating_add)
    }

    fn of<T: WasmModuleResources>(
        function: &mut FuncValidator<T>,
        body: &FunctionBody<'_>,
    ) -> Result<Self, wasmparser::BinaryReaderError> {
        let mut reader = body.get_binary_reader();
        function.read_locals(&mut reader)?;
        let mut work = Self::default();
        let mut locals = Locals::new(function.len_locals());
        let mut operators = wasmparser::OperatorsReader::new(reader);
        while !operators.eof() {
            let (operator, offset) = operators.read_with_offset()?;
            let (takes, gives) = operator.operator_arity(function).unwrap_or_default();
            let is_loop = function
                .get_control_frame(0)
                .is_some_and(|frame| frame.kind == FrameKind::Loop);
            function.op(offset, &operator)?;
            let values = u64::from(takes).saturating_add(u64::from(gives));
            work.operators = work.operators.saturating_add(values.max(1));
            work.stack = work.stack.max(u64::from(function.operand_stack_height()));
            let parts = match &operator {
                // The epoch check at the head of every loop.
                Operator::Loop { .. } => 4,
                Operator::If { .. } | Operator::CallIndirect { .. } | Operator::ReturnCallIndirect { .. } => {
                    3
                }
                Operator::Block { .. }
                | Operator::Else
                | Operator::BrIf { .. }
                | Operator::BrOnNull { .. }
                | Operator::BrOnNonNull { .. }
                | Operator::TryTable { .. } => 1,
                Operator::BrTable { targets } => {
                    work.operators = work.operators.saturating_add(u64::from(targets.len()));
                    1
                }
                _ => 0,
            };
            work.joins = work.joins.saturating_add(parts);
            match operator {
                Operator::Loop { .. } => locals.begin_loop(work.joins),
                Operator::Block { .. } | Operator::If { .. } | Operator::TryTable { .. } => {
                    locals.begin_block()
                }
                Operator::Else => {
                    locals.end_block();
                    locals.begin_block();
                }
                Operator::End if is_loop => locals.end_loop(work.joins),
                Operator::End => locals.end_block(),
                Operator::LocalGet { local_index } => locals.read(local_index, work.joins),
                Operator::LocalSet { local_index } | Operator::LocalTee { local_index } => {
                    locals.write(local_index, work.joins);
                }
                _ => {}
            }
        }
        operators.finish()?;
        work.loops = locals.deepest;
        (work.live, work.carried) = locals.alive();
        Ok(work)
    }
}

/// Where each local is alive, roughly and never too short: from its first mention to its last, and around every loop into which its
/// value may come from outside or from the turn before.
struct Locals {
    mentioned: Vec<Option<Mentioned>>,
    /// Where each loop begins and ends, in the order of their beginnings.
    loops: Vec<(u64, u64)>,
    /// The loops that are open.
    open: Vec<usize>,
    deepest: usize,
    /// The blocks that are open, each with its number; the two arms of an `if` are two.
    blocks: Vec<u32>,
    begun: u32,
}

#[derive(Clone, Copy)]
struct Mentioned {
    first: u64,
    last: u64,
    /// The loop around which it is alive.
    around: Option<usize>,
    /// The outermost block that has been open since it was written in it, by depth and number: up to its end the local has been
    /// written for certain.
    written: Option<(usize, u32)>,
}

impl Locals {
    fn new(count: u32) -> Self {
        Self {
            mentioned: vec![None; count as usize],
            loops: Vec::new(),
            open: Vec::new(),
            deepest: 0,
            blocks: vec![0],
            begun: 0,
        }
    }

    fn begin_block(&mut self) {
        self.begun = self.begun.saturating_add(1);
        self.blocks.push(self.begun);
    }

    fn end_block(&mut self) {
        self.blocks.pop();
    }

    fn begin_loop(&mut self, at: u64) {
        self.begin_block();
        self.open.push(self.loops.len());
        self.loops.push((at, at));
        self.deepest = self.deepest.max(self.open.len());
    }

    fn end_loop(&mut self, at: u64) {
        self.end_block();
        if let Some((_, end)) = self.open.pop().and_then(|ended| self.loops.get_mut(ended)) {
            *end = at;
        }
    }

    fn read(&mut self, local: u32, at: u64) {
        let Some(slot) = self.mentioned.get_mut(local as usize) else {
            return;
        };
        let blocks = &self.blocks;
        let is_open = |(depth, number): (usize, u32)| blocks.get(depth) == Some(&number);
        // One that is read first is an argument, or has been zero from the beginning.
        let mentioned = slot.get_or_insert(Mentioned {
            first: 0,
            last: at,
            around: None,
            written: None,
        });
        let outermost = self.open.first().copied();
        if let (false, Some(around)) = (mentioned.written.is_some_and(is_open), outermost) {
            let begin = self.loops.get(around).map_or(0, |(begin, _)| *begin);
            mentioned.first = mentioned.first.min(begin);
            mentioned.around = Some(around);
        }
        self.mention(local, at);
    }

    fn write(&mut self, local: u32, at: u64) {
        let Some(slot) = self.mentioned.get_mut(local as usize) else {
            return;
        };
        let blocks = &self.blocks;
        let is_open = |(depth, number): &(usize, u32)| blocks.get(*depth) == Some(number);
        let mentioned = slot.get_or_insert(Mentioned {
            first: at,
            last: at,
            around: None,
            written: None,
        });
        let here = blocks.last().map(|number| (blocks.len() - 1, *number));
        mentioned.written = mentioned.written.filter(is_open).or(here);
        self.mention(local, at);
    }

    fn mention(&mut self, local: u32, at: u64) {
        let Some(Some(mentioned)) = self.mentioned.get_mut(local as usize) else {
            return;
        };
        mentioned.last = at;
        if mentioned
            .around
            .is_some_and(|around| self.open.binary_search(&around).is_ok())
        {
            return;
        }
        // The outermost loop that began after it was there. One that has ended before ends earlier.
        let begins = |open: &usize| self.loops.get(*open).map_or(0, |(begin, _)| *begin);
        let outside = self.open.partition_point(|open| begins(open) <= mentioned.first);
        mentioned.around = self.open.get(outside).copied().or(mentioned.around);
    }

    /// The most that are alive at once, and the joins over which each of them is, added up.
    fn alive(&self) -> (u64, u64) {
        let mut changes: Vec<(u64, bool)> = Vec::new();
        let mut carried = 0_u64;
        for mentioned in self.mentioned.iter().flatten() {
            let around = mentioned.around.and_then(|around| self.loops.get(around));
            let last = around.map_or(mentioned.last, |(_, end)| mentioned.last.max(*end));
            carried = carried.saturating_add(last.saturating_sub(mentioned.first));
            changes.push((mentioned.first, false));
            changes.push((last, true));
        }
        // Ranges that end where others begin overlap them.
        changes.sort_unstable();
        let (mut now, mut most) = (0_u64, 0_u64);
        for (_, ends) in changes {
            now = if ends { now.saturating_sub(1) } else { now + 1 };
            most = most.max(now);
        }
        (most, carried)
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use wasm_encoder::{
        BlockType, CodeSection, Component, Function, FunctionSection, InstructionSink, Module, ModuleSection,
        TypeSection, ValType,
    };

    /// A component with one module, of so many equal functions with an argument, a result and more locals.
    pub(crate) fn component(
        functions: u32,
        locals: u32,
        write: impl Fn(&mut InstructionSink<'_>),
    ) -> Vec<u8> {
        let mut types = TypeSection::new();
        types.ty().function([ValType::I32], [ValType::I32]);
        let (mut declared, mut code) = (FunctionSection::new(), CodeSection::new());
        for _ in 0..functions {
            declared.function(0);
            let mut function = Function::new([(locals, ValType::I32)]);
            write(&mut function.instructions());
            function.instructions().local_get(0).end();
            code.function(&function);
        }
        let mut module = Module::new();
        module.section(&types).section(&declared).section(&code);
        let mut component = Component::new();
        component.section(&ModuleSection(&module));
        component.finish()
    }

    pub(crate) fn blocks(sink: &mut InstructionSink<'_>, count: u32) {
        for _ in 0..count {
            sink.block(BlockType::Empty);
        }
        for _ in 0..count {
            sink.end();
        }
    }

    /// Loops inside of each other, each of which counts one of the locals.
    fn loops(sink: &mut InstructionSink<'_>, count: u32, locals: u32) {
        for _ in 0..count {
            sink.loop_(BlockType::Empty);
        }
        for local in (1..=locals).cycle().take(count as usize) {
            sink.local_get(local)
                .i32_const(1)
                .i32_add()
                .local_tee(local)
                .br_if(0)
                .end();
        }
    }

    /// A loop in which locals are set here and there, and alive all around it.
    fn conditions(sink: &mut InstructionSink<'_>, count: u32, locals: u32) {
        sink.loop_(BlockType::Empty);
        for local in (1..=locals).cycle().take(count as usize) {
            sink.local_get(0)
                .if_(BlockType::Empty)
                .local_get(0)
                .local_set(local)
                .end();
            sink.local_get(local).local_set(0);
        }
        sink.local_get(0).br_if(0).end();
    }

    /// Values that are all made before the first of them is used.
    fn operands(sink: &mut InstructionSink<'_>, count: u32) {
        for _ in 0..count {
            sink.local_get(0).i32_const(7).i32_mul();
        }
        for _ in 1..count {
            sink.i32_xor();
        }
        sink.drop();
    }

    #[test]
    fn what_takes_a_compiler_minutes_is_refused_and_what_toolchains_make_is_not() {
        let check = |name: &str, component: Vec<u8>, wanted: Option<&str>| {
            let found = check(&component).map_err(|problem| problem.to_string());
            match (found, wanted) {
                (Ok(()), None) => {}
                (Err(problem), Some(part)) => assert!(
                    problem.starts_with("it would take too long to compile: function")
                        && problem.contains(part),
                    "{name}: {problem}"
                ),
                (found, wanted) => panic!("{name}: {found:?}, wanted {wanted:?}"),
            }
        };
        // Each takes minutes or hours.
        let too_much: [(&str, Vec<u8>, &str); 7] = [
            ("blocks", component(1, 0, |s| blocks(s, 200_000)), "200000 joins"),
            ("loops", component(1, 1, |s| loops(s, 2_000, 1)), "2000 loops"),
            (
                "loops with locals",
                component(1, 1_000, |s| loops(s, 500, 1_000)),
                "500 loops",
            ),
            (
                "conditions",
                component(1, 1_000, |s| conditions(s, 4_000, 1_000)),
                "1001 locals",
            ),
            (
                "operands",
                component(1, 0, |s| operands(s, 30_000)),
                "30001 operands",
            ),
            (
                "several functions",
                component(15, 1_000, |s| conditions(s, 2_000, 1_000)),
                "6005 joins",
            ),
            ("empty functions", component(999_999, 0, |_| {}), "0 joins"),
        ];
        for (name, component, part) in too_much {
            check(name, component, Some(part));
        }
        // Ten times what large functions of real programs have.
        let enough: [(&str, Vec<u8>); 6] = [
            ("blocks", component(1, 0, |s| blocks(s, 10_000))),
            ("loops", component(1, 1, |s| loops(s, 50, 1))),
            ("loops with locals", component(1, 100, |s| loops(s, 100, 100))),
            ("conditions", component(1, 300, |s| conditions(s, 5_000, 300))),
            ("operands", component(1, 0, |s| operands(s, 2_000))),
            ("functions", component(50_000, 5, |s| conditions(s, 5, 5))),
        ];
        for (name, component) in enough {
            check(name, component, None);
        }
    }

    #[test]
    fn what_is_not_a_component_is_refused_as_such() {
        let whole = component(1, 1, |s| conditions(s, 3, 1));
        assert_eq!(check(&whole), Ok(()));
        for bytes in [&whole[..whole.len() - 3], &whole[..20], b"nothing"] {
            assert!(check(bytes).is_err());
        }
    }

    /// The rule engine is the largest component of ours.
    #[test]
    fn a_real_component_costs_what_its_size_allows() {
        let engine = include_bytes!("../../../plugins/rule-engine/rule-engine.wasm");
        assert_eq!(check(engine), Ok(()));
    }
}
