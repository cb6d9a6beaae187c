//! Keys that a narrow screen or a mail program broke over lines.
//!
//! A break inside a key is told from the end of a line by the line before it, which is full, and
//! by what follows, which goes on in the first column and still looks made by chance.

/// Narrowest line that something is broken at.
const NARROWEST: usize = 40;
/// Most lines a key may run over.
const MOST_LINES: usize = 8;
/// Shortest part of a key on the first line.
const LEAST_FIRST: usize = 4;

/// The word at `from`, of which `length` bytes stand on the first line, with all that belongs to
/// it on the next ones; and where it ends. `None` when it is not broken.
pub(super) fn unwrapped(
    text: &[u8],
    from: usize,
    length: usize,
    holds: impl Fn(u8) -> bool,
) -> Option<(Vec<u8>, usize)> {
    let mut end = from + length;
    if length < LEAST_FIRST || line_break(text, end) == 0 || !is_full(text, end) {
        return None;
    }
    let mut word = text.get(from..end)?.to_vec();
    for _ in 0..MOST_LINES {
        let next = end + line_break(text, end);
        let length = super::look::run(text, next, 2 * NARROWEST * MOST_LINES, &holds);
        let part = text.get(next..next + length)?;
        // A line of prose, or the next name in a list, is no part of a key.
        if next == end || part.is_empty() || !part.iter().any(u8::is_ascii_digit) {
            break;
        }
        word.extend_from_slice(part);
        end = next + length;
    }
    (end > from + length).then_some((word, end))
}

/// How many bytes the line break at `at` has, a written one included; 0 when there is none.
fn line_break(text: &[u8], at: usize) -> usize {
    match text.get(at..).unwrap_or_default() {
        [b'\n', ..] => 1,
        [b'\r', b'\n', ..] | [b'\\', b'n', ..] => 2,
        [b'\\', b'r', b'\\', b'n', ..] => 4,
        _ => 0,
    }
}

/// Whether the line that ends at `end` is as long as one that had to be broken.
fn is_full(text: &[u8], end: usize) -> bool {
    let Some(line) = end.checked_sub(NARROWEST).and_then(|from| text.get(from..end)) else { return false };
    !line.contains(&b'\n') && !line.windows(2).any(|pair| pair == b"\\n")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::redact::Redactor;

    const KEY: &str = "ghp_a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8";

    fn redacted(text: &str) -> String {
        Redactor::default().redact(text).into_owned()
    }

    #[test]
    fn a_key_broken_by_a_full_line_goes_whole() {
        for glue in ["\n", "\r\n", "\\n"] {
            for at in 8..KEY.len() - 3 {
                let (first, rest) = KEY.split_at(at);
                let before = "x ".repeat(40 - at / 2);

                let clean = redacted(&format!("{before}{first}{glue}{rest} and more"));

                assert_eq!(clean, format!("{before}[REDACTED] and more"), "{at}");
            }
        }
    }

    #[test]
    fn the_line_after_a_key_stays() {
        let before = "x ".repeat(30);
        for next in ["Then press Enter", "2024", "  indented1", "version"] {
            let clean = redacted(&format!("{before}{KEY}\n{next}"));

            assert!(clean.contains("[REDACTED]"), "{clean}");
            assert!(next == "2024" || clean.ends_with(next), "{clean}");
        }
    }

    #[test]
    fn short_lines_are_lists_and_not_broken() {
        assert_eq!(
            redacted("hf_a1B2c3D4\na1B2c3D4e5F6g7H8i9J0k1L2m3"),
            "hf_a1B2c3D4\na1B2c3D4e5F6g7H8i9J0k1L2m3"
        );
    }

    #[test]
    fn what_is_not_broken_is_not_read_on() {
        assert!(unwrapped(KEY.as_bytes(), 4, 36, |byte| byte.is_ascii_alphanumeric()).is_none());
    }
}
