//! Hexadecimal digits in the one spelling that the host writes: lowercase, two for each byte, nothing around them.
//!
//! What is signed, hashed or secret has one text (R20). `u8::from_str_radix` takes `+d` and capitals, and
//! `blake3::Hash::from_hex` takes capitals; so every key, signature, digest and id is read here.

use data_encoding::HEXLOWER;

/// Writes bytes.
pub fn encode(bytes: &[u8]) -> String {
    HEXLOWER.encode(bytes)
}

/// Reads exactly this many bytes.
pub fn decode<const N: usize>(text: &str) -> Option<[u8; N]> {
    if HEXLOWER.decode_len(text.len()) != Ok(N) {
        return None;
    }
    let mut bytes = [0; N];
    HEXLOWER.decode_mut(text.as_bytes(), &mut bytes).ok()?;
    Some(bytes)
}

/// Whether a text is exactly this many digits.
pub fn is_digits(text: &str, count: usize) -> bool {
    text.len() == count && text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_have_one_text() {
        let bytes: [u8; 4] = [0x00, 0x0d, 0xa5, 0xff];
        assert_eq!(encode(&bytes), "000da5ff");
        assert_eq!(decode("000da5ff"), Some(bytes));
        for other in [
            "000DA5FF",
            "000da5fF",
            "00+da5ff",
            "+00da5ff",
            " 00da5ff",
            "000da5f",
            "000da5ff0",
            "000da5ff00",
            "",
            "0x0da5ff",
            "00-da5ff",
            "000da5fé",
            "000da5\u{66}\u{301}",
        ] {
            assert_eq!(decode::<4>(other), None, "{other}");
            assert!(!is_digits(other, 8), "{other}");
        }
        assert!(is_digits("000da5ff", 8));
    }
}
