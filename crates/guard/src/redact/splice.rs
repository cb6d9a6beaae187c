//! Puts the replacement in, without cutting an escape in two or a JSON number out of its text.

use std::ops::Range;

use super::REDACTED;

/// The text with every place replaced; None if there is none.
pub(super) fn replace(text: &str, mut places: Vec<Range<usize>>) -> Option<String> {
    if places.is_empty() {
        return None;
    }
    for place in &mut places {
        *place = whole(text, place.clone());
    }
    places.sort_unstable_by_key(|place| (place.start, place.end));
    let mut strings = text.trim_start().starts_with(['{', '[']).then_some(Strings { at: 0, inside: false });
    let mut out = String::with_capacity(text.len());
    let mut at = 0;
    let mut places = places.into_iter().peekable();
    while let Some(mut place) = places.next() {
        while let Some(next) = places.next_if(|next| next.start <= place.end) {
            place.end = place.end.max(next.end);
        }
        if place.end <= at {
            continue;
        }
        let bare = strings.as_mut().is_some_and(|strings| !strings.inside(text.as_bytes(), place.start));
        let number = if bare { number(text, at, &place) } else { None };
        let mark = if number.is_some() { "\"" } else { "" };
        let cut = number.unwrap_or(place);
        out.push_str(text.get(at..cut.start.max(at))?);
        out.extend([mark, REDACTED, mark]);
        at = cut.end;
    }
    out.push_str(text.get(at..)?);
    (out != text).then_some(out)
}

/// Knows, going forward, what stands inside a string of a JSON text.
struct Strings {
    at: usize,
    inside: bool,
}

impl Strings {
    fn inside(&mut self, bytes: &[u8], to: usize) -> bool {
        while self.at < to {
            match bytes.get(self.at) {
                Some(b'\\') if self.inside => self.at += 1,
                Some(b'"') => self.inside = !self.inside,
                _ => {}
            }
            self.at += 1;
        }
        self.inside
    }
}

/// The place, widened to whole characters and whole escapes.
fn whole(text: &str, place: Range<usize>) -> Range<usize> {
    let bytes = text.as_bytes();
    let start = text.floor_char_boundary(place.start);
    let start = start - slashes(bytes, start) % 2;
    let mut end = text.ceil_char_boundary(place.end);
    if slashes(bytes, end) % 2 == 1 {
        end = text.ceil_char_boundary(end + 1);
    }
    // Inside `\uXXXX`?
    for back in 2..=5 {
        let Some(at) = end.checked_sub(back) else { break };
        if bytes.get(at..at + 2) == Some(b"\\u") && slashes(bytes, at).is_multiple_of(2) {
            let hex = bytes.get(at + 2..at + 6).is_some_and(|hex| hex.iter().all(u8::is_ascii_hexdigit));
            end = if hex { at + 6 } else { end };
            break;
        }
    }
    start..end
}

/// How many backslashes stand right before `at`.
fn slashes(bytes: &[u8], at: usize) -> usize {
    bytes.get(..at).unwrap_or_default().iter().rev().take_while(|byte| **byte == b'\\').count()
}

/// The whole number that a place is part of, if it is one; nothing before `from` counts.
fn number(text: &str, from: usize, place: &Range<usize>) -> Option<Range<usize>> {
    let bytes = text.as_bytes();
    let numeric = |byte: &u8| byte.is_ascii_digit() || matches!(byte, b'.' | b'-' | b'+' | b'e' | b'E');
    if !bytes.get(place.clone())?.iter().all(|byte| numeric(byte) || byte.is_ascii_whitespace()) {
        return None;
    }
    let start = place.start - bytes.get(from..place.start)?.iter().rev().take_while(|b| numeric(b)).count();
    let end = place.end + bytes.get(place.end..)?.iter().take_while(|b| numeric(b)).count();
    let before = bytes.get(..start)?.iter().rev().find(|byte| !byte.is_ascii_whitespace())?;
    let after = bytes.get(end..)?.iter().find(|byte| !byte.is_ascii_whitespace())?;
    (matches!(before, b':' | b',' | b'[') && matches!(after, b',' | b'}' | b']')).then_some(start..end)
}
