//! How deep a component nests, found without recursion.
//!
//! Validators and compilers recurse into nested components and nested types: a few hundred
//! kilobytes of nesting overflow the stack of the process, and less than that makes them slow. So deeper components are refused first.

use super::{ComponentError, damaged};
use crate::package::section::sections;
use wasmparser::{
    BinaryReader, ComponentAlias, ComponentExternName, ComponentImport, ComponentType, ComponentTypeRef,
    CoreType, FromReader,
};

/// Levels of components, and of types. Toolchains stay below ten.
const MOST: usize = 100;

const COMPONENT_SECTION: u8 = 4;
const TYPE_SECTION: u8 = 7;
const COMPONENT_TYPE: u8 = 0x41;
const INSTANCE_TYPE: u8 = 0x42;

/// Refuses a component that nests deeper than toolchains do.
pub(super) fn check(component: &[u8]) -> Result<(), ComponentError> {
    let mut open = vec![(component, 0_usize, 0_usize)];
    while let Some((bytes, base, depth)) = open.pop() {
        for section in sections(bytes) {
            let section = section.map_err(|broken| ComponentError::Damaged {
                offset: base + broken.offset,
                message: "a section does not fit in the file".to_owned(),
            })?;
            let start = base + section.payload_start;
            match section.id {
                COMPONENT_SECTION if depth >= MOST => return Err(ComponentError::TooDeep { offset: start }),
                COMPONENT_SECTION => open.push((section.payload, start, depth + 1)),
                TYPE_SECTION => types(BinaryReader::new(section.payload, start))?,
                _ => {}
            }
        }
    }
    Ok(())
}

/// Walks a section of types. `open` has how many declarations are left in each type that the reader is inside of.
fn types(mut reader: BinaryReader<'_>) -> Result<(), ComponentError> {
    let mut left = reader.read_var_u32().map_err(damaged)?;
    let mut open: Vec<u32> = Vec::new();
    loop {
        match open.last_mut() {
            None if left == 0 => return Ok(()),
            None => {
                left -= 1;
                one_type(&mut reader, &mut open)?;
            }
            Some(0) => {
                open.pop();
            }
            Some(count) => {
                *count -= 1;
                declaration(&mut reader, &mut open)?;
            }
        }
    }
}

/// A type; one with declarations is opened.
fn one_type(reader: &mut BinaryReader<'_>, open: &mut Vec<u32>) -> Result<(), ComponentError> {
    let offset = reader.original_position();
    match reader.clone().read_u8().map_err(damaged)? {
        COMPONENT_TYPE | INSTANCE_TYPE => {
            if open.len() >= MOST {
                return Err(ComponentError::TooDeep { offset });
            }
            reader.read_u8().map_err(damaged)?;
            open.push(reader.read_var_u32().map_err(damaged)?);
            Ok(())
        }
        // No other type holds a type; it holds the numbers of types.
        _ => skip::<ComponentType<'_>>(reader),
    }
}

fn declaration(reader: &mut BinaryReader<'_>, open: &mut Vec<u32>) -> Result<(), ComponentError> {
    let offset = reader.original_position();
    match reader.read_u8().map_err(damaged)? {
        0x00 => skip::<CoreType<'_>>(reader),
        0x01 => one_type(reader, open),
        0x02 => skip::<ComponentAlias<'_>>(reader),
        0x03 => skip::<ComponentImport<'_>>(reader),
        0x04 => {
            skip::<ComponentExternName<'_>>(reader)?;
            skip::<ComponentTypeRef>(reader)
        }
        other => Err(ComponentError::Damaged {
            offset,
            message: format!("{other:#04x} is no declaration of a type"),
        }),
    }
}

fn skip<'a, T: FromReader<'a>>(reader: &mut BinaryReader<'a>) -> Result<(), ComponentError> {
    reader.read::<T>().map(drop).map_err(damaged)
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEADER: &[u8] = b"\0asm\x0d\0\x01\0";

    fn leb(bytes: &mut Vec<u8>, mut value: usize) {
        loop {
            let low = (value & 0x7f) as u8;
            value >>= 7;
            if value == 0 {
                return bytes.push(low);
            }
            bytes.push(low | 0x80);
        }
    }

    fn section(id: u8, payload: &[u8]) -> Vec<u8> {
        let mut bytes = vec![id];
        leb(&mut bytes, payload.len());
        bytes.extend_from_slice(payload);
        bytes
    }

    /// Components inside of each other, made from the inside out without copying each level.
    fn components(levels: usize) -> Vec<u8> {
        let mut heads: Vec<Vec<u8>> = Vec::new();
        let mut size = 0;
        for _ in 0..levels {
            let mut head = vec![COMPONENT_SECTION];
            leb(&mut head, HEADER.len() + size);
            head.extend_from_slice(HEADER);
            size += head.len();
            heads.push(head);
        }
        let mut bytes = HEADER.to_vec();
        heads.iter().rev().for_each(|head| bytes.extend_from_slice(head));
        bytes
    }

    /// A type section with one type: types inside of each other.
    fn nested_types(kind: u8, levels: usize) -> Vec<u8> {
        let mut types = vec![1];
        types.extend([kind, 1, 1].repeat(levels - 1));
        types.extend([kind, 0]);
        [HEADER, &section(TYPE_SECTION, &types)].concat()
    }

    #[test]
    fn what_nests_too_deep_is_refused_however_deep_it_is() {
        let check = |bytes: &[u8], fits: bool| {
            let answer = check(bytes);
            match answer {
                Ok(()) => assert!(fits),
                Err(ComponentError::TooDeep { .. }) => assert!(!fits),
                Err(other) => panic!("{other}"),
            }
        };
        for (levels, fits) in [(1, true), (MOST, true), (MOST + 1, false), (300_000, false)] {
            check(&components(levels), fits);
            check(&nested_types(COMPONENT_TYPE, levels), fits);
            check(&nested_types(INSTANCE_TYPE, levels), fits);
        }
        // Beside each other they may be many.
        let mut many = vec![];
        leb(&mut many, 5_000);
        many.extend([INSTANCE_TYPE, 1, 1, INSTANCE_TYPE, 0].repeat(5_000));
        check(&[HEADER, &section(TYPE_SECTION, &many)].concat(), true);
    }

    #[test]
    fn a_cut_off_or_invalid_component_is_damaged() {
        let whole = nested_types(COMPONENT_TYPE, 10);
        for bytes in [
            [HEADER, &section(TYPE_SECTION, &[1, COMPONENT_TYPE, 1, 9])].concat(),
            [HEADER, &section(TYPE_SECTION, &[1, COMPONENT_TYPE, 200])].concat(),
            [HEADER, &section(TYPE_SECTION, &[0xff, 0xff, 0xff, 0xff, 0x0f])].concat(),
            [HEADER, &section(TYPE_SECTION, &[])].concat(),
            whole[..whole.len() - 3].to_vec(),
        ] {
            assert!(
                matches!(check(&bytes), Err(ComponentError::Damaged { .. })),
                "{bytes:?}"
            );
        }
    }
}
