//! Snapshots: a component that was started once and keeps the resulting memory.
//!
//! `mizzen pack build` uses it: the rule engine reads its rules when the pack is built, and every evaluation begins with
//! the rules parsed. Only the linear memory is kept. That is enough for a module without imports whose one mutable global is its stack
//! pointer, which a call leaves as it found it; any other module is refused.

#[cfg(test)]
mod cost;
mod sections;

use sections::{Section, append_custom, read, write};
use wasm_encoder::{ConstExpr, DataSection, MemorySection, MemoryType, Section as _};
use wasmparser::{BinaryReader, GlobalSectionReader};
use wasmtime::{Config, Engine, Instance, Memory, Module, Store, StoreLimits, StoreLimitsBuilder};

const EVALUATE: &str = "mizzen:plugin/pack@1.0.0#evaluate";
/// Reading the largest rule file takes a hundredth of it.
const FUEL: u64 = 20_000_000_000;
/// The most memory of an engine with its rules; an evaluation gets as much.
const MEMORY: usize = 64 << 20;
/// Zeros that separate two data segments: fewer are cheaper to write than a segment's head.
const GAP: usize = 64;
const MODULE: u8 = 1;
const MEMORIES: u8 = 5;
const GLOBALS: u8 = 6;
const START: u8 = 8;
const DATA: u8 = 11;
const DATA_COUNT: u8 = 12;

/// Why a component has no snapshot.
#[derive(Debug, thiserror::Error)]
pub enum SnapshotError {
    /// The component's shape is not supported.
    #[error("the component cannot be snapshotted: {0}")]
    Shape(&'static str),
    /// It did not start, or stopped.
    #[error(
        "the component could not be started; does its configuration need more memory than a guest has? {0}"
    )]
    Run(String),
    /// It refused its configuration.
    #[error("the component refuses its configuration: {0}")]
    Refused(String),
}

/// Starts a pack's component, calls `evaluate` once with its configuration, and returns the component with the resulting memory and a
/// custom section beside it.
///
/// # Errors
/// When the component is of another shape, traps, or refuses the configuration.
pub fn configured_pack(
    component: &[u8],
    configuration: &str,
    custom: (&str, &[u8]),
) -> Result<Vec<u8>, SnapshotError> {
    let sections = read(component).ok_or(SnapshotError::Shape("its sections do not fit"))?;
    let modules: Vec<&Section<'_>> = sections.iter().filter(|s| s.id == MODULE).collect();
    let [module] = modules.as_slice() else {
        return Err(SnapshotError::Shape("it does not have exactly one module"));
    };
    let (memory, pages) = run(module.payload, configuration)?;
    let module_bytes = with_memory(module.payload, &memory, pages)?;
    let mut result = component.get(..8).unwrap_or_default().to_vec();
    for section in &sections {
        match section.id {
            MODULE => write(&mut result, MODULE, &module_bytes),
            id => write(&mut result, id, section.payload),
        }
    }
    append_custom(&mut result, custom.0, custom.1);
    Ok(result)
}

/// The memory after the call, and its size in pages.
fn run(module: &[u8], configuration: &str) -> Result<(Vec<u8>, u64), SnapshotError> {
    let failed = |error: wasmtime::Error| SnapshotError::Run(format!("{error:#}"));
    let mut config = Config::new();
    // Run once and dropped: optimising it would take longer than running it unoptimised.
    config
        .consume_fuel(true)
        .cranelift_opt_level(wasmtime::OptLevel::None);
    let engine = Engine::new(&config).map_err(failed)?;
    let module = Module::new(&engine, module).map_err(failed)?;
    if module.imports().len() > 0 {
        return Err(SnapshotError::Shape("its module imports something"));
    }
    let limits = StoreLimitsBuilder::new().memory_size(MEMORY).build();
    let mut store: Store<StoreLimits> = Store::new(&engine, limits);
    store.limiter(|limits| limits);
    store.set_fuel(FUEL).map_err(failed)?;
    let instance = Instance::new(&mut store, &module, &[]).map_err(failed)?;
    if instance.get_export(&mut store, "_initialize").is_some() {
        return Err(SnapshotError::Shape(
            "its module has to be initialised by its host",
        ));
    }
    let memory = instance
        .get_memory(&mut store, "memory")
        .ok_or(SnapshotError::Shape("its module exports no memory"))?;
    let length = u32::try_from(configuration.len())
        .map_err(|_| SnapshotError::Refused("it is larger than 4 GiB".to_owned()))?;
    let allocate = instance
        .get_typed_func::<(u32, u32, u32, u32), u32>(&mut store, "cabi_realloc")
        .map_err(failed)?;
    let at = allocate.call(&mut store, (0, 0, 1, length)).map_err(failed)?;
    memory
        .write(&mut store, at as usize, configuration.as_bytes())
        .map_err(|error| SnapshotError::Run(error.to_string()))?;
    let evaluate = instance
        .get_typed_func::<(u32, u32, u64), u32>(&mut store, EVALUATE)
        .map_err(failed)?;
    let answer = evaluate.call(&mut store, (at, length, 0)).map_err(failed)?;
    if let Some(refusal) = refusal(&memory, &store, answer as usize) {
        return Err(SnapshotError::Refused(refusal));
    }
    let after = instance
        .get_typed_func::<u32, ()>(&mut store, &format!("cabi_post_{EVALUATE}"))
        .map_err(failed)?;
    after.call(&mut store, answer).map_err(failed)?;
    Ok((memory.data(&store).to_vec(), memory.size(&store)))
}

/// `result<verdict, error>` as the canonical ABI lays it out: a tag, at 4 the error's variant, at 8 its texts.
fn refusal(memory: &Memory, store: &Store<StoreLimits>, at: usize) -> Option<String> {
    let data = memory.data(store);
    if *data.get(at)? == 0 {
        return None;
    }
    let word = |offset: usize| {
        let bytes = data.get(at + offset..at + offset + 4)?;
        Some(u32::from_le_bytes(bytes.try_into().ok()?) as usize)
    };
    let text = |offset: usize| {
        let (start, length) = (word(offset)?, word(offset + 4)?);
        let bytes = data.get(start..start.checked_add(length)?)?;
        Some(String::from_utf8_lossy(bytes).into_owned())
    };
    let shown = match data.get(at + 4) {
        // `invalid-input` and `failed` are two texts, the others one.
        Some(0 | 3) => format!(
            "{}: {}",
            text(8).unwrap_or_default(),
            text(16).unwrap_or_default()
        ),
        _ => text(8).unwrap_or_default(),
    };
    Some(shown)
}

/// The module with this memory as its data.
fn with_memory(module: &[u8], memory: &[u8], pages: u64) -> Result<Vec<u8>, SnapshotError> {
    let sections = read(module).ok_or(SnapshotError::Shape("its module's sections do not fit"))?;
    let mut result = module.get(..8).unwrap_or_default().to_vec();
    let mut has_data = false;
    for section in &sections {
        match section.id {
            MEMORIES => {
                let mut memories = MemorySection::new();
                memories.memory(MemoryType {
                    minimum: pages,
                    maximum: None,
                    memory64: false,
                    shared: false,
                    page_size_log2: None,
                });
                memories.append_to(&mut result);
            }
            GLOBALS if mutable_globals(section.payload) != Some(1) => {
                return Err(SnapshotError::Shape("its module has more than a stack pointer"));
            }
            START | DATA_COUNT => {
                return Err(SnapshotError::Shape("its module has a start function"));
            }
            DATA => {
                has_data = true;
                let mut data = DataSection::new();
                for (offset, bytes) in segments(memory) {
                    let offset = i32::from_le_bytes(offset.to_le_bytes());
                    data.active(0, &ConstExpr::i32_const(offset), bytes.iter().copied());
                }
                data.append_to(&mut result);
            }
            id => write(&mut result, id, section.payload),
        }
    }
    if has_data {
        Ok(result)
    } else {
        Err(SnapshotError::Shape("its module has no data"))
    }
}

fn mutable_globals(payload: &[u8]) -> Option<usize> {
    let globals = GlobalSectionReader::new(BinaryReader::new(payload, 0)).ok()?;
    let mut mutable = 0;
    for global in globals {
        mutable += usize::from(global.ok()?.ty.mutable);
    }
    Some(mutable)
}

/// What is not zero, with where it is.
fn segments(memory: &[u8]) -> Vec<(u32, &[u8])> {
    let mut found = Vec::new();
    let mut at = 0;
    while let Some(rest) = memory.get(at..) {
        let Some(start) = rest.iter().position(|byte| *byte != 0).map(|zeros| at + zeros) else {
            break;
        };
        // The segment ends where at least GAP zeros follow, or with the memory.
        let mut end = start;
        let mut zeros = 0;
        for byte in memory.get(start..).unwrap_or_default() {
            zeros = if *byte == 0 { zeros + 1 } else { 0 };
            end += 1;
            if zeros == GAP {
                break;
            }
        }
        let bytes = memory.get(start..end - zeros).unwrap_or_default();
        found.push((u32::try_from(start).unwrap_or(u32::MAX), bytes));
        at = end;
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn segments_hold_everything_that_is_not_zero() {
        let mut memory = vec![0_u8; 1000];
        for at in [0, 5, 63, 200, 201, 999] {
            memory[at] = u8::try_from(at % 250).unwrap() + 1;
        }
        let found = segments(&memory);
        let mut again = vec![0_u8; 1000];
        for (offset, bytes) in &found {
            again[*offset as usize..*offset as usize + bytes.len()].copy_from_slice(bytes);
        }
        assert_eq!(again, memory);
        assert_eq!(found.len(), 3, "{found:?}");
        assert!(segments(&[0; 100]).is_empty() && segments(&[]).is_empty());
    }

    #[test]
    fn what_is_no_such_component_is_refused() {
        for bytes in [
            &b""[..],
            b"\0asm\x0d\0\x01\0",
            b"\0asm\x0d\0\x01\0\x01\x7f",
            b"\0asm\x0d\0\x01\0\x01\x01x",
        ] {
            assert!(configured_pack(bytes, "{}", ("x", b"")).is_err());
        }
    }
}
