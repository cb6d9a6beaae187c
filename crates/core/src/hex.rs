//! Bytes as hexadecimal digits: fingerprints and words of chance are written so.

/// Two digits for each byte.
pub fn hex(bytes: &[u8]) -> String {
    let digit = |value: u8| char::from_digit(u32::from(value), 16).unwrap_or('0');
    let mut text = String::with_capacity(bytes.len() * 2);
    for byte in bytes {
        text.push(digit(byte >> 4));
        text.push(digit(byte & 15));
    }
    text
}

#[cfg(test)]
mod tests {
    #[test]
    fn bytes_are_written_with_two_digits_each() {
        assert_eq!(super::hex(&[0, 15, 16, 255]), "000f10ff");
    }
}
