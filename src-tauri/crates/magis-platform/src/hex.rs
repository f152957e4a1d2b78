//! Bytes as hexadecimal digits.

const DIGITS: &[u8; 16] = b"0123456789abcdef";

/// Returns two lower-case digits per byte, as git and `sha256sum` write them.
pub fn encode(bytes: impl AsRef<[u8]>) -> String {
    let digit = |value: u8| char::from(DIGITS[usize::from(value)]);
    let bytes = bytes.as_ref();
    let mut text = String::with_capacity(2 * bytes.len());
    for byte in bytes {
        text.push(digit(byte >> 4));
        text.push(digit(byte & 15));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::encode;

    #[test]
    fn each_byte_is_two_digits_in_lower_case() {
        assert_eq!(encode([0x00, 0x0a, 0xf0, 0xff]), "000af0ff");
        assert_eq!(encode([]), "");
    }
}
