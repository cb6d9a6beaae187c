//! Tokens without a telling beginning: web tokens, private key blocks, bearer headers, URL passwords, bot tokens.

use std::ops::Range;

use super::look::{self, is_token};

/// Most bytes that are looked at before giving up on a shape.
const FAR: usize = 4096;

/// A JSON Web Token that begins at `at` (with `eyJ`).
pub(super) fn web_token(text: &str, at: usize) -> Option<Range<usize>> {
    let bytes = text.as_bytes();
    if !look::begins(bytes, at) || !bytes.get(at..)?.starts_with(b"eyJ") {
        return None;
    }
    let mut end = at + look::run(bytes, at, FAR, is_token);
    let mut parts = 1;
    if end - at < 12 {
        return None;
    }
    while parts < 5 && bytes.get(end) == Some(&b'.') {
        let length = look::run(bytes, end + 1, FAR, is_token);
        if length < 8 {
            break;
        }
        end += 1 + length;
        parts += 1;
    }
    (parts >= 2).then_some(at..end)
}

/// A private key block that begins at `at` (with `-----BEGIN`), to its end or as far as it goes.
pub(super) fn key_block(text: &str, at: usize) -> Option<Range<usize>> {
    let bytes = text.as_bytes();
    let rest = text.get(at..)?.strip_prefix("-----BEGIN ")?;
    let label = rest.get(
        ..look::run(rest.as_bytes(), 0, 40, |b| b.is_ascii_uppercase() || b.is_ascii_digit() || b == b' '),
    )?;
    if !label.ends_with("PRIVATE KEY") && label != "PGP PRIVATE KEY BLOCK" {
        return None;
    }
    let body =
        at + "-----BEGIN ".len() + label.len() + look::run(rest.as_bytes(), label.len(), 5, |b| b == b'-');
    let held = |byte: u8| {
        byte.is_ascii_alphanumeric()
            || matches!(
                byte,
                b'+' | b'/' | b'=' | b'\\' | b' ' | b'\n' | b'\r' | b'\t' | b':' | b',' | b'.' | b'>' | b'|'
            )
    };
    let single = |at: usize| bytes.get(at) == Some(&b'-') && bytes.get(at + 1) != Some(&b'-');
    let mut end = body;
    loop {
        end += look::run(bytes, end, bytes.len(), held);
        if !single(end) {
            break;
        }
        end += 1;
    }
    if text.get(end..).is_some_and(|rest| rest.starts_with("-----END ")) {
        end += "-----END ".len();
        end += look::run(bytes, end, 40, |b| b.is_ascii_uppercase() || b.is_ascii_digit() || b == b' ');
        end += look::run(bytes, end, 5, |b| b == b'-');
        return Some(at..end);
    }
    let kept =
        bytes.get(body..end)?.iter().rev().take_while(|b| b.is_ascii_whitespace() || **b == b'\\').count();
    let letters = bytes.get(body..end)?.iter().filter(|b| b.is_ascii_alphanumeric()).count();
    (letters >= 16).then(|| body..end - kept)
}

/// The token after the word `bearer`, which ends at `end`.
pub(super) fn bearer(text: &str, end: usize) -> Option<Range<usize>> {
    let bytes = text.as_bytes();
    let from = end + look::run(bytes, end, 8, |b| b == b' ' || b == b'\t');
    if from == end {
        return None;
    }
    header_value(bytes, from, 16)
}

/// The credentials of an `Authorization` header, whose name ends at `end`.
pub(super) fn authorization(text: &str, end: usize) -> Option<Range<usize>> {
    let bytes = text.as_bytes();
    let start = end.checked_sub("authorization".len())?;
    let joined = start.checked_sub(1).and_then(|at| bytes.get(at)).is_some_and(u8::is_ascii_alphanumeric);
    if joined && !after_escape(bytes, start - 1) {
        return None;
    }
    let mark = |b: u8| matches!(b, b'"' | b'\'' | b'\\' | b' ' | b'\t');
    let colon = end + look::run(bytes, end, 4, mark);
    if !matches!(bytes.get(colon), Some(b':' | b'=')) {
        return None;
    }
    let mut from = colon + 1 + look::run(bytes, colon + 1, 6, mark);
    let scheme = look::run(bytes, from, 20, |b| b.is_ascii_alphabetic() || b == b'-');
    if scheme > 0 && bytes.get(from + scheme) == Some(&b' ') {
        from += scheme + 1;
    }
    header_value(bytes, from, 8)
}

fn header_value(bytes: &[u8], from: usize, least: usize) -> Option<Range<usize>> {
    let held = |b: u8| is_token(b) || matches!(b, b'.' | b'~' | b'+' | b'/' | b'=' | b':' | b'|');
    let length = look::run(bytes, from, FAR, held);
    let value = bytes.get(from..from + length)?;
    let mix = look::mix(value);
    let lively = mix.digits > 0 || (mix.upper > 0 && mix.lower > 0 && length >= 12);
    (length >= least && lively && !look::is_placeholder(value)).then_some(from..from + length)
}

/// The password in `scheme://user:password@host`; `end` is where `://` ends.
pub(super) fn userinfo(text: &str, end: usize) -> Option<Range<usize>> {
    let bytes = text.as_bytes();
    let stop = |b: u8| {
        b.is_ascii_whitespace()
            || b.is_ascii_control()
            || matches!(b, b'/' | b'?' | b'#' | b'"' | b'\'' | b'<' | b'>' | b'\\' | b'`')
    };
    let length = look::run(bytes, end, 512, |b| !stop(b));
    let authority = bytes.get(end..end + length)?;
    let at = authority.iter().rposition(|b| *b == b'@')?;
    let user = authority.get(..at)?;
    let (from, secret) = match user.iter().position(|b| *b == b':') {
        Some(colon) => (colon + 1, user.get(colon + 1..)?),
        None if look::is_random(user) && user.len() >= 20 => (0, user),
        None => return None,
    };
    (!secret.is_empty() && !look::is_placeholder(secret)).then_some(end + from..end + at)
}

/// A Telegram bot token around the `:AA` that begins at `at`.
pub(super) fn telegram(text: &str, at: usize) -> Option<Range<usize>> {
    let bytes = text.as_bytes();
    let digits = bytes.get(..at)?.iter().rev().take(13).take_while(|b| b.is_ascii_digit()).count();
    let tail = look::run(bytes, at + 1, 64, is_token);
    let real = bytes
        .get(at + 1..at + 1 + tail)
        .is_some_and(|tail| look::mix(tail).digits > 0 && !look::is_placeholder(tail));
    ((6..=12).contains(&digits) && (33..=37).contains(&tail) && real).then(|| at - digits..at + 1 + tail)
}

/// Whether the byte at `at` is the letter of a written line break or tab.
fn after_escape(bytes: &[u8], at: usize) -> bool {
    let slash = at.checked_sub(1).and_then(|at| bytes.get(at)) == Some(&b'\\');
    slash && matches!(bytes.get(at), Some(b'n' | b'r' | b't'))
}

/// Discord bot tokens: three parts with dots between, of which the middle one has six characters.
pub(super) fn discord(text: &str, found: &mut Vec<Range<usize>>) {
    let bytes = text.as_bytes();
    for dot in memchr::memchr_iter(b'.', bytes) {
        if bytes.get(dot + 7) != Some(&b'.') {
            continue;
        }
        let head =
            bytes.get(..dot).unwrap_or_default().iter().rev().take(40).take_while(|b| is_token(**b)).count();
        let middle = look::run(bytes, dot + 1, 7, is_token);
        let tail = look::run(bytes, dot + 8, 64, is_token);
        let head = head - usize::from(after_escape(bytes, dot - head));
        let from = dot - head;
        let opens = matches!(bytes.get(from), Some(b'M' | b'N' | b'O'));
        let whole = bytes
            .get(from..dot + 8 + tail)
            .is_some_and(|all| look::mix(all).digits > 1 && look::mix(all).upper > 1);
        if (22..=30).contains(&head) && middle == 6 && (27..=45).contains(&tail) && opens && whole {
            found.push(from..dot + 8 + tail);
        }
    }
}
