//! Where in a text a secret can be at all: a quick look that leaves out most of it.
//!
//! Everything that is found by its beginning ([`super::anchors`]) leaves one of these traces close by:
//!
//! | what | trace |
//! |---|---|
//! | keys, web tokens, bot tokens, what follows `bearer` | sixteen bytes or more in a row that can stand in a token, a digit or a capital among them |
//! | assignments, `Authorization` | two letters that every such name holds, and a sign after the name or two dashes before it |
//! | private key blocks | two dashes |
//! | passwords in URLs | a colon and an `@` |
//!
//! The text is looked at in blocks, many bytes at a time; only what is close to such a trace is searched.

use std::ops::Range;

/// Bytes that are looked at together. A sign is in the block of the name before it or in the next.
const BLOCK: usize = 128;

/// Blocks after a colon in which the `@` of a URL can be.
const URL: usize = 5;

/// Shortest row of token bytes that can hold a key; what follows `bearer` is as long.
pub(super) const ROW: usize = 16;

/// How much earlier than its trace an anchor can begin, and how much later than its beginning it can end.
const AROUND: usize = 24;

/// Most bytes between a name and its sign: blanks, quotation marks, a bracket.
const GAP: usize = 46;

/// Most bytes of a name from the word in it to its end.
const NAME: usize = 64;

/// A group of bytes in which there is no blank is part of every row.
const GROUP: usize = 8;

/// What was seen in a block.
#[derive(Debug, Clone, Copy, Default)]
#[expect(clippy::struct_excessive_bools, reason = "each trace is there or not, by itself")]
struct Seen {
    /// Two letters of a name that announces a secret.
    name: bool,
    /// `=`, `:` or `>`.
    sign: bool,
    dashes: bool,
    colon: bool,
    at: bool,
}

/// The stretches of a text in which anchors have to be looked for, in order, without overlap.
pub(super) fn stretches(text: &[u8]) -> Vec<Range<usize>> {
    let mut found = rows(text);
    let blocks: Vec<Seen> = (0..text.len()).step_by(BLOCK).map(|from| seen(text, from)).collect();
    for (at, here) in blocks.iter().enumerate() {
        let before = at.checked_sub(1).and_then(|at| blocks.get(at)).copied().unwrap_or_default();
        let url = || blocks.iter().skip(at).take(URL + 1).any(|block| block.at);
        let block = at * BLOCK..text.len().min((at + 1) * BLOCK);
        if here.dashes || (here.name && before.dashes) || (here.colon && url()) {
            found.push(block.clone());
        }
        if here.sign && (here.name || before.name) {
            found.extend(names(text, block));
        }
    }
    joined(found, text.len())
}

/// The names that may announce a secret, before the signs in a block.
fn names(text: &[u8], block: Range<usize>) -> impl Iterator<Item = Range<usize>> {
    let signs = memchr::memchr3_iter(b'=', b':', b'>', text.get(block.clone()).unwrap_or_default());
    signs.filter_map(move |at| {
        let before = text.get(..block.start + at)?;
        let end = before.len() - before.iter().rev().take(GAP).take_while(|byte| is_between(**byte)).count();
        let before = before.get(..end)?;
        let length = before.iter().rev().take(NAME).take_while(|byte| is_named(**byte)).count();
        let name = before.get(end - length..)?;
        let told = name.iter().zip(name.iter().skip(1)).any(|(byte, next)| announces(*byte, *next));
        told.then_some(end - length..end)
    })
}

fn is_between(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'"' | b'\'' | b'\\' | b']')
}

fn is_named(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.')
}

/// What is in the block that begins at `from`. The last byte is looked at together with the first of the next block.
#[expect(clippy::needless_bitwise_bool, reason = "without branches many bytes are looked at in one step")]
fn seen(text: &[u8], from: usize) -> Seen {
    let end = text.len().min(from + BLOCK);
    let bytes = text.get(from..end).unwrap_or_default();
    let nexts = text.get(from + 1..text.len().min(end + 1)).unwrap_or_default();
    let (mut name, mut dashes) = (0_u8, 0_u8);
    for (byte, next) in bytes.iter().zip(nexts) {
        name |= u8::from(announces(*byte, *next));
        dashes |= u8::from((*byte == b'-') & (*next == b'-'));
    }
    let (mut sign, mut colon, mut at) = (0_u8, 0_u8, 0_u8);
    for byte in bytes {
        sign |= u8::from((*byte == b'=') | (*byte == b'>'));
        colon |= u8::from(*byte == b':');
        at |= u8::from(*byte == b'@');
    }
    Seen { name: name > 0, sign: sign | colon > 0, dashes: dashes > 0, colon: colon > 0, at: at > 0 }
}

/// Whether these two letters, large or small, are among those of which every announcing name holds two. Without
/// branches, so that many are looked at in one step.
#[expect(clippy::needless_bitwise_bool, reason = "without branches many bytes are looked at in one step")]
pub(super) const fn announces(byte: u8, next: u8) -> bool {
    let (byte, next) = (byte | 0x20, next | 0x20);
    ((byte == b'k') & (next == b'e'))
        | ((byte == b's') & (next == b's'))
        | ((byte == b'w') & (next == b'd'))
        | ((byte == b'c') & (next == b'r'))
        | ((byte == b'a') & (next == b'u'))
        | ((byte == b'b') & (next == b'h'))
}

/// Long rows of bytes that can stand in a token or header value, with a digit or a capital among them.
fn rows(text: &[u8]) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    let mut past = 0;
    let (groups, _) = text.as_chunks::<GROUP>();
    for (number, group) in groups.iter().enumerate() {
        let from = number * GROUP;
        if from < past || has_blank(*group) || !group.iter().all(|byte| is_held(*byte)) {
            continue;
        }
        let before = text.get(past..from).unwrap_or_default();
        let start = from - before.iter().rev().take_while(|byte| is_held(**byte)).count();
        let after = text.get(from..).unwrap_or_default();
        let end = from + after.iter().take_while(|byte| is_held(**byte)).count();
        past = end;
        let row = text.get(start..end).unwrap_or_default();
        if row.len() >= ROW && row.iter().any(|byte| byte.is_ascii_digit() || byte.is_ascii_uppercase()) {
            found.push(start..end);
        }
    }
    found
}

/// Whether one of the bytes is a space or a line break, all of them looked at in one step.
const fn has_blank(group: [u8; GROUP]) -> bool {
    const ONES: u64 = u64::from_ne_bytes([1; GROUP]);
    const fn has_zero(word: u64) -> bool {
        word.wrapping_sub(ONES) & !word & (ONES << 7) != 0
    }
    let word = u64::from_ne_bytes(group);
    has_zero(word ^ (ONES * b' ' as u64)) | has_zero(word ^ (ONES * b'\n' as u64))
}

/// Whether a byte can stand in a key, a token or the value of a header.
pub(super) const fn is_held(byte: u8) -> bool {
    byte.is_ascii_alphanumeric()
        || matches!(byte, b'_' | b'-' | b'.' | b'~' | b'+' | b'/' | b'=' | b':' | b'|')
}

/// The stretches in order, a little wider, those that touch as one.
fn joined(mut found: Vec<Range<usize>>, length: usize) -> Vec<Range<usize>> {
    found.sort_unstable_by_key(|stretch| stretch.start);
    let mut out: Vec<Range<usize>> = Vec::new();
    for stretch in found {
        let (start, end) = (stretch.start.saturating_sub(AROUND), length.min(stretch.end + AROUND));
        match out.last_mut() {
            Some(last) if start <= last.end => last.end = last.end.max(end),
            _ => out.push(start..end),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn left_out(text: &str) -> bool {
        stretches(text.as_bytes()).is_empty()
    }

    #[test]
    fn prose_and_plain_code_are_left_out() {
        assert!(left_out("The quick brown fox jumps over the lazy dog, again and again, and then some.\n"));
        assert!(left_out("fn main() {\n    let total = numbers.iter().sum();\n    print(total)\n}\n"));
        assert!(left_out(""));
    }

    #[test]
    fn a_trace_across_the_edge_of_a_block_is_seen() {
        for pad in BLOCK - 20..BLOCK + 20 {
            let blank = " ".repeat(pad);
            for text in
                ["token: x", "--secret x", "<password>x", "http://u:p@h", "-----BEGIN x", "abcdefghijklmn01"]
            {
                assert!(!left_out(&format!("{blank}{text}")), "{pad} {text}");
            }
        }
    }

    #[test]
    fn far_from_a_trace_nothing_is_searched() {
        let text = format!("{}token = 1{}", "word ".repeat(400), " word".repeat(400));

        let found = stretches(text.as_bytes());

        assert_eq!(found.len(), 1);
        assert!(found[0].len() <= 2 * BLOCK + 2 * AROUND && found[0].contains(&2000), "{found:?}");
    }

    proptest::proptest! {
        #[test]
        fn stretches_are_in_order_and_inside_the_text(text in "[ -~\n]{0,600}") {
            let found = stretches(text.as_bytes());

            proptest::prop_assert!(found.iter().all(|one| one.start < one.end && one.end <= text.len()));
            proptest::prop_assert!(found.windows(2).all(|pair| pair[0].end < pair[1].start));
        }
    }
}
