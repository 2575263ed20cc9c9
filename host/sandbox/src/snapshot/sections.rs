//! The sections of a module or component: an id, a size, a payload.

/// One section.
pub(super) struct Section<'a> {
    pub(super) id: u8,
    pub(super) payload: &'a [u8],
}

/// The sections after the header of eight bytes; none when one does not fit.
pub(super) fn read(bytes: &[u8]) -> Option<Vec<Section<'_>>> {
    let mut rest = bytes.get(8..)?;
    let mut sections = Vec::new();
    while let Some((id, after)) = rest.split_first() {
        let (size, after) = leb(after)?;
        let (payload, behind) = after.split_at_checked(size)?;
        sections.push(Section { id: *id, payload });
        rest = behind;
    }
    Some(sections)
}

/// A size: LEB128 of at most 32 bits.
fn leb(bytes: &[u8]) -> Option<(usize, &[u8])> {
    let mut value = 0_u64;
    for (at, byte) in bytes.iter().take(5).enumerate() {
        value |= u64::from(byte & 0x7f) << (7 * at);
        if byte & 0x80 == 0 {
            let value = u32::try_from(value).ok()?;
            return Some((value as usize, bytes.get(at + 1..)?));
        }
    }
    None
}

/// Appends a section.
pub(super) fn write(into: &mut Vec<u8>, id: u8, payload: &[u8]) {
    into.push(id);
    wasm_encoder::Encode::encode(payload, into);
}

/// Appends a custom section.
pub(super) fn append_custom(into: &mut Vec<u8>, name: &str, data: &[u8]) {
    let mut payload = Vec::new();
    wasm_encoder::Encode::encode(name, &mut payload);
    payload.extend_from_slice(data);
    write(into, 0, &payload);
}
