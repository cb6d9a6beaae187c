//! Characters that a person does not see and a model reads.

use super::{Threat, ThreatKind};

/// The first hidden thing in a text.
pub(super) fn found(text: &str) -> Option<Threat> {
    let mut before = None;
    let mut in_flag = false;
    let mut rest = text.chars().peekable();
    while let Some(letter) = rest.next() {
        // Some flags are a black flag and tag letters.
        in_flag = letter == '\u{1F3F4}' || in_flag && is_tag(letter);
        let next = rest.peek().copied();
        let what = match letter {
            '\u{202A}'..='\u{202E}' | '\u{2066}'..='\u{2069}' => "changes the direction of writing",
            _ if is_tag(letter) && !in_flag => "holds invisible tag characters",
            '\u{200C}' | '\u{200D}' if joins(before) && joins(next) || is_emoji(before) => "",
            _ if is_invisible(letter) => "holds invisible characters",
            // A mark at the beginning of a file is what some editors leave there.
            '\u{FEFF}' if before.is_some() => "holds invisible characters",
            '\t' | '\n' | '\r' => "",
            _ if letter.is_control() => "holds control characters",
            _ => "",
        };
        if !what.is_empty() {
            return Some(Threat { kind: ThreatKind::Hidden, what });
        }
        before = Some(letter);
    }
    None
}

/// Whether a character has no shape of its own; joiners and tags among them.
pub(super) fn is_invisible(letter: char) -> bool {
    matches!(
        letter,
        '\u{00AD}'
            | '\u{034F}'
            | '\u{115F}'
            | '\u{1160}'
            | '\u{180E}'
            | '\u{200B}'..='\u{200D}'
            | '\u{2060}'..='\u{2064}'
            | '\u{206A}'..='\u{206F}'
            | '\u{3164}'
            | '\u{FFA0}'
    )
}

/// A character that stands for nothing but a tag.
pub(super) fn is_tag(letter: char) -> bool {
    matches!(letter, '\u{E0000}'..='\u{E007F}')
}

/// Whether joiners have a meaning beside this: in scripts that join letters they do.
fn joins(letter: Option<char>) -> bool {
    letter.is_some_and(|letter| !letter.is_ascii() && !letter.is_whitespace() && !is_invisible(letter))
}

/// Whether this is a picture, or belongs to one.
fn is_emoji(letter: Option<char>) -> bool {
    letter.is_some_and(
        |letter| matches!(letter, '\u{2190}'..='\u{2BFF}' | '\u{FE0F}' | '\u{1F000}'..='\u{1FAFF}'),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hidden_characters_are_found() {
        for text in [
            "good\u{200B}bye",
            "a\u{200D}b",
            "pay \u{202E}001",
            "x\u{E0041}\u{E0042}",
            "soft\u{AD}hyphen",
            "bell\u{7}",
            "mid\u{FEFF}dle",
            "\u{3164}",
        ] {
            assert_eq!(found(text).map(|threat| threat.kind), Some(ThreatKind::Hidden), "{text:?}");
        }
    }

    #[test]
    fn scripts_and_pictures_that_need_joiners_are_left_alone() {
        for text in [
            "می\u{200C}خواهم",
            "क्\u{200D}ष",
            "👨\u{200D}👩\u{200D}👧",
            "❤\u{FE0F}\u{200D}🔥",
            "🏴\u{E0067}\u{E0062}\u{E0065}\u{E006E}\u{E0067}\u{E007F}",
            "\u{FEFF}a file from an old editor\r\n\twith tabs",
            "Grüße, 東京, مرحبا",
        ] {
            assert_eq!(found(text), None, "{text:?}");
        }
    }
}
