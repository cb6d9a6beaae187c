//! Backslash escapes as `$'…'`, `echo -e` and `printf` read them.

/// Turns escapes into the characters they stand for. `\c` ends the text as `echo -e` does.
pub(crate) fn decode(text: &str) -> String {
    let mut out: Vec<u8> = Vec::with_capacity(text.len());
    let mut bytes = text.as_bytes();
    while let Some((&first, rest)) = bytes.split_first() {
        bytes = rest;
        if first != b'\\' {
            out.push(first);
            continue;
        }
        let Some((&kind, rest)) = bytes.split_first() else {
            out.push(b'\\');
            break;
        };
        bytes = rest;
        match kind {
            b'n' => out.push(b'\n'),
            b't' => out.push(b'\t'),
            b'r' => out.push(b'\r'),
            b'a' => out.push(7),
            b'b' => out.push(8),
            b'e' | b'E' => out.push(27),
            b'f' => out.push(12),
            b'v' => out.push(11),
            b'\\' | b'\'' | b'"' | b'?' => out.push(kind),
            b'x' => bytes = number(bytes, 16, 2, &mut out, kind),
            b'u' => bytes = number(bytes, 16, 4, &mut out, kind),
            b'U' => bytes = number(bytes, 16, 8, &mut out, kind),
            b'0' => bytes = number(bytes, 8, 3, &mut out, kind),
            b'1'..=b'7' => bytes = octal(kind, bytes, &mut out),
            b'c' => match bytes.split_first() {
                Some((&control, rest)) => {
                    out.push(control & 0x1f);
                    bytes = rest;
                }
                None => break,
            },
            other => out.extend([b'\\', other]),
        }
    }
    String::from_utf8_lossy(&out).into_owned()
}

/// Reads up to `most` digits; without any, the escape stands for itself (`\0` for NUL, dropped).
fn number<'b>(bytes: &'b [u8], base: u32, most: usize, out: &mut Vec<u8>, kind: u8) -> &'b [u8] {
    let braces = kind == b'x' && bytes.first() == Some(&b'{');
    let bytes = if braces { bytes.get(1..).unwrap_or_default() } else { bytes };
    let mut value = 0u32;
    let mut used = 0;
    for byte in bytes.iter().take(most) {
        let Some(digit) = char::from(*byte).to_digit(base) else { break };
        value = value.wrapping_mul(base).wrapping_add(digit);
        used += 1;
    }
    if used == 0 {
        if kind != b'0' {
            out.extend([b'\\', kind]);
        }
        return bytes;
    }
    push(value, kind, out);
    let rest = bytes.get(used..).unwrap_or_default();
    if braces { rest.strip_prefix(b"}").unwrap_or(rest) } else { rest }
}

/// `\NNN` with the first digit already read.
fn octal<'b>(first: u8, bytes: &'b [u8], out: &mut Vec<u8>) -> &'b [u8] {
    let mut value = u32::from(first - b'0');
    let mut used = 0;
    for byte in bytes.iter().take(2) {
        let Some(digit) = char::from(*byte).to_digit(8) else { break };
        value = value * 8 + digit;
        used += 1;
    }
    push(value, b'0', out);
    bytes.get(used..).unwrap_or_default()
}

/// Adds a byte (`\x`, octal) or a character (`\u`, `\U`); NUL ends nothing here, it is dropped.
fn push(value: u32, kind: u8, out: &mut Vec<u8>) {
    if value == 0 {
        return;
    }
    if matches!(kind, b'u' | b'U') {
        let mut buffer = [0; 4];
        let letter = char::from_u32(value).unwrap_or(char::REPLACEMENT_CHARACTER);
        out.extend_from_slice(letter.encode_utf8(&mut buffer).as_bytes());
    } else {
        out.push(u8::try_from(value & 0xff).unwrap_or_default());
    }
}

#[cfg(test)]
mod tests {
    use super::decode;

    #[test]
    fn every_way_to_write_a_letter_gives_the_letter() {
        assert_eq!(decode(r"\x72\155"), "rm");
        assert_eq!(decode(r"\u0072\U0000006d"), "rm");
        assert_eq!(decode(r"\0162m"), "rm");
        assert_eq!(decode(r"a\nb\q"), "a\nb\\q");
    }

    #[test]
    fn a_backslash_at_the_end_stays() {
        assert_eq!(decode("a\\"), "a\\");
        assert_eq!(decode(r"\x"), r"\x");
    }
}
