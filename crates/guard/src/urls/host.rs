//! Hosts as browsers read them: every spelling of an address is that address, every other thing is a plain name.

use std::fmt;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use super::parse::ParseError;

/// The host of a URL.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Host {
    /// A name in lower case, without a trailing dot. Letters beyond ASCII are kept as they are.
    Name(String),
    /// An address, whatever its spelling was.
    Address(IpAddr),
}

impl fmt::Display for Host {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Name(name) => f.write_str(name),
            Self::Address(IpAddr::V4(v4)) => v4.fmt(f),
            Self::Address(IpAddr::V6(v6)) => write!(f, "[{v6}]"),
        }
    }
}

/// Reads the host part of a URL.
pub(super) fn parse(text: &str) -> Result<Host, ParseError> {
    if let Some(rest) = text.strip_prefix('[') {
        let inner = rest.strip_suffix(']').ok_or(ParseError::Host)?;
        let v6: Ipv6Addr = inner.parse().map_err(|_| ParseError::Host)?;
        return Ok(Host::Address(IpAddr::V6(v6)));
    }
    let decoded = percent(text).ok_or(ParseError::Host)?;
    let folded: String =
        decoded.chars().filter(|c| !ignored(*c)).flat_map(char::to_lowercase).map(plain).collect();
    let name = folded.strip_suffix('.').unwrap_or(&folded);
    if name.is_empty()
        || name.len() > 253
        || name.chars().any(forbidden)
        || name.split('.').any(str::is_empty)
    {
        return Err(ParseError::Host);
    }
    if name.is_ascii() && name.split('.').any(|label| label.len() > 63) {
        return Err(ParseError::Host);
    }
    if ends_in_number(name) {
        return v4(name).map(|v4| Host::Address(IpAddr::V4(v4))).ok_or(ParseError::Host);
    }
    Ok(Host::Name(name.to_owned()))
}

/// Undoes percent-encoding, once. What is not UTF-8 afterwards is no host.
fn percent(text: &str) -> Option<String> {
    if !text.contains('%') {
        return Some(text.to_owned());
    }
    let mut bytes = text.bytes();
    let mut out = Vec::with_capacity(text.len());
    while let Some(byte) = bytes.next() {
        if byte == b'%' {
            let digit = |b: Option<u8>| b.and_then(|b| char::from(b).to_digit(16));
            let (high, low) = (digit(bytes.next())?, digit(bytes.next())?);
            out.push(u8::try_from(high * 16 + low).ok()?);
        } else {
            out.push(byte);
        }
    }
    String::from_utf8(out).ok()
}

/// Characters that name preparation throws away.
fn ignored(c: char) -> bool {
    matches!(c, '\u{ad}' | '\u{200b}'..='\u{200d}' | '\u{2060}' | '\u{feff}' | '\u{fe00}'..='\u{fe0f}' | '\u{34f}')
}

/// Full-width forms, other full stops, and enclosed letters and digits, as name preparation maps them.
fn plain(c: char) -> char {
    let shifted = |from: char, to: u32| char::from_u32(u32::from(c) - u32::from(from) + to).unwrap_or(c);
    match c {
        '。' | '．' | '｡' => '.',
        '\u{ff01}'..='\u{ff5e}' => shifted('\u{ff01}', 0x21).to_ascii_lowercase(),
        'ⓐ'..='ⓩ' => shifted('ⓐ', 0x61),
        '①'..='⑨' => shifted('①', 0x31),
        '⓪' | '⁰' | '₀' => '0',
        '¹' => '1',
        '²' => '2',
        '³' => '3',
        '⁴'..='⁹' => shifted('⁴', 0x34),
        '₁'..='₉' => shifted('₁', 0x31),
        '\u{1d7ce}'..='\u{1d7ff}' => char::from_digit((u32::from(c) - 0x1d7ce) % 10, 10).unwrap_or(c),
        '\u{1d400}'..='\u{1d6a3}' => char::from_u32(0x61 + (u32::from(c) - 0x1d400) % 26).unwrap_or(c),
        'ſ' => 's',
        'ℊ' => 'g',
        'ℎ' => 'h',
        'ⅰ' => 'i',
        'ⅴ' => 'v',
        'ⅹ' => 'x',
        'ℓ' | 'ⅼ' => 'l',
        'ⅽ' => 'c',
        'ⅾ' => 'd',
        'ⅿ' => 'm',
        other => other,
    }
}

/// What a name may not hold. Underscores are common in practice and stay.
fn forbidden(c: char) -> bool {
    c.is_control()
        || c.is_whitespace()
        || (c.is_ascii() && !c.is_ascii_alphanumeric() && !matches!(c, '-' | '.' | '_'))
        || matches!(c, '⁄' | '∕' | '／' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{fffd}')
}

/// Whether the last label is a number, so that the whole can only be an address.
fn ends_in_number(name: &str) -> bool {
    let last = name.rsplit('.').next().unwrap_or_default();
    let hex = last.strip_prefix("0x").is_some_and(|rest| rest.bytes().all(|b| b.is_ascii_hexdigit()));
    hex || (!last.is_empty() && last.bytes().all(|b| b.is_ascii_digit()))
}

/// An IPv4 address of one to four decimal, octal or hexadecimal numbers; the last one fills what is left.
fn v4(name: &str) -> Option<Ipv4Addr> {
    let numbers: Vec<u64> = name.split('.').map(number).collect::<Option<_>>()?;
    let (last, first) = numbers.split_last()?;
    if first.len() > 3 || first.iter().any(|n| *n > 255) {
        return None;
    }
    let room = 8 * (4 - u32::try_from(first.len()).ok()?);
    if *last >= 1_u64 << room {
        return None;
    }
    let head = first.iter().zip([24_u32, 16, 8]).fold(0_u64, |sum, (n, shift)| sum | (n << shift));
    u32::try_from(head | last).ok().map(Ipv4Addr::from)
}

fn number(text: &str) -> Option<u64> {
    let (digits, radix) = match (text.strip_prefix("0x"), text.strip_prefix('0')) {
        (Some(""), _) => return Some(0),
        (Some(hex), _) => (hex, 16),
        (None, Some(octal)) if !octal.is_empty() => (octal, 8),
        _ => (text, 10),
    };
    if digits.starts_with('+') {
        return None;
    }
    u64::from_str_radix(digits, radix).ok()
}

/// Whether a label mixes scripts that nobody mixes, or imitates ASCII with letters of another script.
pub(super) fn is_look_alike(name: &str) -> bool {
    let end = name.rsplit('.').next().unwrap_or_default();
    let latin_end = end.is_ascii() && !end.starts_with("xn--");
    let odd = |label: &str| mixed(label) || (latin_end && imitation(label));
    name.split('.').any(|label| match label.strip_prefix("xn--") {
        Some(code) => punycode(code).is_none_or(|decoded| odd(&decoded)),
        None => !label.is_ascii() && odd(label),
    })
}

/// The name with every punycode label written out, so that both spellings compare equal.
pub(super) fn written_out(name: &str) -> String {
    let label =
        |label: &str| label.strip_prefix("xn--").and_then(punycode).unwrap_or_else(|| label.to_owned());
    name.split('.').map(label).collect::<Vec<_>>().join(".")
}

/// Letters of scripts that hold look-alikes of Latin ones: Greek, Cyrillic, Armenian, Cherokee.
fn near_latin(c: char) -> bool {
    matches!(c, '\u{370}'..='\u{58f}' | '\u{13a0}'..='\u{13ff}' | '\u{1f00}'..='\u{1fff}')
}

/// Latin letters together with ones that can be taken for Latin.
fn mixed(label: &str) -> bool {
    let latin = |c: char| c.is_ascii_alphabetic() || matches!(c, '\u{c0}'..='\u{24f}');
    label.contains(latin) && label.contains(near_latin)
}

/// A whole label of another script in which every letter looks Latin.
fn imitation(label: &str) -> bool {
    label.contains(near_latin) && label.chars().all(|c| !c.is_alphabetic() || imitates(c))
}

/// Letters of other scripts that nobody can tell from Latin ones.
fn imitates(c: char) -> bool {
    "аеорсухіјѕԁһӏԛԝьвмнткгпοανιρτυχκμεωօոսհցգ".contains(c)
}

/// Decodes one punycode label. None if it is malformed.
fn punycode(text: &str) -> Option<String> {
    let (base, code) = text.rsplit_once('-').unwrap_or(("", text));
    if text.len() > 63 || code.is_empty() {
        return None;
    }
    let mut out: Vec<char> = base.chars().collect();
    let (mut n, mut i, mut bias) = (128_u32, 0_u32, 72_u32);
    let mut digits = code.bytes();
    while digits.len() > 0 {
        let before = i;
        let (mut weight, mut k) = (1_u32, 36_u32);
        loop {
            let digit = match digits.next()? {
                b @ b'a'..=b'z' => u32::from(b - b'a'),
                b @ b'0'..=b'9' => u32::from(b - b'0') + 26,
                _ => return None,
            };
            i = i.checked_add(digit.checked_mul(weight)?)?;
            let limit = k.saturating_sub(bias).clamp(1, 26);
            if digit < limit {
                break;
            }
            weight = weight.checked_mul(36 - limit)?;
            k += 36;
        }
        let length = u32::try_from(out.len()).ok()? + 1;
        bias = adapt(i - before, length, before == 0);
        n = n.checked_add(i / length)?;
        i %= length;
        out.insert(usize::try_from(i).ok()?, char::from_u32(n)?);
        i += 1;
    }
    Some(out.into_iter().collect())
}

/// The bias of the next number, after RFC 3492.
fn adapt(delta: u32, length: u32, first: bool) -> u32 {
    let mut delta = if first { delta / 700 } else { delta / 2 };
    delta += delta / length;
    let mut k = 0;
    while delta > 455 {
        delta /= 35;
        k += 36;
    }
    k + 36 * delta / (delta + 38)
}
