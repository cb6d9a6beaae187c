//! The marks that separate the parts of a conversation, as found inside ordinary text.
//!
//! Some are tags that models were taught to read as structure (`<tool_call>`), some are
//! control tokens of a chat template (`<|im_start|>`, `[INST]`). Every look-up here works
//! at one position and reads a bounded number of bytes, so callers stay linear.

/// The longest tag, attributes included, that is still taken for a tag.
const MAX_TAG: usize = 512;
/// The longest control token between its brackets.
const MAX_TOKEN: usize = 64;
/// The longest tag name worth reading.
const MAX_NAME: usize = 48;
/// Most blanks skipped in front of a tag name.
const MAX_BLANKS: usize = 8;

/// Names that frame a conversation and hardly ever occur as elements of real documents.
/// Lower case, without separators.
const STRICT: &[&str] = &[
    "assistant",
    "endofturn",
    "functioncall",
    "functioncalls",
    "functionresponse",
    "functionresult",
    "functionresults",
    "startofturn",
    "sys",
    "system",
    "toolcall",
    "toolcalls",
    "toolresponse",
    "toolresponses",
    "toolresult",
    "toolresults",
    "tooluse",
];

/// Names that frame a conversation but are also common elements of web pages and data.
const COMMON: &[&str] = &["human", "input", "output", "response", "result", "user"];

/// Control tokens in square brackets, without the slash of a closing one.
const BRACKETED: &[&str] =
    &["INST", "AVAILABLE_TOOLS", "TOOL_CALLS", "TOOL_RESULTS", "TOOL_CONTENT", "SYSTEM_PROMPT"];

/// How eagerly a tag is recognised.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Reading {
    /// Every framing name, also with blanks between the bracket and the name.
    Wide,
    /// Only names that are not everyday markup, and no blank after the bracket.
    Narrow,
}

/// Whether `text`, which starts with `<`, opens or closes a framing tag. The tag need not end.
pub(crate) fn opens_tag(text: &[u8], reading: Reading) -> bool {
    let Some(rest) = text.strip_prefix(b"<") else { return false };
    let rest = if reading == Reading::Wide { skip_blanks(rest) } else { rest };
    let rest = rest.strip_prefix(b"/").unwrap_or(rest);
    let rest = if reading == Reading::Wide { skip_blanks(rest) } else { rest };
    let mut folded = [0_u8; MAX_NAME];
    let mut length = 0;
    for (read, &byte) in rest.iter().enumerate() {
        if read == MAX_NAME {
            return false;
        }
        match byte {
            b'_' | b'-' => {}
            // A namespace in front of the name does not change what it is read as.
            b':' => length = 0,
            _ if is_name_byte(byte) => {
                if let Some(slot) = folded.get_mut(length) {
                    *slot = byte.to_ascii_lowercase();
                    length += 1;
                }
            }
            _ => break,
        }
    }
    let name = folded.get(..length).unwrap_or_default();
    let listed = |names: &[&str]| names.iter().any(|known| known.as_bytes() == name);
    listed(STRICT) || (reading == Reading::Wide && listed(COMMON))
}

/// Whether `text` is exactly one framing tag, from `<` to `>`.
pub(crate) fn is_tag(text: &[u8], reading: Reading) -> bool {
    text.len() <= MAX_TAG && text.last() == Some(&b'>') && opens_tag(text, reading)
}

/// Whether `text` is exactly one control token in angle brackets: `<|name|>`, `</s>`, `<bos>`.
pub(crate) fn is_angle_token(text: &[u8]) -> bool {
    let Some(inner) = text.strip_prefix(b"<").and_then(|rest| rest.strip_suffix(b">")) else { return false };
    if matches!(inner, b"s" | b"/s" | b"bos" | b"eos" | b"pad" | b"unk") {
        return true;
    }
    // Some templates write the bars as U+FF5C.
    let barred = strip_both(inner, b"|").or_else(|| strip_both(inner, "｜".as_bytes()));
    barred.is_some_and(|name| {
        !name.is_empty()
            && name.len() <= MAX_TOKEN
            && name.iter().all(|&byte| is_name_byte(byte) || matches!(byte, b'_' | b'-' | b':' | b'/' | b' '))
    })
}

/// Whether `text` is exactly one control token in square brackets: `[INST]`, `[/INST]`.
pub(crate) fn is_square_token(text: &[u8]) -> bool {
    let Some(inner) = text.strip_prefix(b"[").and_then(|rest| rest.strip_suffix(b"]")) else { return false };
    let name = inner.strip_prefix(b"/").unwrap_or(inner);
    BRACKETED.iter().any(|token| token.as_bytes() == name)
}

/// The piece of `text` from its start up to and including the first `close`, if that comes soon
/// and no second `open` comes before it.
pub(crate) fn bracketed(text: &[u8], open: u8, close: u8) -> Option<&[u8]> {
    let near = text.get(..text.len().min(MAX_TAG))?;
    let end = near.iter().skip(1).position(|&byte| byte == open || byte == close)? + 1;
    let piece = near.get(..=end)?;
    (piece.last() == Some(&close)).then_some(piece)
}

/// Characters that show nothing but change how the rest is read: direction overrides, zero-width
/// characters, selectors and the tag block, which can carry a whole hidden message.
pub(crate) fn is_invisible(c: char) -> bool {
    matches!(c,
        '\u{00AD}' | '\u{034F}' | '\u{115F}' | '\u{1160}' | '\u{17B4}' | '\u{17B5}' | '\u{180B}'..='\u{180F}'
        | '\u{200C}' | '\u{200D}' | '\u{2060}'..='\u{2065}' | '\u{3164}' | '\u{FE00}'..='\u{FE0F}'
        | '\u{FEFF}' | '\u{FFA0}' | '\u{FFF9}'..='\u{FFFB}' | '\u{200B}')
        || is_deceptive(c)
}

/// The part of the invisible characters that no honest text needs: direction overrides and the
/// blocks that are used to smuggle text.
pub(crate) fn is_deceptive(c: char) -> bool {
    matches!(c,
        '\u{061C}' | '\u{200E}' | '\u{200F}' | '\u{202A}'..='\u{202E}' | '\u{2066}'..='\u{206F}'
        | '\u{E0000}'..='\u{E0FFF}')
}

/// Letters and digits, the dot, and everything beyond ASCII: what would make it another name.
fn is_name_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'.' || byte >= 0x80
}

fn skip_blanks(text: &[u8]) -> &[u8] {
    let blanks = text.iter().take(MAX_BLANKS).take_while(|&&byte| matches!(byte, b' ' | b'\t')).count();
    text.get(blanks..).unwrap_or_default()
}

fn strip_both<'a>(text: &'a [u8], mark: &[u8]) -> Option<&'a [u8]> {
    text.strip_prefix(mark)?.strip_suffix(mark)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tag_is_known_by_its_name_in_any_case_and_spelling() {
        for tag in
            ["<system>", "</System>", "<TOOL-CALL id=\"1\">", "< / user >", "<x:tool_result/>", "<input\n>"]
        {
            assert!(is_tag(tag.as_bytes(), Reading::Wide), "{tag}");
        }
    }

    #[test]
    fn a_longer_name_is_another_name() {
        for tag in ["<systemd>", "<system.web>", "<users>", "<inputs>", "<systemé>", "<div>", "<>", "< >"] {
            assert!(!is_tag(tag.as_bytes(), Reading::Wide), "{tag}");
        }
    }

    #[test]
    fn everyday_markup_is_left_alone_by_the_narrow_reading() {
        assert!(!is_tag(b"<input type=text>", Reading::Narrow));
        assert!(!is_tag(b"<user>", Reading::Narrow));
        assert!(!is_tag(b"< system>", Reading::Narrow));
        assert!(is_tag(b"</tool_call>", Reading::Narrow));
    }

    #[test]
    fn control_tokens_of_several_templates_are_known() {
        for token in ["<|im_start|>", "<|endoftext|>", "<｜tool▁calls▁begin｜>", "</s>", "<bos>"] {
            assert!(is_angle_token(token.as_bytes()), "{token}");
        }
        assert!(is_square_token(b"[/INST]") && is_square_token(b"[TOOL_CALLS]"));
        assert!(!is_square_token(b"[inst]") && !is_angle_token(b"<||>") && !is_angle_token(b"<b>"));
    }
}
