//! Walking the top-level sections of a component, and nothing below them.
//!
//! Small on purpose: which bytes a signature covers must not depend on how a large parser reads a file.

/// One top-level section.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Section<'a> {
    /// The section's number; 0 is a custom section.
    pub(crate) id: u8,
    /// Where the section begins in the file.
    pub(crate) start: usize,
    /// Where its payload begins.
    pub(crate) payload_start: usize,
    /// What is after its size.
    pub(crate) payload: &'a [u8],
}

impl<'a> Section<'a> {
    /// Where the next section begins.
    pub(crate) fn end(&self) -> usize {
        self.payload_start + self.payload.len()
    }

    /// Name and contents, when this is a custom section with a readable name.
    pub(crate) fn custom(&self) -> Option<(&'a str, &'a [u8])> {
        if self.id != 0 {
            return None;
        }
        let (length, used) = leb_u32(self.payload)?;
        let rest = self.payload.get(used..)?;
        let (name, contents) = rest.split_at_checked(usize::try_from(length).ok()?)?;
        Some((std::str::from_utf8(name).ok()?, contents))
    }
}

/// The sections could not be followed to the end of the file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Broken {
    /// The offset of the section that does not fit.
    pub(crate) offset: usize,
}

/// The sections of a file after its header of eight bytes.
pub(crate) fn sections(bytes: &[u8]) -> impl Iterator<Item = Result<Section<'_>, Broken>> {
    let mut at = 8;
    let mut broken = false;
    std::iter::from_fn(move || {
        if broken || at >= bytes.len() {
            return None;
        }
        let next = section_at(bytes, at);
        match &next {
            Some(section) => at = section.end(),
            None => broken = true,
        }
        Some(next.ok_or(Broken { offset: at }))
    })
}

fn section_at(bytes: &[u8], start: usize) -> Option<Section<'_>> {
    let (&id, rest) = bytes.get(start..)?.split_first()?;
    let (size, used) = leb_u32(rest)?;
    let payload_start = start + 1 + used;
    let payload = rest.get(used..)?.get(..usize::try_from(size).ok()?)?;
    Some(Section {
        id,
        start,
        payload_start,
        payload,
    })
}

/// An unsigned number of at most 32 bits in LEB128, and how many bytes it took.
fn leb_u32(bytes: &[u8]) -> Option<(u32, usize)> {
    let mut value: u64 = 0;
    for (index, &byte) in bytes.iter().take(5).enumerate() {
        value |= u64::from(byte & 0x7f) << (7 * index);
        if byte & 0x80 == 0 {
            return u32::try_from(value).ok().map(|value| (value, index + 1));
        }
    }
    None
}

/// Appends a custom section in its one canonical form.
pub(crate) fn append_custom(bytes: &mut Vec<u8>, name: &str, contents: &[&[u8]]) {
    let mut payload = Vec::new();
    push_leb(&mut payload, name.len());
    payload.extend_from_slice(name.as_bytes());
    for part in contents {
        payload.extend_from_slice(part);
    }
    bytes.push(0);
    push_leb(bytes, payload.len());
    bytes.extend_from_slice(&payload);
}

fn push_leb(bytes: &mut Vec<u8>, mut value: usize) {
    loop {
        let low = u8::try_from(value & 0x7f).unwrap_or(0);
        value >>= 7;
        if value == 0 {
            bytes.push(low);
            return;
        }
        bytes.push(low | 0x80);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_of_at_most_32_bits_are_read() {
        for (bytes, read) in [
            (&[0u8][..], Some((0, 1))),
            (&[0x7f], Some((127, 1))),
            (&[0x80, 0x01], Some((128, 2))),
            (&[0xff, 0xff, 0xff, 0xff, 0x0f], Some((u32::MAX, 5))),
            (&[0xff, 0xff, 0xff, 0xff, 0x1f], None),
            (&[0x80, 0x80, 0x80, 0x80, 0x80, 0x00], None),
            (&[0x80], None),
            (&[], None),
        ] {
            assert_eq!(leb_u32(bytes), read, "{bytes:?}");
        }
    }

    #[test]
    fn what_is_appended_is_read_back() {
        for size in [0, 1, 127, 128, 20_000] {
            let mut bytes = vec![0; 8];
            append_custom(&mut bytes, "name", &[&vec![7; size]]);
            let all: Vec<Section<'_>> = sections(&bytes).map(Result::unwrap).collect();
            assert_eq!(all.len(), 1);
            assert_eq!(all[0].custom(), Some(("name", &vec![7; size][..])));
            assert_eq!(all[0].end(), bytes.len());
        }
    }
}
