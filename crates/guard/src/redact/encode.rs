//! The dresses in which a known value appears.

use std::fmt::Write as _;

const STANDARD: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
const URL_SAFE: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

/// Every spelling of a value that is looked for, the plain one first.
pub(super) fn spellings(value: &str) -> Vec<String> {
    let mut out = vec![value.to_owned()];
    out.extend([json(value, false), json(value, true)]);
    for keep in ["-._~", "-._~!$&'()*+,;=:@/?", "-_.!~*'()"] {
        let upper = percent(value, keep, true);
        out.extend([upper.replace("%20", "+"), percent(value, keep, false), upper]);
    }
    let hex = hex(value);
    out.extend([hex.to_ascii_uppercase(), hex]);
    for alphabet in [STANDARD, URL_SAFE] {
        out.extend((0..3).map(|offset| base64_core(value.as_bytes(), offset, alphabet)));
    }
    out
}

/// The inside of a JSON string; `all` escapes the slash and everything beyond ASCII too.
fn json(value: &str, all: bool) -> String {
    let mut out = String::with_capacity(value.len() + 8);
    for c in value.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '/' if all => out.push_str("\\/"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            c if u32::from(c) < 0x20 || (all && !c.is_ascii()) => {
                for unit in c.encode_utf16(&mut [0; 2]) {
                    let _ = write!(out, "\\u{unit:04x}");
                }
            }
            c => out.push(c),
        }
    }
    out
}

/// Percent-encodes everything but letters, digits and `keep`.
fn percent(value: &str, keep: &str, upper: bool) -> String {
    let mut out = String::with_capacity(value.len() * 3);
    for byte in value.bytes() {
        let c = char::from(byte);
        let _ = match (byte.is_ascii_alphanumeric() || (byte.is_ascii() && keep.contains(c)), upper) {
            (true, _) => write!(out, "{c}"),
            (false, true) => write!(out, "%{byte:02X}"),
            (false, false) => write!(out, "%{byte:02x}"),
        };
    }
    out
}

fn hex(value: &str) -> String {
    value.bytes().fold(String::with_capacity(value.len() * 2), |mut out, byte| {
        let _ = write!(out, "{byte:02x}");
        out
    })
}

/// The characters of a Base64 text that depend on the value alone, when it begins `offset` bytes (modulo three)
/// into what was encoded.
fn base64_core(value: &[u8], offset: usize, alphabet: &[u8; 64]) -> String {
    let mut bits = 0_u32;
    let mut count = 0;
    let mut skip = 0;
    let mut out = String::with_capacity(value.len() * 4 / 3 + 4);
    // Bits of the first character that belong to the bytes before.
    match offset {
        1 => skip = 4,
        2 => skip = 2,
        _ => {}
    }
    for byte in value {
        bits = (bits << 8) | u32::from(*byte);
        count += 8;
        if skip > 0 {
            count -= skip;
            skip = 0;
        }
        while count >= 6 {
            count -= 6;
            let index = usize::try_from((bits >> count) & 63).unwrap_or_default();
            out.extend(alphabet.get(index).map(|b| char::from(*b)));
        }
        bits &= 0xffff;
    }
    out
}
