//! What may be a title, and how titles of one line of sessions are numbered.

use super::error::SessionError;

/// Most characters of a title.
pub const MAX_TITLE: usize = 100;

/// The title without control and invisible characters and without doubled spaces.
pub(crate) fn clean(title: &str) -> Result<String, SessionError> {
    let visible = title.chars().filter_map(|c| match c {
        c if c.is_whitespace() => Some(' '),
        c if c.is_control() || is_invisible(c) => None,
        c => Some(c),
    });
    let visible: String = visible.collect();
    let words: Vec<&str> = visible.split(' ').filter(|word| !word.is_empty()).collect();
    let title = words.join(" ");
    if title.is_empty() {
        return Err(SessionError::Title { why: "it is empty" });
    }
    if title.chars().count() > MAX_TITLE {
        return Err(SessionError::Title { why: "it is longer than 100 characters" });
    }
    Ok(title)
}

/// The title without its ` #N`.
pub(crate) fn base(title: &str) -> &str {
    numbered(title).map_or(title, |(base, _)| base)
}

/// The base and number of `base #N`.
pub(crate) fn numbered(title: &str) -> Option<(&str, u64)> {
    let (base, number) = title.rsplit_once(" #")?;
    let digits = !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit());
    Some((base, number.parse().ok().filter(|_| digits && !base.is_empty())?))
}

/// `base #N`, with the base cut where the whole would be too long.
pub(crate) fn with_number(base: &str, number: u64) -> String {
    let tail = format!(" #{number}");
    let room = MAX_TITLE.saturating_sub(tail.chars().count());
    let kept: String = base.chars().take(room).collect();
    format!("{}{tail}", kept.trim_end())
}

/// Characters that take no room: zero-width, marks of direction, the byte-order mark, tags.
fn is_invisible(c: char) -> bool {
    matches!(c, '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}'
        | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e007f}')
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_title_loses_what_cannot_be_seen() {
        assert_eq!(clean(" a\u{200b}b\t\n c\u{7} ").unwrap(), "ab c");
        assert!(clean("\u{200b} \u{1}").is_err());
        assert!(clean(&"é".repeat(100)).is_ok());
        assert!(clean(&"é".repeat(101)).is_err());
    }

    #[test]
    fn a_number_is_part_of_a_title_only_at_its_end() {
        assert_eq!(numbered("work #12"), Some(("work", 12)));
        for title in ["work", "work #", "work #x", " #3", "work#3", "work #+3"] {
            assert_eq!(numbered(title).filter(|(base, _)| !base.trim().is_empty()), None, "{title}");
        }
        assert_eq!(base("work #12"), "work");
    }

    proptest! {
        #[test]
        fn cleaning_twice_changes_nothing_more(text in ".{0,120}") {
            if let Ok(once) = clean(&text) {
                prop_assert_eq!(clean(&once).unwrap(), once.clone());
                let next = with_number(&once, 123);
                prop_assert!(next.chars().count() <= MAX_TITLE && next.ends_with(" #123"));
            }
        }
    }
}
